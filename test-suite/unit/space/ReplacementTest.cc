// SPDX-License-Identifier: GPL-2.0-or-later
/* Relocator and evictor, put together by hand: what they do when something is full, gone or broken. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/space/Evictor.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr ClusterNo home{5}; ///< of the objects that are to be relocated
constexpr uint32_t payload = 500;
constexpr uint32_t spacing = 4096;
constexpr unsigned maxTurn = 1024; ///< records in one turn

class Replacement : public ::testing::Test
{
protected:
    Replacement() {
        p.allFree();
    }

    static Config fewObjects() {
        auto config = smallConfig();
        config.objectKb = 64; // 1,024 at most
        return config;
    }

    static uint32_t offsetOf(const uint64_t n) { return static_cast<uint32_t>(n) * spacing; }

    /// objects 1 to count in one cluster, whose bytes are in memory
    void prepare(const uint64_t count, const ClusterNo firstPart = noCluster) {
        const auto buffer = std::make_shared<Buffer>(65536);
        memset(buffer->data(), 0, buffer->size());
        for (uint64_t n = 1; n <= count; ++n) {
            wanted.push_back({p.placed(n, home, offsetOf(n), payload, n == 1 ? firstPart : noCluster), 0, offsetOf(n), payload});
            wanted.back().tag = p.catalog.index()[wanted.back().slot].tag;
        }
        sequence = p.catalog.clusters()[home].sequence;
        for (uint64_t n = 1; n <= count; ++n) {
            ExtentHeader header;
            header.size = payload;
            header.sequence = sequence;
            header.key = keyOf(n);
            memcpy(buffer->data() + offsetOf(n) + ExtentHeader::encodedBytes, bytesOf(n, payload).data(), payload);
            sealExtent(buffer->data() + offsetOf(n), header, p.context.uuid, home, offsetOf(n));
        }
        p.cache.windows.insert(home, sequence, buffer, 65536);
    }

    uint64_t relocate() {
        return relocator.regroup(home, sequence, wanted);
    }

    /// takes all places of the index but so many
    void fillIndex(const uint64_t left) {
        auto &index = const_cast<Index &>(p.catalog.index()); // these are of no cluster
        for (uint64_t n = 0; index.used() + left < index.capacity(); ++n)
            ASSERT_NE(index.insert(keyOf(100000 + n)), noSlot);
    }

    PartsDevice device{32 * MB, fewObjects()};
    Parts p{device};
    CompleteObjects complete;
    const std::vector<StageNo> &staged = complete.stages; ///< again
    Relocator relocator{p.context, p.cache, p.journal, complete};
    Evictor evictor{p.context, p.journal, p.allocator, relocator};
    Relocation::Candidates wanted;
    Sequence sequence{0};
};

} // namespace

TEST_F(Replacement, relocatesWhatIsStillThere) {
    const auto elsewhere = p.placed(9, home + 1, offsetOf(3), payload);
    prepare(5);
    p.catalog.erase(wanted[0].slot); // deleted
    ++wanted[1].tag; // its record is somebody else's now
    wanted[2].offset = offsetOf(7); // of which nothing is known
    wanted.push_back({elsewhere, p.catalog.index()[elsewhere].tag, offsetOf(3), payload}); // has moved
    EXPECT_EQ(relocate(), 2 * payload);
    ASSERT_EQ(staged.size(), 2U);
    for (const uint64_t n: {4, 5}) {
        const auto &o = p.catalog.staging()[staged[n - 4]];
        EXPECT_EQ(o.key, keyOf(n));
        EXPECT_EQ(o.origin, home);
        EXPECT_TRUE(o.moved) << "it is not to lie among new objects";
        std::string got(payload, '\0');
        Staging::Cursor cursor;
        EXPECT_EQ(p.catalog.staging().copy(staged[n - 4], 0, &got[0], payload, cursor), payload);
        EXPECT_TRUE(got == bytesOf(n, payload)) << n;
    }
    EXPECT_EQ(p.context.counters.relocatedObjects, 2U);
    EXPECT_EQ(p.context.counters.corrupt, 0U);
    EXPECT_EQ(p.catalog.clusters()[home].live, 2U);
    EXPECT_TRUE(relocator.beginFlush().empty()) << "two are nowhere but in memory";
    EXPECT_EQ(p.cache.windows.hits() + p.cache.windows.misses(), 0U) << "no reader has asked for anything";
}

TEST_F(Replacement, relocatesNothingFromWhatTheClusterWasBefore) {
    prepare(2);
    EXPECT_EQ(relocator.regroup(home, sequence + 1, wanted), 0U);
    EXPECT_FALSE(relocator.holds(home));
    for (const auto &w: wanted)
        p.catalog.erase(w.slot);
    ASSERT_EQ(p.catalog.clusters()[home].state, ClusterState::free);
    EXPECT_EQ(relocator.regroup(home, sequence, wanted), 0U) << "emptied meanwhile";
    EXPECT_EQ(relocator.held(), 0U);
    EXPECT_TRUE(staged.empty());
}

TEST_F(Replacement, relocatesNothingWithoutItsBytes) {
    prepare(2);
    p.cache.windows.forget(home);
    EXPECT_EQ(relocate(), 0U);
    const auto settled = relocator.beginFlush();
    ASSERT_EQ(settled.size(), 1U);
    EXPECT_EQ(settled[0]->cluster(), home);
    EXPECT_EQ(p.catalog.objects(), 2U);
}

TEST_F(Replacement, relocatesNothingIntoFullStaging) {
    prepare(2);
    auto &staging = p.catalog.staging();
    const auto all = staging.bytesFree();
    ASSERT_TRUE(staging.promise(all));
    EXPECT_EQ(relocate(), 0U);
    relocator.flushed(relocator.beginFlush());
    staging.unpromise(all);
    std::vector<StageNo> opened; // entries, though no bytes
    for (auto s = staging.open(keyOf(1), ObjectInfo()); s != noStage; s = staging.open(keyOf(1), ObjectInfo()))
        opened.push_back(s);
    EXPECT_EQ(relocate(), 0U);
    EXPECT_EQ(relocator.held(), 1U);
    relocator.flushed(relocator.beginFlush());
    EXPECT_EQ(relocator.held(), 0U);
    EXPECT_EQ(p.catalog.objects(), 2U) << "they stay where they are";
    for (const auto s: opened)
        staging.drop(s);
    EXPECT_EQ(relocate(), 2 * payload);
}

/// an object keeps its place in the index until its cluster is free, and so needs a second one
TEST_F(Replacement, anObjectThatTheIndexHasNoPlaceForStaysWhereItIs) {
    const auto parts = p.chain({20, 21}, 1000, payload + 2000, payload);
    prepare(4, parts);
    p.catalog.erase(wanted.back().slot); // which keeps its place, too
    wanted.pop_back();
    fillIndex(1);
    const auto used = p.catalog.staging().bytesUsed();
    std::swap(wanted[0], wanted[1]); // the one with parts finds nothing, nor does the last one
    EXPECT_EQ(relocate(), payload);
    for (const uint64_t n: {1, 2, 3}) {
        const auto slot = p.catalog.index().find(keyOf(n));
        ASSERT_NE(slot, noSlot) << n;
        EXPECT_EQ(p.catalog.index()[slot].staged(), n == 2) << n;
    }
    EXPECT_EQ(p.catalog.clusters()[20_c].state, ClusterState::part);
    EXPECT_EQ(p.catalog.clusters()[21_c].state, ClusterState::part);
    EXPECT_EQ(p.catalog.staging().bytesUsed(), used + Staging::MemoryOf(payload));
}

/// what is relocated away may be deleted before the flush: its cluster is free then
TEST_F(Replacement, emptiedClustersAreFreeAfterTheFlush) {
    prepare(1);
    ASSERT_EQ(relocate(), payload);
    EXPECT_TRUE(relocator.beginFlush().empty());
    p.catalog.erase(p.catalog.index().find(keyOf(1)));
    EXPECT_EQ(p.catalog.clusters()[home].state, ClusterState::packed) << "until what was deleted is so after a power cut, too";
    relocator.flushed(relocator.beginFlush());
    EXPECT_EQ(p.catalog.clusters()[home].state, ClusterState::free);
}

/// where it came from still has it, though it may be stored again while nothing is known of it
TEST_F(Replacement, whatIsEvictedBeforeItsOriginIsGoneMayReturn) {
    p.context.covered = p.context.forgotten;
    p.context.config.clusterLifetime = 100;
    const auto evictAll = [&](const ClusterNo c) {
        device.clock.advance(101 * uint64_t(1000000));
        p.entryOf(c).written = static_cast<uint32_t>(device.clock.wallSeconds() - 101);
        evictor.poll();
        return p.catalog.clusters()[c].state == ClusterState::free;
    };
    p.placed(8, 1, 0, payload);
    prepare(2);
    ASSERT_EQ(relocate(), 2 * payload);
    ASSERT_TRUE(evictAll(1_c));
    EXPECT_FALSE(p.context.mayReturn()) << "written before anything was relocated";
    p.catalog.staging().startPacking(staged[0]);
    p.beginWrite(2);
    p.catalog.place(p.catalog.index().find(keyOf(1)), 2_c, spacing, payload);
    p.catalog.finishWrite(2_c, spacing + Catalog::ExtentBytes(payload), 0, 0_seq);
    p.placed(9, 2, 0, payload);
    ASSERT_TRUE(evictAll(2_c));
    EXPECT_TRUE(p.context.mayReturn());
}

TEST_F(Replacement, objectsWithoutADateDoNotExpire) {
    prepare(1);
    p.context.config.fileLifetime = 100;
    auto &record = p.recordOf(wanted[0].slot);
    record.timestamp = 0;
    EXPECT_FALSE(p.context.expired(wanted[0].slot));
    record.timestamp = static_cast<uint32_t>(device.clock.wallSeconds() - 101);
    EXPECT_TRUE(p.context.expired(wanted[0].slot));
}

/// room is made by writing; a disk that takes no writes keeps what it has
TEST_F(Replacement, aDiskThatTakesNoWritesKeepsAll) {
    for (uint32_t c = 0; c < p.catalog.clusters().count(); ++c)
        p.placed(c, c, spacing, 30000);
    const auto objects = p.catalog.objects();
    p.context.health.level = Health::Level::noWrites;
    evictor.poll();
    EXPECT_EQ(p.catalog.objects(), objects);
    p.context.health.level = Health::Level::good;
    p.context.rewrites.noteEvicted(uint64_t(1) << 40); // no budget for relocating
    evictor.poll();
    EXPECT_LT(p.catalog.objects(), objects);
}

/// parts may take all clusters, with heads that are still in staging
TEST_F(Replacement, theHeadUsedLongestAgoGoesWhenPartsTakeAllClusters) {
    const auto count = p.catalog.clusters().count();
    const auto open = p.catalog.staging().open(keyOf(900), ObjectInfo()); // which has parts, but is in no list
    ASSERT_NE(open, noStage);
    p.stage(901, bytesOf(901, 100)); // without parts: nothing to gain
    std::vector<std::vector<Plain<ClusterNo>>> chains(4);
    for (uint32_t c = 0; c < count; ++c)
        chains[c * chains.size() / count].push_back(c);
    for (size_t i = 0; i < chains.size(); ++i)
        p.stage(i, bytesOf(i, payload), p.chain(chains[i], 1000, payload + chains[i].size() * 1000, payload));
    p.catalog.staging().touch(p.catalog.index()[p.catalog.index().find(keyOf(0))].stage());
    ASSERT_EQ(p.allocator.available(), 0U);
    evictor.poll();
    EXPECT_EQ(p.catalog.index().find(keyOf(1)), noSlot);
    for (const uint64_t n: {0, 2, 3, 901})
        EXPECT_NE(p.catalog.index().find(keyOf(n)), noSlot) << n;
    EXPECT_EQ(p.context.counters.evictedObjects, 1U);
    EXPECT_EQ(p.allocator.available(), chains[1].size());
}

/// somebody has to go at once: not even looking may take long
TEST_F(Replacement, onlySomeHeadsAreLookedAt) {
    const auto count = p.catalog.clusters().count();
    for (uint64_t n = 0; n < 300; ++n)
        p.stage(100 + n, bytesOf(n, 10));
    std::vector<Plain<ClusterNo>> all;
    for (uint32_t c = 0; c < count; ++c)
        all.push_back(c);
    p.stage(1, bytesOf(1, payload), p.chain(all, 1000, payload + count * 1000, payload));
    evictor.poll();
    EXPECT_NE(p.catalog.index().find(keyOf(1)), noSlot) << "behind all the others";
    for (uint64_t n = 0; n < 300; ++n)
        p.catalog.staging().touch(p.catalog.index()[p.catalog.index().find(keyOf(100 + n))].stage());
    evictor.poll();
    EXPECT_EQ(p.catalog.index().find(keyOf(1)), noSlot);
    EXPECT_EQ(p.allocator.available(), count);
}

/// what is past its lifetime is no reason to keep a cluster, however lately it was used
TEST_F(Replacement, expiredObjectsAreWorthNothing) {
    p.context.config.fileLifetime = 100;
    evictor.poll(); // looks for what has expired already
    const auto count = p.catalog.clusters().count();
    for (uint32_t c = 0; c < count; ++c)
        p.placed(c, c, spacing, 30000);
    constexpr uint32_t expired = 7; // not the last in the list, but near its end
    for (uint32_t c = 0; c < count; ++c)
        evictor.touch(p.catalog.index().find(keyOf(c)));
    p.recordOf(p.catalog.index().find(keyOf(expired))).timestamp = static_cast<uint32_t>(device.clock.wallSeconds() - 101);
    keepWhatWasUsed(relocator, 30000);
    p.context.rewrites.notePacked(1 << 30); // a budget for relocating
    evictor.poll();
    EXPECT_EQ(p.catalog.clusters()[ClusterNo(expired)].state, ClusterState::free) << "nothing there is wanted";
    EXPECT_TRUE(relocator.holds(0_c)) << "the next one has what is wanted";
}

/// what is wanted is relocated only as long as staging has room to spare
TEST_F(Replacement, fullStagingLeavesNoRoomForRelocating) {
    for (uint32_t c = 0; c < p.catalog.clusters().count(); ++c)
        p.placed(c, c, spacing, 30000);
    for (uint32_t c = 0; c < p.catalog.clusters().count(); ++c)
        evictor.touch(p.catalog.index().find(keyOf(c)));
    keepWhatWasUsed(relocator, 30000);
    p.context.rewrites.notePacked(1 << 30);
    ASSERT_TRUE(p.catalog.staging().promise(p.catalog.staging().bytesFree() - 50000));
    evictor.poll();
    EXPECT_EQ(relocator.held(), 0U);
    EXPECT_EQ(p.catalog.clusters()[0_c].state, ClusterState::free);
    EXPECT_GE(p.allocator.available(), p.allocator.reserve());
}

/// A cluster that is put out of use makes no room when it goes, and it waits until its objects can be moved. Whoever
/// looks for room takes another one, even if it is worth more.
TEST_F(Replacement, aClusterThatIsPutOutOfUseIsNoVictim) {
    auto &config = p.context.config;
    for (uint32_t c = 0; c < p.catalog.clusters().count(); ++c)
        p.placed(c, c, spacing, 30000);
    for (uint32_t c = 1; c < p.catalog.clusters().count(); ++c)
        evictor.touch(p.catalog.index().find(keyOf(c)));
    p.catalog.retire(0_c);
    ASSERT_TRUE(p.catalog.staging().promise(p.catalog.staging().bytesFree() - 50000));
    struct Way {
        const char *name;
        const EvictionPolicy *replacement;
        const LayoutPolicy *layout;
    };
    for (const auto &way: {Way{"gdsf", &gdsfEviction, &closestLayout}, Way{"fifo", &fifoEviction, &closestLayout},
                           Way{"s3fifo", &s3FifoEviction, &closestLayout}, Way{"overwrite", &lruEviction, &overwriteLayout}}) {
        config.replacement = way.replacement;
        config.layout = way.layout;
        evictor.poll();
        EXPECT_GE(p.allocator.available(), p.allocator.reserve()) << way.name;
        EXPECT_EQ(p.catalog.clusters()[0_c].state, ClusterState::packed) << way.name;
        EXPECT_NE(p.catalog.index().find(keyOf(0)), noSlot) << way.name;
        for (uint32_t c = 1; c < p.catalog.clusters().count(); ++c) { // full again
            if (p.catalog.clusters()[ClusterNo(c)].state == ClusterState::free)
                p.placed(c, c, spacing, 30000);
        }
    }
}

/// A tenth of a few clusters is none: without a least trial, each new cluster would be the next victim, and those that nobody
/// uses would stay for ever.
TEST_F(Replacement, aNewClusterHasATrialThoughThereAreFew) {
    p.context.config.replacement = &s3FifoEviction;
    for (uint32_t c = 5; c < 8; ++c)
        p.placed(c, ClusterNo(c), 0, payload);
    p.context.queues.noteWritten(7_c, p.catalog.clusters()[7_c].sequence, true, p.context.heatTick());
    fillIndex(p.catalog.index().capacity() / 64 - 1);
    evictor.poll();
    EXPECT_EQ(p.catalog.index().find(keyOf(5)), noSlot);
    EXPECT_NE(p.catalog.index().find(keyOf(6)), noSlot);
    EXPECT_NE(p.catalog.index().find(keyOf(7)), noSlot) << "the newest";

    p.placed(8, 8_c, 0, payload);
    p.context.queues.noteWritten(8_c, p.catalog.clusters()[8_c].sequence, true, p.context.heatTick());
    evictor.poll();
    EXPECT_EQ(p.catalog.index().find(keyOf(7)), noSlot) << "its trial is over when the next one begins";
    EXPECT_NE(p.catalog.index().find(keyOf(6)), noSlot);
    EXPECT_NE(p.catalog.index().find(keyOf(8)), noSlot);
}

/// clusters 5, 6 and 7 are underfilled, and the objects in them are worth more than all others
class Merging : public Replacement
{
protected:
    Merging() {
        for (uint32_t c = 0; c < p.catalog.clusters().count(); ++c)
            p.placed(c, c, spacing, c == 5 ? 30000 : c == 6 ? 40000 : c == 7 ? 41000 : 60000);
        for (const uint64_t n: {5, 6, 7})
            evictor.touch(p.catalog.index().find(keyOf(n)));
        keepWhatWasUsed(relocator, 30000);
    }
};

TEST_F(Merging, needsABudget) {
    evictor.poll();
    EXPECT_GT(p.allocator.available(), 0U) << "others made room";
    for (const uint32_t c: {5, 6, 7})
        EXPECT_FALSE(relocator.holds(ClusterNo(c))) << c;
}

TEST_F(Merging, beginsWithTheEmptiestAndEndsWithTheBudget) {
    p.context.rewrites.notePacked(75000 * 700 / 21);
    evictor.poll();
    EXPECT_TRUE(relocator.holds(5_c));
    EXPECT_TRUE(relocator.holds(6_c));
    EXPECT_FALSE(relocator.holds(7_c)) << "more than the seventh of the budget";
}

/// relocating takes a place of the index for each object: when there is none, a cluster goes as a whole
TEST_F(Replacement, aFullIndexLeavesNoRoomForRelocating) {
    for (uint32_t c = 0; c < p.catalog.clusters().count(); ++c)
        p.placed(c, c, spacing, 30000);
    for (uint32_t c = 0; c < p.catalog.clusters().count(); ++c)
        evictor.touch(p.catalog.index().find(keyOf(c)));
    keepWhatWasUsed(relocator, 30000);
    p.context.rewrites.notePacked(1 << 30); // a budget for relocating all
    fillIndex(1);
    evictor.poll();
    EXPECT_EQ(p.catalog.index().find(keyOf(0)), noSlot);
    EXPECT_EQ(p.catalog.clusters()[0_c].state, ClusterState::free);
    EXPECT_TRUE(relocator.holds(1_c)) << "for this one, the first has left a place";
    EXPECT_NE(p.catalog.index().find(keyOf(1)), noSlot);
}

/// where memory for the index is short, that is what a cluster must free: not the fewest bytes
TEST_F(Replacement, shortOfRecordsTheClusterGoesThatFreesMany) {
    for (uint64_t n = 0; n < 50; ++n)
        p.placed(1000 + n, home, static_cast<uint32_t>(n) * 256, 200);
    p.placed(2000, home + 1, 0, 5000);
    fillIndex(p.catalog.index().capacity() / 64 - 20);
    evictor.poll();
    EXPECT_EQ(p.catalog.index().find(keyOf(1000)), noSlot);
    EXPECT_NE(p.catalog.index().find(keyOf(2000)), noSlot);
    EXPECT_EQ(p.catalog.clusters()[home].state, ClusterState::free);
}

/// most clusters that may be emptied at a time wait for their objects to fill a cluster, and the next ones would lose theirs
TEST_F(Replacement, clustersThatWaitHurryThePacker) {
    constexpr uint32_t waiting = Relocator::maxEvicting * 3 / 4;
    p.context.rewrites.notePacked(1 << 30); // a budget for relocating all
    keepWhatWasUsed(relocator, payload);
    for (uint32_t n = 0; n <= waiting; ++n) {
        const ClusterNo c(n);
        const auto slot = p.placed(n, c, 0, payload);
        const auto buffer = std::make_shared<Buffer>(4096);
        memset(buffer->data(), 0, buffer->size());
        ExtentHeader header;
        header.size = payload;
        header.sequence = p.catalog.clusters()[c].sequence;
        header.key = keyOf(n);
        memcpy(buffer->data() + ExtentHeader::encodedBytes, bytesOf(n, payload).data(), payload);
        sealExtent(buffer->data(), header, p.context.uuid, c, 0);
        p.cache.windows.insert(c, header.sequence, buffer, 4096);
        evictor.touch(slot);
        relocator.records = maxTurn;
        relocator.begin(c, Relocation::Purpose::evict);
        for (int i = 0; i < 3; ++i) {
            p.step();
            relocator.work();
        }
        ASSERT_EQ(staged.size(), n + 1);
        EXPECT_EQ(complete.hurried > 0, n == waiting) << n;
    }
    EXPECT_TRUE(p.catalog.staging()[staged.back()].moved);
}

/* large objects in a cluster that goes */

