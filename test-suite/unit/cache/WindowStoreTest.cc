// SPDX-License-Identifier: GPL-2.0-or-later
/* The windows in memory, without any device. */

#include "fs/cluster/cache/WindowStore.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

namespace {

constexpr uint32_t KB = 1024;

class WindowStoreTest : public ::testing::Test
{
protected:
    /// a window whose bytes have come
    WindowPointer loaded(const ClusterRange &range, const Window::Extra &extra = Window::Extra()) {
        const auto w = store.expect(range, extra);
        store.arrived(w, true);
        return w;
    }
    /// the whole of a cluster of 64 KB
    static ClusterRange all(const ClusterNo c) { return {c, 1, 0, 64 * KB}; }

    const CostMeter cost;
    UseMeter use;
    WindowStore store{cost, use, 4 * 64 * KB};
};

} // namespace

TEST_F(WindowStoreTest, findsWhatHasArrived) {
    const auto w = store.expect({3, 1, 4 * KB, 8 * KB}, Window::Extra());
    EXPECT_EQ(store.bytes(), 8 * KB) << "the memory is taken";
    EXPECT_EQ(store.find({3, 1, 5 * KB, 100}), nullptr) << "but nothing is in it yet";
    store.arrived(w, true);
    EXPECT_EQ(store.find({3, 1, 5 * KB, 100}), w);
    EXPECT_EQ(store.peek({3, 1, 12 * KB - 1, 1}), w);
    EXPECT_EQ(store.peek({3, 1, 12 * KB - 1, 2}), nullptr);
    EXPECT_EQ(store.peek({3, 2, 5 * KB, 100}), nullptr) << "what the cluster holds now is something else";
    EXPECT_EQ(store.peek({4, 1, 5 * KB, 100}), nullptr);
    EXPECT_EQ(store.hits(), 1U);
    EXPECT_EQ(store.misses(), 1U);
}

/// a window that is not used leaves before those that came after it
TEST_F(WindowStoreTest, whatAReaderFindsIsUsedAndCounted) {
    for (ClusterNo c = 0; c < 4; ++c)
        loaded(all(c));
    ASSERT_NE(store.find(all(0)), nullptr);
    ASSERT_EQ(store.find(all(9)), nullptr);
    EXPECT_EQ(store.hits(), 1U);
    EXPECT_EQ(store.misses(), 1U);
    ASSERT_TRUE(store.makeRoom(64 * KB));
    EXPECT_NE(store.peek(all(0)), nullptr);
    EXPECT_EQ(store.peek(all(1)), nullptr);
}

TEST_F(WindowStoreTest, aPeekIsNoUse) {
    for (ClusterNo c = 0; c < 4; ++c)
        loaded(all(c));
    ASSERT_NE(store.peek(all(0)), nullptr);
    ASSERT_EQ(store.peek(all(9)), nullptr);
    EXPECT_EQ(store.hits() + store.misses(), 0U);
    ASSERT_TRUE(store.makeRoom(64 * KB));
    EXPECT_EQ(store.peek(all(0)), nullptr);
    EXPECT_NE(store.peek(all(1)), nullptr);
}

TEST_F(WindowStoreTest, aTouchIsAUseThatNobodyCounts) {
    for (ClusterNo c = 0; c < 4; ++c)
        loaded(all(c));
    store.touch(all(0));
    store.touch(all(9));
    EXPECT_EQ(store.hits() + store.misses(), 0U);
    ASSERT_TRUE(store.makeRoom(64 * KB));
    EXPECT_NE(store.peek(all(0)), nullptr);
    EXPECT_EQ(store.peek(all(1)), nullptr);
}

TEST_F(WindowStoreTest, keepsNothingThatDidNotArrive) {
    Window::Extra extra;
    extra.mates = 3;
    extra.ahead = 2;
    store.arrived(store.expect({3, 1, 0, 8 * KB}, extra), false);
    EXPECT_EQ(store.peek({3, 1, 0, 1}), nullptr);
    EXPECT_EQ(store.bytes(), 0U);
    EXPECT_EQ(use.groupReads().unused, 0U) << "nobody could have used them";
    EXPECT_EQ(use.aheadReads().unused, 0U);
}

/// a read cache that is full of what is being written takes reads nonetheless
TEST_F(WindowStoreTest, bytesOnTheirWayToTheDeviceDoNotCount) {
    const auto held = store.insert(1, 1, std::make_shared<Buffer>(8 * 64 * KB), 8 * 64 * KB);
    EXPECT_TRUE(store.makeRoom(4 * 64 * KB));
    EXPECT_EQ(store.peek({1, 1, 0, 100}), held);
    store.written(*held);
    EXPECT_FALSE(store.makeRoom(64 * KB));
    store.written(*held);
    EXPECT_EQ(store.bytes(), 8 * 64 * KB) << "written once";
}

