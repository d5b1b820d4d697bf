// SPDX-License-Identifier: GPL-2.0-or-later
/* What was replaced or deleted while nothing was known of it, though a start would find it. */

#include "EngineSupport.h"

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