namespace {

class PartsLeave : public ::testing::Test
{
protected:
    PartsLeave() {
        p.allFree();
        evictor.poll(); // looks for what has expired already
    }

    PartsDevice device{256 * MB, smallConfig(), true};
    Parts p{device};
    Relocator relocator{p.context, p.cache, p.journal, p.packer};
    Evictor evictor{p.context, p.journal, p.allocator, relocator};
};

} // namespace

TEST_F(PartsLeave, inSeveralTurns) {
    constexpr uint32_t objects = 10;
    constexpr uint32_t each = 300; ///< parts
    for (uint32_t n = 0; n < objects; ++n) {
        std::vector<Plain<ClusterNo>> parts;
        for (uint32_t i = 0; i < each; ++i)
            parts.push_back(100 + n * each + i);
        p.placed(n, home, n * spacing, payload, p.chain(parts, 61440, payload + each * uint64_t(61440), payload));
    }
    const auto &clusters = p.catalog.clusters();
    ASSERT_EQ(clusters.inState(ClusterState::part), objects * each);
    p.context.config.clusterLifetime = 100;
    device.clock.advance(101 * uint64_t(1000000));
    p.entryOf(home).written = static_cast<uint32_t>(device.clock.wallSeconds() - 101);
    unsigned turns = 0; // in which some go
    for (unsigned i = 0; clusters.inState(ClusterState::part) && i < 100; ++i) {
        device.clock.advance(100000); // a look at some hundred clusters
        const auto before = clusters.inState(ClusterState::part);
        evictor.poll();
        const auto gone = before - clusters.inState(ClusterState::part);
        ASSERT_LE(gone, maxTurn + each);
        turns += gone > 0;
    }
    EXPECT_GE(turns, 2U);
    EXPECT_EQ(clusters[home].state, ClusterState::free);
    EXPECT_EQ(p.catalog.objects(), 0U);
}

