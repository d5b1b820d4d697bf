// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of an engine working together. */

#include "fs/cluster/engine/LocalEngine.h"

#include "fs/cluster/api/Options.h"
#include "fs/cluster/base/Messages.h"
#include "fs/cluster/base/PagePool.h"
#include "fs/cluster/base/SystemMemory.h"
#include "fs/cluster/engine/Report.h"
#include "fs/cluster/learning/RequestText.h"
#include "fs/cluster/objects/HeadReplacer.h"

#include <algorithm>
#include <utility>

ClusterFs::LocalEngine::LocalEngine(Device &device, const Clock &clock, const Config &config, const Log &log,
                                    const Superblock &superblock):
    context_(device, clock, config, log, superblock),
    // clients can't know the UUID, and so can't choose ids that collide
    tracker_(uint64_t(config.localityMb) << 20, bytesId(context_.uuid.data(), context_.uuid.size())),
    journal_(context_),
    allocator_(context_, journal_),
    cache_(device, context_.catalog, context_.geometry, readPolicy_, uint64_t(config.readCacheMb) << 20,
           // as much memory as a quarter of what learning takes
           (uint64_t(config.localityMb) << 18) / Replicas::bytesEach),
    readers_{context_, cache_, tracker_, journal_},
    hotList_(context_, cache_),
    groups_(context_, tracker_, cache_.windows),
    learnedState_(hotList_, groups_),
    packer_(context_, allocator_, cache_, groups_),
    admission_(superblock.geometry.objectsExpected),
    relocator_(context_, cache_, journal_, packer_),
    evictor_(context_, journal_, allocator_, relocator_),
    writers_(context_, allocator_, cache_.windows, journal_, packer_, evictor_),
    regrouper_(context_, tracker_, cache_, relocator_),
    prefetcher_(context_, cache_, regrouper_),
    checkpointer_(context_, journal_, learnedState_, superblock),
    recovery_(context_, journal_, superblock),
    groupLoader_(context_, learnedState_),
    chores_(context_, {journal_, packer_, cache_.windows, allocator_, evictor_, checkpointer_}),
    probe_(context_)
{
    context_.catalog.tellReleases(journal_);
    context_.catalog.tellReleases(cache_.windows);
    context_.catalog.tellReleases(cache_.replicas);
    device.setDepth(config.depth);
    if (config.packing->bySize())
        context_.catalog.staging().orderBySize();
    start();
}

ClusterFs::LocalEngine::~LocalEngine()
{
    *context_.alive = false;
}

void
ClusterFs::LocalEngine::start()
{
    recovery_.takeNumbers();
    const auto status = checkpointer_.writeDirtySuperblock();
    if (status != Status::ok) {
        context_.health.level = Health::Level::noWrites;
        say<Message::superblockUnwritten>(context_.log);
    }
    journal_.setRun(checkpointer_.superblock().update);
    recovery_.start();
}

ClusterFs::EngineState
ClusterFs::LocalEngine::state() const
{
    if (closed())
        return EngineState::closed;
    if (context_.health.level == Health::Level::gone)
        return EngineState::offline;
    if (!recovery_.done())
        return EngineState::recovering;
    return context_.health.level == Health::Level::good ? EngineState::serving : EngineState::readOnly;
}

void
ClusterFs::LocalEngine::poll()
{
    if (closed())
        return;
    const Turn turn(context_);
    work();
}

/// most bytes of windows that there can be
uint64_t
ClusterFs::LocalEngine::mostWindows() const
{
    const auto &config = context_.config;
    return config.memoryMb ? uint64_t(config.memoryMb) << 20 : (uint64_t(config.readCacheMb) << 20) + context_.catalog.staging().bytesLimit();
}

/// memory of index and cluster table in use
uint64_t
ClusterFs::LocalEngine::indexBytes() const
{
    const auto &catalog = context_.catalog;
    return catalog.index().bytesInUse() + catalog.clusters().count() * sizeof(ClusterEntry);
}

/// memory beside staging and read cache that counts against Config::memoryMb, bytes
uint64_t
ClusterFs::LocalEngine::memoryOfOthers() const
{
    const auto shown = cache_.windows.shown();
    return indexBytes() + tracker_.stats().bytes + cache_.replicas.count() * Replicas::bytesEach + (shown ? shown->memory().size() : 0) +
        writers_.fillingBytes() + cache_.windows.writingBytes() + PagePool::IdleBytes(cache_.windows.pooledBytes());
}

