// SPDX-License-Identifier: GPL-2.0-or-later
/* Which clusters are on trial, which objects failed, and which were used in their round. */

#include "fs/cluster/context/ClusterQueues.h"

#include <gtest/gtest.h>
#include <map>

using namespace ClusterFs;

namespace {

class Queues : public ::testing::Test
{
protected:
    void write(const uint32_t n, const uint64_t sequence, const bool onTrial) {
        queues.noteWritten(ClusterNo(n), Sequence(sequence), onTrial, tick);
        contents[n] = sequence;
    }

    uint32_t oldest() {
        return queues.oldestOnTrial([this](const ClusterNo n, const Sequence s) { return contents[n.value()] == s.value(); }).value();
    }

    ClusterQueues queues{100, 1000};
    std::map<uint32_t, uint64_t> contents; ///< the sequence number of each cluster
    uint32_t tick = 0;
};

} // namespace

TEST_F(Queues, trialsAreInOrderOfSequence) {
    write(7, 10, true);
    write(8, 13, true);
    write(9, 11, false);
    write(3, 12, true); // its write took longer
    EXPECT_EQ(queues.onTrial(), 3U);
    EXPECT_TRUE(queues.isOnTrial(Sequence(12)));
    EXPECT_FALSE(queues.isOnTrial(Sequence(11)));
    EXPECT_FALSE(queues.isOnTrial(Sequence(14)));
    EXPECT_EQ(oldest(), 7U);
    contents[7] = 20; // it was freed and written anew
    EXPECT_EQ(oldest(), 3U);
    contents.erase(3);
    EXPECT_EQ(oldest(), 8U);
    EXPECT_TRUE(queues.isOnTrial(Sequence(13)));
    queues.endTrial();
    EXPECT_FALSE(queues.isOnTrial(Sequence(13)));
    EXPECT_EQ(oldest(), noCluster.value());
    EXPECT_EQ(queues.onTrial(), 0U);
}

TEST_F(Queues, noMoreAreOnTrialThanThereAreClusters) {
    for (uint32_t i = 0; i < 500; ++i)
        write(i % 100, i + 1, true);
    EXPECT_EQ(queues.onTrial(), 100U);
    EXPECT_EQ(oldest(), 0U);
    EXPECT_FALSE(queues.isOnTrial(Sequence(400)));
    EXPECT_TRUE(queues.isOnTrial(Sequence(401)));
}

TEST_F(Queues, onlyUsesSinceTheRoundBeganCount) {
    const ClusterNo n(5);
    tick = 250;
    write(5, 1, false);
    EXPECT_FALSE(queues.isUsed(n, 250, 0, 1)) << "in the tick of the write: before it, as far as one knows";
    EXPECT_TRUE(queues.isUsed(n, 251, 0, 1));
    EXPECT_FALSE(queues.isUsed(n, 251, 1, 1));
    EXPECT_FALSE(queues.isUsed(n, 251, 0, 0)) << "stored then, and not used";
    EXPECT_TRUE(queues.isUsed(n, 4, 9, 1)) << "the tick has begun anew after 255";
    EXPECT_FALSE(queues.isUsed(n, 4, 10, 1));
    queues.noteRound(n, 4);
    EXPECT_FALSE(queues.isUsed(n, 4, 9, 1));
    EXPECT_FALSE(queues.isUsed(n, 6, 2, 7));
    EXPECT_TRUE(queues.isUsed(n, 6, 1, 1));
}

TEST_F(Queues, whatIsNotKnownCountsByItsUses) {
    EXPECT_TRUE(queues.isUsed(ClusterNo(6), 100, 50, 1));
    EXPECT_FALSE(queues.isUsed(ClusterNo(6), 100, 0, 0));
}

TEST_F(Queues, whatFailedIsKnownOnce) {
    queues.noteFailed(12345);
    EXPECT_FALSE(queues.takeFailed(12346));
    EXPECT_TRUE(queues.takeFailed(12345));
    EXPECT_FALSE(queues.takeFailed(12345));
    EXPECT_FALSE(queues.takeFailed(0)) << "an empty place is no object";
}

TEST_F(Queues, whatFailedIsForgottenInTime) {
    for (uint32_t tag = 1; tag <= 5000; ++tag)
        queues.noteFailed(tag * 2654435761U);
    unsigned known = 0;
    for (uint32_t tag = 1; tag <= 5000; ++tag)
        known += queues.takeFailed(tag * 2654435761U);
    EXPECT_GT(known, 600U);
    EXPECT_LE(known, 1001U);
}
