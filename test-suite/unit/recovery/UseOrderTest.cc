// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of victims after a start. */

#include "test-suite/unit/recovery/IndexRebuilderSupport.h"

#include "fs/cluster/recovery/UseOrder.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// the list of victims, the first to go first
std::vector<ClusterNo>
victims(const ClusterTable &table)
{
    std::vector<ClusterNo> list;
    for (auto c = table.tail(); c != noCluster; c = table.towardsHead(c))
        list.push_back(c);
    return list;
}

class UseOrderTest : public ::testing::Test
{
protected:
    void pack(const ClusterNo n) {
        ClusterHeader header;
        header.end = p.context.geometry.clusterBytes;
        p.catalog.addRead(n, header);
    }

    PartsDevice device{512 * MB, smallConfig(), true};
    Parts p{device};
    UseOrder order{p.catalog};
};

} // namespace

TEST_F(UseOrderTest, sortsManyInSlices) {
    constexpr uint32_t count = 5000;
    ASSERT_GE(p.catalog.clusters().count(), count);
    std::vector<std::pair<uint32_t, ClusterNo>> wanted;
    for (uint32_t n = 0; n < count; ++n) {
        const ClusterNo c(n);
        pack(c);
        const auto age = static_cast<uint32_t>(mix(n) >> (n % 33));
        order.add(c, age);
        wanted.push_back({age, c});
    }
    std::stable_sort(wanted.begin(), wanted.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    unsigned slices = 0;
    while (!order.run([] { return false; }))
        ++slices;
    EXPECT_GT(slices, 10U) << "it can be interrupted";
    const auto list = victims(p.catalog.clusters());
    ASSERT_EQ(list.size(), count);
    for (uint32_t i = 0; i < count; ++i)
        ASSERT_EQ(list[count - 1 - i], wanted[i].second) << i;
}

/// what happens between slices
TEST_F(UseOrderTest, leavesWhatIsNewInFront) {
    for (const ClusterNo n: {0_c, 1_c, 2_c}) {
        pack(n);
        order.add(n, 10 - n.value());
    }
    p.catalog.freeCluster(1_c);
    pack(3_c);
    EXPECT_TRUE(order.run([] { return true; }));
    EXPECT_EQ(victims(p.catalog.clusters()), (std::vector<ClusterNo>{0_c, 2_c, 3_c}));
}

TEST_F(UseOrderTest, ofNothingIsDoneAtOnce) {
    EXPECT_TRUE(order.run([] { return false; }));
}

/// the clock of uses has 32 bits and goes round after some dozen starts of a large device
TEST_F(IndexRebuilderTest, clustersAreInOrderOfUseWhenTheClockHasGoneRound) {
    p.context.sequence = Sequence((uint64_t(1) << 32) + 100);
    const auto used = [&](const ClusterNo c, const uint64_t n, const uint64_t when) {
        found(n, c, 10 + c.value());
        p.entryOf(c).heat = static_cast<uint32_t>(when);
    };
    used(1_c, 1, (uint64_t(1) << 32) + 50); // 50 as the table has it
    used(2_c, 2, (uint64_t(1) << 32) - 50);
    used(3_c, 3, (uint64_t(1) << 32) - 5000);
    finish();
    EXPECT_EQ(victims(p.catalog.clusters()), (std::vector<ClusterNo>{3_c, 2_c, 1_c}));
}

/// uses do not matter then, and they are noted all the same
TEST_F(IndexRebuilderTest, clustersAreInOrderOfWritingWithFifo) {
    p.context.config.replacement = &fifoEviction;
    p.context.sequence = 1000_seq;
    for (const ClusterNo c: {1_c, 2_c, 3_c}) {
        found(c.value(), c, 100 * c.value());
        p.entryOf(c).heat = 900 - c.value();
    }
    finish();
    EXPECT_EQ(victims(p.catalog.clusters()), (std::vector<ClusterNo>{1_c, 2_c, 3_c}));
}

/// a device of some million clusters takes seconds
TEST(UseOrder, theEndOfAStartTakesAsManyTurnsAsItNeeds) {
    PartsDevice device(256 * MB, smallConfig(), true);
    Parts p(device);
    RecoveryStats stats;
    IndexRebuilder f(p.context, stats);
    f.endLog();
    unsigned turns = 1;
    for (uint32_t before = 0; !f.finish([] { return false; }); ++turns) {
        EXPECT_LE(p.catalog.free().size() - before, 1024U);
        before = p.catalog.free().size();
    }
    EXPECT_GE(turns, p.catalog.clusters().count() / 1024);
    EXPECT_GT(turns, 2U);
    EXPECT_EQ(p.catalog.free().size(), p.catalog.clusters().count());
}
