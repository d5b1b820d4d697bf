// SPDX-License-Identifier: GPL-2.0-or-later
/* The waits of clients, without the Squid that measures them. */

#include "fs/cluster/squid/ClientWaits.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

TEST(ClientWaits, microsecondsCrossSeconds) {
    EXPECT_EQ(microsBetween({10, 999999}, {11, 1}), std::optional<uint64_t>(2));
    EXPECT_EQ(microsBetween({10, 5}, {10, 5}), std::optional<uint64_t>(0));
    EXPECT_EQ(microsBetween({10, 0}, {100010, 7}), std::optional<uint64_t>(100000000007));
}

/// such a time would be nonsense, and as a number without a sign it would be huge
TEST(ClientWaits, aClockThatWasSetBackGivesNoTime) {
    EXPECT_FALSE(microsBetween({10, 1}, {10, 0}));
    EXPECT_FALSE(microsBetween({2000000000, 0}, {10, 0}));
}

TEST(ClientWaits, aBeginThatNobodyKnowsGivesNoTime) {
    EXPECT_FALSE(microsBetween({0, 0}, {10, 0}));
}

TEST(ClientWaits, timesHaveTheirSum) {
    WaitTimes waits;
    EXPECT_EQ(waits.sum(), 0U);
    waits.add(300);
    waits.add(5000000000);
    EXPECT_EQ(waits.sum(), 5000000300U);
    EXPECT_EQ(waits.times().total(), 2U);
    EXPECT_EQ(waits.times().most(), 5000000000U);
}
