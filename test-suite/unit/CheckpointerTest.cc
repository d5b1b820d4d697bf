// SPDX-License-Identifier: GPL-2.0-or-later
/* When checkpoints are written, and what they hold in rare cases. */

#include "PartsSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// turns of the checkpointer. \returns how many it has completed
uint64_t
turns(Parts &p, const unsigned count = 50)
{
    for (unsigned i = 0; i < count; ++i) {
        p.checkpointer.poll();
        p.step();
    }
    return p.checkpointer.completed();
}

/// an object as a start finds it, in any bucket
void
addTo(Parts &p, const uint32_t bucket, const uint32_t tag, const ClusterNo c)
{
    Record like = Record();
    like.cluster = c;
    like.size = 8;
    like.setPlace(1024, 0);
    ASSERT_NE(p.catalog.addFound(bucket, tag, nullptr, like, 8), noSlot);
}

/// a cluster that objects can be added to
void
packed(Parts &p, const ClusterNo c)
{
    p.catalog.free.remove(c);
    p.catalog.clusters.setState(c, ClusterState::packed);
    p.catalog.clusters.pushHead(c);
    p.catalog.clusters[c].sequence = ++p.shared.sequence;
    p.catalog.clusters[c].end = p.shared.geometry.clusterBytes;
}

/// hours of the log of deletes
void
fillHalfOf(Journal &journal, Parts &p)
{
    while (journal.used() < 0.5) {
        for (uint64_t n = 0; n < 2000; ++n)
            journal.removal(keyOf(n), n);
        ASSERT_TRUE(p.writeJournal());
    }
}

} // namespace

TEST(Checkpointer, doesNothingUntilTheIndexIsThereAndTheDiskTakesWrites) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    p.checkpointer.request();
    p.shared.recovered = false;
    EXPECT_EQ(turns(p), 0U);
    p.shared.recovered = true;
    p.shared.health.level = Health::Level::noWrites;
    EXPECT_EQ(turns(p), 0U);
    EXPECT_EQ(d.device->requests(IoOp::write), 0U);
    p.shared.health.level = Health::Level::good;
    EXPECT_EQ(turns(p), 1U);
}

TEST(Checkpointer, triesAgainAfterAWhileWhenTheJournalFillsUp) {
    PartsDevice d;
    d.config.checkpoint = 86400;
    Parts p(d);
    p.allFree();
    ASSERT_NO_FATAL_FAILURE(fillHalfOf(p.journal, p));
    d.device->script(IoOp::write, d.device->requests(IoOp::write) + 1, Fault::error);
    EXPECT_EQ(turns(p), 0U);
    EXPECT_TRUE(p.checkpointer.lastFailed());
    ASSERT_NO_FATAL_FAILURE(fillHalfOf(p.journal, p)); // the failed one has moved the journal on
    const auto writes = d.device->requests(IoOp::write);
    EXPECT_EQ(turns(p), 0U);
    EXPECT_EQ(d.device->requests(IoOp::write), writes) << "not at once";
    d.clock.advance(10000000);
    EXPECT_EQ(turns(p), 2U) << "the journal of the first one is half full";
    EXPECT_FALSE(p.checkpointer.lastFailed());
}

TEST(Checkpointer, fitsIntoItsRegionOrFails) {
    PartsDevice d;
    d.superblock.geometry.checkpointBytes = checkpointChunkBytes; // room for the table, not for objects
    Parts p(d);
    p.allFree();
    p.placed(1, 1, 1024, 100);
    const auto *const behind = d.media.data() + d.superblock.geometry.checkpointStart[1] + checkpointChunkBytes;
    const std::string before(behind, checkpointChunkBytes);
    p.checkpointer.request();
    EXPECT_EQ(turns(p), 0U);
    EXPECT_TRUE(p.checkpointer.lastFailed());
    EXPECT_EQ(p.checkpointer.superblock().checkpoint, 0U);
    EXPECT_EQ(before.compare(0, before.size(), behind, before.size()), 0) << "what lies behind it";
}

