// SPDX-License-Identifier: GPL-2.0-or-later
/* When checkpoints are written. */

#include "test-suite/unit/support/PartsSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// hours of the log of deletes
void
fillHalfOf(Journal &journal, Parts &p)
{
    while (journal.used() < 0.5) {
        for (uint64_t n = 0; n < 2000; ++n)
            journal.removal(keyOf(n), Sequence(n));
        ASSERT_TRUE(p.writeJournal());
    }
}

} // namespace

TEST(Checkpointer, doesNothingUntilTheIndexIsThereAndTheDiskTakesWrites) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    p.checkpointer.request();
    p.context.recovered = false;
    EXPECT_EQ(p.turns(), 0U);
    p.context.recovered = true;
    p.context.health.level = Health::Level::noWrites;
    EXPECT_EQ(p.turns(), 0U);
    EXPECT_EQ(d.device->requests(IoOp::write), 0U);
    p.context.health.level = Health::Level::good;
    EXPECT_EQ(p.turns(), 1U);
}

TEST(Checkpointer, triesAgainAfterAWhileWhenTheJournalFillsUp) {
    PartsDevice d;
    d.config.checkpoint = 86400;
    Parts p(d);
    p.allFree();
    ASSERT_NO_FATAL_FAILURE(fillHalfOf(p.journal, p));
    d.device->script(IoOp::write, d.device->requests(IoOp::write) + 1, Fault::error);
    EXPECT_EQ(p.turns(), 0U);
    EXPECT_TRUE(p.checkpointer.lastFailed());
    ASSERT_NO_FATAL_FAILURE(fillHalfOf(p.journal, p)); // the failed one has moved the journal on
    const auto writes = d.device->requests(IoOp::write);
    EXPECT_EQ(p.turns(), 0U);
    EXPECT_EQ(d.device->requests(IoOp::write), writes) << "not at once";
    d.clock.advance(10000000);
    EXPECT_EQ(p.turns(), 2U) << "the journal of the first one is half full";
    EXPECT_FALSE(p.checkpointer.lastFailed());
}

TEST(Checkpointer, comesInTime) {
    PartsDevice d;
    d.config.checkpoint = 60;
    Parts p(d);
    p.allFree();
    p.placed(1, 1, 1024, 10); // a change
    EXPECT_EQ(p.turns(), 0U);
    EXPECT_EQ(p.checkpointer.completedAt(), 0U);
    d.clock.advance(61000000);
    EXPECT_EQ(p.turns(), 1U);
    EXPECT_EQ(p.turns(), 1U);
    p.checkpointer.hold(true);
    d.clock.advance(61000000);
    p.checkpointer.request();
    EXPECT_EQ(p.turns(), 1U) << "held while a scan goes on";
    p.checkpointer.hold(false);
    EXPECT_EQ(p.turns(), 2U);
}

TEST(Checkpointer, saysNothingWhenNothingChanged) {
    PartsDevice d;
    d.config.checkpoint = 10;
    Parts p(d);
    p.allFree();
    for (uint64_t n = 0; n < 100; ++n)
        p.placed(n, 1, 1024 + static_cast<uint32_t>(n) * 128, 50);
    d.clock.advance(10000000);
    EXPECT_EQ(p.turns(), 1U);
    const auto requests = d.device->requests();
    d.clock.advance(100000000);
    EXPECT_EQ(p.turns(), 1U);
    EXPECT_EQ(d.device->requests(), requests);
    p.catalog.erase(p.catalog.index().find(keyOf(1)));
    EXPECT_EQ(p.turns(), 2U);
}

TEST(Checkpointer, aStopWithoutTimeLeavesTheDeviceAsItIs) {
    PartsDevice d;
    Parts p(d);
    d.device->setDelay(5000, 5000);
    EXPECT_EQ(p.checkpointer.writeCleanSuperblock(0), Status::ioError);
    EXPECT_FALSE(p.checkpointer.superblock().clean);
}
