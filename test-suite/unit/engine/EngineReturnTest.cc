// SPDX-License-Identifier: GPL-2.0-or-later
/* What was replaced or deleted while nothing was known of it, though a start would find it. */

#include "test-suite/unit/support/EngineSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// removals that storing an object adds to the journal
uint64_t
removalsOfAStore(TestStore &t, const uint64_t n)
{
    const auto before = t.engine->stats().counters.journalDeletes;
    EXPECT_EQ(t.store(keyOf(n), bytesOf(n, 500)), Status::ok);
    return t.engine->stats().counters.journalDeletes - before;
}

} // namespace

/// the older version may be in a part of the index that is not back yet
TEST(EngineReturn, whatIsReplacedDuringRecoveryStaysAway) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 10; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1000)), Status::ok);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.faulty->setDelay(2000, 2000);
    ASSERT_EQ(t.open(), Status::ok);
    ASSERT_EQ(t.engine->state(), EngineState::recovering);
    for (uint64_t n = 0; n < 10; n += 2)
        ASSERT_EQ(t.store(keyOf(n), "newer"), Status::ok);
    ASSERT_EQ(t.engine->state(), EngineState::recovering);
    ASSERT_NO_FATAL_FAILURE(t.recover());
    t.pass(t.config.deleteTime + 0.5);
    EXPECT_EQ(t.engine->stats().stagedObjects, 5U) << "packed: nothing is tested";
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t n = 0; n < 10; ++n)
        EXPECT_EQ(t.remembers(keyOf(n)), n % 2 == 1) << n;
}

/// nothing is written when an object expires, so that its key remains in its cluster and in the checkpoint
TEST(EngineReturn, whatExpiredAndWasReplacedStaysAwayWithoutALifetimeToo) {
    for (const bool removed: {false, true}) {
        TestStore t(32 * MB);
        t.config.fileLifetime = 1000;
        t.config.checkpoint = 86400;
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 500)), Status::ok);
        const auto younger = infoOf(t.clock.wallSeconds() + 5000);
        ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 500), true, &younger), Status::ok);
        ASSERT_TRUE(t.pack());
        ASSERT_TRUE(t.checkpoint());
        ASSERT_EQ(removalsOfAStore(t, 3), 0U);
        t.clock.advance(1100 * MB);
        t.pass(30);
        ASSERT_EQ(t.engine->stats().counters.expiredObjects, 2U);
        if (removed) {
            EXPECT_FALSE(t.engine->remove(keyOf(1)));
        } else {
            ASSERT_EQ(t.store(keyOf(1), "newer"), Status::ok);
        }
        t.pass(t.config.deleteTime + 0.5);
        t.crash();
        t.config.fileLifetime = 0;
        ASSERT_NO_FATAL_FAILURE(t.reopen());
        EXPECT_FALSE(t.remembers(keyOf(1)));
        EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 500)));
    }
}

/// a checkpoint that begins later does not have it, and then stores cost no more than ever
TEST(EngineReturn, aCheckpointEndsTheCareForWhatMayReturn) {
    TestStore t(32 * MB);
    t.config.fileLifetime = 1000;
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto younger = infoOf(t.clock.wallSeconds() + 5000);
    EXPECT_EQ(removalsOfAStore(t, 1), 0U) << "the start is over";
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 500), true, &younger), Status::ok);
    ASSERT_TRUE(t.pack());
    t.faulty->setDelay(10000, 10000);
    t.engine->requestCheckpoint();
    const auto done = t.engine->stats().counters.checkpoints;
    t.step(); // it begins
    t.clock.advance(1100 * MB);
    ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.expiredObjects == 1; }));
    ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.checkpoints > done; }));
    EXPECT_EQ(removalsOfAStore(t, 3), 1U) << "that checkpoint had begun before";
    t.faulty->setDelay(100, 100);
    ASSERT_TRUE(t.checkpoint());
    EXPECT_EQ(removalsOfAStore(t, 4), 0U);
}