/// Gives the read cache the memory that nobody else takes now, with that of staging. The loader lets windows go when staging
/// wants it back.
void
ClusterFs::LocalEngine::divideMemory()
{
    const auto &config = context_.config;
    auto left = mostWindows();
    left -= std::min(left, context_.catalog.staging().bytesResident());
    if (config.memoryMb) {
        left -= std::min(left, memoryOfOthers());
        if ((indexBytes() >> 20) + config.leastMemoryMb() > config.memoryMb && !std::exchange(littleMemoryNoted_, true))
            say<Message::memoryUsedUp>(context_.log, config.memoryMb, indexBytes() >> 20, config.leastMemoryMb());
    }
    cache_.windows.setLimit(std::max(std::min(left, windowsAllowed_), leastWindows()));
}

void
ClusterFs::LocalEngine::noteMemory(const MemoryRoom &room)
{
    const auto spare = room.spare();
    if (room.free < spare) {
        const auto has = cache_.windows.bytes();
        const auto missing = spare - room.free;
        const auto kept = std::min(windowsAllowed_, has);
        windowsAllowed_ = std::max(leastWindows(), kept - std::min(kept, missing));
        if (has > windowsAllowed_ && !std::exchange(shortMemoryNoted_, true))
            say<Message::memoryShort>(context_.log, room.free >> 20, room.all >> 20, has >> 20, windowsAllowed_ >> 20);
    } else if (windowsAllowed_ != noBound && room.free > 2 * spare) {
        windowsAllowed_ += std::max((room.free - 2 * spare) / 4, spare / 16);
        if (windowsAllowed_ >= mostWindows())
            windowsAllowed_ = noBound;
    }
}

/// one turn of all parts
void
ClusterFs::LocalEngine::work()
{
    context_.device.poll();
    divideMemory();
    cache_.loader.poll();
    prefetcher_.poll();
    // only those that are there now: calls that these add wait for the next turn
    for (auto n = context_.later.size(); n > 0; --n) {
        const auto call = std::move(context_.later.front());
        context_.later.pop_front();
        call();
    }
    if (!recovery_.done()) {
        recovery_.poll();
        checkpointer_.hold(recovery_.scanning());
        context_.recovered = recovery_.storable();
    }
    if (recovery_.done() && !recoveryNoted_)
        noteRecovery();
    if (checkpointOwed_ && !groupLoader_.loading()) {
        checkpointOwed_ = false;
        checkpointer_.request();
    }
    if (context_.recovered && context_.health.level == Health::Level::good) {
        if (!closing_) {
            learn();
            evictor_.poll();
            checkpointer_.poll();
        }
        allocator_.poll();
        packer_.poll(!checkpointer_.waiting());
        flushWhenDue();
        if (packer_.hasWork() || (relocator_.hasWork() && !closing_))
            context_.device.pollAgain(); // large clusters of small objects take many turns
    }
    if (recovery_.knowsJournal()) // during a start, too: Config::deleteTime bounds each delete
        journal_.poll();
    chores_.poll();
    writers_.poll();
    probe_.poll();
}

/// a text about the known losses of a crash, if any
static std::string
lossText(const ClusterFs::RecoveryStats &r)
{
    std::string text;
    const auto add = [&text](const uint64_t count, const char *const what) {
        if (count)
            text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
    };
    add(r.objectsLost, " objects in part");
    add(r.clustersTorn, " clusters that were being written");
    add(r.journalBlocksLost, " blocks of the journal");
    add(r.blocksLost, " blocks of the index log");
    return text.empty() ? "nothing" : text;
}

void
ClusterFs::LocalEngine::noteRecovery()
{
    recoveryNoted_ = true;
    context_.covered = context_.forgotten;
    checkpointer_.restore(recovery_.takeMarks());
    if (recovery_.newestCluster() != noCluster) {
        allocator_.goOnBehind(recovery_.newestCluster());
        evictor_.goOnBehind(recovery_.newestCluster());
    }
    const auto &r = recovery_.stats();
    const auto how = r.scanned ? ", by a scan" : "";
    if (r.clean)
        say<Message::indexComplete>(context_.log, r.objects, r.reads, r.micros / 1000, how);
    else
        say<Message::indexAfterCrash>(context_.log, r.objects, r.reads, r.micros / 1000, how, lossText(r));
    checkpointOwed_ = !r.clean || r.scanned;
    if (checkpointOwed_)
        context_.leftBehind.note(Sequence(0)); // the checkpoint on the device has older copies of objects that were being relocated
    if (context_.config.localityMb || context_.config.warm)
        groupLoader_.start(checkpointer_.superblock().groups);
}

