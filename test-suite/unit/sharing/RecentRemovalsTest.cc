// SPDX-License-Identifier: GPL-2.0-or-later
/* Removals that the owner remembers until it has heard everybody. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/sharing/RecentRemovals.h"

#include <gtest/gtest.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(RecentRemovals, countForWhatWasSaidBefore)
{
    RecentRemovals removals;
    removals.note(keyOf(1), 5);
    EXPECT_TRUE(removals.after(keyOf(1), 4));
    EXPECT_FALSE(removals.after(keyOf(1), 5)) << "it was said with the removal known";
    EXPECT_FALSE(removals.after(keyOf(2), 4));
    removals.note(keyOf(1), 3);
    EXPECT_TRUE(removals.after(keyOf(1), 4)) << "an older one, heard of later";
    removals.nextPeriod();
    EXPECT_TRUE(removals.after(keyOf(1), 4)) << "it may be younger than what was heard of some worker";
    removals.nextPeriod();
    EXPECT_FALSE(removals.after(keyOf(1), 4));
}

/// nobody knows which ones they were: all that was said before them is taken for removed, and nothing that was said later
TEST(RecentRemovals, tooManyCountForAll)
{
    RecentRemovals removals;
    for (uint64_t n = 1; n <= RecentRemovals::most; ++n)
        removals.note(keyOf(n), n);
    EXPECT_FALSE(removals.after(keyOf(1), 1));
    EXPECT_FALSE(removals.after(keyOf(0), 1));
    removals.note(keyOf(0), RecentRemovals::most + 1);
    EXPECT_TRUE(removals.after(keyOf(1), 1));
    EXPECT_TRUE(removals.after(keyOf(1000000), RecentRemovals::most - 1));
    EXPECT_FALSE(removals.after(keyOf(1), RecentRemovals::most));
    EXPECT_TRUE(removals.after(keyOf(0), RecentRemovals::most));
    removals.nextPeriod();
    removals.nextPeriod();
    EXPECT_FALSE(removals.after(keyOf(1), 1));
}
