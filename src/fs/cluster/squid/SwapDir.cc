// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "base/TextException.h"
#include "cache_cf.h"
#include "ConfigOption.h"
#include "ConfigParser.h"
#include "debug/Stream.h"
#include "enums.h"
#include "event.h"
#include "fatal.h"
#include "fs/cluster/api/Options.h"
#include "fs/cluster/engine/Report.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/squid/CacheLog.h"
#include "fs/cluster/squid/ClientRequest.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/IoState.h"
#include "fs/cluster/squid/StoreMaker.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
#include "ipc/Port.h"
#include "MemObject.h"
#include "sbuf/SBuf.h"
#include "sbuf/Stream.h"
#include "SquidConfig.h"
#include "SquidMath.h"
#include "Store.h"
#include "swap_log_op.h"
#include "time/gadgets.h"
#include "tools.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace {

/// how long a shutdown may take to write staged objects and the checkpoint
const unsigned CloseMilliseconds = 20000;

/// how long, in seconds, and how often letGo() waits for the last answers of a device that is out of service
const double IdleWait = 0.1;
const unsigned IdleWaitLimit = 50;

/// after so many polls, all readers and updates that wait for a device that is out of service have their answers
const unsigned LastPolls = 8;

/// how long to sleep at a time when waiting for recovery (squid -F)
const unsigned WaitMilliseconds = 100;

} // namespace

ClusterFs::SwapDir::SwapDir():
    Store::Disk("clusterfs"),
    loop_([this] { poll(); }),
    updates_([this](Attachment &attachment) { evict(attachment); })
{
}

ClusterFs::SwapDir::~SwapDir()
{
    // init() makes started dirs immortal
    assert(!home_);
}

void
ClusterFs::SwapDir::ForEach(const std::function<void(SwapDir &)> &visit)
{
    const auto &dirs = ::Config.cacheSwap;
    const auto count = static_cast<size_t>(dirs.n_configured);
    for (size_t i = 0; i < count; ++i) {
        if (const auto dir = dynamic_cast<SwapDir*>(dirs.swapDirs[i].getRaw()))
            visit(*dir);
    }
}

/// an error with the path in front of it, unless it names the path already
std::string
ClusterFs::SwapDir::named(const std::string &error) const
{
    return error.find(path) == std::string::npos ? std::string(path) + ": " + error : error;
}

/// a function that writes the engine's lines to cache.log
ClusterFs::Log
ClusterFs::SwapDir::log() const
{
    const auto prefix = std::string("cache_dir ") + type() + ' ' + path + ": ";
    return [prefix](const LogLevel level, const std::string &line) {
        toCacheLog(level, prefix + line);
    };
}

/* configuration */

/// ends Squid because of this cache_dir line
void
ClusterFs::SwapDir::reject(const std::string &why) const
{
    debugs(3, DBG_CRITICAL, messageLine<Message::rejected>(path, why));
    self_destruct();
}

void
ClusterFs::SwapDir::parse(const int anIndex, char * const aPath)
{
    index = anIndex;
    path = xstrdup(aPath);
    parseLine(0);
    config_ = line_.config;
    sizeMb_ = line_.sizeMb;
    max_size = sizeMb_ << 20;
}

/// parses the words behind the path
void
ClusterFs::SwapDir::parseLine(const int isReconfiguration)
{
    line_ = DirLine();
    std::string error;
    const auto next = ConfigParser::PeekAtToken();
    if (next && DirLine::MeansSize(next) && !line_.takeSize(ConfigParser::NextToken(), error))
        reject(error);
    parseOptions(isReconfiguration);
    if (!line_.config.validate(error))
        reject(error);
}

ConfigOption *
ClusterFs::SwapDir::getOptionTree() const
{
    const auto tree = Store::Disk::getOptionTree();
    const auto options = dynamic_cast<ConfigOptionVector*>(tree);
    assert(options);
    // in front, so that we see each option; those of Store::Disk go on to its parser
    const auto self = const_cast<SwapDir*>(this);
    options->options.insert(options->options.begin(),
                            new ConfigOptionAdapter<SwapDir>(*self, &SwapDir::parseOption, &SwapDir::dumpOption));
    return tree;
}

/// \returns false for options that Store::Disk will parse
bool
ClusterFs::SwapDir::parseOption(char const * const option, char const * const value, int)
{
    std::string error;
    if (line_.takeOption(option, value, error))
        return !DirLine::IsOfDisk(option);
    reject(error);
    return true;
}

