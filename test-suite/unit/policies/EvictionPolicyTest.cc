// SPDX-License-Identifier: GPL-2.0-or-later
/* Which clusters go, and what of them is kept: decisions without a store. */

#include "fs/cluster/api/Options.h"
#include "fs/cluster/policies/Policies.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

namespace {

constexpr ObjectView fresh = {1000, 0, 1};
constexpr ObjectView large = {50000, 0, 1};
constexpr ObjectView aged = {1000, 100, 1};

} // namespace

TEST(EvictionPolicy, lruCountsBytesTheLaterTheyWereUsed) {
    EXPECT_EQ(lruEviction.value(fresh), 1000U * EvictionPolicy::oldest);
    EXPECT_EQ(lruEviction.value(large), 50 * lruEviction.value(fresh));
    EXPECT_LT(lruEviction.value(aged), lruEviction.value(fresh) / 4);
    EXPECT_GT(lruEviction.value({1, EvictionPolicy::oldest - 1, 0}), 0U);
    EXPECT_EQ(lruEviction.value({1U << 31, 0, 0}), uint64_t(EvictionPolicy::oldest) << 31);
    EXPECT_FALSE(lruEviction.inOrderOfWriting());
}

TEST(EvictionPolicy, gdsCountsObjectsTheLaterTheyWereUsed) {
    EXPECT_EQ(gdsEviction.value(large), gdsEviction.value(fresh));
    EXPECT_LT(gdsEviction.value(aged), gdsEviction.value(fresh) / 4);
    EXPECT_FALSE(gdsEviction.inOrderOfWriting());
}

TEST(EvictionPolicy, fifoKnowsNoUse) {
    EXPECT_TRUE(fifoEviction.inOrderOfWriting());
    EXPECT_EQ(fifoEviction.value(large), fifoEviction.value(aged));
}

TEST(EvictionPolicy, keepsWhatWasUsedLately) {
    for (const auto &row: evictionPolicies()) {
        EXPECT_TRUE(row.policy->keeps({1000, 47, 1})) << row.name;
        EXPECT_FALSE(row.policy->keeps({1000, 48, 7})) << row.name << ": too long ago";
        EXPECT_FALSE(row.policy->keeps({1000, 0, 0})) << row.name << ": only written";
    }
}

TEST(EvictionPolicy, movesWhatIsUsedOftenLatelyOrSmallFirst) {
    for (const auto &row: evictionPolicies()) {
        const auto worth = row.policy->worth({10000, 10, 3});
        EXPECT_GT(row.policy->worth({10000, 10, 4}), worth) << row.name;
        EXPECT_GT(row.policy->worth({10000, 9, 3}), worth) << row.name;
        EXPECT_GT(row.policy->worth({9999, 10, 3}), worth) << row.name;
    }
}

/// a name in squid.conf stands for the policy of its row
TEST(EvictionPolicy, isChosenByItsName) {
    const auto *const option = findOption("replacement");
    ASSERT_EQ(option->choices.size(), evictionPolicies().size());
    for (const auto &row: evictionPolicies()) {
        Config config;
        std::string error;
        EXPECT_TRUE(config.set("replacement", row.name, error)) << error;
        EXPECT_EQ(config.replacement, row.policy);
        EXPECT_EQ(config.get("replacement"), row.name);
        EXPECT_NE(std::string(option->more).find(std::string(row.name) + " " + row.text), std::string::npos);
    }
}
