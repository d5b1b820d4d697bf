// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the next cluster is written: decisions without a store. */

#include "fs/cluster/api/Options.h"
#include "fs/cluster/catalog/FreeMap.h"
#include "fs/cluster/policies/Policies.h"
#include "test-suite/unit/support/IdSupport.h"

#include <gtest/gtest.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// 100 clusters, some of which are free
class LayoutPolicyTest : public ::testing::Test
{
protected:
    LayoutPolicyTest() {
        for (const ClusterNo c: {5_c, 40_c, 55_c, 90_c})
            free.add(c);
    }

    FreeMap free{100};
    LayoutView view = {100, 60_c, 10_c, {}};
};

} // namespace

TEST_F(LayoutPolicyTest, closestIsCloseToTheLastRead) {
    EXPECT_EQ(closestLayout.next(free, view), 55_c);
}

TEST_F(LayoutPolicyTest, closestWriteIsCloseToTheLastWrite) {
    EXPECT_EQ(closestWriteLayout.next(free, view), 5_c);
}

TEST_F(LayoutPolicyTest, overwriteGoesRoundAndRound) {
    EXPECT_EQ(overwriteLayout.next(free, view), 40_c);
    view.lastChosen = 91_c;
    EXPECT_EQ(overwriteLayout.next(free, view), 5_c);
}

TEST_F(LayoutPolicyTest, middleKeepsHalfOfWhatIsAnnouncedInTheMiddle) {
    EXPECT_EQ(middleLayout.next(free, view), 55_c) << "nothing is announced";
    view.announced = {50_c};
    EXPECT_EQ(middleLayout.next(free, view), 5_c);
    view.announced = {50_c, 0_c};
    EXPECT_EQ(middleLayout.next(free, view), 5_c);
    view.announced = {50_c, 0_c, 99_c};
    EXPECT_EQ(middleLayout.next(free, view), 55_c);
}

TEST_F(LayoutPolicyTest, middleWritesWhatIsWantedToTheMiddle) {
    view.announced = {30_c, 49_c, 2_c, 70_c};
    EXPECT_EQ(middleLayout.pick(view, true), 1U);
    EXPECT_EQ(middleLayout.pick(view, false), 2U);
    view.announced = {70_c, 30_c, 30_c};
    EXPECT_EQ(middleLayout.pick(view, true), 0U) << "of two that are as good, the first one";
    EXPECT_EQ(middleLayout.pick(view, false), 0U);
}

TEST_F(LayoutPolicyTest, othersWriteInTheOrderOfTheirChoice) {
    view.announced = {30_c, 49_c, 2_c, 70_c};
    for (const auto &row: layoutPolicies()) {
        if (row.policy == &middleLayout)
            continue;
        EXPECT_EQ(row.policy->pick(view, true), 0U) << row.name;
        EXPECT_EQ(row.policy->pick(view, false), 0U) << row.name;
    }
}

TEST_F(LayoutPolicyTest, onlyOverwriteSaysWhatMakesRoom) {
    for (const auto &row: layoutPolicies())
        EXPECT_EQ(row.policy->evictsInOrder(), row.policy == &overwriteLayout) << row.name;
}

/// a name in squid.conf stands for the policy of its row
TEST_F(LayoutPolicyTest, isChosenByItsName) {
    const auto *const option = findOption("layout");
    ASSERT_EQ(option->choices.size(), layoutPolicies().size());
    for (const auto &row: layoutPolicies()) {
        Config config;
        std::string error;
        EXPECT_TRUE(config.set("layout", row.name, error)) << error;
        EXPECT_EQ(config.layout, row.policy);
        EXPECT_EQ(config.get("layout"), row.name);
        EXPECT_NE(std::string(option->more).find(std::string(row.name) + " " + row.text), std::string::npos);
    }
}
