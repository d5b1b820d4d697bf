// SPDX-License-Identifier: GPL-2.0-or-later
/* The windows in memory, without any device. */

#include "fs/cluster/cache/WindowStore.h"
#include "test-suite/unit/support/IdSupport.h"

#include <gtest/gtest.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

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
    static ClusterRange all(const ClusterNo c) { return {c, 1_seq, 0, 64 * KB}; }

    const CostMeter cost{};
    UseMeter use;
    WindowStore store{cost, use, 4 * 64 * KB};
};

} // namespace

TEST_F(WindowStoreTest, findsWhatHasArrived) {
    const auto w = store.expect({3_c, 1_seq, 4 * KB, 8 * KB}, Window::Extra());
    EXPECT_EQ(store.bytes(), 8 * KB) << "the memory is taken";
    EXPECT_EQ(store.find({3_c, 1_seq, 5 * KB, 100}), nullptr) << "but nothing is in it yet";
    store.arrived(w, true);
    EXPECT_EQ(store.find({3_c, 1_seq, 5 * KB, 100}), w);
    EXPECT_EQ(store.peek({3_c, 1_seq, 12 * KB - 1, 1}), w);
    EXPECT_EQ(store.peek({3_c, 1_seq, 12 * KB - 1, 2}), nullptr);
    EXPECT_EQ(store.peek({3_c, 2_seq, 5 * KB, 100}), nullptr) << "what the cluster holds now is something else";
    EXPECT_EQ(store.peek({4_c, 1_seq, 5 * KB, 100}), nullptr);
    EXPECT_EQ(store.hits(), 1U);
    EXPECT_EQ(store.misses(), 1U);
}

/// a window that is not used leaves before those that came after it
TEST_F(WindowStoreTest, whatAReaderFindsIsUsedAndCounted) {
    for (ClusterNo c{0}; c < 4_c; ++c)
        loaded(all(c));
    ASSERT_NE(store.find(all(0_c)), nullptr);
    ASSERT_EQ(store.find(all(9_c)), nullptr);
    EXPECT_EQ(store.hits(), 1U);
    EXPECT_EQ(store.misses(), 1U);
    ASSERT_TRUE(store.makeRoom(64 * KB));
    EXPECT_NE(store.peek(all(0_c)), nullptr);
    EXPECT_EQ(store.peek(all(1_c)), nullptr);
}

TEST_F(WindowStoreTest, aPeekIsNoUse) {
    for (ClusterNo c{0}; c < 4_c; ++c)
        loaded(all(c));
    ASSERT_NE(store.peek(all(0_c)), nullptr);
    ASSERT_EQ(store.peek(all(9_c)), nullptr);
    EXPECT_EQ(store.hits() + store.misses(), 0U);
    ASSERT_TRUE(store.makeRoom(64 * KB));
    EXPECT_EQ(store.peek(all(0_c)), nullptr);
    EXPECT_NE(store.peek(all(1_c)), nullptr);
}

TEST_F(WindowStoreTest, aTouchIsAUseThatNobodyCounts) {
    for (ClusterNo c{0}; c < 4_c; ++c)
        loaded(all(c));
    store.touch(all(0_c));
    store.touch(all(9_c));
    EXPECT_EQ(store.hits() + store.misses(), 0U);
    ASSERT_TRUE(store.makeRoom(64 * KB));
    EXPECT_NE(store.peek(all(0_c)), nullptr);
    EXPECT_EQ(store.peek(all(1_c)), nullptr);
}

TEST_F(WindowStoreTest, keepsNothingThatDidNotArrive) {
    Window::Extra extra;
    extra.mates = 3;
    extra.prefetched = 2;
    store.arrived(store.expect({3_c, 1_seq, 0, 8 * KB}, extra), false);
    EXPECT_EQ(store.peek({3_c, 1_seq, 0, 1}), nullptr);
    EXPECT_EQ(store.bytes(), 0U);
    EXPECT_EQ(use.groupReads().unused, 0U) << "nobody could have used them";
    EXPECT_EQ(use.prefetches().unused, 0U);
}

/// a read cache that is full of what is being written takes reads nonetheless
TEST_F(WindowStoreTest, bytesOnTheirWayToTheDeviceDoNotCount) {
    const auto held = store.insert(1_c, 1_seq, std::make_shared<Buffer>(8 * 64 * KB), 8 * 64 * KB);
    EXPECT_TRUE(store.makeRoom(4 * 64 * KB));
    EXPECT_EQ(store.peek({1_c, 1_seq, 0, 100}), held);
    store.written(*held);
    EXPECT_FALSE(store.makeRoom(64 * KB));
    store.written(*held);
    EXPECT_EQ(store.bytes(), 8 * 64 * KB) << "written once";
}

TEST_F(WindowStoreTest, makesRoomForASingleWindowHoweverLarge) {
    const auto held = loaded(all(1_c));
    EXPECT_FALSE(store.makeRoom(100 * 64 * KB)) << "somebody holds the other one";
    store.drop(held);
    EXPECT_TRUE(store.makeRoom(100 * 64 * KB));
    EXPECT_FALSE(store.makeRoomFromIdle(100 * 64 * KB));
}

