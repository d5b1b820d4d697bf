// SPDX-License-Identifier: GPL-2.0-or-later
/* The orders in which objects leave staging. */

#include "fs/cluster/catalog/Staging.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace ClusterFs;

namespace {

struct StagingTest : ::testing::Test {
    StageNo stage(const size_t size, const bool moved = false) {
        const auto s = staging.open(Key(), ObjectInfo());
        EXPECT_TRUE(staging.append(s, std::string(size, 'x').data(), size));
        staging.close(s, size, 0);
        staging.complete(s, 0, moved);
        return s;
    }

    /// those of a list, from that on that leaves first, and the same from the other end
    std::vector<StageNo> order(const bool moved = false) const {
        std::vector<StageNo> order, backwards;
        for (auto s = staging.leastRecent(moved); s != noStage; s = staging.moreRecent(s))
            order.push_back(s);
        for (auto s = staging.mostRecent(moved); s != noStage; s = staging.lessRecent(s))
            backwards.insert(backwards.begin(), s);
        EXPECT_EQ(order, backwards);
        return order;
    }

    Staging staging{4 << 20};
    using Order = std::vector<StageNo>;
};

} // namespace

TEST_F(StagingTest, objectsLeaveInTheOrderOfTheirUse) {
    const auto a = stage(1000), b = stage(90000), c = stage(1000), other = stage(500, true);
    EXPECT_EQ(order(), (Order{a, b, c}));
    EXPECT_EQ(order(true), Order{other});
    staging.touch(a);
    EXPECT_EQ(order(), (Order{b, c, a}));
    staging.putLast(a);
    EXPECT_EQ(order(), (Order{a, b, c}));
    staging.startPacking(b);
    EXPECT_EQ(order(), (Order{a, c}));
    staging.packingFailed(b);
    EXPECT_EQ(order().size(), 3U);
}

TEST_F(StagingTest, largeObjectsLeaveFirst) {
    staging.orderBySize();
    const auto small = stage(1000), large = stage(90000), middle = stage(9000), large2 = stage(90000), other = stage(500, true);
    EXPECT_EQ(order(), (Order{large, large2, middle, small})) << "equal ones in the order of their use";
    EXPECT_EQ(order(true), Order{other});
    staging.touch(large);
    EXPECT_EQ(order(), (Order{large2, large, middle, small}));
    staging.putLast(small);
    EXPECT_EQ(order(), (Order{small, large2, large, middle}));
    staging.touch(small);
    EXPECT_EQ(order(), (Order{large2, large, middle, small}));
}

/// what is packed raises the value of the cache, so that small objects do not stay for ever
TEST_F(StagingTest, smallObjectsLeaveWhenManyLargeOnesHaveLeft) {
    staging.orderBySize();
    const auto small = stage(8 * 1024);
    unsigned packed = 0;
    for (stage(32 * 1024); staging.leastRecent(false) != small; stage(32 * 1024)) {
        ASSERT_LT(++packed, 100U);
        staging.startPacking(staging.leastRecent(false));
    }
    EXPECT_EQ(packed, 3U) << "an eighth is four times a thirty-second, and it is older than the fourth one";
}
