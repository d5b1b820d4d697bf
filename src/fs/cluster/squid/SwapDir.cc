// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "debug/Stream.h"
#include "enums.h"
#include "fs/cluster/layout/Superblock.h"
#include "fs/cluster/squid/ClientRequest.h"
#include "fs/cluster/squid/Convert.h"
#include "fs/cluster/squid/IoState.h"
#include "fs/cluster/squid/SwapDir.h"
#include "MemObject.h"
#include "SquidConfig.h"
#include "Store.h"
#include "swap_log_op.h"
#include "time/gadgets.h"

#include <algorithm>

ClusterFs::SwapDir::SwapDir():
    Store::Disk("clusterfs"),
    loop_([this] { poll(); })
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
    const auto update = updates_.find(name);
    if (update != updates_.end())
        update->second.attachments.push_back(attachment);

    if (missed_.doubts(info.timestamp))
        attachment->info.flags |= flagDoubtful; // until a 304; see freshInfo()
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
        attachment->info.flags |= flagDoubtful; // until a 304; see freshInfo()
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
    if (e.swappedOut())
        const_cast<SwapDir*>(this)->rename(const_cast<StoreEntry&>(e), attachment);
    else
        attachment->renamed = true; // we are called again when the swapout is done
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
        debugs(47, DBG_IMPORTANT, "ERROR: Squid BUG: stored " << stored.size << " bytes of " << e.swap_file_sz << "; forgetting " << e);
        evict(*attachment);
        return;
    }
    // negative caching, for one, marks entries after they were given to us
    const auto info = freshInfo(e, *attachment);
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