void
ClusterFs::SwapDir::reconfigure()
{
    if (!reconfiguring) { // the core takes a second line for a reconfiguration
        reject(messageText<Message::sameLine>());
        return;
    }
    parseLine(1);

    if (line_.sizeMb != sizeMb_)
        say<Message::sizeStays>(toCacheLog, path, sizeMb_);
    auto wanted = config_;
    for (const auto &option: options()) {
        if (option.effect == Option::Effect::live)
            option.write(wanted, option.read(line_.config));
    }
    wanted.suitOthers(); // new values need not suit those that stay
    for (const auto &option: options()) {
        if (option.read(line_.config) == option.read(config_))
            continue;
        if (option.effect == Option::Effect::live) {
            say<Message::optionChanged>(toCacheLog, path, option.name, option.valueIn(wanted));
        } else if (line_.has(option.name)) { // if not, resolveDefaults() may have computed the value in use
            say<Message::optionStays>(toCacheLog, path, option.name, option.valueIn(config_));
        }
    }
    config_ = wanted;
    if (inUse())
        side()->configure(config_);
    const auto missing = started() ? !readable() : !trouble_.empty();
    if (missing && !eventFind(&StartAgain, this)) // as an event, after squid.conf has been read to its end
        eventAdd("ClusterFs::SwapDir::StartAgain", &StartAgain, this, 0.0, 0, false);
}

/// computes the defaults that depend on other directives
void
ClusterFs::SwapDir::resolveDefaults(Config &config) const
{
    if (!line_.has("object-size")) {
        const auto &option = *findOption("object-size");
        const int64_t kb = (::Config.Store.avgObjectSize + 1023) / 1024;
        config.objectKb = static_cast<uint32_t>(std::clamp<int64_t>(kb, option.least, option.most));
    }
}

void
ClusterFs::SwapDir::dump(StoreEntry &e) const
{
    storeAppendPrintf(&e, " %" PRIu64, sizeMb_);
    dumpOptions(&e);
}

void
ClusterFs::SwapDir::dumpOption(StoreEntry * const e) const
{
    for (const auto &option: options()) {
        if (option.read(config_) < option.least)
            continue; // object-size before resolveDefaults(), in processes that do not use the dir
        storeAppendPrintf(e, " %s=%s", option.name, option.valueIn(config_).c_str());
    }
}

// The core asks this after all of squid.conf has been parsed, and again after each reconfiguration, which can't change workers.
bool
ClusterFs::SwapDir::needsDiskStrand() const
{
    return InDaemonMode() && ::Config.workers > 1;
}

bool
ClusterFs::SwapDir::isHome() const
{
    return active() && (disker < 0 || IamDiskProcess());
}

/* start and stop */

/// squid -z. If it fails, only this cache_dir is not used: the others are made, and Squid starts.
void
ClusterFs::SwapDir::create()
{
    if (!isHome())
        return;
    auto config = config_;
    resolveDefaults(config);
    std::string error;
    if (!StoreMaker(path, sizeMb_, config, log()).make(error))
        debugs(47, DBG_CRITICAL, messageLine<Message::notMade>(named(error))); // on the terminal, too
}

void
ClusterFs::SwapDir::init()
{
    assert(!home_ && !rebuild_.given());

    // Never destroyed: the configuration goes at exit, when the parts of Squid that
    // the engine needs to close are gone already. sync() has closed it before.
    lock();

    rebuild_.begin();
    resolveDefaults(config_);
    start();
    // as an event, because the core resets the counters after all dirs are initialized
    eventAdd("ClusterFs::SwapDir::FinishStart", &FinishStart, this, 0.0, 0, false);
}

void
ClusterFs::SwapDir::start()
{
    if (isHome())
        startEngine();
    else
        startWorker();
}

/// uses the engine of another process as soon as there is one
void
ClusterFs::SwapDir::startWorker()
{
    worker_ = std::make_unique<WorkerSide>(path, index, socketPath(), clock_, [this] { noteOwner(); });
    worker_->configure(config_);
    store_ = &worker_->store();
    loop_.start(worker_->wakeupFd());
    loop_.poll(); // a worker that is started again has its hits at once
}

/// the side that this process has; nil before the start, and where that has failed
ClusterFs::StoreSide *
ClusterFs::SwapDir::side() const
{
    return home_ ? static_cast<StoreSide*>(home_.get()) : worker_.get();
}

/// the socket at which the owner lets workers in
std::string
ClusterFs::SwapDir::socketPath() const
{
    return Ipc::Port::MakeAddr("-clusterfs", index).termedBuf();
}

/// takes the sizes of the store from an owner that has come
void
ClusterFs::SwapDir::noteOwner()
{
    // the new owner may have older versions of objects that are in use
    handles_.forEach([](Attachment &attachment) { attachment.lost = true; });
    max_size = store_->deviceBytes();
    storeConfigure();
}

