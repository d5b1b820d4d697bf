// SPDX-License-Identifier: GPL-2.0-or-later
/* What was learned of groups, after a stop and after a crash. */

#include "test-suite/unit/support/PageSupport.h"

#include "fs/cluster/layout/SavedGroups.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t pages = 4;
constexpr uint64_t members = 6;

void
visitAll(TestStore &t)
{
    for (uint64_t page = 1; page <= pages; ++page) {
        for (uint64_t n = 0; n < members; ++n) {
            t.engine->note(requestFor(page, n, page));
            ASSERT_EQ(t.store(keyOf(objectOf(page, n)), bytesOf(objectOf(page, n), 700)), Status::ok);
        }
    }
}

uint64_t
restored(TestStore &t)
{
    t.settle();
    return t.engine->stats().tracker.restored;
}

/// as the device has it, when no engine is open
Superblock
superblockOf(TestStore &t)
{
    Superblock newest;
    for (const uint64_t at: {uint64_t(0), superblockSpacing}) {
        Superblock s;
        std::string error;
        EXPECT_EQ(s.decode(t.media.data() + at, error), Status::ok) << error;
        if (s.update >= newest.update)
            newest = s;
    }
    return newest;
}

/// \returns the first chunk with groups, or nil
char *
groupChunk(TestStore &t)
{
    const auto s = superblockOf(t);
    auto *const at = t.media.data() + s.geometry.groupsOffset(s.groups, 0);
    SavedGroups::Chunk chunk;
    return SavedGroups::Decode(at, chunk, s.uuid) == Status::ok && chunk.generation == s.groups ? at : nullptr;
}

} // namespace

TEST(LearnedRestart, groupsAreKnownAfterAStop) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_EQ(restored(t), 0U);
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    for (int again = 0; again < 3; ++again) {
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        EXPECT_EQ(restored(t), pages) << "also when nobody has visited them in between: " << again;
        EXPECT_EQ(t.engine->stats().tracker.members, pages * (members - 1));
    }
}

TEST(LearnedRestart, groupsAreKnownAfterACrash) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    ASSERT_TRUE(t.pack());
    ASSERT_TRUE(t.checkpoint());
    for (int again = 0; again < 3; ++again) {
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_EQ(restored(t), pages) << again;
        ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.checkpoints == 1; })) << "after a crash";
    }
}

/// a stop that comes while they are still being read must not lose them
TEST(LearnedRestart, aShortRunLosesNothing) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.faulty->setDelay(5000, 5000);
    ASSERT_EQ(t.open(), Status::ok);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(restored(t), pages);
}

/// nor does a stop fail, or lose objects, for what never comes
TEST(LearnedRestart, aStopDoesNotDependOnThem) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    const auto reads = t.faulty->requests(IoOp::read);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    const auto ofAStart = t.faulty->requests(IoOp::read) - reads;
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + ofAStart + 1, Fault::hang);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(restored(t), 0U) << "another read hangs: nothing is tested";
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    EXPECT_EQ(t.engine->close(60000), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000)));
    EXPECT_EQ(t.engine->objectCount(), pages * members + 1);
}

/// it is not needed for anything: no scan, no object lost
TEST(LearnedRestart, whatIsDamagedIsLearnedAgain) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    auto *const chunk = groupChunk(t);
    ASSERT_NE(chunk, nullptr);
    chunk[200] ^= 4;
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(restored(t), 0U);
    EXPECT_FALSE(t.engine->stats().recovery.scanned);
    for (uint64_t page = 1; page <= pages; ++page) {
        for (uint64_t n = 0; n < members; ++n)
            EXPECT_TRUE(t.has(keyOf(objectOf(page, n)), bytesOf(objectOf(page, n), 700)));
    }
}

TEST(LearnedRestart, onlyStoredObjectsAreWrittenDown) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    for (uint64_t n = 0; n < members; ++n) {
        t.engine->note(requestFor(50, n, 50)); // of a page that may not be stored
        t.engine->remove(keyOf(objectOf(1, n)));
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    EXPECT_EQ(restored(t), pages - 1);
}

TEST(LearnedRestart, learningMayBeOff) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    t.config.localityMb = 0;
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    EXPECT_EQ(restored(t), 0U);
}

/// what belongs together does not depend on where it is
TEST(LearnedRestart, aScanKeepsThem) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    const auto g = superblockOf(t).geometry;
    t.damage(g.logStart, uint64_t(g.logBlocks) * indexBlockBytes);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(restored(t), pages);
    EXPECT_TRUE(t.engine->stats().recovery.scanned);
}

/// the first format had no groups: such a device is used as it is
TEST(LearnedRestart, theOlderFormatIsReadAndBecomesThisOne) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visitAll(t));
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    for (const uint64_t at: {uint64_t(0), superblockSpacing}) {
        Superblock s;
        std::string error;
        ASSERT_EQ(s.decode(t.media.data() + at, error), Status::ok) << error;
        s.version = 1;
        s.encode(t.media.data() + at);
    }
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(t.engine->objectCount(), pages * members);
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    EXPECT_EQ(t.engine->superblock()->version, formatVersion);
    EXPECT_EQ(t.engine->objectCount(), pages * members);
}