/// the objects that were read just now show which groups lie apart
void
ClusterFs::LocalEngine::learn()
{
    for (const auto &key: context_.readKeys)
        regrouper_.noteRead(key);
    context_.readKeys.clear();
    regrouper_.poll();
    groups_.poll();
    hotList_.poll();
}

/// \returns when to flush the disk for clusters that are packed from now on, in Clock::micros()
uint64_t
ClusterFs::LocalEngine::nextFlush() const
{
    return context_.clock.micros() + uint64_t(groups_.leastPersist()) * 1000000 / 2;
}

/// Flushes the disk when packed objects must survive a power cut, or when relocations wait for it.
void
ClusterFs::LocalEngine::flushWhenDue()
{
    const auto now = context_.clock.micros();
    if (flushing_ || !(relocator_.wantsFlush(allocator_.available() < allocator_.reserve()) || (packer_.dirty() && now >= nextFlush_)))
        return;
    nextFlush_ = nextFlush();
    packer_.flushed();
    flushing_ = true;
    Io io;
    io.op = IoOp::flush;
    io.ioClass = IoClass::background;
    const auto alive = context_.alive;
    const auto settled = relocator_.beginFlush();
    io.done = [this, alive, settled](const Status status) {
        if (!*alive)
            return;
        flushing_ = false;
        context_.health.writeDone(status, context_.log);
        if (status != Status::ok)
            packer_.flushFailed();
        if (!closing_) // while closing, clusters stay: the last checkpoint has begun, and would not have them as free
            relocator_.flushed(settled); // after a failed flush, too: the space is needed
    };
    context_.device.submit(std::move(io));
}

bool
ClusterFs::LocalEngine::pollUntil(const std::function<bool()> &condition, const uint64_t deadline)
{
    while (!condition()) {
        if (context_.clock.micros() >= deadline || context_.health.level != Health::Level::good)
            return false;
        work();
        if (!condition())
            context_.device.wait(context_.device.idle() ? 1 : 10); // some work goes on without the device
    }
    return true;
}

ClusterFs::Status
ClusterFs::LocalEngine::close(const unsigned maxMilliseconds)
{
    if (closed())
        return Status::ok;
    const auto status = finish(maxMilliseconds);
    closing_ = true;
    *context_.alive = false; // answers that are still to come are dropped
    return status;
}

/// packs, and writes the last checkpoint and the clean superblock
/// \returns see Engine::close()
ClusterFs::Status
ClusterFs::LocalEngine::finish(const unsigned maxMilliseconds)
{
    const auto deadline = context_.clock.micros() + uint64_t(maxMilliseconds) * 1000;
    const auto packedBy = deadline - uint64_t(maxMilliseconds) * 1000 / 4; // the checkpoint takes time, too
    if (!pollUntil([this] { return recovery_.done(); }, deadline))
        return Status::aborted;
    const auto &staging = context_.catalog.staging();
    chores_.stop();
    packer_.packAll(Packer::All::fromTail);
    const auto isPacked = [&] { return !staging.completeBytes() && packer_.nothingInFlight() && !writers_.bytesInFlight; };
    // groups that are not loaded yet would be missing in the checkpoint
    pollUntil([&] { return isPacked() && !groupLoader_.loading(); }, packedBy);
    const auto packed = isPacked();
    closing_ = true;
    checkpointer_.beBrief();
    const auto quiet = pollUntil([this] { return !checkpointer_.running() || (checkpointer_.poll(), false); }, deadline);
    if (!quiet || context_.health.level != Health::Level::good)
        return Status::ioError;
    const auto before = checkpointer_.completed();
    checkpointer_.request();
    const auto done = pollUntil([&] {
        checkpointer_.poll();
        return checkpointer_.completed() > before || checkpointer_.lastFailed();
    }, deadline);
    if (!done || checkpointer_.completed() == before)
        return Status::ioError;
    const auto now = context_.clock.micros();
    const auto status = checkpointer_.writeCleanSuperblock(now < deadline ? deadline - now : 0);
    return status == Status::ok && !packed ? Status::aborted : status;
}