/// opens the device, or logs once why that failed
void
ClusterFs::SwapDir::startEngine()
{
    trouble_.clear();
    try {
        std::string error;
        const auto status = open(error);
        if (status != Status::ok)
            trouble_ = error.empty() ? statusText(status) : error;
    } catch (...) {
        trouble_ = ToSBuf(CurrentException).c_str();
    }
    if (trouble_.empty()) {
        store_ = &home_->store();
        joinOthers();
        loop_.start(home_->wakeupFd());
        storeConfigure(); // the sizes are known now
        const auto exposure = exposureOf(path);
        if (!exposure.empty())
            log()(rowOf(Message::exposed).level, exposure);
        if (opt_store_doublecheck)
            say<Message::noChecks>(toCacheLog, path);
    } else {
        home_ = nullptr;
        trouble_ = named(trouble_) + StoreMaker::Advice(path, sizeMb_);
        say<Message::notUsed>(toCacheLog, trouble_);
    }
}

/// A dir that comes into service later gets the share of those that have least, so that it does not get all new objects.
void
ClusterFs::SwapDir::joinOthers()
{
    auto least = std::numeric_limits<double>::infinity();
    ForEach([&](const SwapDir &dir) {
        if (&dir != this && dir.readable())
            least = std::min(least, dir.share());
    });
    received_ = std::isfinite(least) ? static_cast<uint64_t>(least * static_cast<double>(max_size)) : 0;
}

void
ClusterFs::SwapDir::StartAgain(void * const self)
{
    static_cast<SwapDir*>(self)->startAgain();
}

/// Takes a device into service that could not be opened, or was out of service,
/// and is back or was exchanged. Objects that Squid deleted meanwhile do not come
/// back with it.
void
ClusterFs::SwapDir::startAgain()
{
    if (stopped_ || (started() ? readable() : trouble_.empty()))
        return;
    if (started() && !letGo())
        return;
    if (missed_.full()) {
        say<Message::notUsed>(toCacheLog, messageText<Message::tooManyDeletes>(path));
        return;
    }
    start();
    if (!started())
        return;
    missed_.tell(home_->engine(), squid_curtime);
    if (const auto owner = home_->owner())
        owner->doubt(std::max<int64_t>(missed_.doubtedUntil(), 0));
    say<Message::backInService>(toCacheLog, path);
}

/// Destroys the engine of a device that is out of service.
/// \returns false while the device owes answers, because to close it then would
/// hold up Squid; schedules another try, unless there were too many
bool
ClusterFs::SwapDir::letGo()
{
    auto idle = updates_.idle();
    for (unsigned n = 0; idle && n < LastPolls; ++n) {
        loop_.poll();
        idle = home_->device().idle() && updates_.idle();
    }
    if (!idle && idleWaits_++ < IdleWaitLimit) {
        eventAdd("ClusterFs::SwapDir::StartAgain", &StartAgain, this, IdleWait, 0, false);
        return false;
    }
    idleWaits_ = 0;
    if (!idle) {
        say<Message::notUsed>(toCacheLog, messageText<Message::notAnswered>(path));
        return false;
    }
    // The journal does not have these deletes, and the device may have older versions of attached objects.
    for (const auto &key: home_->engine().removalsPending())
        missed_.note(key);
    handles_.forEach([this](Attachment &attachment) {
        if (!attachment.evicted)
            missed_.note(attachment.key);
        attachment.evicted = true;
        attachment.lost = true;
        attachment.unpublished = nullptr;
    });
    missed_.noteAnyReplaced();
    loop_.stop();
    store_ = nullptr;
    home_ = nullptr;
    kickProducers();
    return true;
}

/// whether the device is out of service and may come into service again: then deletes have to be remembered
bool
ClusterFs::SwapDir::mayReturn() const
{
    return !trouble_.empty() || started();
}

/// opens the device and starts the engine
ClusterFs::Status
ClusterFs::SwapDir::open(std::string &error)
{
    ++starts_;
    waits_ = {};
    const auto socket = disker >= 0 ? socketPath() : std::string();
    const auto status = EngineSide::Open(*this, config_, socket, clock_, log(), [this] { loop_.poll(); }, home_, error);
    if (status != Status::ok)
        return status;

    max_size = home_->engine().superblock()->geometry.deviceBytes;
    const auto formattedMb = max_size >> 20;
    if (sizeMb_ && sizeMb_ != formattedMb)
        say<Message::sizeFormatted>(toCacheLog, path, sizeMb_, formattedMb, home_->device().size() >> 20);
    fs.blksize = static_cast<int>(home_->device().alignment());
    return status;
}

void
ClusterFs::SwapDir::FinishStart(void * const self)
{
    static_cast<SwapDir*>(self)->finishStart();
}

