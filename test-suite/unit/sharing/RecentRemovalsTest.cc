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

TEST(RecentRemovals, leaveWhatWasStoredAfterThem)
{
    RecentRemovals removals;
    removals.noteStored(keyOf(1), 5);
    EXPECT_TRUE(removals.storedAfter(keyOf(1), 5)) << "its worker knew of the removal";
    EXPECT_FALSE(removals.storedAfter(keyOf(1), 6));
    EXPECT_FALSE(removals.storedAfter(keyOf(2), 5));
    removals.nextPeriod();
    EXPECT_TRUE(removals.storedAfter(keyOf(1), 5)) << "the removal may be heard of in the next one";
    removals.noteStored(keyOf(1), 4);
    EXPECT_FALSE(removals.storedAfter(keyOf(1), 5)) << "an older one, heard of later, took its place";
    removals.nextPeriod();
    EXPECT_TRUE(removals.storedAfter(keyOf(1), 4));
    removals.nextPeriod();
    EXPECT_FALSE(removals.storedAfter(keyOf(1), 4));
}

/// nobody knows any more which ones are new: each removal removes
TEST(RecentRemovals, tooManyObjectsAreRemoved)
{
    RecentRemovals removals;
    removals.noteStored(keyOf(0), 5);
    removals.nextPeriod();
    for (uint64_t n = 1; n <= RecentRemovals::mostStored; ++n)
        removals.noteStored(keyOf(n), 5);
    EXPECT_TRUE(removals.storedAfter(keyOf(0), 5));
    EXPECT_TRUE(removals.storedAfter(keyOf(1), 5));
    removals.noteStored(keyOf(1000000), 5);
    EXPECT_FALSE(removals.storedAfter(keyOf(0), 5));
    EXPECT_FALSE(removals.storedAfter(keyOf(1), 5));
    EXPECT_TRUE(removals.storedAfter(keyOf(1000000), 5));
}