/// What was regrouped lies in its old cluster, too, which stays for the sake of others. When
/// the new one goes before a checkpoint, only the journal can say that it was deleted.
TEST(EngineReturn, whatWasRegroupedEvictedAndDeletedStaysAway) {
    auto config = muchRewriting();
    config.checkpoint = 86400;
    config.replacement = &lruEviction;
    TestStore t(16 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const uint64_t wanted = 1, mate = 2;
    const auto fillers = [&](const uint64_t from) {
        for (uint64_t n = from; n < from + 12; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 5000)), Status::ok);
        ASSERT_TRUE(t.pack());
    };
    ASSERT_EQ(t.store(keyOf(wanted), bytesOf(wanted, 1000)), Status::ok);
    ASSERT_NO_FATAL_FAILURE(fillers(1000));
    ASSERT_EQ(t.store(keyOf(mate), bytesOf(mate, 1000)), Status::ok);
    ASSERT_NO_FATAL_FAILURE(fillers(2000));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();

    t.engine->collocate(keyOf(wanted), {keyOf(mate)});
    ASSERT_TRUE(t.has(keyOf(wanted), bytesOf(wanted, 1000)));
    ASSERT_TRUE(t.has(keyOf(mate), bytesOf(mate, 1000)));
    t.pass(2);
    ASSERT_EQ(t.engine->stats().counters.regroupedGroups, 1U);
    ASSERT_NO_FATAL_FAILURE(fillers(3000));
    t.pass(5);
    const auto checkpoints = t.engine->stats().counters.checkpoints;
    for (uint64_t n = 10000; n < 13000 && t.remembers(keyOf(wanted)); ++n) {
        for (uint64_t f = 0; f < 12; ++f) {
            t.engine->touch(keyOf(1000 + f));
            t.engine->touch(keyOf(2000 + f));
        }
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 29000)), Status::ok);
        t.pass(0.3);
    }
    ASSERT_FALSE(t.remembers(keyOf(wanted))) << "its new cluster is still there: nothing is tested";
    ASSERT_TRUE(t.remembers(keyOf(1000))) << "its old cluster is gone: nothing is tested";
    EXPECT_FALSE(t.engine->remove(keyOf(wanted)));
    t.pass(t.config.deleteTime + 1);
    ASSERT_EQ(t.engine->stats().counters.checkpoints, checkpoints) << "nothing is tested";
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_FALSE(t.remembers(keyOf(wanted)));
}

/// a delete has its bound from the first moment of a start
TEST(EngineReturn, whatIsDeletedDuringAStartThatIsKilledStaysAway) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 10; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1000)), Status::ok);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    ASSERT_EQ(t.open(), Status::ok) << t.lastError;
    // after both journals, so that the start goes on for ever
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 2, Fault::hang, true);
    t.engine->remove(keyOf(1));
    t.pass(t.config.deleteTime + 5);
    ASSERT_EQ(t.engine->state(), EngineState::recovering) << "nothing is tested";
    t.cut();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_FALSE(t.remembers(keyOf(1)));
    EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 1000)));
}

/// a power cut after a flush that failed
TEST(EngineReturn, whatIsDeletedStaysAwayWhenAFlushFails) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_TRUE(t.checkpoint());
    t.pass(60);
    EXPECT_TRUE(t.engine->remove(keyOf(1)));
    t.faulty->script(IoOp::flush, t.faulty->requests(IoOp::flush) + 1, Fault::error);
    const auto flushes = t.faulty->requests(IoOp::flush);
    t.pass(t.config.deleteTime + 1);
    ASSERT_GT(t.faulty->requests(IoOp::flush), flushes) << "nothing is tested";
    t.pass(2);
    t.cut();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_FALSE(t.remembers(keyOf(1)));
}

/// a device that takes no writes for a while: the delete is written when it takes some again
TEST(EngineReturn, whatIsDeletedInReadOnlyStateIsWrittenWhenTheDeviceTakesIt) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_TRUE(t.checkpoint());
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::error, true);
    for (uint64_t n = 100; n < 400 && t.engine->state() == EngineState::serving; ++n) {
        t.store(keyOf(n), bytesOf(n, 20000));
        t.pass(1);
    }
    ASSERT_EQ(t.engine->state(), EngineState::readOnly);
    EXPECT_TRUE(t.engine->remove(keyOf(1)));
    t.pass(t.config.deleteTime + 1);
    t.faulty->heal();
    t.pass(20);
    EXPECT_EQ(t.engine->state(), EngineState::readOnly) << "it has to be looked at";
    t.cut();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_FALSE(t.remembers(keyOf(1)));
}