/// the part of init() that needs all other dirs to be initialized
void
ClusterFs::SwapDir::finishStart()
{
    if (opt_foreground_rebuild) {
        while (started() && home_->engine().state() == EngineState::recovering) {
            home_->device().wait(WaitMilliseconds);
            loop_.poll();
        }
    }
    noteRebuild();
}

/// the function that loop_ calls
void
ClusterFs::SwapDir::poll()
{
    if (!inUse())
        return;
    for (const auto &key: std::exchange(again_, {}))
        store_->remove(key);
    side()->poll();
    if (watch_)
        watch_();
    kickProducers();
    noteRebuild();
}

void
ClusterFs::SwapDir::kickWhenDrained(const IoState::Pointer &sio)
{
    congested_.push_back(sio);
}

/// lets producers go on whose writers are not congested any more
void
ClusterFs::SwapDir::kickProducers()
{
    std::vector<IoState::Pointer> waited;
    waited.swap(congested_);
    for (const auto &sio: waited) {
        if (sio->stillCongested())
            congested_.push_back(sio);
        else
            sio->kickProducer();
    }
}

int
ClusterFs::SwapDir::callback()
{
    loop_.poll();
    return 0; // not a count of answers: the core takes 100 in one pass for a fault and ends Squid
}

/// tells the core how far the start is
void
ClusterFs::SwapDir::noteRebuild()
{
    rebuild_.update(index, started() ? engine() : nullptr);
}

void
ClusterFs::SwapDir::sync()
{
    // only called at shutdown, but several times
    if (!inUse())
        return;
    loop_.stop();
    stopped_ = true; // before close(), whose answers must not reach readers any more
    const auto status = side()->close(CloseMilliseconds);
    if (status != Status::ok)
        say<Message::notStoppedCleanly>(toCacheLog, path, statusText(status));
    kickProducers();
}

/* sizes */

uint64_t
ClusterFs::SwapDir::currentSize() const
{
    return inUse() ? std::min(store_->liveBytes(), maxSize()) : 0;
}

uint64_t
ClusterFs::SwapDir::currentCount() const
{
    return inUse() ? store_->objectCount() : 0;
}

int64_t
ClusterFs::SwapDir::maxObjectSize() const
{
    const auto configured = max_objsize > -1 ? max_objsize : ::Config.Store.maxObjectSize;
    uint64_t possible = configured;
    if (readable())
        possible = store_->maxObjectSize();
    else if (max_size) // without a size, the limit is known once the device is open
        possible = max_size;
    return static_cast<int64_t>(std::min<uint64_t>(configured, possible));
}

/* finding */

/// whether the store may be asked for objects
bool
ClusterFs::SwapDir::readable() const
{
    return inUse() && store_->state() != EngineState::offline;
}

StoreEntry *
ClusterFs::SwapDir::get(const cache_key * const key)
{
    const auto name = keyOf(key);
    // the object may be there all the same, and be found later
    if ((!readable() || store_->state() == EngineState::recovering) && isPurge())
        remove(name);
    if (!readable() || clearing())
        return nullptr;

    ObjectInfo info;
    if (!store_->find(name, info)) {
        // Of hits, reference() does this. When the response comes, Squid asks again, also for what a HEAD has stored: that
        // is nothing that the client wants.
        if (isUndecided())
            noteRequest(name);
        if (worker_ && isPurge()) // another worker may be storing it
            evictIfFound(key);
        return nullptr;
    }

    const auto e = new StoreEntry();
    e->createMemObject();
    if (attach(*e, name, info))
        return e;
    e->destroyMemObject();
    delete e;
    return nullptr;
}

/// attaches an entry to an object that is stored
/// \returns false when too many entries are attached already
bool
ClusterFs::SwapDir::attach(StoreEntry &e, const Key &name, const ObjectInfo &info)
{
    const auto attachment = std::make_shared<Attachment>(name, info);
    const auto handle = handles_.add(attachment);
    if (handle < 0)
        return false;
    updates_.noteAttached(attachment);

    if (missed_.doubts(info.timestamp))
        attachment->info.flags |= flagDoubtful; // until a 304; see FreshInfo()
    exportInfo(attachment->info, e);
    e.store_status = STORE_OK;
    e.attachToDisk(index, handle, SWAPOUT_DONE);
    e.ping_status = PING_NONE;
    EBIT_SET(e.flags, ENTRY_VALIDATED); // without it, Squid refuses to read the object
    debugs(47, 5, e << " has " << name.hex());
    return true;
}

// only called in SMP mode, which Squid enters with several workers, and when another cache_dir has a disker
bool
ClusterFs::SwapDir::anchorToCache(StoreEntry &e)
{
    assert(!e.hasDisk());
    if (!readable() || clearing() || !e.key)
        return false;

    const auto name = keyOf(static_cast<const cache_key*>(e.key));
    ObjectInfo info;
    return store_->find(name, info) && attach(e, name, info);
}

