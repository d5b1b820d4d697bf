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
#include "fs/cluster/engine/Open.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/squid/CacheLog.h"
#include "fs/cluster/squid/ClientRequest.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/IoState.h"
#include "fs/cluster/squid/StoreMaker.h"
#include "fs/cluster/squid/SwapDir.h"
#include "globals.h"
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

namespace {

/// how long a shutdown may take to write what is in memory
const unsigned CloseMilliseconds = 20000;

/// how long, in seconds, and how often to wait until a device that is out of service owes no answers
const double IdleWait = 0.1;
const unsigned IdleWaitLimit = 50;

/// within so many polls whoever waits for a device that is out of service has heard of it
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
    assert(!engine_);
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

/// an error that mentions what it is about
std::string
ClusterFs::SwapDir::named(const std::string &error) const
{
    return error.find(path) == std::string::npos ? std::string(path) + ": " + error : error;
}

/// the engine's lines in cache.log
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

/// parses what follows the path
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
    // first, to see each option; what is not ours goes on to the others
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
        const auto value = option.read(line_.config);
        if (value == option.read(config_))
            continue;
        if (option.effect == Option::Effect::live) {
            option.write(wanted, value);
            say<Message::optionChanged>(toCacheLog, path, option.name, option.valueIn(wanted));
        } else if (line_.has(option.name)) { // else the default may have been computed
            say<Message::optionStays>(toCacheLog, path, option.name, option.valueIn(config_));
        }
    }
    std::string error;
    if (!wanted.validate(error)) {
        reject(error);
        return;
    }
    config_ = wanted;
    if (started())
        engine_->reconfigure(config_);
    const auto missing = started() ? !readable() : !trouble_.empty();
    if (missing && !eventFind(&StartAgain, this)) // when squid.conf has been read to its end
        eventAdd("ClusterFs::SwapDir::StartAgain", &StartAgain, this, 0.0, 0, false);
}

/// computes what the administrator left to us
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
            continue; // object-size, in processes that do not use the dir
        storeAppendPrintf(e, " %s=%s", option.name, option.valueIn(config_).c_str());
    }
}

bool
ClusterFs::SwapDir::needsDiskStrand() const
{
    // The core asks this when all of squid.conf has been parsed, our only
    // chance to compare directives. A reconfiguration can't change workers.
    if (!reconfiguring && InDaemonMode() && ::Config.workers > 1)
        fatal(messageText<Message::workers>(path, ::Config.workers).c_str());
    return false;
}

/* start and stop */

/// squid -z. A refusal costs this cache_dir only: the others are made, and Squid starts.
void
ClusterFs::SwapDir::create()
{
    auto config = config_;
    resolveDefaults(config);
    std::string error;
    if (!StoreMaker(path, sizeMb_, config, log()).make(error))
        debugs(47, DBG_CRITICAL, messageLine<Message::notMade>(named(error))); // on the terminal, too
}

void
ClusterFs::SwapDir::init()
{
    assert(!engine_ && !rebuild_.given());

    // The configuration is destroyed at exit, when most of what we would need
    // to take an engine down properly is gone already; sync() has done it.
    lock();

    rebuild_.begin();
    resolveDefaults(config_);
    start();
    // not now: the core resets the counters after all dirs are initialized
    eventAdd("ClusterFs::SwapDir::FinishStart", &FinishStart, this, 0.0, 0, false);
}

/// opens the device, or says once why not
void
ClusterFs::SwapDir::start()
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
        joinOthers();
        loop_.start(device_->wakeupFd());
        storeConfigure(); // the sizes are known now
        const auto exposure = exposureOf(path);
        if (!exposure.empty())
            log()(rowOf(Message::exposed).level, exposure);
        if (opt_store_doublecheck)
            say<Message::noChecks>(toCacheLog, path);
    } else {
        engine_ = nullptr;
        device_ = nullptr;
        trouble_ = named(trouble_) + StoreMaker::Advice(path, sizeMb_);
        say<Message::notUsed>(toCacheLog, trouble_);
    }
}

/// A dir that comes later has missed no share: it goes on with those that had least.
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

/// Takes a device into service that came back, or was exchanged, since it could
/// not be opened. What Squid has deleted meanwhile does not come back with it.
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
    missed_.tell(*engine_, squid_curtime);
    say<Message::backInService>(toCacheLog, path);
}

