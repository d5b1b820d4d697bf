// SPDX-License-Identifier: GPL-2.0-or-later
/* What checkpoints hold, and which one counts. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/recovery/SuperblockFile.h"

#include <map>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(Checkpoint, writesWhatIsThere) {
    PartsDevice d;
    uint64_t live = 0;
    {
        Parts p(d);
        p.allFree();
        for (uint64_t n = 0; n < 200; ++n)
            p.placed(n, static_cast<uint32_t>(n / 10), static_cast<uint32_t>(1024 + n % 10 * 4096), static_cast<uint32_t>(100 + n));
        p.placed(500, 30, 1024, 1000, p.chain({40, 45, 42}, 61440, 1000 + 3 * 61440, 1000));
        p.makeBad(50);
        p.catalog.erase(p.catalog.index().find(keyOf(7)));
        p.stage(600, "staged only");
        live = p.catalog.objects() - 1;
        ASSERT_TRUE(p.runCheckpoint());
        EXPECT_EQ(d.superblock.checkpoint, 1U);
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_EQ(q.recovery->stats().clustersRead, 0U) << "nothing was in motion";
    EXPECT_FALSE(q.recovery->stats().scanned);
    EXPECT_EQ(q.catalog.objects(), live);
    for (uint64_t n = 0; n < 200; ++n) {
        const auto slot = q.catalog.index().find(keyOf(n));
        ASSERT_EQ(slot == noSlot, n == 7);
        if (slot != noSlot) {
            EXPECT_EQ(q.catalog.index()[slot].cluster.value(), n / 10);
            EXPECT_EQ(q.catalog.index()[slot].offset(), 1024 + n % 10 * 4096);
            EXPECT_EQ(q.catalog.objectSize(slot), 100 + n);
        }
    }
    const auto large = q.catalog.index().find(keyOf(500));
    ASSERT_NE(large, noSlot);
    EXPECT_EQ(q.catalog.objectSize(large), 1000U + 3 * 61440);
    EXPECT_EQ(q.catalog.payloadBytes(large), 1000U);
    EXPECT_EQ(q.catalog.clusters()[40_c].nextPart, 45_c);
    EXPECT_EQ(q.catalog.clusters()[45_c].nextPart, 42_c);
    EXPECT_EQ(q.catalog.clusters().inState(ClusterState::part), 3U);
    EXPECT_EQ(q.catalog.clusters()[50_c].state, ClusterState::bad);
    EXPECT_EQ(q.catalog.clusters().inState(ClusterState::packed), 21U);
    EXPECT_EQ(q.catalog.free().size(), q.catalog.clusters().count() - 21 - 3 - 1);
    EXPECT_EQ(q.catalog.index().find(keyOf(600)), noSlot);
}

/// A cluster that was announced before the checkpoint began, and written while
/// it went on: neither the sections nor the new journal name it.
TEST(Checkpoint, leadsToWhatIsWrittenMeanwhile) {
    auto config = smallConfig();
    config.clusterKb = 16;
    PartsDevice d(160 * MB, config);
    const ClusterNo late{5559};
    ASSERT_GT(d.superblock.geometry.clusterCount, late.value());
    {
        Parts p(d);
        p.allFree();
        p.announce(late);
        p.journal.announce(late, p.context.sequence);
        for (ClusterNo n{0}; n < 5600_c; ++n) { // so that there is more than one piece
            if (n != late)
                p.placed(n.value(), n, 1024, 10);
        }
        ASSERT_TRUE(p.writeJournal());
        p.checkpointer.request();
        p.checkpointer.poll();
        ASSERT_TRUE(p.checkpointer.running());

        // what the packer does
        const auto stage = p.stage(77777, bytesOf(77777, 300));
        Directory front;
        DirectoryEntry e;
        e.key = keyOf(77777);
        e.offset = 1024;
        e.size = 300;
        e.info = p.catalog.staging()[stage].info;
        front.entries.push_back(e);
        front.header.number = late;
        front.header.uuid = p.context.uuid;
        front.header.sequence = ++p.context.sequence;
        front.header.end = 1024 + Catalog::ExtentBytes(300);
        front.encode(d.media.data() + p.context.geometry.clusterOffset(late), 1024);
        p.catalog.beginWrite(late, p.context.sequence);
        p.catalog.staging().startPacking(stage);
        p.catalog.place(p.catalog.staging()[stage].record, late, 1024, 300);
        p.catalog.finishWrite(late, front.header.end, 0, 0_seq);

        ASSERT_TRUE(p.until([&] { p.checkpointer.poll(); return p.checkpointer.completed() == 1; }));
        d.superblock = p.checkpointer.superblock();
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_NE(q.catalog.index().find(keyOf(77777)), noSlot) << "packed, but lost at the next start";
}

TEST(Checkpoint, keepsTheOlderOneUntilTheNewerIsWhole) {
    // the power goes at each request of the second checkpoint; the seed tells which sectors that were not flushed are lost
    for (uint64_t n = 0; n < 5 * 16; ++n) {
        const auto at = 1 + n % 5;
        const auto seed = 1 + n / 5;
        SCOPED_TRACE("request " + std::to_string(at) + ", seed " + std::to_string(seed));
        PartsDevice d;
        d.connect(seed);
        {
            Parts p(d);
            p.allFree();
            p.placed(1, 1, 1024, 100);
            ASSERT_TRUE(p.runCheckpoint());
            p.placed(2, 2, 2048, 100);
            d.device->cutAt(d.device->requests() + at);
            p.checkpointer.request();
            p.turns();
        }
        d.device->cut();
        d.connect();
        std::string error;
        ASSERT_EQ(readSuperblock(*d.device, d.superblock, error), Status::ok) << error;
        Parts q(d);
        ASSERT_TRUE(q.recover());
        EXPECT_FALSE(q.recovery->stats().scanned);
        EXPECT_NE(q.catalog.index().find(keyOf(1)), noSlot);
        EXPECT_EQ(q.catalog.index().find(keyOf(2)) != noSlot, d.superblock.checkpoint == 2);
    }
}

TEST(Checkpoint, fitsIntoItsLogOrFails) {
    PartsDevice d;
    d.superblock.geometry.logBlocks = d.superblock.log.blocks = 2; // room for the removals, not for objects
    Parts p(d);
    p.allFree();
    p.placed(1, 1, 1024, 100);
    const auto *const behind = d.media.data() + d.superblock.geometry.logStart + 2 * indexBlockBytes;
    const std::string before(behind, 64 * indexBlockBytes);
    p.checkpointer.request();
    EXPECT_EQ(p.turns(), 0U);
    EXPECT_TRUE(p.checkpointer.lastFailed());
    EXPECT_EQ(p.checkpointer.superblock().checkpoint, 0U);
    EXPECT_EQ(before.compare(0, before.size(), behind, before.size()), 0) << "what lies behind it";
    EXPECT_GT(p.context.logClustersWanted, 0U) << "it is to grow";
}

TEST(Checkpoint, goesOnInTheFirstClusters) {
    PartsDevice d;
    d.superblock.geometry.logBlocks = d.superblock.log.blocks = 2;
    {
        Parts p(d);
        p.allFree();
        for (ClusterNo n{0}; n < 2_c; ++n)
            p.catalog.giveToLog(n);
        p.context.logClusters = 2;
        for (uint64_t n = 0; n < 300; ++n)
            p.placed(n, static_cast<uint32_t>(4 + n / 100), 1024 + static_cast<uint32_t>(n % 100) * 128, 50);
        ASSERT_TRUE(p.runCheckpoint());
        EXPECT_EQ(d.superblock.logClusters, 2U);
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_EQ(q.catalog.objects(), 300U);
    EXPECT_EQ(q.catalog.clusters().inState(ClusterState::log), 2U);
    EXPECT_FALSE(q.catalog.free().contains(1_c));
}

TEST(Checkpoint, goesPastBadClusters) {
    PartsDevice d;
    d.superblock.geometry.logBlocks = d.superblock.log.blocks = 2;
    {
        Parts p(d);
        p.allFree();
        for (const ClusterNo n: {0_c, 2_c})
            p.makeBad(n);
        const std::string before(d.media.data() + d.superblock.geometry.clusterOffset(0_c), 65536);
        for (const ClusterNo n: {1_c, 3_c})
            p.catalog.giveToLog(n);
        p.context.logClusters = 4;
        p.context.geometry.logSkips = {0_c, 2_c};
        for (uint64_t n = 0; n < 3000; ++n)
            p.placed(n, static_cast<uint32_t>(6 + n / 100), 1024 + static_cast<uint32_t>(n % 100) * 128, 50);
        ASSERT_TRUE(p.runCheckpoint());
        EXPECT_EQ(d.superblock.logClusters, 4U);
        EXPECT_EQ(d.superblock.geometry.logSkips, (std::vector<ClusterNo>{0_c, 2_c}));
        EXPECT_GT(d.superblock.log.used(), 18U) << "or one cluster is enough";
        EXPECT_EQ(before.compare(0, before.size(), d.media.data() + d.superblock.geometry.clusterOffset(0_c), before.size()), 0);
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_EQ(q.recovery->stats().blocksLost, 0U);
    EXPECT_EQ(q.catalog.objects(), 3000U);
    EXPECT_EQ(q.catalog.clusters().inState(ClusterState::log), 2U);
    EXPECT_EQ(q.catalog.clusters()[0_c].state, ClusterState::bad);
    EXPECT_EQ(q.catalog.clusters()[2_c].state, ClusterState::bad);
}

/// or the stop of a large store would take as long as it is large
TEST(Checkpoint, leavesTheTurnOutAtAStop) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    for (uint64_t n = 0; n < 900; ++n)
        p.placed(n, static_cast<uint32_t>(6 + n / 100), 1024 + static_cast<uint32_t>(n % 100) * 128, 50);
    ASSERT_TRUE(p.runCheckpoint());
    for (const bool brief: {false, true}) {
        if (brief)
            p.checkpointer.beBrief();
        const auto cursor = p.checkpointer.log().cursor();
        p.catalog.erase(p.catalog.index().find(keyOf(brief)));
        ASSERT_TRUE(p.runCheckpoint());
        EXPECT_EQ(p.checkpointer.log().cursor() == cursor, brief);
    }
}

/// and about as much of what has not changed, so that the log gets no longer
TEST(Checkpoint, saysWhatChanged) {
    PartsDevice d(160 * MB);
    Parts p(d);
    p.allFree();
    constexpr uint64_t inCluster = 60;
    for (uint64_t n = 0; n < 30000; ++n)
        p.placed(n, static_cast<uint32_t>(n / inCluster), 1024 + static_cast<uint32_t>(n % inCluster) * 1024, 50);
    ASSERT_TRUE(p.runCheckpoint());
    const auto all = p.checkpointer.log().used();
    EXPECT_GT(all, 200U);
    const auto bytes = p.context.counters.checkpointBytes;
    for (uint64_t n = 0; n < 1000; ++n) // nine bytes each, twice
        p.catalog.erase(p.catalog.index().find(keyOf(n * 30)));
    ASSERT_TRUE(p.runCheckpoint());
    EXPECT_LE(p.context.counters.checkpointBytes - bytes, 2 * (3 + 3 + 2) * uint64_t(indexBlockBytes));
    const auto before = p.context.counters.checkpointBytes;
    p.placed(40000, 600, 1024, 50);
    ASSERT_TRUE(p.runCheckpoint());
    EXPECT_LE(p.context.counters.checkpointBytes - before, 2 * (1 + 1 + 2) * uint64_t(indexBlockBytes));
}

/// many checkpoints and starts, each with deletes, new objects and new times: all is known each time,
/// and the log goes round in its place
TEST(Checkpoint, theTailFollowsTheHead) {
    PartsDevice d(64 * MB);
    d.superblock.geometry.logBlocks = d.superblock.log.blocks = 200;
    std::mt19937_64 random(3);
    std::map<uint64_t, ClusterNo> there;
    uint64_t next = 0;
    ClusterNo cluster{0};
    for (int life = 0; life < 40; ++life) {
        Parts p(d);
        if (life == 0) {
            p.allFree();
        } else {
            ASSERT_TRUE(p.recover());
            ASSERT_EQ(p.recovery->stats().blocksLost, 0U);
        }
        ASSERT_EQ(p.catalog.objects(), there.size()) << life;
        for (const auto &o: there) {
            const auto slot = p.catalog.index().find(keyOf(o.first));
            ASSERT_NE(slot, noSlot) << o.first << " in life " << life;
            ASSERT_EQ(p.catalog.index()[slot].cluster, o.second);
        }
        for (int checkpoint = 0; checkpoint < 5; ++checkpoint) {
            for (int i = 0; i < 3; ++i) {
                while (p.catalog.clusters()[cluster].state == ClusterState::packed) {
                    for (auto s = p.catalog.clusters()[cluster].first; s != noSlot; s = p.catalog.index()[s].sibling) {
                        if (!p.catalog.index()[s].dead())
                            there.erase(p.catalog.index()[s].timestamp);
                    }
                    p.catalog.freeCluster(cluster);
                }
                for (uint32_t n = 0; n < 40; ++n, ++next) {
                    const auto slot = p.placed(next, cluster, 1024 + n * 1024, 50);
                    p.recordOf(slot).timestamp = static_cast<uint32_t>(next); // so that we know which it is
                    there[next] = cluster;
                }
                cluster = ClusterNo((cluster.value() + 1) % 200);
            }
            for (int i = 0; i < 50 && !there.empty(); ++i) {
                const auto victim = there.lower_bound(random() % next);
                if (victim == there.end())
                    continue;
                const auto slot = p.catalog.index().find(keyOf(victim->first));
                if (i % 2) {
                    p.catalog.updateInfo(slot, p.catalog.info(slot));
                } else {
                    p.catalog.erase(slot);
                    there.erase(victim);
                }
            }
            ASSERT_TRUE(p.runCheckpoint());
        }
    }
    EXPECT_GT(d.superblock.log.head.lap, 2U);
    EXPECT_LE(d.superblock.log.used(), d.superblock.log.blocks * 3 / 4);
}

/// clusters change while a checkpoint is written
TEST(Checkpoint, tellsClustersThatChangeMeanwhileApart) {
    auto config = smallConfig();
    config.clusterKb = 16;
    PartsDevice d(160 * MB, config);
    const ClusterNo late{5559};
    const ClusterNo bad = late + 1;
    const ClusterNo announced = late + 2;
    {
        Parts p(d);
        p.allFree();
        for (ClusterNo n{0}; n < bad; ++n)
            p.placed(n.value(), n, 1024, 10);
        p.checkpointer.request();
        p.checkpointer.poll();
        ASSERT_TRUE(p.checkpointer.running());
        p.beginWrite(bad);
        p.catalog.failWrite(bad);
        p.journal.announce(announced, p.context.sequence);
        p.catalog.announce(announced, ++p.context.sequence); // written, freed, to be written again
        ASSERT_TRUE(p.writeJournal());
        ASSERT_TRUE(p.until([&] { p.checkpointer.poll(); return p.checkpointer.completed() == 1; }));
        d.superblock = p.checkpointer.superblock();
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_EQ(q.catalog.clusters()[bad].state, ClusterState::bad);
    EXPECT_EQ(q.catalog.clusters()[announced].state, ClusterState::free);
    EXPECT_EQ(q.recovery->stats().clustersRead, 1U) << "the announced one may have been written";
    EXPECT_NE(q.catalog.index().find(keyOf(late.value())), noSlot);
}

TEST(Checkpoint, manyRelocatedObjectsTakeSeveralBlocks) {
    PartsDevice d;
    d.config.stagingMb = 128;
    constexpr uint64_t count = 1000;
    {
        Parts p(d);
        p.allFree();
        const std::string bytes = "relocated";
        for (uint64_t n = 0; n < count; ++n)
            p.placed(n, 1, 1024 + static_cast<uint32_t>(n) * 48, static_cast<uint32_t>(bytes.size()));
        p.catalog.beginRelocating(1_c);
        for (uint64_t n = 0; n < count; ++n) {
            const auto slot = p.catalog.index().find(keyOf(n));
            const auto s = p.catalog.staging().open(keyOf(n), p.catalog.info(slot));
            ASSERT_TRUE(p.catalog.staging().append(s, bytes.data(), bytes.size()));
            p.catalog.relocate(slot, s);
        }
        ASSERT_TRUE(p.runCheckpoint());
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_FALSE(q.recovery->stats().scanned);
    EXPECT_EQ(q.catalog.objects(), count);
    EXPECT_EQ(q.recovery->stats().dropped, 0U);
}

/// when the superblock may have arrived, what it leads to must stay
TEST(Checkpoint, aSuperblockThatMayHaveArrivedIsTakenSeriously) {
    for (uint64_t at = 1; at <= 4; ++at) {
        PartsDevice d;
        {
            Parts p(d);
            p.allFree();
            p.placed(1, 1, 1024, 100);
            ASSERT_TRUE(p.runCheckpoint());
            p.catalog.erase(p.catalog.index().find(keyOf(1)));
            p.placed(2, 2, 1024, 100);
            // the log, a flush, the superblock, a flush
            d.device->script(at % 2 ? IoOp::write : IoOp::flush, d.device->requests(at % 2 ? IoOp::write : IoOp::flush) + (at + 1) / 2, Fault::error);
            p.checkpointer.request();
            EXPECT_EQ(p.turns(), 1U) << at;
            EXPECT_TRUE(p.checkpointer.lastFailed());
            p.placed(3, 3, 1024, 100);
            ASSERT_TRUE(p.runCheckpoint());
        }
        Parts q(d);
        ASSERT_TRUE(q.recover());
        EXPECT_EQ(q.recovery->stats().blocksLost, 0U) << at;
        EXPECT_EQ(q.catalog.index().find(keyOf(1)), noSlot) << at;
        EXPECT_NE(q.catalog.index().find(keyOf(2)), noSlot) << at;
        EXPECT_NE(q.catalog.index().find(keyOf(3)), noSlot) << at;
        EXPECT_EQ(q.catalog.objects(), 2U) << at;
    }
}
