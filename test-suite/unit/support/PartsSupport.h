// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of the engine's parts share: the parts, put together by hand. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_PARTSSUPPORT_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_PARTSSUPPORT_H

#include "test-suite/unit/support/LayoutSupport.h"

#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/Packer.h"
#include "fs/cluster/recovery/Checkpointer.h"
#include "fs/cluster/recovery/IndexRebuilder.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/Recovery.h"
#include "fs/cluster/space/Relocator.h"
#include "tools/models/ManualClock.h"

#include <algorithm>

namespace ClusterFs {
namespace Testing {

/// a device for parts, which outlives several lives of them
struct PartsDevice {
    /// \param isPlain without the faulty device in front: faster, cannot fail
    explicit PartsDevice(const uint64_t bytes = 32 * MB, const Config &c = smallConfig(), const bool isPlain = false):
        config(c), media(clock, bytes), plain(isPlain)
    {
        superblock.uuid = uuidOf(9);
        std::string error;
        EXPECT_TRUE(superblock.geometry.plan(bytes, config.clusterBytes(), config.objectKb * 1024, error)) << error;
        superblock.startLog();
        superblock.secret = {1, 2, 3, 4};
        connect();
    }

    /// a new device in front of the media
    void connect(const uint64_t seed = 1) { device = std::make_unique<FaultyDevice>(media, clock, seed); }

    Device &front() { return plain ? static_cast<Device &>(media) : *device; }

    Config config;
    ManualClock clock;
    MemoryDevice media;
    const bool plain;
    std::unique_ptr<FaultyDevice> device;
    Superblock superblock;
};

/// groups as a test tells them
struct ToldGroups final : public GroupAdvisor {
    explicit ToldGroups(const StoreContext &c): context(c) {}
    void stagedGroup(const StageNo s, std::vector<StageNo> &group) override {
        if (groupOf)
            groupOf(s, group);
    }
    void sharedOf(StageNo, std::vector<Key> &) const override {}
    uint32_t persistOf(const Key &) const override { return context.config.persist; }
    bool leavesFirst(const Key &) const override { return false; }

    const StoreContext &context;
    std::function<void(StageNo, std::vector<StageNo> &)> groupOf; ///< nil: there are none
};

/// what a test has learned of groups, and takes back of them
struct LearnedByTest final : public LearnedGroups {
    SavedGroups::Saved save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) override {
        return saving ? saving(at, records) : SavedGroups::Saved::all;
    }
    bool load(const SavedGroups::GroupRecord &group) override {
        names.push_back(group.name);
        return names.size() < most;
    }

    std::function<SavedGroups::Saved(uint32_t &at, std::vector<SavedGroups::GroupRecord> &)> saving; ///< nil: there are none
    std::vector<uint64_t> names; ///< of groups that came back
    size_t most = 1000; ///< that there is room for
};

/// remembers the objects that are complete, and packs none
struct CompleteObjects final : public PackingQueue {
    void noteComplete(const StageNo s) override { stages.push_back(s); }
    void hurryMoved() override { ++hurried; }
    std::vector<StageNo> stages;
    unsigned hurried = 0; ///< calls of hurryMoved()
};

/// the objects that a policy values more than one that is new stay when their cluster goes
inline void
keepWhatWasUsed(Relocator &relocator, const uint32_t payload)
{
    const auto &context = relocator.context;
    KeepMark::Tally tally;
    tally.add(context.config.replacement->worth({payload, 0, 0}, context.sizeWeight()) + 0.5F, 1);
    relocator.mark.follow(tally, 1);
}

/// The state that parts share, a journal and a checkpointer: one life of them.
struct Parts {
    explicit Parts(PartsDevice &d): Parts(d, d.clock) {}
    /// \param clock for the parts; the device has its own
    Parts(PartsDevice &d, const Clock &clock):
        home(d),
        context(d.front(), clock, d.config, [this](LogLevel, const std::string &line) { log.push_back(line); }, d.superblock),
        journal(context),
        allocator(context, journal),
        cache(d.front(), context.catalog, context.geometry, readPolicy, uint64_t(d.config.readCacheMb) << 20),
        groups(context),
        packer(context, allocator, cache, groups),
        checkpointer(context, journal, learned, d.superblock),
        catalog(context.catalog)
    {
        journal.follow(d.superblock.checkpoint);
        catalog.tellReleases(journal);
    }
    ~Parts() { *context.alive = false; }

    /// as after the recovery of an empty device
    void allFree() {
        for (ClusterNo n{0}; catalog.clusters().has(n); ++n)
            catalog.addEmpty(n, true);
        context.recovered = true;
    }

    void step() {
        home.front().poll();
        cache.loader.poll();
        for (auto n = context.later.size(); n > 0; --n) {
            const auto call = std::move(context.later.front());
            context.later.pop_front();
            call();
        }
        home.front().wait(1);
    }

    bool until(const std::function<bool()> &condition, const unsigned steps = 10000) {
        for (unsigned i = 0; i < steps; ++i) {
            if (condition())
                return true;
            step();
        }
        return condition();
    }

    bool idle() {
        return until([&] { return home.front().idle(); });
    }

    /// the journal writes all that it has
    bool writeJournal() {
        return until([&] {
            journal.hurry();
            journal.poll();
            return journal.idle();
        });
    }