/// Does away with the engine of a device that is out of service.
/// \returns false, and arranges for another try, while the device owes answers:
/// to close it then would hold up Squid
bool
ClusterFs::SwapDir::letGo()
{
    auto idle = updates_.idle();
    for (unsigned n = 0; idle && n < LastPolls; ++n) {
        loop_.poll();
        idle = device_->idle() && updates_.idle();
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
    // The device may have older versions of what was not written any more.
    for (const auto &key: engine_->removalsPending())
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
    engine_ = nullptr;
    device_ = nullptr;
    kickProducers();
    return true;
}

/// whether the dir is out of service, or may be some time: what is deleted then may come back with the device
bool
ClusterFs::SwapDir::mayReturn() const
{
    return !trouble_.empty() || (engine_ && !stopped_);
}

/// opens the device and starts the engine
ClusterFs::Status
ClusterFs::SwapDir::open(std::string &error)
{
    AioDevice::OpenOptions options;
    options.path = path;
    options.depth = config_.depth;
    device_ = AioDevice::Open(clock_, options, log(), error);
    if (!device_)
        return Status::ioError;

    const auto status = openEngine(*device_, clock_, config_, log(), engine_, error);
    if (status != Status::ok)
        return status;

    max_size = engine_->superblock()->geometry.deviceBytes;
    const auto formattedMb = max_size >> 20;
    if (sizeMb_ && sizeMb_ != formattedMb)
        say<Message::sizeFormatted>(toCacheLog, path, sizeMb_, formattedMb, device_->size() >> 20);
    fs.blksize = static_cast<int>(device_->alignment());
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
        while (started() && engine_->state() == EngineState::recovering) {
            device_->wait(WaitMilliseconds);
            loop_.poll();
        }
    }
    noteRebuild();
}

/// what the driver calls
void
ClusterFs::SwapDir::poll()
{
    if (!started())
        return;
    engine_->poll();
    kickProducers();
    noteRebuild();
}

void
ClusterFs::SwapDir::kickWhenDrained(const IoState::Pointer &sio)
{
    congested_.push_back(sio);
}

/// gives those who had to wait another chance; some may come back
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
    return 0; // a busy disk is no reason for the core to give up
}

/// tells the core how far the start is
void
ClusterFs::SwapDir::noteRebuild()
{
    rebuild_.update(index, started() ? engine_.get() : nullptr);
}

void
ClusterFs::SwapDir::sync()
{
    // only called at shutdown, but several times
    if (!started())
        return;
    loop_.stop();
    stopped_ = true; // before close() answers those who can't hear it any more
    const auto status = engine_->close(CloseMilliseconds);
    if (status != Status::ok)
        say<Message::notStoppedCleanly>(toCacheLog, path, statusText(status));
    kickProducers();
}

/* sizes */

uint64_t
ClusterFs::SwapDir::currentSize() const
{
    return started() ? std::min(engine_->liveBytes(), maxSize()) : 0;
}

uint64_t
ClusterFs::SwapDir::currentCount() const
{
    return started() ? engine_->objectCount() : 0;
}

int64_t
ClusterFs::SwapDir::maxObjectSize() const
{
    const auto configured = max_objsize > -1 ? max_objsize : ::Config.Store.maxObjectSize;
    uint64_t possible = configured;
    if (started())
        possible = engine_->maxObjectSize();
    else if (max_size) // else we will know when the device is open
        possible = max_size;
    return static_cast<int64_t>(std::min<uint64_t>(configured, possible));
}

/* finding */

/// whether the engine may be asked for objects
bool
ClusterFs::SwapDir::readable() const
{
    return started() && engine_->state() != EngineState::offline;
}

StoreEntry *
ClusterFs::SwapDir::get(const cache_key * const key)
{
    if (!readable())
        return nullptr;

    const auto name = keyOf(key);
    ObjectInfo info;
    if (!engine_->find(name, info)) {
        noteRequest(name); // hits come by in reference()
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

/// Ties an entry to an object that is here.
/// \returns false when too many are tied already
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
    EBIT_SET(e.flags, ENTRY_VALIDATED); // else all reading is refused
    debugs(47, 5, e << " has " << name.hex());
    return true;
}

// Only called in SMP mode, which another cache_dir with a disker brings about.
bool
ClusterFs::SwapDir::anchorToCache(StoreEntry &e)
{
    assert(!e.hasDisk());
    if (!readable() || !e.key)
        return false;

    const auto name = keyOf(static_cast<const cache_key*>(e.key));
    ObjectInfo info;
    return engine_->find(name, info) && attach(e, name, info);
}

bool
ClusterFs::SwapDir::updateAnchored(StoreEntry &e)
{
    assert(e.hasDisk(index));
    // Objects do not grow after they were found, and there is no other writer.
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
        return false;
    }
    ObjectInfo stored;
    if (!engine_->peek(name, stored))
        return false;

    // The core asks before it stores a public entry that has no disk, and when
    // a client has read one. A copy from the shared memory cache, which lets go
    // of it once it is whole, may well be a copy of what we have.
    const auto io = e.mem_obj ? e.mem_obj->memCache.io : Store::ioUndecided;
    const auto copied = io == Store::ioReading || (io == Store::ioDone && e.mem_status == IN_MEMORY);
    const auto updated = e.mem_obj && e.mem_obj->appliedUpdates; // a 304 may bring new headers and no new times
    if (copied && !updated && stored.timestamp == e.timestamp && stored.expires == e.expires)
        return true;

    // A new response. Who made it public released an older entry only if it was
    // in memory, and under this very key: a reload finds the marker of a Vary
    // object, not the variant, and nothing at all with collapsed_forwarding.
    // What we have must not come back, also if the new response will not be
    // stored, or in another cache_dir.
    debugs(47, 5, e << " replaces " << name.hex());
    engine_->remove(name);
    return false;
}

