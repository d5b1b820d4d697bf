// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of the objects that were read unasked are of use. */

#include "fs/cluster/cache/UseMeter.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

TEST(UseMeter, learnsWhichMatesAreWanted) {
    UseMeter m;
    EXPECT_EQ(m.ofMates(), 0.5) << "nothing is known";
    for (unsigned i = 0; i < 1000; ++i)
        m.groupLeaves(40, 0);
    EXPECT_LT(m.ofMates(), 0.001);
    for (unsigned i = 0; i < 1000; ++i)
        m.groupLeaves(40, 40);
    EXPECT_GT(m.ofMates(), 0.99);
    const auto before = m.ofMates();
    m.groupLeaves(0, 0);
    EXPECT_EQ(m.ofMates(), before) << "an object that was read alone says nothing";
}

TEST(UseMeter, learnsWhatMemorySaves) {
    UseMeter m;
    EXPECT_EQ(m.savedBy(1000000), 0) << "nothing is known";
    for (unsigned i = 0; i < 20000; ++i)
        m.windowLeaves(16000, i % 4 == 0);
    EXPECT_NEAR(m.savedBy(16000), 0.25, 0.01);
    EXPECT_NEAR(m.savedBy(160000), 2.5, 0.1);
    for (unsigned i = 0; i < 20000; ++i)
        m.windowLeaves(160000, i % 4 == 0);
    EXPECT_NEAR(m.savedBy(16000), 0.025, 0.001);
}

TEST(UseMeter, someRefusalsAreTrials) {
    UseMeter m;
    unsigned groups = 0;
    unsigned ahead = 0;
    for (unsigned i = 0; i < 2560; ++i) {
        groups += m.isTimeForGroup();
        ahead += m.isTimeToPrefetch(7);
    }
    EXPECT_EQ(groups, 10U);
    EXPECT_EQ(ahead, 40U);
    EXPECT_FALSE(m.isTimeToPrefetch(8)) << "each client has refusals of its own";
}

TEST(UseMeter, clientsHaveFiguresOfTheirOwn) {
    UseMeter m;
    EXPECT_EQ(m.ofPrefetches(1), 1) << "nothing is known";
    for (unsigned i = 0; i < 100; ++i)
        m.prefetchLeaves(1, 10, 0);
    EXPECT_LT(m.ofPrefetches(1), 0.01);
    EXPECT_EQ(m.ofPrefetches(2), 1) << "one client says nothing of others";
    m.prefetchLeaves(2, 10, 1);
    EXPECT_EQ(m.ofPrefetches(2), 1) << "one object was worth the read";
    EXPECT_NEAR(m.ofPrefetches(), 0.5, 0.01);
}

TEST(UseMeter, aNewClientIsTakenForTheMean) {
    UseMeter m;
    for (uint64_t client = 1; client <= 8; ++client) {
        for (unsigned i = 0; i < 100; ++i)
            m.prefetchLeaves(client, 1, client % 2);
    }
    EXPECT_NEAR(m.ofPrefetches(100), 0.5, 0.01);
    EXPECT_EQ(m.ofPrefetches(100), m.ofPrefetches());
}

TEST(UseMeter, countsWhatWasReadAndWhatBecameOfIt) {
    UseMeter m;
    m.groupRead(5, 50000);
    m.groupRead(3, 30000);
    m.groupLeaves(5, 2);
    m.groupLeaves(3, 4); // one that had not been there when the group was read
    EXPECT_EQ(m.groupReads().reads, 2U);
    EXPECT_EQ(m.groupReads().mates, 8U);
    EXPECT_EQ(m.groupReads().bytes, 80000U);
    EXPECT_EQ(m.groupReads().wanted, 5U);
    EXPECT_EQ(m.groupReads().unused, 3U);
    m.prefetched(9);
    m.prefetchLeaves(1, 9, 10);
    m.prefetchLeaves(1, 9, 0);
    EXPECT_EQ(m.prefetches().reads, 1U);
    EXPECT_EQ(m.prefetches().objects, 9U);
    EXPECT_EQ(m.prefetches().wanted, 9U);
    EXPECT_EQ(m.prefetches().unused, 9U);
}