TEST_F(WindowStoreTest, idleWindowsAreThoseThatWereNotUsedLately) {
    for (ClusterNo c{0}; c < 4_c; ++c)
        loaded(all(c));
    ASSERT_NE(store.find(all(0_c)), nullptr);
    EXPECT_FALSE(store.makeRoomFromIdle(4 * 64 * KB));
    EXPECT_NE(store.peek(all(0_c)), nullptr) << "used just now";
    EXPECT_NE(store.peek(all(3_c)), nullptr) << "this one came just now";
    EXPECT_EQ(store.peek(all(1_c)), nullptr);
    EXPECT_EQ(store.peek(all(2_c)), nullptr);
    EXPECT_TRUE(store.makeRoom(4 * 64 * KB));
    EXPECT_EQ(store.bytes(), 0U);
}

TEST_F(WindowStoreTest, nextPartsCountUntilSomebodyLooksForThem) {
    Window::Extra next;
    next.unasked = true;
    loaded(all(1_c), next);
    loaded(all(2_c), next);
    loaded(all(3_c), next);
    EXPECT_EQ(store.unaskedBytes(), 3 * 64 * KB);
    ASSERT_NE(store.peek(all(1_c)), nullptr);
    EXPECT_EQ(store.unaskedBytes(), 3 * 64 * KB) << "a question is no use";
    ASSERT_NE(store.find(all(1_c)), nullptr);
    EXPECT_EQ(store.unaskedBytes(), 2 * 64 * KB);
    store.forget(2_c);
    EXPECT_EQ(store.unaskedBytes(), 64 * KB);
    store.arrived(store.expect(all(4_c), next), false);
    EXPECT_EQ(store.unaskedBytes(), 64 * KB);
}

TEST_F(WindowStoreTest, learnsFromWhatLeaves) {
    Window::Extra group;
    group.mates = 4;
    const auto w = loaded(all(1_c), group);
    w->checked = {0, 1000, 2000}; // the wanted one, and two mates
    Window::Extra page;
    page.prefetched = 3;
    page.client = 7;
    loaded(all(2_c), page)->use(5000, 100);
    store.forget(2_c);
    store.drop(w);
    store.drop(w);
    EXPECT_EQ(use.groupReads().wanted, 2U);
    EXPECT_EQ(use.groupReads().unused, 2U);
    EXPECT_EQ(use.prefetches().wanted, 1U);
    EXPECT_EQ(use.prefetches().unused, 2U);
}

TEST_F(WindowStoreTest, learnsWhatMemorySaves) {
    Window::Extra group;
    group.mates = 4;
    loaded(all(1_c), group)->again = true;
    Window::Extra page;
    page.prefetched = 3;
    loaded(all(2_c), page)->again = true;
    store.forget(1_c);
    store.forget(2_c);
    EXPECT_EQ(use.savedBy(64 * KB), 0) << "of mates, and of what is prefetched, other figures tell";
    loaded(all(3_c));
    store.forget(3_c);
    EXPECT_EQ(use.savedBy(64 * KB), 0) << "nobody found it";
    loaded(all(4_c))->again = true;
    store.forget(4_c);
    EXPECT_GT(use.savedBy(64 * KB), 0);
}

/// the smaller window that stays is found, or not, for itself
TEST_F(WindowStoreTest, aSmallerWindowIsFoundAnew) {
    loaded(all(1_c))->use(0, 4 * KB);
    store.peek(all(1_c))->again = true;
    store.setLimit(60 * KB);
    ASSERT_TRUE(store.makeRoom(0));
    ASSERT_EQ(store.peek(all(1_c)), nullptr);
    ASSERT_NE(store.peek({1_c, 1_seq, 0, 4 * KB}), nullptr);
    EXPECT_FALSE(store.peek({1_c, 1_seq, 0, 4 * KB})->again);
}

TEST_F(WindowStoreTest, dropsWindowsWithoutObjects) {
    loaded({1_c, 1_seq, 0, 4 * KB});
    loaded({1_c, 1_seq, 4 * KB, 4 * KB});
    loaded({1_c, 1_seq, 8 * KB, 4 * KB});
    loaded({1_c, 7_seq, 12 * KB, 4 * KB});
    store.forgetUnused(1_c, 1_seq, {100, 8 * KB, 12 * KB});
    EXPECT_NE(store.peek({1_c, 1_seq, 0, 1}), nullptr);
    EXPECT_EQ(store.peek({1_c, 1_seq, 4 * KB, 1}), nullptr) << "no object begins there";
    EXPECT_NE(store.peek({1_c, 1_seq, 8 * KB, 1}), nullptr);
    EXPECT_EQ(store.peek({1_c, 7_seq, 12 * KB, 1}), nullptr) << "of other contents";
}

TEST_F(WindowStoreTest, whatIsPutFirstLeavesFirst) {
    for (ClusterNo c{0}; c < 4_c; ++c)
        loaded(all(c));
    store.putFirst(all(3_c));
    store.putFirst(all(9_c));
    EXPECT_TRUE(store.makeRoom(64 * KB));
    EXPECT_EQ(store.peek(all(3_c)), nullptr);
    for (ClusterNo c{0}; c < 3_c; ++c)
        EXPECT_NE(store.peek(all(c)), nullptr) << c.value();
}

/// the reader who waited for it copies its bytes all the same
TEST_F(WindowStoreTest, aHeldWindowIsForgotten) {
    const auto w = loaded(all(1_c));
    const auto loading = store.expect(all(2_c), Window::Extra());
    store.forget(1_c);
    store.forget(2_c);
    EXPECT_EQ(store.find(all(1_c)), w);
    EXPECT_TRUE(w->forgotten);
    EXPECT_FALSE(loading->forgotten) << "what it will bring is not known yet";
}
