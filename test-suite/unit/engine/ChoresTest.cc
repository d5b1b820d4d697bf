// SPDX-License-Identifier: GPL-2.0-or-later
/* Housekeeping that a caller asks for, where the device or the engine cannot do it at once. Its effects are in the tests of the library. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/engine/Chores.h"

namespace ClusterFs {
namespace Testing {
namespace {

/// a store in which nothing is packed or written by itself
Config
patientConfig()
{
    auto c = smallConfig();
    c.persist = 86400;
    c.checkpoint = 604800;
    return c;
}

class ChoresTest : public ::testing::Test
{
protected:
    ChoresTest(): t(32 * MB, patientConfig()) {}

    void SetUp() override { ASSERT_NO_FATAL_FAILURE(t.start()); }

    void storeSome(const uint64_t count, const size_t size = 5000) {
        for (uint64_t n = 0; n < count; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, size)), Status::ok);
    }

    TestStore t;
};

constexpr Chore all[] = {Chore::sync, Chore::pack, Chore::packFromHead, Chore::freeMemory, Chore::freeDisk, Chore::checkpoint};

TEST_F(ChoresTest, anEmptyStoreHasNothingToDo) {
    for (const auto chore: all)
        EXPECT_EQ(t.runChore(chore), Status::ok);
}

TEST_F(ChoresTest, packedObjectsAreStillThere) {
    for (const auto chore: {Chore::pack, Chore::packFromHead}) {
        ASSERT_NO_FATAL_FAILURE(storeSome(60));
        EXPECT_EQ(t.runChore(chore), Status::ok);
        EXPECT_EQ(t.engine->stats().stagedObjects, 0U);
        EXPECT_EQ(t.runChore(Chore::freeMemory), Status::ok);
        EXPECT_EQ(t.engine->stats().readCacheBytes, 0U);
        for (uint64_t n = 0; n < 60; ++n)
            EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 5000))) << n;
    }
}

/// objects that are deleted meanwhile leave the middle of the list
TEST_F(ChoresTest, packingEndsWhenOthersTakeItsWorkAway) {
    ASSERT_NO_FATAL_FAILURE(storeSome(60));
    const auto answer = t.beginChore(Chore::pack, 20 * 5120);
    for (uint64_t n = 5; n < 60; ++n)
        ASSERT_TRUE(t.engine->remove(keyOf(n)));
    ASSERT_TRUE(t.until([&] { return answer->has_value(); }, 20000));
    EXPECT_EQ(**answer, Status::ok);
}

TEST_F(ChoresTest, aCheckpointThatIsAskedForBeginsAfterwards) {
    ASSERT_NO_FATAL_FAILURE(storeSome(60));
    EXPECT_EQ(t.runChore(Chore::pack), Status::ok);
    const auto first = t.beginChore(Chore::checkpoint);
    for (int i = 0; i < 3 && !first->has_value(); ++i)
        t.step(); // the first one is under way
    const auto second = t.beginChore(Chore::checkpoint);
    ASSERT_TRUE(t.until([&] { return first->has_value() && second->has_value(); }, 20000));
    EXPECT_EQ(**first, Status::ok);
    EXPECT_EQ(**second, Status::ok);
    EXPECT_EQ(t.engine->stats().counters.checkpoints, 2U);
}

TEST_F(ChoresTest, aDeviceThatTakesNoWritesCanStillFreeMemory) {
    ASSERT_NO_FATAL_FAILURE(storeSome(60));
    ASSERT_EQ(t.runChore(Chore::pack), Status::ok);
    ASSERT_GT(t.engine->stats().readCacheBytes, 0U);
    ASSERT_EQ(t.store(keyOf(100), bytesOf(100, 1000)), Status::ok);
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::error, true);
    for (const auto chore: {Chore::sync, Chore::pack, Chore::packFromHead, Chore::checkpoint, Chore::freeDisk})
        EXPECT_EQ(t.runChore(chore, chore == Chore::freeDisk ? 30 * MB : 0), Status::ioError);
    EXPECT_EQ(t.engine->state(), EngineState::readOnly);
    EXPECT_EQ(t.runChore(Chore::freeMemory), Status::ok);
    EXPECT_EQ(t.engine->stats().readCacheBytes, 0U);
    EXPECT_TRUE(t.has(keyOf(7), bytesOf(7, 5000)));
}

TEST_F(ChoresTest, moreRoomThanThereIsCannotBeMade) {
    ASSERT_NO_FATAL_FAILURE(storeSome(100));
    EXPECT_EQ(t.runChore(Chore::freeDisk, 1000 * MB), Status::full);
    EXPECT_EQ(t.engine->objectCount(), 100U) << "nothing was lost for it";
}

TEST_F(ChoresTest, theNumberOfCallsThatWaitIsLimited) {
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    size_t ok = 0, busy = 0;
    for (size_t n = 0; n < Chores::most + 10; ++n) {
        t.engine->run(Chore::pack, 0, [&](const Status s) {
            ok += s == Status::ok;
            busy += s == Status::busy;
        });
    }
    ASSERT_TRUE(t.until([&] { return ok + busy == Chores::most + 10; }, 20000));
    EXPECT_EQ(busy, 10U);
}

/// an answer may ask for the next thing
TEST_F(ChoresTest, anAnswerMayBeginAnother) {
    ASSERT_NO_FATAL_FAILURE(storeSome(10));
    bool over = false;
    t.engine->run(Chore::pack, 0, [&](Status) { t.engine->run(Chore::checkpoint, 0, [&](const Status s) { over = s == Status::ok; }); });
    EXPECT_TRUE(t.until([&] { return over; }, 20000));
}

TEST_F(ChoresTest, anOpenCallDoesNotHinderTheEnd) {
    ASSERT_NO_FATAL_FAILURE(storeSome(50));
    for (const auto chore: all)
        t.engine->run(chore, chore == Chore::freeDisk ? 20 * MB : 0, [](Status) { ADD_FAILURE() << "answered"; });
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    for (uint64_t n = 0; n < 50; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 5000))) << n;
}

} // namespace
} // namespace Testing
} // namespace ClusterFs
