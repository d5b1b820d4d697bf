// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine when it ends: with requests on their way, in a hurry, while somebody wants more. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/context/StoreContext.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t slow = 1000000; ///< microseconds that a request takes

/// ends the engine and lets the device answer nobody
void
endAndAnswer(TestStore &t)
{
    ASSERT_GT(t.faulty->inFlight(), 0U);
    t.engine.reset();
    for (int i = 0; i < 1000 && !t.faulty->idle(); ++i) {
        t.faulty->wait(1000);
        t.faulty->poll();
    }
    EXPECT_TRUE(t.faulty->idle());
}

/// an object that is due to be packed, on a device that takes its time from now on
void
storeAndWait(TestStore &t)
{
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    t.settle();
    t.faulty->setDelay(slow, slow);
    t.clock.advance(uint64_t(t.config.persist) * 1000000);
}

} // namespace

/* requests that are answered after the engine has ended */

TEST(EngineEnd, packingMayBeUnderWay) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(storeAndWait(t));
    ASSERT_TRUE(t.until([&] { return t.engine->stats().readCacheBytes > 0; })) << "what is being packed is in memory";
    EXPECT_EQ(t.engine->stats().counters.packs, 0U);
    ASSERT_NO_FATAL_FAILURE(endAndAnswer(t));
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000))) << "the write was relocated out";
}

TEST(EngineEnd, aFlushMayBeUnderWay) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(storeAndWait(t));
    const auto before = t.faulty->requests(IoOp::flush);
    ASSERT_TRUE(t.until([&] { return t.faulty->requests(IoOp::flush) > before; }));
    EXPECT_EQ(t.engine->stats().counters.packs, 1U);
    ASSERT_NO_FATAL_FAILURE(endAndAnswer(t));
    t.cut();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000))) << "flushed before the power went";
}

TEST(EngineEnd, aPartMayBeUnderWay) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto writer = t.engine->create(keyOf(1), infoOf(t.clock.wallSeconds()), 200000);
    ASSERT_NE(writer, nullptr);
    t.faulty->setDelay(slow, slow);
    const auto written = t.faulty->requests(IoOp::write);
    ASSERT_TRUE(writer->append(bytesOf(1, 150000).data(), 150000));
    EXPECT_EQ(t.engine->stats().counters.parts, 2U);
    ASSERT_TRUE(t.until([&] { return t.faulty->requests(IoOp::write) > written + 1; })) << "the journal has announced them";
    ASSERT_NO_FATAL_FAILURE(endAndAnswer(t));
    EXPECT_FALSE(writer->congested());
    EXPECT_FALSE(writer->append("x", 1));
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_FALSE(t.remembers(keyOf(1)));
    EXPECT_EQ(t.engine->stats().clustersPart, 0U);
}

/// a disk that takes no writes is asked at once whether it can be read
TEST(EngineEnd, aProbeMayBeUnderWay) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    t.faulty->setDelay(slow, slow);
    for (unsigned i = 0; i < Health::maxWriteErrors; ++i) // each in a cluster of its own
        ASSERT_EQ(t.store(keyOf(i), bytesOf(i, 60000)), Status::ok);
    t.clock.advance(uint64_t(t.config.persist) * 1000000);
    t.faulty->setRate(IoOp::write, Fault::error, 1);
    ASSERT_TRUE(t.until([&] { return t.engine->state() == EngineState::readOnly; }));
    ASSERT_NO_FATAL_FAILURE(endAndAnswer(t));
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_EQ(t.engine->state(), EngineState::serving);
}

/* closing */

/// however little time there is: an order to close loses nothing that was safe, and what it says is true
TEST(EngineEnd, closesWithinAnyTime) {
    unsigned clean = 0;
    unsigned unclean = 0;
    for (unsigned milliseconds = 0; milliseconds < 120; milliseconds += 3) {
        TestStore t;
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
        ASSERT_TRUE(t.pack());
        ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 5000)), Status::ok);
        t.faulty->setDelay(3000, 9000);
        const auto status = t.engine->close(milliseconds);
        EXPECT_EQ(t.engine->state(), EngineState::closed);
        t.crash();
        ASSERT_NO_FATAL_FAILURE(t.reopen());
        EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000))) << milliseconds;
        const bool isClean = t.engine->stats().recovery.clean; // the last write may have come to an end after the time
        EXPECT_TRUE(isClean || status != Status::ok) << milliseconds;
        if (isClean) {
            EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 5000))) << milliseconds;
        }
        ++(isClean ? clean : unclean);
    }
    EXPECT_GT(clean, 0U);
    EXPECT_GT(unclean, 0U);
}

/// once all is packed, nothing may come that the checkpoint would not know
TEST(EngineEnd, takesNothingWhileItCloses) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    const auto reader = t.engine->read(keyOf(1));
    bool refused = false;
    std::function<void(Status)> again = [&](Status) {
        int load = 0;
        refused = refused || !t.engine->canCreate(100, load);
        if (!refused)
            reader->fetch(0, again); // which is in memory: answered at each turn
    };
    reader->fetch(0, again);
    t.settle();
    EXPECT_FALSE(refused);
    EXPECT_EQ(t.engine->close(60000), Status::ok);
    EXPECT_TRUE(refused);
}