/// someone has sought keys for that
TEST(Checkpointer, aBucketLargerThanAChunkLosesItsRest) {
    PartsDevice d;
    const auto most = static_cast<uint32_t>(Checkpoint::ObjectsInChunk(false));
    {
        Parts p(d);
        p.allFree();
        for (ClusterNo c = 1; c < 2 + (most + 999) / 1000 + 1; ++c)
            packed(p, c);
        ASSERT_NO_FATAL_FAILURE(addTo(p, 10, 1, 1));
        for (uint32_t tag = 0; tag < most + 50; ++tag)
            ASSERT_NO_FATAL_FAILURE(addTo(p, 11, tag, 2 + tag / 1000));
        ASSERT_NO_FATAL_FAILURE(addTo(p, 12, 1, 1));
        ASSERT_TRUE(p.runCheckpoint());
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_FALSE(q.recovery->stats().scanned) << "what it holds is whole";
    EXPECT_NE(q.catalog.index.find(10, 1), noSlot);
    EXPECT_NE(q.catalog.index.find(12, 1), noSlot);
    EXPECT_LE(q.catalog.objects(), most + 2);
}

/// a turn looks at a bounded number of buckets
TEST(Checkpointer, goesOnBehindBucketsThatAreEmpty) {
    PartsDevice d(64 * MB);
    {
        Parts p(d);
        p.allFree();
        const auto last = static_cast<uint32_t>(p.catalog.index.bucketCount() - 1);
        ASSERT_GT(last, 4 * Checkpoint::ObjectsInChunk(false));
        packed(p, 1);
        ASSERT_NO_FATAL_FAILURE(addTo(p, last, 7, 1));
        ASSERT_TRUE(p.runCheckpoint());
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_NE(q.catalog.index.find(static_cast<uint32_t>(q.catalog.index.bucketCount() - 1), 7), noSlot);
}

/// clusters change while a checkpoint of several chunks is written
TEST(Checkpointer, tellsClustersThatChangeMeanwhileApart) {
    auto config = smallConfig();
    config.clusterKb = 16;
    PartsDevice d(160 * MB, config);
    const ClusterNo late = Checkpoint::ClustersInChunk() + 100; // in the second chunk
    const ClusterNo bad = late + 1;
    const ClusterNo announced = late + 2;
    {
        Parts p(d);
        p.allFree();
        for (ClusterNo n = 0; n < bad; ++n)
            p.placed(n, n, 1024, 10);
        p.checkpointer.request();
        p.checkpointer.poll();
        ASSERT_TRUE(p.checkpointer.running());
        for (const auto c: {bad, announced})
            p.catalog.free.remove(c);
        p.catalog.clusters[bad].sequence = ++p.shared.sequence; // written, and the write failed
        p.catalog.clusters.setState(bad, ClusterState::bad);
        p.catalog.clusters[announced].sequence = ++p.shared.sequence; // written, freed, to be written again
        p.catalog.clusters.setState(announced, ClusterState::announced);
        ASSERT_TRUE(p.until([&] { p.checkpointer.poll(); return p.checkpointer.completed() == 1; }));
        d.superblock = p.checkpointer.superblock();
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_EQ(q.catalog.clusters[bad].state, ClusterState::bad);
    EXPECT_EQ(q.catalog.clusters[announced].state, ClusterState::free);
    EXPECT_EQ(q.recovery->stats().clustersRead, 1U) << "the announced one may have been written";
    EXPECT_NE(q.catalog.index.find(keyOf(late)), noSlot);
}

TEST(Checkpointer, manyCarriedObjectsTakeSeveralChunks) {
    PartsDevice d;
    d.config.stagingMb = 128;
    const auto most = static_cast<uint64_t>(Checkpoint::ObjectsInChunk(false));
    const auto count = most + 10;
    {
        Parts p(d);
        p.allFree();
        packed(p, 1);
        for (uint64_t n = 0; n < count; ++n) {
            const auto s = p.stage(n, "carried");
            p.catalog.staging[s].origin = 1;
            p.catalog.staging[s].originOffset = 1024 + static_cast<uint32_t>(n % 1000) * 32;
            ++p.catalog.clusters[1].carried;
        }
        ASSERT_TRUE(p.runCheckpoint());
    }
    Parts q(d);
    ASSERT_TRUE(q.recover());
    EXPECT_FALSE(q.recovery->stats().scanned);
    EXPECT_EQ(q.recovery->stats().dropped + q.catalog.objects(), count);
    EXPECT_GT(q.catalog.objects(), 1000U);
}

TEST(Checkpointer, aStopWithoutTimeLeavesTheDeviceAsItIs) {
    PartsDevice d;
    Parts p(d);
    d.device->setDelay(5000, 5000);
    EXPECT_EQ(p.checkpointer.writeCleanSuperblock(0), Status::ioError);
    EXPECT_FALSE(p.checkpointer.superblock().clean);
}