    /// a staged object with an index record
    /// \param moved see Staged::moved
    StageNo stage(const uint64_t n, const std::string &bytes, const ClusterNo firstPart = noCluster, const uint32_t heat = 0,
                  const uint8_t flags = 0, const bool moved = false) {
        auto info = infoOf(home.clock.wallSeconds());
        info.flags |= flags;
        const auto s = catalog.staging().open(keyOf(n), info);
        EXPECT_TRUE(catalog.staging().append(s, bytes.data(), bytes.size()));
        catalog.staging().close(s, firstPart == noCluster ? bytes.size() : catalog.clusters()[firstPart].total, heat);
        if (firstPart != noCluster)
            catalog.putHead(s, firstPart);
        EXPECT_NE(catalog.addStaged(s), noSlot);
        catalog.staging().complete(s, home.clock.micros(), moved);
        return s;
    }

    /// an object in a cluster, as far as the catalog knows
    SlotNo placed(const uint64_t n, const Plain<ClusterNo> c, const uint32_t offset, const uint32_t size, const ClusterNo firstPart = noCluster,
                  const bool joined = false) {
        const auto end = offset + Catalog::ExtentBytes(size);
        if (catalog.clusters()[c].state == ClusterState::packed) {
            entryOf(c).end = std::max(entryOf(c).end, end);
            return added(n, c, offset, size, firstPart, joined);
        }
        beginWrite(c);
        const auto s = stage(n, bytesOf(n, size), firstPart);
        const auto slot = catalog.staging()[s].record;
        catalog.staging().startPacking(s);
        catalog.place(slot, c, offset, size, joined);
        catalog.finishWrite(c, end, 0, 0_seq);
        return slot;
    }

    /// another object in a packed cluster
    SlotNo added(const uint64_t n, const Plain<ClusterNo> c, const uint32_t offset, const uint32_t size, const ClusterNo firstPart, const bool joined) {
        auto info = infoOf(home.clock.wallSeconds());
        info.flags |= joined ? flagJoined : 0;
        Record r = Record();
        r.setInfo(info);
        r.setPlace(offset, 0);
        r.cluster = c;
        r.size = size;
        if (firstPart != noCluster)
            r.setFirstPart(firstPart);
        const auto key = keyOf(n);
        return catalog.addFound(catalog.index().hashOf(key), &key, r, size);
    }

    /// the next sequence number is that of a cluster, which is free or not known yet
    void beginWrite(const Plain<ClusterNo> c) {
        announce(c);
        catalog.beginWrite(c, ++context.sequence);
    }
    void announce(const Plain<ClusterNo> c) {
        if (catalog.clusters()[c].state == ClusterState::unknown)
            catalog.addEmpty(c, true);
        catalog.announce(c, context.sequence);
    }
    void makeBad(const Plain<ClusterNo> c) {
        announce(c);
        catalog.beginWrite(c, context.sequence);
        catalog.failWrite(c);
    }

    /// What the catalog has of a cluster, to be changed as no verb does: a test need not wait for days, or for many writes.
    ClusterEntry &entryOf(const Plain<ClusterNo> c) { return const_cast<ClusterEntry &>(catalog.clusters()[c]); }
    /// the same of an object
    Record &recordOf(const SlotNo slot) { return const_cast<Record &>(catalog.index()[slot]); }

    /// a chain of parts
    ClusterNo chain(const std::vector<Plain<ClusterNo>> &numbers, const uint32_t bytes, const uint64_t total, const uint32_t head) {
        auto before = noCluster;
        for (const ClusterNo c: numbers) {
            if (catalog.clusters()[c].state != ClusterState::announced)
                announce(c);
            catalog.addPart(c, before, ++context.sequence, partPayloadAt + bytes, 0);
            before = c;
        }
        catalog.putHead(numbers[0], total, head);
        return numbers[0];
    }

    /// turns of the checkpointer. \returns how many it has completed
    uint64_t turns(const unsigned count = 50) {
        for (unsigned i = 0; i < count; ++i) {
            checkpointer.poll();
            step();
        }
        return checkpointer.completed();
    }

    bool runCheckpoint() {
        const auto before = checkpointer.completed();
        checkpointer.request();
        const bool done = until([&] {
            checkpointer.poll();
            return checkpointer.completed() > before;
        });
        home.superblock = checkpointer.superblock();
        return done;
    }

    /// the place of a block of the log, the oldest that counts being number 0
    char *logBlock(const uint32_t number) {
        const auto &s = home.superblock;
        return home.media.data() + s.geometry.logOffset(s.log.at(number).block);
    }

    /// begins a start from what is on the device
    void beginRecovery() {
        recovery = std::make_unique<Recovery>(context, journal, home.superblock);
        recovery->start();
    }

    /// starts from what is on the device
    bool recover() {
        beginRecovery();
        const bool done = until([&] {
            recovery->poll();
            return recovery->done();
        });
        context.recovered = done;
        checkpointer.restore(recovery->takeMarks());
        return done;
    }

    PartsDevice &home;
    std::vector<std::string> log;
    StoreContext context;
    Journal journal;
    Allocator allocator;
    const LeastCostReads readPolicy;
    ReadCache cache;
    ToldGroups groups;
    Packer packer;
    LearnedByTest learned;
    Checkpointer checkpointer;
    std::unique_ptr<Recovery> recovery;
    Catalog &catalog;
};

} // namespace Testing
} // namespace ClusterFs

#endif