TEST_F(WindowStoreTest, makesRoomForASingleWindowHoweverLarge) {
    const auto held = loaded(all(1));
    EXPECT_FALSE(store.makeRoom(100 * 64 * KB)) << "somebody holds the other one";
    store.drop(held);
    EXPECT_TRUE(store.makeRoom(100 * 64 * KB));
    EXPECT_FALSE(store.makeRoomFromIdle(100 * 64 * KB));
}

TEST_F(WindowStoreTest, idleWindowsAreThoseThatWereNotUsedLately) {
    for (ClusterNo c = 0; c < 4; ++c)
        loaded(all(c));
    ASSERT_NE(store.find(all(0)), nullptr);
    EXPECT_FALSE(store.makeRoomFromIdle(4 * 64 * KB));
    EXPECT_NE(store.peek(all(0)), nullptr) << "used just now";
    EXPECT_NE(store.peek(all(3)), nullptr) << "this one came just now";
    EXPECT_EQ(store.peek(all(1)), nullptr);
    EXPECT_EQ(store.peek(all(2)), nullptr);
    EXPECT_TRUE(store.makeRoom(4 * 64 * KB));
    EXPECT_EQ(store.bytes(), 0U);
}

TEST_F(WindowStoreTest, nextPartsCountUntilSomebodyLooksForThem) {
    Window::Extra next;
    next.unasked = true;
    loaded(all(1), next);
    loaded(all(2), next);
    loaded(all(3), next);
    EXPECT_EQ(store.unaskedBytes(), 3 * 64 * KB);
    ASSERT_NE(store.peek(all(1)), nullptr);
    EXPECT_EQ(store.unaskedBytes(), 3 * 64 * KB) << "a question is no use";
    ASSERT_NE(store.find(all(1)), nullptr);
    EXPECT_EQ(store.unaskedBytes(), 2 * 64 * KB);
    store.forget(2);
    EXPECT_EQ(store.unaskedBytes(), 64 * KB);
    store.arrived(store.expect(all(4), next), false);
    EXPECT_EQ(store.unaskedBytes(), 64 * KB);
}

TEST_F(WindowStoreTest, learnsFromWhatLeaves) {
    Window::Extra group;
    group.mates = 4;
    const auto w = loaded(all(1), group);
    w->checked = {0, 1000, 2000}; // the wanted one, and two mates
    Window::Extra page;
    page.ahead = 3;
    page.client = 7;
    loaded(all(2), page)->use(5000, 100);
    store.forget(2);
    store.drop(w);
    store.drop(w);
    EXPECT_EQ(use.groupReads().wanted, 2U);
    EXPECT_EQ(use.groupReads().unused, 2U);
    EXPECT_EQ(use.aheadReads().wanted, 1U);
    EXPECT_EQ(use.aheadReads().unused, 2U);
}

TEST_F(WindowStoreTest, dropsWindowsWithoutObjects) {
    loaded({1, 1, 0, 4 * KB});
    loaded({1, 1, 4 * KB, 4 * KB});
    loaded({1, 1, 8 * KB, 4 * KB});
    loaded({1, 7, 12 * KB, 4 * KB});
    store.forgetUnused(1, 1, {100, 8 * KB, 12 * KB});
    EXPECT_NE(store.peek({1, 1, 0, 1}), nullptr);
    EXPECT_EQ(store.peek({1, 1, 4 * KB, 1}), nullptr) << "no object begins there";
    EXPECT_NE(store.peek({1, 1, 8 * KB, 1}), nullptr);
    EXPECT_EQ(store.peek({1, 7, 12 * KB, 1}), nullptr) << "of other contents";
}

TEST_F(WindowStoreTest, whatIsPutFirstLeavesFirst) {
    for (ClusterNo c = 0; c < 4; ++c)
        loaded(all(c));
    store.putFirst(all(3));
    store.putFirst(all(9));
    EXPECT_TRUE(store.makeRoom(64 * KB));
    EXPECT_EQ(store.peek(all(3)), nullptr);
    for (ClusterNo c = 0; c < 3; ++c)
        EXPECT_NE(store.peek(all(c)), nullptr) << c;
}

/// the reader who waited for it copies its bytes all the same
TEST_F(WindowStoreTest, aHeldWindowIsForgotten) {
    const auto w = loaded(all(1));
    const auto loading = store.expect(all(2), Window::Extra());
    store.forget(1);
    store.forget(2);
    EXPECT_EQ(store.find(all(1)), w);
    EXPECT_TRUE(w->forgotten);
    EXPECT_FALSE(loading->forgotten) << "what it will bring is not known yet";
}
