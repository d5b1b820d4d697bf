// SPDX-License-Identifier: GPL-2.0-or-later
/* What was stored and deleted before Engine::sync() survives a power cut after it, with no time passing meanwhile. */

#include "test-suite/unit/support/EngineSupport.h"

namespace ClusterFs {
namespace Testing {
namespace {

/// a store in which time alone packs and flushes nothing during a test
Config
patientConfig()
{
    auto c = smallConfig();
    c.persist = 86400;
    c.deleteTime = 86400;
    c.deleteCount = 1000000;
    c.checkpoint = 604800;
    return c;
}

class EngineSync : public ::testing::Test
{
protected:
    EngineSync(): t(32 * MB, patientConfig()) {}

    void SetUp() override { ASSERT_NO_FATAL_FAILURE(t.start()); }

    /// \returns the answer; nothing when none came
    std::optional<Status> sync() { return t.runChore(Chore::sync); }

    void cutAndReopen() {
        t.cut();
        ASSERT_NO_FATAL_FAILURE(t.reopen());
    }

    TestStore t;
};

TEST_F(EngineSync, storedObjectsSurviveAPowerCut) {
    for (uint64_t n = 0; n < 50; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n * 301)), Status::ok);
    ASSERT_EQ(t.store(keyOf(100), bytesOf(100, 300000)), Status::ok);
    ASSERT_GT(t.engine->stats().stagedObjects, 0U);
    ASSERT_EQ(sync(), Status::ok);
    ASSERT_NO_FATAL_FAILURE(cutAndReopen());
    for (uint64_t n = 0; n < 50; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 1 + n * 301))) << n;
    EXPECT_TRUE(t.has(keyOf(100), bytesOf(100, 300000)));
}

TEST_F(EngineSync, withoutItTheyDoNot) {
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    ASSERT_NO_FATAL_FAILURE(cutAndReopen());
    EXPECT_FALSE(t.has(keyOf(1), bytesOf(1, 1000)));
}

/// its last part is on its way to the device when the call comes
TEST_F(EngineSync, aLargeObjectWhosePartsAreNotWrittenYetSurvives) {
    const auto bytes = bytesOf(7, 500000);
    auto writer = t.engine->create(keyOf(7), infoOf(t.clock.wallSeconds()), static_cast<int64_t>(bytes.size()));
    ASSERT_TRUE(writer);
    for (size_t at = 0; at < bytes.size(); at += 10000) {
        ASSERT_TRUE(t.until([&] { return !writer->congested(); }));
        ASSERT_TRUE(writer->append(bytes.data() + at, 10000));
    }
    ASSERT_EQ(writer->finish(), Status::ok);
    ASSERT_EQ(sync(), Status::ok);
    ASSERT_NO_FATAL_FAILURE(cutAndReopen());
    EXPECT_TRUE(t.has(keyOf(7), bytes));
}

TEST_F(EngineSync, deletesSurviveAPowerCut) {
    for (uint64_t n = 0; n < 20; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 2000)), Status::ok);
    ASSERT_EQ(sync(), Status::ok);
    for (uint64_t n = 0; n < 10; ++n)
        ASSERT_TRUE(t.engine->remove(keyOf(n)));
    ASSERT_EQ(t.engine->stats().deletesPending, 10U);
    ASSERT_EQ(sync(), Status::ok);
    ASSERT_NO_FATAL_FAILURE(cutAndReopen());
    for (uint64_t n = 0; n < 20; ++n)
        EXPECT_EQ(t.has(keyOf(n), bytesOf(n, 2000)), n >= 10) << n;
}

/// more than the journal writes at a time
TEST_F(EngineSync, thousandsOfDeletesSurviveAPowerCut) {
    constexpr uint64_t count = 6000;
    for (uint64_t n = 0; n < count; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 100)), Status::ok);
    ASSERT_EQ(sync(), Status::ok);
    for (uint64_t n = 1; n < count; ++n)
        ASSERT_TRUE(t.engine->remove(keyOf(n)));
    ASSERT_EQ(t.engine->stats().deletesPending, count - 1);
    ASSERT_EQ(sync(), Status::ok);
    EXPECT_EQ(t.engine->stats().deletesPending, 0U);
    ASSERT_NO_FATAL_FAILURE(cutAndReopen());
    EXPECT_TRUE(t.has(keyOf(0), bytesOf(0, 100)));
    EXPECT_EQ(t.engine->objectCount(), 1U);
}

TEST_F(EngineSync, anEmptyStoreAnswersToo) {
    EXPECT_EQ(sync(), Status::ok);
}

/// the packing of what came before must not go on with all that comes later
TEST_F(EngineSync, objectsThatComeAfterwardsStayInStaging) {
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    ASSERT_EQ(sync(), Status::ok);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 1000)), Status::ok);
    for (int i = 0; i < 100; ++i)
        t.step();
    EXPECT_EQ(t.engine->stats().stagedObjects, 1U);
}

TEST_F(EngineSync, eachOfSeveralCallsIsAnswered) {
    unsigned answers = 0;
    for (uint64_t n = 0; n < 5; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 5000)), Status::ok);
        t.engine->run(Chore::sync, 0, [&answers](const Status s) { answers += s == Status::ok; });
    }
    ASSERT_TRUE(t.until([&] { return answers == 5; }));
    ASSERT_NO_FATAL_FAILURE(cutAndReopen());
    for (uint64_t n = 0; n < 5; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 5000))) << n;
}

TEST_F(EngineSync, aDeviceThatTakesNoWritesIsTold) {
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::error, true);
    EXPECT_EQ(sync(), Status::ioError);
    EXPECT_EQ(sync(), Status::ioError);
}

TEST_F(EngineSync, aFlushThatFailsIsTold) {
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    t.faulty->script(IoOp::flush, t.faulty->requests(IoOp::flush) + 1, Fault::error, true);
    EXPECT_EQ(sync(), Status::ioError);
}

/// a close() packs all, whatever calls are open, and answers none of them
TEST_F(EngineSync, anOpenCallDoesNotHinderTheEnd) {
    for (uint64_t n = 0; n < 50; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n * 301)), Status::ok);
    bool answered = false;
    t.engine->run(Chore::sync, 0, [&answered](Status) { answered = true; });
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    EXPECT_FALSE(answered);
    t.engine->run(Chore::sync, 0, [&answered](Status) { answered = true; });
    EXPECT_FALSE(answered);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    for (uint64_t n = 0; n < 50; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 1 + n * 301))) << n;
}

} // namespace
} // namespace Testing
} // namespace ClusterFs
