// SPDX-License-Identifier: GPL-2.0-or-later
/* The mark above which objects are kept, without objects. */

#include "fs/cluster/context/RewriteBudget.h"
#include "fs/cluster/space/KeepMark.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

namespace {

constexpr float step = 0.126F; ///< of worth: a tally tells no smaller difference

/// ten objects of 100 bytes, with a worth of -10, -9 and so on up to -1
KeepMark::Tally tenObjects(const float worthMore = 0)
{
    KeepMark::Tally tally;
    for (int n = 1; n <= 10; ++n)
        tally.add(static_cast<float>(-n) + worthMore, 100);
    return tally;
}

} // namespace

TEST(KeepMark, aTallyFindsTheWorthThatSomeBytesReach) {
    const auto tally = tenObjects();
    EXPECT_EQ(tally.bytes(), 1000U);
    EXPECT_NEAR(tally.reachedBy(100), -1, step);
    EXPECT_NEAR(tally.reachedBy(101), -2, step);
    EXPECT_NEAR(tally.reachedBy(500), -5, step);
    EXPECT_NEAR(tally.reachedBy(1000), -10, step);
    EXPECT_NEAR(tally.reachedBy(5000), -10, step) << "it has no more";
    EXPECT_GT(tally.reachedBy(0), 3) << "nothing has to reach it";
}

TEST(KeepMark, aWorthOutOfBoundsCountsAtTheBound) {
    KeepMark::Tally tally;
    tally.add(-1000, 10);
    tally.add(1000, 10);
    EXPECT_LT(tally.reachedBy(20), -30);
    EXPECT_GT(tally.reachedBy(10), 3);
}

TEST(KeepMark, noObjectStaysBeforeTheFirstClusterWent) {
    KeepMark mark;
    EXPECT_FALSE(mark.isBelow(1000));
    mark.follow(KeepMark::Tally(), 100);
    EXPECT_FALSE(mark.isBelow(1000)) << "nothing was in that cluster";
    mark.follow(tenObjects(), 200);
    EXPECT_TRUE(mark.isBelow(-1.5F));
    EXPECT_FALSE(mark.isBelow(-2.5F));
    mark.forget();
    EXPECT_FALSE(mark.isBelow(1000));
}

TEST(KeepMark, followsClustersThatAreWorthMoreOneByOne) {
    KeepMark mark;
    mark.follow(tenObjects(), 200);
    mark.follow(tenObjects(4), 200);
    EXPECT_FALSE(mark.isBelow(-2 + step)) << "a little higher";
    EXPECT_TRUE(mark.isBelow(-1.5F)) << "not much";
    for (int n = 0; n < 100; ++n)
        mark.follow(tenObjects(4), 200);
    EXPECT_FALSE(mark.isBelow(2 - 2 * step));
    EXPECT_TRUE(mark.isBelow(2 + 2 * step));
}

/// 21 percent: four sevenths are for evictions, two for regrouping, one for merging
TEST(RewriteBudget, isAShareOfWhatWasPacked) {
    constexpr uint32_t percent = 21;
    constexpr uint64_t mb = 1 << 20;
    RewriteBudget budget;
    EXPECT_EQ(budget.forEviction(0, percent), 0U);
    EXPECT_EQ(budget.forEviction(1000 * mb, 0), 0U);
    budget.notePacked(900 * mb);
    EXPECT_NEAR(static_cast<double>(budget.forEviction(100 * mb, percent)), 120.0 * mb, 1000);
    budget.noteEvicted(100 * mb);
    EXPECT_NEAR(static_cast<double>(budget.forEviction(100 * mb, percent)), 20.0 * mb, 1000);
    budget.noteEvicted(100 * mb);
    EXPECT_EQ(budget.forEviction(100 * mb, percent), 0U) << "it is used up";

    EXPECT_TRUE(budget.allowsRegrouping(60 * mb, 100 * mb, percent));
    EXPECT_FALSE(budget.allowsRegrouping(61 * mb, 100 * mb, percent));
    budget.noteRegrouped(58 * mb);
    EXPECT_TRUE(budget.allowsRegrouping(2 * mb, 100 * mb, percent));
    EXPECT_FALSE(budget.allowsRegrouping(3 * mb, 100 * mb, percent));
    EXPECT_FALSE(budget.allowsRegrouping(1, 100 * mb, 0));

    EXPECT_TRUE(budget.allowsMerging(27 * mb, percent));
    budget.noteMerged(26 * mb);
    EXPECT_TRUE(budget.allowsMerging(mb, percent));
    EXPECT_FALSE(budget.allowsMerging(mb + 1, percent));
    EXPECT_FALSE(budget.allowsMerging(1, 0));
}