/// Looks a key up. Squid finds, touches and opens an object in separate calls, between which the object may move or go, so
/// each of them looks it up here. After that, everything down to the read from the device uses the record.
/// \returns the record of an object that may be used, or noSlot
ClusterFs::SlotNo
ClusterFs::LocalEngine::usable(const Key &key) const
{
    if (closed() || context_.health.level == Health::Level::gone)
        return noSlot;
    const auto slot = context_.catalog.index().find(key);
    if (slot == noSlot || context_.expired(slot))
        return noSlot;
    const auto &r = context_.catalog.index()[slot];
    // the index compares hashed keys only; a staged object has its whole key in memory
    if (r.staged() && context_.catalog.staging()[r.stage()].key != key)
        return noSlot;
    if (recovery_.mayFindNewer(slot))
        return noSlot;
    return slot;
}

void
ClusterFs::LocalEngine::note(const Request &request)
{
    const Turn turn(context_);
    if (const auto page = context_.config.localityMb ? tracker_.note(request, context_.clock.micros()) : 0) {
        tracker_.wantedBy(page, group_, Prefetcher::maxWanted);
        prefetcher_.fetch(group_, request.client);
    }
}

bool
ClusterFs::LocalEngine::find(const Key &key, ObjectInfo &info)
{
    const Turn turn(context_);
    ++context_.counters.lookups;
    if (!peek(key, info))
        return false;
    ++context_.counters.found;
    return true;
}

bool
ClusterFs::LocalEngine::peek(const Key &key, ObjectInfo &info) const
{
    const auto slot = usable(key);
    if (slot == noSlot)
        return false;
    info = context_.catalog.info(slot);
    return true;
}

void
ClusterFs::LocalEngine::touch(const Key &key)
{
    const auto slot = usable(key);
    if (slot != noSlot)
        evictor_.touch(slot);
}

bool
ClusterFs::LocalEngine::canCreate(const int64_t size, int &load) const
{
    const auto &staging = context_.catalog.staging();
    load = Engine::maxLoad;
    if (context_.health.level != Health::Level::good || closing_ || journal_.overflowed())
        return false;
    if (size > static_cast<int64_t>(writers_.largestObject()))
        return false;
    const auto wanted = size < 0 ? writers_.smallestFront() : writers_.promiseOf(size);
    if (wanted > staging.bytesFree() || writers_.bytesInFlight * 2 > writers_.maxBytesInFlight())
        return false;
    // packing starts when staging is half full, so up to there the load is 0
    const auto used = staging.bytesLimit() - staging.bytesFree();
    load = used * 2 <= staging.bytesLimit() ? 0 : static_cast<int>((used * 2 - staging.bytesLimit()) * Engine::maxLoad / staging.bytesLimit());
    return true;
}

std::unique_ptr<ClusterFs::Writer>
ClusterFs::LocalEngine::create(const Key &key, const ObjectInfo &info, const int64_t expectedSize)
{
    const Turn turn(context_);
    int load = 0;
    auto &staging = context_.catalog.staging();
    if (!canCreate(expectedSize, load)) {
        ++context_.counters.refused;
        return nullptr;
    }
    if (!admission_.admits(key, context_.config.admit)) {
        ++context_.counters.notAdmitted;
        return nullptr;
    }
    const auto front = writers_.frontOf(expectedSize);
    const auto promised = expectedSize > 0 ? Staging::MemoryOf(writers_.promiseOf(expectedSize)) : 0;
    if (!staging.promise(promised)) {
        ++context_.counters.refused;
        return nullptr;
    }
    auto own = info;
    own.flags &= flagsOfCaller;
    const auto stage = staging.open(key, own);
    if (stage == noStage) {
        staging.unpromise(promised);
        ++context_.counters.refused;
        return nullptr;
    }
    return std::make_unique<ObjectWriter>(writers_, key, stage, ObjectWriter::Plan{expectedSize, front, promised});
}