bool
ClusterFs::SwapDir::updateAnchored(StoreEntry &e)
{
    assert(e.hasDisk(index));
    // Objects do not grow after they were found.
    return readable() && e.swappedOut();
}

bool
ClusterFs::SwapDir::hasReadableEntry(const StoreEntry &e) const
{
    if (!e.key)
        return false;
    const auto name = keyOf(static_cast<const cache_key*>(e.key));
    if (!readable()) {
        if (mayReturn())
            missed_.noteReplaced(name);
        else if (inUse())
            store_->remove(name);
        return false;
    }
    ObjectInfo stored;
    if (!store_->peek(name, stored))
        return false;

    // The core asks before it stores a public entry that has no disk, and when
    // a client has read one. An entry that was copied from the shared memory
    // cache (whose I/O is done once the copy is whole) may be a copy of our object.
    const auto io = e.mem_obj ? e.mem_obj->memCache.io : Store::ioUndecided;
    const auto copied = io == Store::ioReading || (io == Store::ioDone && e.mem_status == IN_MEMORY);
    const auto updated = e.mem_obj && e.mem_obj->appliedUpdates; // a 304 may bring new headers and no new times
    if (copied && !updated && stored.timestamp == e.timestamp && stored.expires == e.expires)
        return true;

    // A new response. When it was made public, Squid released an older entry
    // only if that was in memory, and under this very key: a reload finds the
    // marker of a Vary object and not the variant, and nothing at all with
    // collapsed_forwarding. Our older object must not come back, even if the new
    // response is not stored, or in another cache_dir.
    debugs(47, 5, e << " replaces " << name.hex());
    store_->remove(name);
    return false;
}

void
ClusterFs::SwapDir::reference(StoreEntry &e)
{
    // Squid calls this for each entry that it finds. Opening the object then is part of the same hit.
    const auto attachment = handles_.find(e.swap_filen);
    if (!attachment)
        return;
    if (readable() && !attachment->evicted) {
        store_->touch(attachment->key);
        noteRequest(attachment->key);
    }
    // The engine does not find objects that are too old, but this may be a hit from cache_mem.
    if (config_.fileLifetime && squid_curtime - e.timestamp > static_cast<time_t>(config_.fileLifetime) &&
            !EBIT_TEST(e.flags, ENTRY_REVALIDATE_ALWAYS)) {
        attachment->info.flags |= flagDoubtful; // until a 304; see FreshInfo()
        EBIT_SET(e.flags, ENTRY_REVALIDATE_ALWAYS);
    }
}

/// lets the engine learn from the request that is being handled, and counts a page that it opens
void
ClusterFs::SwapDir::noteRequest(const Key &key)
{
    const auto isNew = isNewRequest();
    const auto toNote = config_.localityMb && noted_.add(requestNumber(), key);
    if (!toNote && !isNew)
        return;
    Request request;
    if (!describeRequest(key, request))
        return;
    if (isNew && request.kind == RequestKind::page) {
        countOpenedPages(1);
        ForEach([](const SwapDir &dir) { dir.tell(FigureKind::page, 1); });
    }
    if (toNote)
        store_->note(request);
}

/// counts how long a client has waited for an object that is about to be stored
void
ClusterFs::SwapDir::timeMiss(const StoreEntry &e)
{
    const auto request = clientRequest();
    if (!request || answerTo(*request) != Answer::miss || isVaryMarker(e))
        return;
    if (const auto micros = waited(*request))
        noteMiss(*micros);
}

void
ClusterFs::SwapDir::noteHit(const uint64_t micros)
{
    waits_.hits.add(micros);
    tell(FigureKind::hit, micros);
}

void
ClusterFs::SwapDir::noteMiss(const uint64_t micros)
{
    waits_.misses.add(micros);
    tell(FigureKind::miss, micros);
}

/// tells the owner of what clients of this worker have had
void
ClusterFs::SwapDir::tell(const FigureKind kind, const uint64_t value) const
{
    if (side())
        side()->tell(kind, value);
}

bool
ClusterFs::SwapDir::dereference(StoreEntry &e)
{
    // an idle entry has no readers
    if (const auto attachment = handles_.find(e.swap_filen))
        attachment->unpublished = nullptr;
    return false; // store_table is not our index
}

/* forgetting */

/// removes an attached object from the engine's index
void
ClusterFs::SwapDir::evict(Attachment &attachment) const
{
    if (attachment.evicted)
        return;
    attachment.evicted = true;
    remove(attachment.key);
}