/* the next one on disk */

namespace {

class NextOnDisk : public ::testing::Test
{
protected:
    static Config overwriting() {
        auto config = smallConfig();
        config.layout = &overwriteLayout;
        config.localityMb = 0;
        return config;
    }
    /// all clusters are parts of large objects, but for some that have an object each
    /// \param size of these; of few bytes, they are moved instead of evicted
    void takeAllBut(const std::vector<uint32_t> &packed, const uint32_t size = 40000) {
        for (ClusterNo c{0}; p.catalog.clusters().has(c); ++c) {
            if (std::find(packed.begin(), packed.end(), c.value()) != packed.end())
                continue;
            p.announce(c);
            p.catalog.addPart(c, noCluster, 0_seq, 0, 0);
        }
        for (const auto c: packed)
            p.placed(c, c, 0, size);
        p.context.sequence += p.catalog.clusters().count(); // they were written long ago
        p.context.recovered = true;
    }
    bool isThere(const uint64_t n) const { return p.catalog.index().find(keyOf(n)) != noSlot; }

    PartsDevice device{256 * MB, overwriting(), true};
    Parts p{device};
    Relocator relocator{p.context, p.cache, p.journal, p.packer};
    Evictor evictor{p.context, p.journal, p.allocator, relocator};
};

} // namespace

