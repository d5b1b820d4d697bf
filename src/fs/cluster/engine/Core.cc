// SPDX-License-Identifier: GPL-2.0-or-later
/* How the parts work together. */

#include "fs/cluster/engine/Core.h"

#include "fs/cluster/engine/HeadReplacer.h"
#include "fs/cluster/locality/RequestText.h"
#include "fs/cluster/reading/ObjectReader.h"

#include <algorithm>

ClusterFs::Core::Core(Device &device, const Clock &clock, const Config &config, const Log &log, const Superblock &superblock):
    shared(device, clock, config, log, superblock),
    // clients can't know the UUID, and so can't choose ids that collide
    tracker(uint64_t(config.localityMb) << 20, bytesId(shared.uuid.data(), shared.uuid.size())),
    journal(shared),
    allocator(shared, journal),
    cache(device, shared.catalog, shared.geometry, uint64_t(config.readCacheMb) << 20),
    groups(shared, tracker, cache),
    packer(shared, allocator, cache),
    admission(superblock.geometry.objectsExpected),
    writers(shared, allocator, cache),
    carrier(shared, cache),
    regrouper(shared, tracker, cache, carrier),
    prefetcher(shared, cache),
    evictor(shared, journal, allocator, cache, carrier),
    checkpointer(shared, journal, superblock),
    recovery(shared, journal, superblock),
    groupLoader(shared),
    probe(shared)
{
    shared.catalog.onRelease = [this](const ClusterNo c) {
        journal.release(c);
        cache.forget(c);
    };
    shared.onUnreadable = [this](const Key &key) { journal.removal(key, shared.sequence); };
    writers.journal = &journal;
    writers.onComplete = [this](const StageNo s) { packer.noteComplete(s, groups.persistOf(shared.catalog.staging[s].key)); };
    writers.makeRoom = [this] { evictor.hurry(); };
    carrier.onComplete = writers.onComplete;
    shared.companyOf = [this](const Key &key, std::vector<Key> &company) {
        if (tracker.isGuest(key, company, Groups::mostMembers))
            return true;
        if (!tracker.isShared(key))
            return false;
        tracker.groupOf(key, company, Groups::mostMembers);
        return true;
    };
    prefetcher.onRead = [this](const Key &key) { regrouper.noteRead(key); };
    checkpointer.saveGroups = [this](uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) {
        return tracker.save(at, [this](const Key &key) { return shared.catalog.index.find(key) != noSlot; },
                            SavedGroups::BytesInChunk(), records);
    };
    groupLoader.onGroup = [this](const SavedGroups::GroupRecord &record) { return tracker.restore(record); };
    packer.groupOf = [this](const StageNo s, std::vector<StageNo> &group) { stagedGroup(s, group); };
    device.setDepth(config.depth);
}

ClusterFs::Core::~Core()
{
    *shared.alive = false;
}

ClusterFs::Status
ClusterFs::Core::start()
{
    recovery.takeNumbers();
    const auto status = checkpointer.writeDirtySuperblock();
    if (status != Status::ok) {
        shared.health.level = Health::Level::noWrites;
        shared.log(LogLevel::error, "the superblock can't be written: nothing will be stored, hits go on");
    }
    journal.setRun(checkpointer.superblock().update);
    recovery.start();
    return Status::ok;
}

ClusterFs::EngineState
ClusterFs::Core::state() const
{
    if (shared.health.level == Health::Level::gone)
        return EngineState::offline;
    if (!recovery.done())
        return EngineState::recovering;
    return shared.health.level == Health::Level::good ? EngineState::serving : EngineState::readOnly;
}

void
ClusterFs::Core::poll()
{
    shared.device.poll();
    cache.poll();
    prefetcher.poll();
    // only what is there now: what these add waits for the next turn
    for (auto n = shared.later.size(); n > 0; --n) {
        const auto call = std::move(shared.later.front());
        shared.later.pop_front();
        call();
    }
    if (!recovery.done()) {
        recovery.poll();
        checkpointer.hold(recovery.scanning());
        shared.recovered = recovery.storable();
    }
    if (recovery.done() && !recoveryNoted_)
        noteRecovery();
    if (checkpointOwed_ && !groupLoader.loading()) {
        checkpointOwed_ = false;
        checkpointer.request();
    }
    if (shared.recovered && shared.health.level == Health::Level::good) {
        if (!closing_) {
            learn();
            evictor.poll();
            checkpointer.poll();
        }
        allocator.poll();
        packer.poll(!checkpointer.waiting());
        flushWhenDue();
        if (packer.hasWork() || (evictor.hasWork() && !closing_))
            shared.device.pollAgain(); // large clusters of small objects take many turns
    }
    if (recovery.knowsJournal()) // a delete has its bound during a start, too
        journal.poll();
    writers.poll();
    probe.poll();
}

