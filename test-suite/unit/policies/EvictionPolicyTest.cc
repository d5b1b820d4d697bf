// SPDX-License-Identifier: GPL-2.0-or-later
/* Which clusters go, and what of them is kept: decisions without a store. */

#include "fs/cluster/api/Options.h"
#include "fs/cluster/context/Inflation.h"
#include "fs/cluster/policies/Policies.h"
#include "fs/cluster/space/KeepMark.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

namespace {

constexpr ObjectView fresh = {1000, 0, 1};
constexpr ObjectView large = {50000, 0, 1};
constexpr ObjectView aged = {1000, 100, 1};
constexpr ObjectView used = {1000, 0, 3};

constexpr float tolerance = 0.01F; ///< bits

} // namespace

TEST(EvictionPolicy, gdsfDividesUsesBySizeAndAge) {
    const auto worth = gdsfEviction.worth(fresh, 0.5F);
    EXPECT_NEAR(gdsfEviction.worth(used, 0.5F), worth + 1, tolerance) << "twice as often";
    EXPECT_NEAR(gdsfEviction.worth({4000, 0, 1}, 0.5F), worth - 1, tolerance) << "the root of four times the size";
    EXPECT_NEAR(gdsfEviction.worth({4000, 0, 1}, 1), gdsfEviction.worth(fresh, 1) - 2, tolerance);
    EXPECT_NEAR(gdsfEviction.worth({4000, 0, 1}, 0), gdsfEviction.worth(fresh, 0), tolerance);
    EXPECT_NEAR(gdsfEviction.worth({1000, 12, 1}, 0.5F), worth - 2, tolerance) << "(12 + 4) / 4";
    EXPECT_FALSE(gdsfEviction.inOrderOfWriting());
}

TEST(EvictionPolicy, gdsTakesInflationFromTheReciprocalOfTheSize) {
    constexpr ObjectView byte = {1023, 0, 1};
    EXPECT_TRUE(gdsEviction.inflates());
    EXPECT_NEAR(gdsEviction.worth(byte, 1), -10, tolerance);
    EXPECT_NEAR(gdsEviction.worth(byte, 0.5F), -5, tolerance);
    EXPECT_NEAR(gdsEviction.worth({4095, 0, 1}, 1), -12, tolerance) << "four times the size";
    EXPECT_EQ(gdsEviction.worth({1023, 90, 7}, 1), gdsEviction.worth(byte, 1)) << "neither age nor uses count";
    EXPECT_NEAR(gdsEviction.worth({1023, 0, 1, 1 / 2048.0F}, 1), -11, tolerance) << "half of it is gone";
    EXPECT_EQ(gdsEviction.worth({1023, 0, 1, 1 / 1024.0F}, 1), EvictionPolicy::worthless);
    EXPECT_EQ(gdsEviction.worth({1023, 0, 1, 1}, 1), EvictionPolicy::worthless);
    EXPECT_NEAR(gdsEviction.worth({4095, 0, 1, 1 / 8192.0F}, 1), -13, tolerance) << "a large one that was used later is worth as much";
}

/// an object's value is that of the cache when it was used, however many ticks ago, up to a turn of the coarse date
TEST(Inflation, remembersItsValueAtEachTick) {
    Inflation inflation;
    EXPECT_EQ(inflation.since(0), 0);
    for (uint32_t tick = 0; tick < 1000; ++tick) {
        inflation.advance(tick & 0xff);
        inflation.grow(0.5);
    }
    EXPECT_EQ(inflation.since(999 & 0xff), 0.5F);
    EXPECT_EQ(inflation.since(899 & 0xff), 50.5F);
    inflation.advance((999 + 5) & 0xff); // several at once
    EXPECT_EQ(inflation.since((999 + 3) & 0xff), 0);
    inflation.grow(2);
    EXPECT_EQ(inflation.since((999 + 3) & 0xff), 2);
}

TEST(EvictionPolicy, lfudaKnowsNoSize) {
    EXPECT_EQ(lfudaEviction.worth(large, 1), lfudaEviction.worth(fresh, 1));
    EXPECT_NEAR(lfudaEviction.worth(used, 1), lfudaEviction.worth(fresh, 1) + 1, tolerance);
    EXPECT_LT(lfudaEviction.worth(aged, 1), lfudaEviction.worth(fresh, 1));
    EXPECT_FALSE(lfudaEviction.inOrderOfWriting());
}

TEST(EvictionPolicy, lruKnowsOnlyTheLastUse) {
    EXPECT_EQ(lruEviction.worth(large, 1), lruEviction.worth(fresh, 1));
    EXPECT_EQ(lruEviction.worth(used, 1), lruEviction.worth(fresh, 1));
    EXPECT_LT(lruEviction.worth(aged, 1), lruEviction.worth(fresh, 1));
    EXPECT_FALSE(lruEviction.inOrderOfWriting());
}

TEST(EvictionPolicy, fifoKnowsNoUse) {
    EXPECT_TRUE(fifoEviction.inOrderOfWriting());
    EXPECT_EQ(fifoEviction.worth(large, 1), fifoEviction.worth(aged, 1));
}

TEST(EvictionPolicy, s3FifoTriesNewOnes) {
    EXPECT_TRUE(s3FifoEviction.inOrderOfWriting());
    EXPECT_TRUE(s3FifoEviction.triesNewOnes());
    EXPECT_GT(s3FifoEviction.worth(used, 1), s3FifoEviction.worth(fresh, 1));
    for (const auto &row: evictionPolicies())
        EXPECT_EQ(row.policy->triesNewOnes(), row.policy == &s3FifoEviction) << row.name;
}

/// the least and the greatest object at the least and the greatest age have a worth that the mark can tell from others
TEST(EvictionPolicy, eachWorthHasAPlaceInATally) {
    for (const auto &row: evictionPolicies()) {
        for (const float sizeWeight: {0.0F, 0.5F, 1.0F}) {
            const auto least = row.policy->worth({16U << 20, EvictionPolicy::oldest - 1, 0}, sizeWeight);
            const auto most = row.policy->worth({0, 0, 7}, sizeWeight);
            KeepMark::Tally tally;
            tally.add(least, 1);
            tally.add(most, 1);
            EXPECT_NEAR(tally.reachedBy(1), most, 0.126F) << row.name;
            EXPECT_NEAR(tally.reachedBy(2), least, 0.126F) << row.name;
        }
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