void
ClusterFs::LocalEngine::noteUnadmitted(const Key &key)
{
    (void)admission_.admits(key, context_.config.admit);
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::LocalEngine::read(const Key &key)
{
    const Turn turn(context_);
    const auto slot = usable(key);
    if (slot == noSlot)
        return nullptr;
    ++context_.counters.opens;
    return std::make_unique<ObjectReader>(readers_, key, slot);
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::LocalEngine::read(const Writer &writer)
{
    if (closed())
        return nullptr;
    const auto &ours = static_cast<const ObjectWriter &>(writer);
    const auto &object = ours.object();
    if (object->failed)
        return nullptr;
    if (object->finished)
        return read(ours.key());
    ++context_.counters.opens;
    return std::make_unique<ObjectReader>(readers_, ours.key(), object);
}

bool
ClusterFs::LocalEngine::remove(const Key &key)
{
    if (closed())
        return false;
    const Turn turn(context_);
    recovery_.removedNow(key);
    writers_.moves.noteChange(key);
    const auto slot = context_.catalog.index().find(key);
    if (slot != noSlot || context_.mayReturn())
        journal_.removal(key, context_.sequence);
    if (slot == noSlot)
        return false;
    ++context_.counters.removed;
    context_.catalog.erase(slot);
    return true;
}

void
ClusterFs::LocalEngine::updateInfo(const Key &key, const ObjectInfo &info)
{
    const Turn turn(context_);
    const auto slot = usable(key);
    if (slot != noSlot)
        context_.catalog.updateInfo(slot, info);
}

void
ClusterFs::LocalEngine::replaceHead(const Key &key, const uint32_t oldHeadSize, const std::string &newHead,
                                    const ObjectInfo &info, std::function<void(Status)> done)
{
    const Turn turn(context_);
    const auto slot = usable(key);
    if (slot == noSlot || context_.health.level != Health::Level::good) {
        context_.later.emplace_back([done = std::move(done)] { done(Status::notFound); });
        return;
    }
    HeadReplacer::Start(context_, writers_, std::make_unique<ObjectReader>(readers_, key, slot),
                        HeadReplacer::Task{key, key, oldHeadSize, newHead, info, std::move(done)});
}

void
ClusterFs::LocalEngine::rename(const Key &key, const Key &newKey, const uint32_t oldHeadSize, const std::string &newHead,
                               std::function<void(Status)> done)
{
    const Turn turn(context_);
    const auto slot = usable(key);
    if (slot == noSlot || key == newKey || context_.health.level != Health::Level::good) {
        context_.later.emplace_back([done = std::move(done)] { done(Status::notFound); });
        return;
    }
    HeadReplacer::Start(context_, writers_, std::make_unique<ObjectReader>(readers_, key, slot),
    HeadReplacer::Task{key, newKey, oldHeadSize, newHead, context_.catalog.info(slot), [this, key, done = std::move(done)](const Status status) {
        if (status == Status::ok)
            remove(key);
        done(status);
    }});
}

/// The cursor has the number of the cluster that it is at in its upper half, and that of the last record in its lower one, each one higher.
bool
ClusterFs::LocalEngine::nextInOrder(const Walk order, uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    const Turn turn(context_);
    const auto &index = context_.catalog.index();
    const auto &clusters = context_.catalog.clusters();
    if (closed() || !index.keepsKeys())
        return false;
    auto at = cursor ? ClusterNo(static_cast<uint32_t>((cursor >> 32) - 1)) : order == Walk::ripe ? clusters.tail() : clusters.head();
    const auto last = static_cast<uint32_t>(cursor);
    auto slot = noSlot;
    if (at != noCluster && clusters.has(at) && clusters.linked(at)) {
        const auto before = last ? SlotNo(last - 1) : noSlot;
        if (!last)
            slot = clusters[at].first;
        else if (before.value() < index.slotsTouched() && index[before].cluster == at)
            slot = index[before].sibling; // else it has left the cluster, and the rest of that is left out
    } else {
        return false;
    }
    while (looks) {
        --looks;
        if (slot == noSlot) {
            at = order == Walk::ripe ? clusters.towardsHead(at) : clusters.towardsTail(at);
            if (at == noCluster)
                return false;
            slot = clusters[at].first;
            cursor = uint64_t(at.value() + 1) << 32;
            continue;
        }
        cursor = uint64_t(at.value() + 1) << 32 | (slot.value() + 1);
        const auto &r = index[slot];
        if (!r.dead() && index.keyOf(slot) != Key() && !context_.expired(slot) && !recovery_.mayFindNewer(slot)) {
            key = index.keyOf(slot);
            info = context_.catalog.info(slot);
            return true;
        }
        slot = r.sibling;
    }
    return false;
}

bool
ClusterFs::LocalEngine::next(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    const Turn turn(context_);
    const auto &index = context_.catalog.index();
    if (closed() || !index.keepsKeys())
        return false;
    for (; cursor < index.slotsTouched() && looks; ++cursor) {
        --looks;
        const auto slot = SlotNo(static_cast<uint32_t>(cursor));
        const auto &r = index[slot];
        if (r.dead() || r.cluster == noCluster || index.keyOf(slot) == Key() || context_.expired(slot) || recovery_.mayFindNewer(slot))
            continue;
        key = index.keyOf(slot);
        info = context_.catalog.info(slot);
        ++cursor;
        return true;
    }
    return false;
}

void
ClusterFs::LocalEngine::reconfigure(const Config &newer)
{
    if (newer.replacement != context_.config.replacement || newer.sizeWeight != context_.config.sizeWeight)
        relocator_.mark.forget();
    for (const auto &option: options()) {
        if (option.effect == Option::Effect::live)
            option.write(context_.config, option.read(newer));
    }
    // a shorter persist counts at once
    nextFlush_ = std::min(nextFlush_, nextFlush());
    context_.config.suitOthers();
    divideMemory();
    context_.device.setDepth(context_.config.depth);
}

ClusterFs::Status
ClusterFs::LocalEngine::setPersist(const uint64_t group, const uint32_t seconds)
{
    if (closed())
        return Status::aborted;
    const auto status = groups_.setPersist(group, seconds);
    nextFlush_ = std::min(nextFlush_, nextFlush());
    return status;
}

void
ClusterFs::LocalEngine::run(const Chore chore, const uint64_t bytes, std::function<void(Status)> done)
{
    if (!closed())
        chores_.begin(chore, bytes, std::move(done));
}

uint64_t
ClusterFs::LocalEngine::capacityBytes() const
{
    const auto &g = context_.geometry;
    return uint64_t(g.clusterCount) * g.clusterBytes + context_.catalog.staging().bytesLimit();
}

std::string
ClusterFs::LocalEngine::report() const
{
    return reportText(snapshotOf(*this, context_.device));
}

bool
ClusterFs::LocalEngine::share(SharedTables &tables, std::string &error)
{
    auto &windows = cache_.windows;
    if (!windows.pages() && !windows.share(mostWindows(), error))
        return false;
    const auto &index = context_.catalog.index();
    const auto &staging = context_.catalog.staging();
    const auto set = [&tables](const SharedTables::Which which, const Region &memory) {
        tables.memories[which] = {memory.fd(), memory.size()};
    };
    set(SharedTables::head, index.headMemory());
    set(SharedTables::buckets, index.bucketMemory());
    set(SharedTables::records, index.recordMemory());
    if (const auto keys = index.keyMemory())
        set(SharedTables::keys, *keys);
    else
        tables.memories[SharedTables::keys] = {index.headMemory().fd(), 0};
    set(SharedTables::clusters, context_.catalog.clusters().memory());
    set(SharedTables::staging, staging.bytesMemory());
    set(SharedTables::chunks, staging.chainMemory());
    set(SharedTables::staged, staging.objectMemory());
    set(SharedTables::windowTable, windows.shown()->memory());
    tables.memories[SharedTables::windows] = {windows.pages()->fd(), windows.pages()->size()};
    tables.baseBuckets = context_.geometry.baseBuckets;
    tables.secret = checkpointer_.superblock().secret;
    tables.uuid = context_.uuid;
    const auto missing = [](const SharedTables::Memory &memory) { return memory.fd < 0; };
    if (std::none_of(tables.memories.begin(), tables.memories.end(), missing))
        return true;
    error = "no file descriptor for the index that workers are to see";
    return false;
}

void
ClusterFs::LocalEngine::noteRead(const Key &key)
{
    const Turn turn(context_);
    const auto slot = usable(key);
    if (slot == noSlot)
        return;
    ++context_.counters.opens;
    const auto &r = context_.catalog.index()[slot];
    if (r.staged()) {
        ++context_.counters.readFromStaging;
        return;
    }
    ++context_.counters.readFromCache;
    const auto bytes = static_cast<uint32_t>(ExtentHeader::encodedBytes) + context_.catalog.payloadBytes(slot);
    const ClusterRange range{r.cluster, context_.catalog.clusters()[r.cluster].sequence, r.offset(), bytes};
    if (const auto window = cache_.windows.find(range)) {
        window->use(range.start, range.size);
        window->again = true;
    }
    if (tracker_.numbered().favourOf(key) == Favour::hated)
        cache_.windows.putFirst(range);
}