/// what a start after a crash knows to be lost, or that nothing is
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
    return "; lost beside what was in memory: " + (text.empty() ? "nothing" : text);
}

void
ClusterFs::Core::noteRecovery()
{
    recoveryNoted_ = true;
    shared.covered = shared.forgotten;
    checkpointer.restore(recovery.takeMarks());
    if (recovery.newestCluster() != noCluster) {
        allocator.goOnBehind(recovery.newestCluster());
        evictor.goOnBehind(recovery.newestCluster());
    }
    const auto &r = recovery.stats();
    shared.log(LogLevel::notice, "index is complete: " + std::to_string(r.objects) + " objects, " +
               std::to_string(r.reads) + " reads, " + std::to_string(r.micros / 1000) + " ms" +
               (r.clean ? "" : ", after a crash") + (r.scanned ? ", by a scan" : "") + (r.clean ? "" : lossText(r)));
    checkpointOwed_ = !r.clean || r.scanned;
    if (checkpointOwed_)
        shared.leftBehind.note(0); // of what was being moved, the checkpoint has the older copies
    if (shared.config.localityMb)
        groupLoader.start(checkpointer.superblock().groups);
}

/// what was read just now shows where the groups are
void
ClusterFs::Core::learn()
{
    for (const auto &key: shared.readKeys)
        regrouper.noteRead(key);
    shared.readKeys.clear();
    regrouper.poll();
}

/// \returns when to flush what is packed from now on, in Clock::micros()
uint64_t
ClusterFs::Core::nextFlush() const
{
    return shared.clock.micros() + uint64_t(groups.leastPersist()) * 1000000 / 2;
}

/// what was packed must survive a power cut within the promised time
void
ClusterFs::Core::flushWhenDue()
{
    const auto now = shared.clock.micros();
    if (flushing_ || !(carrier.wantsFlush(allocator.available() < allocator.reserve()) || (packer.dirty() && now >= nextFlush_)))
        return;
    nextFlush_ = nextFlush();
    packer.flushed();
    flushing_ = true;
    Io io;
    io.op = IoOp::flush;
    io.ioClass = IoClass::background;
    const auto alive = shared.alive;
    const auto settled = carrier.takeSettled();
    io.done = [this, alive, settled](const Status status) {
        if (!*alive)
            return;
        flushing_ = false;
        shared.health.writeDone(status, shared.log);
        if (status != Status::ok)
            packer.flushFailed();
        if (!closing_) // the last checkpoint has begun, and would not know what is evicted now
            carrier.flushed(settled); // after a failed flush, too: the space is needed
    };
    shared.device.submit(std::move(io));
}

bool
ClusterFs::Core::pollUntil(const std::function<bool()> &condition, const uint64_t deadline)
{
    while (!condition()) {
        if (shared.clock.micros() >= deadline || shared.health.level != Health::Level::good)
            return false;
        poll();
        if (!condition())
            shared.device.wait(shared.device.idle() ? 1 : 10); // some of what there is to do needs no device
    }
    return true;
}

ClusterFs::Status
ClusterFs::Core::close(const unsigned maxMilliseconds)
{
    const auto deadline = shared.clock.micros() + uint64_t(maxMilliseconds) * 1000;
    const auto packedBy = deadline - uint64_t(maxMilliseconds) * 1000 / 4; // the checkpoint takes time, too
    if (!pollUntil([this] { return recovery.done(); }, deadline))
        return Status::aborted;
    const auto &staging = shared.catalog.staging;
    packer.packAll(true);
    const auto isPacked = [&] { return staging.leastRecent() == noStage && packer.idle() && !writers.bytesInFlight; };
    // groups that are not back yet would be missing in the checkpoint
    pollUntil([&] { return isPacked() && !groupLoader.loading(); }, packedBy);
    const auto packed = isPacked();
    closing_ = true;
    checkpointer.beBrief();
    const auto quiet = pollUntil([this] { return !checkpointer.running() || (checkpointer.poll(), false); }, deadline);
    if (!quiet || shared.health.level != Health::Level::good)
        return Status::ioError;
    const auto before = checkpointer.completed();
    checkpointer.request();
    const auto done = pollUntil([&] {
        checkpointer.poll();
        return checkpointer.completed() > before || checkpointer.lastFailed();
    }, deadline);
    if (!done || checkpointer.completed() == before)
        return Status::ioError;
    const auto now = shared.clock.micros();
    const auto status = checkpointer.writeCleanSuperblock(now < deadline ? deadline - now : 0);
    return status == Status::ok && !packed ? Status::aborted : status;
}