TEST_F(NextOnDisk, goesFirst) {
    takeAllBut({900, 800, 2});
    evictor.poll();
    // as many go as are short
    EXPECT_FALSE(isThere(2));
    EXPECT_FALSE(isThere(800));
}

/// the turn would last as long as going over the whole device
TEST_F(NextOnDisk, isNotLookedForFarAway) {
    const auto count = p.catalog.clusters().count();
    ASSERT_GT(count, 3000U) << "or this tests nothing";
    std::vector<uint32_t> packed{2500}; // in the order of their use
    while (packed.size() < 60)
        packed.push_back(static_cast<uint32_t>(1200 + packed.size()));
    takeAllBut(packed, 500);
    evictor.poll();
    EXPECT_TRUE(relocator.holds(2500_c)) << "of those far away, the one that was not used for longest goes";
    EXPECT_TRUE(relocator.holds(1201_c)) << "the next look begins where the last one ended";
    EXPECT_LE(evictor.lastRecords(), maxTurn);
}

TEST_F(NextOnDisk, isNoneWhenAllAreParts) {
    takeAllBut({});
    evictor.poll();
    EXPECT_EQ(evictor.lastRecords(), 0U);
    EXPECT_EQ(p.context.counters.evictedClusters, 0U);
}

/// Behind a start, what is written goes to free clusters right in front of the hand.
TEST_F(NextOnDisk, isSparedWhileItIsNew) {
    takeAllBut({2, 300, 310, 320, 330, 340, 350, 360, 370, 380, 390}); // more than go in a turn
    p.entryOf(2).sequence = p.context.sequence;
    evictor.poll();
    EXPECT_TRUE(isThere(2));
    EXPECT_FALSE(isThere(300));
    EXPECT_FALSE(isThere(310));
}

TEST_F(NextOnDisk, goesThoughItIsNewWhenAllAre) {
    takeAllBut({900, 2});
    p.entryOf(2).sequence = p.entryOf(900).sequence = p.context.sequence;
    evictor.poll();
    EXPECT_FALSE(isThere(900)) << "of those that are new, the one that was not used for longest goes";
}