/// forgets an object, whether it is attached or not
void
ClusterFs::SwapDir::remove(const Key &key) const
{
    if (inUse())
        store_->remove(key); // a worker tells the owner later, if there is none now
    if (!readable() && mayReturn())
        missed_.note(key);
}

void
ClusterFs::SwapDir::evictCached(StoreEntry &e)
{
    debugs(47, 5, e);
    if (e.hasDisk(index)) {
        // Without a key, it is of get(): the core has no room for it in its table of entries in use, which another object has in
        // the same place. A client that looks for it does not want to forget it, nor when its response comes.
        const auto attachment = handles_.find(e.swap_filen);
        if (attachment && (e.key || !wantsHit()))
            evict(*attachment);
        if (!e.locked())
            disconnect(e);
    } else if (const auto key = e.publicKey()) {
        evictIfFound(key);
    }
}

void
ClusterFs::SwapDir::evictIfFound(const cache_key * const key)
{
    const auto name = keyOf(key);
    remove(name);
    if (worker_ && isPurge())
        again_.push_back(name);
}

void
ClusterFs::SwapDir::disconnect(StoreEntry &e)
{
    assert(e.hasDisk(index));
    if (e.mem_obj) {
        // nil unless the entry is being stored
        if (const auto sio = dynamic_cast<IoState*>(e.mem_obj->swapout.sio.getRaw()))
            sio->abandon();
    }
    if (handles_.find(e.swap_filen))
        handles_.remove(e.swap_filen);
    e.detachFromDisk();
}

void
ClusterFs::SwapDir::logEntry(const StoreEntry &e, const int op) const
{
    // We keep no log of entries. But this call is the only one that tells of a
    // new key, when a collapsed revalidation has brought a new response.
    if (op != SWAP_LOG_ADD || !e.key)
        return;
    const auto attachment = handles_.find(e.swap_filen);
    const auto name = keyOf(static_cast<const cache_key*>(e.key));
    if (!attachment || attachment->key == name)
        return;
    debugs(47, 5, e << " was " << attachment->key.hex());
    // Of an older object with that key, the core releases only what is in memory.
    ForEach([&name](const SwapDir &dir) { dir.remove(name); });
    if (!e.swappedOut())
        attachment->renamed = true; // the core calls this again when the swapout is done
    else if (readable() && !attachment->evicted)
        const_cast<HeadUpdates&>(updates_).rename(*store_, const_cast<StoreEntry&>(e), attachment);
}

/* storing */

bool
ClusterFs::SwapDir::canStore(const StoreEntry &e, const int64_t diskSpaceNeeded, int &load) const
{
    if (!inUse() || clearing() || store_->state() == EngineState::readOnly || !readable())
        return false;
    if (!Store::Disk::canStore(e, diskSpaceNeeded, load))
        return false;
    if (handles_.full() || !e.mem_obj)
        return false;

    // Squid reads the whole metadata at once or not at all
    if (e.mem_obj->swap_hdr_sz > SM_PAGE_SIZE) {
        debugs(47, 3, "too much metadata: " << e.mem_obj->swap_hdr_sz << " in " << e);
        return false;
    }
    // diskSpaceNeeded is only a lower bound until the size is known
    const auto known = e.mem_obj->expectedReplySize() >= 0;
    if (!store_->canCreate(known ? diskSpaceNeeded : -1, load))
        return false;
    load = std::min(load + countOfThoseBehind(), int(Engine::maxLoad));
    return true;
}

/// The bytes that the dir has received since it is in use, as a share of its size.
/// They are counted in whole clusters, so that the objects of a page go to one dir.
double
ClusterFs::SwapDir::share() const
{
    const auto unit = store_->clusterBytes();
    return static_cast<double>(received_ / unit * unit) / static_cast<double>(store_->deviceBytes());
}

/// How many dirs with the same limits have received less for their size. With
/// equal loads, the core takes the dir with most bytes free. A large dir that is
/// full has more of them than a small one, and would get all objects.
int
ClusterFs::SwapDir::countOfThoseBehind() const
{
    int count = 0;
    const auto ours = share();
    ForEach([&](const SwapDir &dir) {
        if (dir.readable() && dir.max_objsize == max_objsize && dir.share() < ours)
            ++count;
    });
    return count;
}