/// \returns the record of an object that may be used, or noSlot
ClusterFs::SlotNo
ClusterFs::Core::usable(const Key &key) const
{
    if (shared.health.level == Health::Level::gone)
        return noSlot;
    const auto slot = shared.catalog.index.find(key);
    if (slot == noSlot || evictor.expired(slot))
        return noSlot;
    const auto &r = shared.catalog.index[slot];
    // in staging, we can compare the whole key at no cost
    if (r.staged() && shared.catalog.staging[r.place].key != key)
        return noSlot;
    return slot;
}

void
ClusterFs::Core::note(const Request &request)
{
    if (const auto page = shared.config.localityMb ? tracker.note(request, shared.clock.micros()) : 0) {
        tracker.wantedBy(page, group_, Prefetcher::wantedMost);
        prefetcher.fetch(group_, request.client);
    }
}

/// the part of an object's group that could be packed with it now
void
ClusterFs::Core::stagedGroup(const StageNo seed, std::vector<StageNo> &group)
{
    const auto &catalog = shared.catalog;
    group_.clear();
    tracker.groupOf(catalog.staging[seed].key, group_, Groups::mostMembers);
    bool seen = false;
    for (const auto &key: group_) {
        const auto slot = catalog.index.find(key);
        if (slot == noSlot || !catalog.index[slot].staged())
            continue;
        const auto s = static_cast<StageNo>(catalog.index[slot].place);
        if (catalog.staging[s].state != StageState::complete || catalog.staging[s].key != key)
            continue;
        group.push_back(s);
        seen = seen || s == seed;
    }
    if (!seen)
        group.clear();
}

bool
ClusterFs::Core::find(const Key &key, ObjectInfo &info)
{
    ++shared.counters.lookups;
    if (!peek(key, info))
        return false;
    ++shared.counters.found;
    return true;
}

bool
ClusterFs::Core::peek(const Key &key, ObjectInfo &info) const
{
    const auto slot = usable(key);
    if (slot == noSlot)
        return false;
    info = shared.catalog.info(slot);
    return true;
}

void
ClusterFs::Core::touch(const Key &key)
{
    const auto slot = usable(key);
    if (slot != noSlot)
        evictor.touch(slot);
}

bool
ClusterFs::Core::canCreate(const int64_t size, int &load) const
{
    const auto &staging = shared.catalog.staging;
    load = Engine::loadMost;
    if (shared.health.level != Health::Level::good || closing_ || journal.overflowed())
        return false;
    if (size > static_cast<int64_t>(writers.largestObject()))
        return false;
    const auto wanted = size < 0 ? writers.smallestFront() : writers.promiseOf(size);
    if (wanted > staging.bytesFree() || writers.bytesInFlight * 2 > writers.bytesInFlightMost())
        return false;
    // packing starts at half, so that half full is not busy
    const auto used = staging.bytesLimit() - staging.bytesFree();
    load = used * 2 <= staging.bytesLimit() ? 0 : static_cast<int>((used * 2 - staging.bytesLimit()) * Engine::loadMost / staging.bytesLimit());
    return true;
}

std::unique_ptr<ClusterFs::Writer>
ClusterFs::Core::create(const Key &key, const ObjectInfo &info, const int64_t expectedSize)
{
    ++shared.counters.creates;
    int load = 0;
    auto &staging = shared.catalog.staging;
    if (!canCreate(expectedSize, load)) {
        ++shared.counters.refused;
        return nullptr;
    }
    if (!admission.admits(key, shared.config.admit)) {
        ++shared.counters.notAdmitted;
        return nullptr;
    }
    const auto front = writers.frontOf(expectedSize);
    const auto promised = expectedSize > 0 ? Staging::MemoryOf(writers.promiseOf(expectedSize)) : 0;
    if (!staging.promise(promised)) {
        ++shared.counters.refused;
        return nullptr;
    }
    auto own = info;
    own.flags &= flagsOfCaller;
    const auto stage = staging.open(key, own);
    if (stage == noStage) {
        staging.unpromise(promised);
        ++shared.counters.refused;
        return nullptr;
    }
    return std::make_unique<ObjectWriter>(writers, key, stage, ObjectWriter::Plan{expectedSize, front, promised});
}

