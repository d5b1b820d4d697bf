// SPDX-License-Identifier: GPL-2.0-or-later
/* How much one read fetches. */

#include "fs/cluster/cache/ReadPolicy.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

TEST(ReadPolicy, readsWhatPays) {
    const CostMeter disk; // as if nothing was measured: 2 ms for a request, 150 MB/s
    const LeastCostReads policy;
    EXPECT_TRUE(policy.readsGroup(disk, 0.5, 40, 500000, 0));
    EXPECT_FALSE(policy.readsGroup(disk, 0.5, 1, 500000, 0)) << "3 ms to save half of 2 ms";
    EXPECT_TRUE(policy.readsGroup(disk, 0.5, 1, 100000, 0));
    EXPECT_FALSE(policy.readsGroup(disk, 0.001, 40, 500000, 0)) << "hardly any mate is wanted";
    EXPECT_TRUE(policy.readsGroup(disk, 0.001, 40, 1000, 0)) << "but these cost nothing";
    EXPECT_TRUE(policy.readsGroup(disk, 0.5, 40, 500000, 18));
    EXPECT_FALSE(policy.readsGroup(disk, 0.5, 40, 500000, 19)) << "one request is saved in all";
}

TEST(ReadPolicy, prefetchesWhileMostOfItIsWanted) {
    const LeastCostReads policy;
    EXPECT_TRUE(policy.prefetches(1));
    EXPECT_TRUE(policy.prefetches(0.76));
    EXPECT_FALSE(policy.prefetches(0.75));
    EXPECT_FALSE(policy.prefetches(0));
}