void
ClusterFs::SwapDir::reference(StoreEntry &e)
{
    // Squid calls this for each find(). Opening the object is the same hit.
    const auto attachment = handles_.find(e.swap_filen);
    if (!attachment)
        return;
    if (readable() && !attachment->evicted) {
        engine_->touch(attachment->key);
        noteRequest(attachment->key);
    }
    // The engine drops what is too old, but this may be a hit from cache_mem.
    if (config_.fileLifetime && squid_curtime - e.timestamp > static_cast<time_t>(config_.fileLifetime) &&
            !EBIT_TEST(e.flags, ENTRY_REVALIDATE_ALWAYS)) {
        attachment->info.flags |= flagDoubtful; // until a 304; see FreshInfo()
        EBIT_SET(e.flags, ENTRY_REVALIDATE_ALWAYS);
    }
}

/// lets the engine learn from the request that is being handled
void
ClusterFs::SwapDir::noteRequest(const Key &key)
{
    if (!config_.localityMb)
        return;
    Request request;
    if (describeRequest(key, request))
        engine_->note(request);
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
    if (started())
        engine_->remove(key);
    if (!readable() && mayReturn())
        missed_.note(key);
}

void
ClusterFs::SwapDir::evictCached(StoreEntry &e)
{
    debugs(47, 5, e);
    if (e.hasDisk(index)) {
        if (const auto attachment = handles_.find(e.swap_filen))
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
    remove(keyOf(key));
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
    // We keep no log of entries. But this is how one learns of a new key: when
    // a collapsed revalidation has brought a new response.
    if (op != SWAP_LOG_ADD || !e.key)
        return;
    const auto attachment = handles_.find(e.swap_filen);
    const auto name = keyOf(static_cast<const cache_key*>(e.key));
    if (!attachment || attachment->key == name)
        return;
    debugs(47, 5, e << " was " << attachment->key.hex());
    // The core releases what it has in memory under that key, if anything.
    ForEach([&name](const SwapDir &dir) { dir.remove(name); });
    if (!e.swappedOut())
        attachment->renamed = true; // we are called again when the swapout is done
    else if (readable() && !attachment->evicted)
        const_cast<HeadUpdates&>(updates_).rename(*engine_, const_cast<StoreEntry&>(e), attachment);
}

/* storing */

bool
ClusterFs::SwapDir::canStore(const StoreEntry &e, const int64_t diskSpaceNeeded, int &load) const
{
    if (!started() || engine_->state() == EngineState::readOnly || !readable())
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
    // what is needed is a lower bound until the size is known
    const auto known = e.mem_obj->expectedReplySize() >= 0;
    if (!engine_->canCreate(known ? diskSpaceNeeded : -1, load))
        return false;
    load = std::min(load + countOfThoseBehind(), int(Engine::maxLoad));
    return true;
}

/// What the dir has received of its size since it is in use. It is counted in
/// clusters, so that one dir gets what belongs to a page.
double
ClusterFs::SwapDir::share() const
{
    const auto &geometry = engine_->superblock()->geometry;
    return static_cast<double>(received_ / geometry.clusterBytes * geometry.clusterBytes) / static_cast<double>(geometry.deviceBytes);
}

/// How many dirs of the same limits have had less for their size. With equal
/// loads the core takes the dir with most bytes free, and a large one that is
/// full has more of them than a small one: it would get all.
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
        return nullptr; // released since the decision to store it

    assert(!e.hasDisk());
    const auto attachment = std::make_shared<Attachment>(keyOf(static_cast<const cache_key*>(e.key)), infoOf(e));
    const auto bodyAndHeaders = e.mem_obj->expectedReplySize();
    const auto expected = bodyAndHeaders < 0 ? -1 : bodyAndHeaders + static_cast<int64_t>(e.mem_obj->swap_hdr_sz);
    auto writer = engine_->create(attachment->key, attachment->info, expected);
    if (!writer) {
        // the next request may be offered to another dir
        ForEach([&](const SwapDir &dir) {
            if (&dir != this && dir.started())
                dir.engine_->noteUnadmitted(attachment->key);
        });
        return nullptr;
    }

    const auto handle = handles_.add(attachment);
    if (handle < 0)
        return nullptr;

    received_ += expected < 0 ? uint64_t(config_.objectKb) << 10 : static_cast<uint64_t>(expected);
    noteRequest(attachment->key); // the lookup, if any, may have been for another key

    // the caller attaches the entry to what we set here
    const RefCount<IoState> sio = new IoState(*this, e, attachment, handle, cb, cbData);
    sio->startWriting(std::move(writer));
    return sio.getRaw();
}

