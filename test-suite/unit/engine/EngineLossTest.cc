// SPDX-License-Identifier: GPL-2.0-or-later
/* What a start says that a crash has cost. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/layout/Cluster.h"
#include "fs/cluster/layout/JournalBlock.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

class EngineLoss : public ::testing::Test
{
protected:
    /// several small objects, and a large one, reach the device behind the newest checkpoint
    void fill() {
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_TRUE(t.checkpoint());
        const auto before = t.engine->stats().counters;
        for (uint64_t n = 0; n < small; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
        const auto older = infoOf(t.clock.wallSeconds() - 3000);
        ASSERT_EQ(t.store(keyOf(large), bytesOf(large, 150000), true, &older), Status::ok);
        ASSERT_TRUE(t.pack());
        const auto after = t.engine->stats().counters;
        ASSERT_EQ(after.checkpoints, before.checkpoints) << "or this tests nothing";
        written = after.packs - before.packs + after.parts - before.parts;
        ASSERT_GT(after.parts, 0U);
        ASSERT_GT(after.packs, 1U);
    }
    /// \returns the place of the first cluster of a kind that was written
    uint64_t firstOf(const ClusterKind kind) const {
        const auto g = t.geometry();
        for (ClusterNo n{0}; g.has(n); ++n) {
            ClusterHeader h;
            if (Directory::Peek(t.media.data() + g.clusterOffset(n), ClusterHeader::encodedBytes, h) && h.kind == kind)
                return g.clusterOffset(n);
        }
        return 0;
    }
    /// \returns how many blocks the journal has
    uint32_t crashBehindJournal() {
        const auto sb = *t.engine->superblock();
        journal = sb.geometry.journalStart[sb.checkpoint % 2];
        t.crash();
        uint32_t blocks = 0;
        for (JournalBlock b; b.decode(t.media.data() + journal + uint64_t(blocks) * journalBlockBytes, sb.uuid) == Status::ok &&
                b.checkpoint == sb.checkpoint && b.index == blocks;)
            ++blocks;
        return blocks;
    }
    std::string line(const std::string &name) const {
        const auto text = t.engine->report();
        const auto at = text.find("\n" + name + ":");
        return at == std::string::npos ? "none" : text.substr(at + 30, text.find('\n', at + 1) - at - 30);
    }
    const RecoveryStats &found() { return stats = t.engine->stats().recovery; }

    static constexpr uint64_t small = 10; ///< objects
    static constexpr uint64_t large = 100; ///< the number of one
    TestStore t{32 * MB};
    uint64_t written = 0; ///< clusters
    uint64_t journal = 0; ///< where it is
    RecoveryStats stats;
};

} // namespace

TEST_F(EngineLoss, isNothingAfterAKill) {
    ASSERT_NO_FATAL_FAILURE(fill());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_EQ(found().clustersWritten, written);
    EXPECT_GT(stats.clustersAnnounced, written) << "some are announced ahead";
    EXPECT_EQ(stats.clustersTorn + stats.objectsLost + stats.journalBlocksLost + stats.blocksLost, 0U);
    EXPECT_EQ(t.engine->objectCount(), small + 1);
    EXPECT_TRUE(t.logged("after a crash; lost beside what was in memory: nothing"));
    EXPECT_EQ(line("clusters announced"), std::to_string(stats.clustersAnnounced));
    EXPECT_EQ(line("announced and written"), std::to_string(written));
}

TEST_F(EngineLoss, isNotSpokenOfAfterAStop) {
    ASSERT_NO_FATAL_FAILURE(fill());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    EXPECT_EQ(found().clustersTorn + stats.objectsLost + stats.journalBlocksLost + stats.blocksLost, 0U);
    EXPECT_TRUE(t.logged("index is complete: 11 objects"));
    EXPECT_FALSE(t.logged("lost beside"));
}

TEST_F(EngineLoss, isAClusterThatIsTorn) {
    ASSERT_NO_FATAL_FAILURE(fill());
    const auto at = firstOf(ClusterKind::packed);
    t.crash();
    t.damage(at + ClusterHeader::encodedBytes, 8); // in its directory
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(found().clustersTorn, 1U);
    EXPECT_EQ(stats.clustersWritten, written - 1);
    EXPECT_EQ(stats.objectsLost, 0U) << "what it held is not known";
    EXPECT_LT(t.engine->objectCount(), small + 1);
    EXPECT_TRUE(t.logged("lost beside what was in memory: 1 clusters that were being written"));
    EXPECT_EQ(line("announced and torn"), "1");
}

TEST_F(EngineLoss, isALargeObjectWithoutItsParts) {
    ASSERT_NO_FATAL_FAILURE(fill());
    const auto at = firstOf(ClusterKind::part);
    t.crash();
    t.damage(at + 60, 4); // its number
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(found().clustersTorn, 1U);
    EXPECT_EQ(stats.objectsLost, 1U);
    EXPECT_EQ(t.engine->objectCount(), small);
    EXPECT_FALSE(t.remembers(keyOf(large)));
    EXPECT_TRUE(t.logged("lost beside what was in memory: 1 objects in part, 1 clusters that were being written"));
    EXPECT_EQ(line("objects lost"), "1");
}

/// what was forgotten on purpose is not lost
TEST_F(EngineLoss, isNoObjectThatWasDeletedOrHasExpired) {
    t.config.fileLifetime = 3600;
    t.config.checkpoint = 86400;
    ASSERT_NO_FATAL_FAILURE(fill());
    t.clock.advance(uint64_t(1000) * 1000000);
    ASSERT_TRUE(t.until([&] { return t.engine->objectCount() == small; })) << "its head lies beside others, which stay";
    ASSERT_TRUE(t.engine->remove(keyOf(1)));
    t.pass(t.config.deleteTime + 1);
    t.config.fileLifetime = 0;
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_EQ(t.engine->objectCount(), small - 1);
    EXPECT_EQ(found().objectsLost, 0U);
    EXPECT_GT(stats.clustersWritten, 0U) << "or a checkpoint came between";
}

TEST_F(EngineLoss, isWhatFollowsADamagedBlockOfTheJournal) {
    t.config.deleteCount = 1;
    ASSERT_NO_FATAL_FAILURE(fill());
    for (uint64_t n = 0; n < small; ++n) {
        const auto before = t.engine->stats().counters.journalBlocks;
        ASSERT_TRUE(t.engine->remove(keyOf(n)));
        ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.journalBlocks > before; }));
    }
    const auto blocks = crashBehindJournal();
    ASSERT_GE(blocks, small);
    t.damage(journal + uint64_t(blocks - 4) * journalBlockBytes + 60, 1);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(found().journalBlocksLost, 4U);
    EXPECT_EQ(stats.deletes, small - 4);
    EXPECT_TRUE(t.logged("lost beside what was in memory: 4 blocks of the journal"));
    EXPECT_EQ(line("journal blocks lost"), "4");
}

/// the last block may be torn: nobody can know that it was there
TEST_F(EngineLoss, isNotSeenOfTheLastBlockOfTheJournal) {
    t.config.deleteCount = 1;
    ASSERT_NO_FATAL_FAILURE(fill());
    ASSERT_TRUE(t.engine->remove(keyOf(1)));
    t.pass(1);
    const auto blocks = crashBehindJournal();
    ASSERT_GT(blocks, 1U);
    t.damage(journal + uint64_t(blocks - 1) * journalBlockBytes + 60, 1);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(found().journalBlocksLost, 0U);
    EXPECT_TRUE(t.logged("lost beside what was in memory: nothing"));
}