StoreIOState::Pointer
ClusterFs::SwapDir::createStoreIO(StoreEntry &e, StoreIOState::STIOCB * const cb, void * const cbData)
{
    if (!readable() || !e.key || !e.mem_obj)
        return nullptr;
    if (EBIT_TEST(e.flags, KEY_PRIVATE))
        return nullptr; // it was released after the decision to store it

    assert(!e.hasDisk());
    const auto attachment = std::make_shared<Attachment>(keyOf(static_cast<const cache_key*>(e.key)), infoOf(e));
    const auto bodyAndHeaders = e.mem_obj->expectedReplySize();
    const auto expected = bodyAndHeaders < 0 ? -1 : bodyAndHeaders + static_cast<int64_t>(e.mem_obj->swap_hdr_sz);
    auto writer = store_->create(attachment->key, attachment->info, expected);
    if (!writer) {
        // the next request may be offered to another dir
        ForEach([&](const SwapDir &dir) {
            if (&dir != this && dir.inUse())
                dir.store_->noteUnadmitted(attachment->key);
        });
        return nullptr;
    }
    // A mark that another worker sets from now on comes before its removal, which ends the writer. This worker hears of both later.
    if (worker_ && ::Store::Root().markedForDeletion(static_cast<const cache_key*>(e.key)))
        return nullptr;

    const auto handle = handles_.add(attachment);
    if (handle < 0)
        return nullptr;

    received_ += expected < 0 ? uint64_t(config_.objectKb) << 10 : static_cast<uint64_t>(expected);
    noteRequest(attachment->key); // the lookup, if any, may have been for another key
    timeMiss(e);

    // the caller attaches the entry to the swap_dirn and swap_filen of this
    const RefCount<IoState> sio = new IoState(*this, e, attachment, handle, cb, cbData);
    sio->startWriting(std::move(writer));
    return sio.getRaw();
}

void
ClusterFs::SwapDir::finalizeSwapoutSuccess(const StoreEntry &e)
{
    const auto attachment = handles_.find(e.swap_filen);
    if (!attachment || attachment->evicted || !inUse())
        return;

    ObjectInfo stored;
    if (store_->peek(attachment->key, stored) && stored.size != e.swap_file_sz) {
        say<Message::sizeWrong>(toCacheLog, stored.size, e.swap_file_sz, ToSBuf(e).c_str());
        evict(*attachment);
        return;
    }
    // the entry may have changed since it was given to us: negative caching marks it later
    const auto info = FreshInfo(e, *attachment);
    if (!sameBasics(info, attachment->info)) {
        store_->updateInfo(attachment->key, info);
        attachment->info = info;
    }
}

void
ClusterFs::SwapDir::finalizeSwapoutFailure(StoreEntry &e)
{
    // The entry remains attached: without a disk, the core would take what its
    // clients have read so far for the whole response.
    debugs(47, 5, e);
    if (const auto attachment = handles_.find(e.swap_filen))
        evict(*attachment);
}

/* reading */

/// Prepares for reading an object that has got another head since the entry
/// learned its size. The body is the same.
/// \param size of the object now, bytes
/// \param lostHead receives how many bytes from the start can't be read
/// \param shift receives by how many bytes the object is longer
/// \returns false when the start of the body is not known
static bool
AdaptTo(const uint64_t size, const StoreEntry &e, int64_t &lostHead, int64_t &shift)
{
    // not known while the first reader still waits for the old head
    if (!e.mem_obj || !e.mem_obj->swap_hdr_sz || e.mem_obj->baseReply().hdr_sz <= 0)
        return false;
    lostHead = static_cast<int64_t>(e.mem_obj->swap_hdr_sz) + e.mem_obj->baseReply().hdr_sz;
    shift = static_cast<int64_t>(size) - static_cast<int64_t>(e.swap_file_sz);
    return true;
}

StoreIOState::Pointer
ClusterFs::SwapDir::openStoreIO(StoreEntry &e, StoreIOState::STIOCB * const cb, void * const cbData)
{
    if (!readable() || !e.hasDisk(index))
        return nullptr;

    const auto attachment = handles_.find(e.swap_filen);
    if (!attachment || attachment->lost)
        return nullptr;

    std::unique_ptr<Reader> reader;
    auto whole = false;
    const auto swapout = e.mem_obj ? dynamic_cast<IoState*>(e.mem_obj->swapout.sio.getRaw()) : nullptr;
    if (swapout && swapout->writer())
        reader = store_->read(*swapout->writer()); // which grows while it is read
    else if (attachment->unpublished && !attachment->cut)
        reader = store_->read(*attachment->unpublished);
    else if (!attachment->evicted) {
        reader = store_->read(attachment->key); // looked up again: it may have moved since get() found it
        whole = true;
    }

    int64_t lostHead = 0;
    int64_t shift = 0;
    if (reader && e.swappedOut()) {
        if (attachment->replaced && !attachment->opened && !e.mem_obj->swap_hdr_sz) {
            e.swap_file_sz = reader->size(); // nobody has read the old head
            attachment->replaced = false;
        }
        const auto fits = attachment->replaced ? AdaptTo(reader->size(), e, lostHead, shift) :
                          reader->size() == e.swap_file_sz;
        if (!fits)
            reader = nullptr;
    }
    if (!reader) {
        debugs(47, 3, "gone: " << e);
        return nullptr; // the core makes this a miss
    }
    attachment->opened = true;
    const RefCount<IoState> sio = new IoState(*this, e, attachment, e.swap_filen, cb, cbData);
    sio->startReading(std::move(reader), lostHead, shift);
    if (whole) // else the client waits for the origin server, too, and a Squid without delay pools takes it for a hit
        sio->timeHit();
    return sio.getRaw();
}