void
ClusterFs::Core::noteUnadmitted(const Key &key)
{
    (void)admission.admits(key, shared.config.admit);
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::Core::read(const Key &key)
{
    const auto slot = usable(key);
    if (slot == noSlot)
        return nullptr;
    ++shared.counters.opens;
    return std::make_unique<ObjectReader>(shared, cache, key, slot);
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::Core::read(const Writer &writer)
{
    const auto &ours = static_cast<const ObjectWriter &>(writer);
    const auto &object = ours.object();
    if (object->failed)
        return nullptr;
    if (object->finished)
        return read(ours.key());
    ++shared.counters.opens;
    return std::make_unique<ObjectReader>(shared, cache, ours.key(), object);
}

bool
ClusterFs::Core::remove(const Key &key)
{
    recovery.removedNow(key);
    const auto slot = shared.catalog.index.find(key);
    if (slot != noSlot || shared.mayReturn())
        journal.removal(key, shared.sequence);
    if (slot == noSlot)
        return false;
    ++shared.counters.removed;
    shared.catalog.erase(slot);
    return true;
}

void
ClusterFs::Core::updateInfo(const Key &key, const ObjectInfo &info)
{
    const auto slot = usable(key);
    if (slot == noSlot)
        return;
    auto &r = shared.catalog.index[slot];
    auto own = info;
    own.flags = static_cast<uint8_t>((info.flags & flagsOfCaller) | (r.flags() & ~flagsOfCaller & ~flagDoubtful));
    r.setInfo(own);
    shared.catalog.noteUpdate(slot);
    if (r.staged()) {
        auto &staged = shared.catalog.staging[r.place];
        own.size = staged.info.size;
        staged.info = own;
    }
}

void
ClusterFs::Core::replaceHead(const Key &key, const uint32_t oldHeadSize, const std::string &newHead,
                             const ObjectInfo &info, std::function<void(Status)> done)
{
    const auto slot = usable(key);
    if (slot == noSlot || shared.health.level != Health::Level::good) {
        shared.later.push_back([done = std::move(done)] { done(Status::notFound); });
        return;
    }
    HeadReplacer::Start(shared, writers, std::make_unique<ObjectReader>(shared, cache, key, slot),
                        HeadReplacer::Task{key, key, oldHeadSize, newHead, info, std::move(done)});
}

void
ClusterFs::Core::rename(const Key &key, const Key &newKey, const uint32_t oldHeadSize, const std::string &newHead,
                        std::function<void(Status)> done)
{
    const auto slot = usable(key);
    if (slot == noSlot || key == newKey || shared.health.level != Health::Level::good) {
        shared.later.push_back([done = std::move(done)] { done(Status::notFound); });
        return;
    }
    HeadReplacer::Start(shared, writers, std::make_unique<ObjectReader>(shared, cache, key, slot),
    HeadReplacer::Task{key, newKey, oldHeadSize, newHead, shared.catalog.info(slot), [this, key, done = std::move(done)](const Status status) {
        if (status == Status::ok)
            remove(key);
        done(status);
    }});
}

bool
ClusterFs::Core::next(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    const auto &index = shared.catalog.index;
    if (!index.keepsKeys())
        return false;
    for (; cursor < index.slotsTouched() && looks; ++cursor) {
        --looks;
        const auto slot = static_cast<SlotNo>(cursor);
        const auto &r = index[slot];
        if (r.dead() || r.cluster == noCluster || index.keyOf(slot) == Key())
            continue;
        key = index.keyOf(slot);
        info = shared.catalog.info(slot);
        ++cursor;
        return true;
    }
    return false;
}

void
ClusterFs::Core::reconfigure(const Config &newer)
{
    for (const auto &name: Config::Names()) {
        std::string error;
        if (Config::Live(name))
            shared.config.set(name, newer.get(name), error);
    }
    // a shorter window holds at once
    nextFlush_ = std::min(nextFlush_, nextFlush());
    shared.config.suitClusters();
    cache.setLimit(uint64_t(shared.config.readCacheMb) << 20);
    shared.device.setDepth(shared.config.depth);
}

bool
ClusterFs::Core::setPersist(const uint64_t group, const uint32_t seconds)
{
    const bool done = groups.setPersist(group, seconds);
    nextFlush_ = std::min(nextFlush_, nextFlush());
    return done;
}