void
ClusterFs::SwapDir::finalizeSwapoutSuccess(const StoreEntry &e)
{
    const auto attachment = handles_.find(e.swap_filen);
    if (!attachment || attachment->evicted || !started())
        return;

    ObjectInfo stored;
    if (engine_->peek(attachment->key, stored) && stored.size != e.swap_file_sz) {
        say<Message::sizeWrong>(toCacheLog, stored.size, e.swap_file_sz, ToSBuf(e).c_str());
        evict(*attachment);
        return;
    }
    // negative caching, for one, marks entries after they were given to us
    const auto info = FreshInfo(e, *attachment);
    if (!sameBasics(info, attachment->info)) {
        engine_->updateInfo(attachment->key, info);
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
/// learned of it. The body is the same.
/// \param lostHead receives how many bytes can't be read
/// \param shift receives how much longer the object has become
/// \returns false when nobody knows where the body starts
static bool
AdaptTo(const uint64_t size, const StoreEntry &e, int64_t &lostHead, int64_t &shift)
{
    // the first reader is still waiting for the old head
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
    const auto swapout = e.mem_obj ? dynamic_cast<IoState*>(e.mem_obj->swapout.sio.getRaw()) : nullptr;
    if (swapout && swapout->writer())
        reader = engine_->read(*swapout->writer()); // as far as it has got
    else if (attachment->unpublished && !attachment->cut)
        reader = engine_->read(*attachment->unpublished);
    else if (!attachment->evicted)
        reader = engine_->read(attachment->key); // looked up again: it may have moved since get() found it

    int64_t lostHead = 0;
    int64_t shift = 0;
    if (reader && e.swappedOut()) {
        if (attachment->replaced && !attachment->opened && !e.mem_obj->swap_hdr_sz) {
            e.swap_file_sz = reader->size(); // nobody has seen the old head
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
    return sio.getRaw();
}

/* updating */

/// the entry's times and flags, but for a flag that we added in exportInfo()
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
        return; // finalizeSwapoutSuccess() will see new times

    const auto attachment = handles_.find(e->swap_filen);
    if (!attachment)
        return;

    const auto info = FreshInfo(*e, *attachment);
    if (!(info.flags & flagRevalidateAlways))
        EBIT_CLR(e->flags, ENTRY_REVALIDATE_ALWAYS); // of exportInfo(): the origin has confirmed the object
    if (attachment->evicted)
        return;
    engine_->updateInfo(attachment->key, info);
    attachment->info = info;
    try {
        updates_.replaceHead(*engine_, *e, attachment, info, maxObjectSize());
    } catch (...) {
        debugs(47, 2, "only times are updated: " << *e << Debug::Extra << "problem: " << CurrentException);
    }
}

/* reports */

std::string
ClusterFs::SwapDir::stateText() const
{
    if (!trouble_.empty())
        return "not used: " + trouble_;
    if (stopped_)
        return "stopped";
    if (!engine_) // added by a reconfiguration, or not our business
        return active() ? "not used before a restart" : "not used by this process";
    return engine_->stateText();
}

std::string
ClusterFs::SwapDir::report() const
{
    return started() ? engine_->report() : std::string();
}

void
ClusterFs::SwapDir::statfs(StoreEntry &e) const
{
    storeAppendPrintf(&e, "State: %s\n", stateText().c_str());
    storeAppendPrintf(&e, "Maximum Size: %" PRIu64 " KB\n", maxSize() >> 10);
    storeAppendPrintf(&e, "Current Size: %.2f KB %.2f%%\n", static_cast<double>(currentSize()) / 1024.0,
                      Math::doublePercent(static_cast<double>(currentSize()), static_cast<double>(maxSize())));
    if (started()) {
        const auto stats = engine_->stats();
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