/* updating */

/// the entry's times and flags, without a flag that exportInfo() added to it
ClusterFs::ObjectInfo
ClusterFs::SwapDir::FreshInfo(const StoreEntry &e, const Attachment &attachment)
{
    auto info = infoOf(e);
    if ((attachment.info.flags & flagDoubtful) && !(attachment.info.flags & flagRevalidateAlways))
        info.flags &= static_cast<uint8_t>(~flagRevalidateAlways);
    return info;
}

void
ClusterFs::SwapDir::updateHeaders(StoreEntry * const e)
{
    assert(e);
    if (!readable() || !e->hasDisk(index) || !e->swappedOut())
        return; // of an object that is being stored, finalizeSwapoutSuccess() takes the new times

    const auto attachment = handles_.find(e->swap_filen);
    if (!attachment)
        return;

    const auto info = FreshInfo(*e, *attachment);
    if (!(info.flags & flagRevalidateAlways))
        EBIT_CLR(e->flags, ENTRY_REVALIDATE_ALWAYS); // exportInfo() has set it; now the origin has confirmed the object
    if (attachment->evicted)
        return;
    store_->updateInfo(attachment->key, info);
    attachment->info = info;
    try {
        updates_.replaceHead(*store_, *e, attachment, info, maxObjectSize());
    } catch (...) {
        debugs(47, 2, "only times are updated: " << *e << Debug::Extra << "problem: " << CurrentException);
    }
}

/* reports */

std::unique_ptr<ClusterFs::PageText>
ClusterFs::SwapDir::ask(const std::string &question)
{
    return side() ? side()->ask(question) : answerTo(*this, question);
}

std::string
ClusterFs::SwapDir::stateText() const
{
    if (!trouble_.empty())
        return "not used: " + trouble_;
    if (stopped_)
        return "stopped";
    if (!side()) // the dir was added by a reconfiguration, or another process uses it
        return active() ? "not used before a restart" : "not used by this process";
    return side()->stateText();
}

std::string
ClusterFs::SwapDir::report() const
{
    if (!started())
        return std::string();
    const auto figures = *snapshot();
    return reportText(figures) + squidReport(figures);
}

std::string
ClusterFs::SwapDir::workerReport() const
{
    return worker_ ? worker_->report(comingIn) + squidReport({{}, waits_}) : std::string();
}

std::optional<ClusterFs::SquidSnapshot>
ClusterFs::SwapDir::snapshot() const
{
    if (!started())
        return {};
    SquidSnapshot figures{snapshotOf(home_->engine(), home_->device()), waits_};
    if (const auto owner = home_->owner()) { // workers look objects up by themselves
        figures.stats.counters.lookups += owner->lookups();
        figures.stats.counters.found += owner->found();
    }
    return figures;
}

void
ClusterFs::SwapDir::statfs(StoreEntry &e) const
{
    storeAppendPrintf(&e, "State: %s\n", stateText().c_str());
    storeAppendPrintf(&e, "Maximum Size: %" PRIu64 " KB\n", maxSize() >> 10);
    storeAppendPrintf(&e, "Current Size: %.2f KB %.2f%%\n", static_cast<double>(currentSize()) / 1024.0,
                      Math::doublePercent(static_cast<double>(currentSize()), static_cast<double>(maxSize())));
    if (started()) {
        const auto stats = home_->engine().stats();
        storeAppendPrintf(&e, "Maximum entries: %9" PRIu64 "\n", stats.indexCapacity);
        storeAppendPrintf(&e, "Current entries: %9" PRIu64 " %.2f%%\n", stats.objects,
                          Math::doublePercent(static_cast<double>(stats.objects), static_cast<double>(stats.indexCapacity)));
        storeAppendPrintf(&e, "Clusters: %" PRIu64 " used, %" PRIu64 " free, %" PRIu64 " bad\n",
                          stats.clustersPacked + stats.clustersPart, stats.clustersFree, stats.clustersBad);
    }
    storeAppendPrintf(&e, "Pending operations: %zu\n", openStates);
    storeAppendPrintf(&e, "Flags:");
    if (flags.selected)
        storeAppendPrintf(&e, " SELECTED");
    if (flags.read_only)
        storeAppendPrintf(&e, " READ-ONLY");
    storeAppendPrintf(&e, "\n");
}
