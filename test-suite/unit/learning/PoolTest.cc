// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of fixed capacity, and the records of the tracker in them. */

#include "test-suite/unit/learning/TrackerSupport.h"

#include "fs/cluster/learning/Pool.h"

#include <set>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

struct Plain {
    uint64_t name;
    uint32_t next;
    bool used;
    bool marked;
};

} // namespace

TEST(NumberedTable, givesEachNumberOnce) {
    NumberedTable<Plain, &Plain::next> table(3);
    std::set<uint32_t> numbers;
    for (int n = 0; n < 3; ++n)
        numbers.insert(table.add());
    EXPECT_EQ(numbers, (std::set<uint32_t>{1, 2, 3}));
    EXPECT_TRUE(table.full());
    EXPECT_EQ(table.add(), nothing);
    table[2].name = 7;
    table.remove(2);
    EXPECT_FALSE(table.full());
    EXPECT_EQ(table.used(), 2U);
    EXPECT_EQ(table.add(), 2U);
    EXPECT_EQ(table[2].name, 0U) << "nothing is left of what was there";
    EXPECT_EQ(table.touched(), 3U);
}

TEST(Pool, findsByName) {
    Pool<Plain, uint64_t> pool(100, 5);
    for (uint64_t name = 1; name <= 100; ++name)
        EXPECT_NE(pool.add(name), nothing);
    EXPECT_EQ(pool.add(101), nothing);
    EXPECT_TRUE(pool.full());
    for (uint64_t name = 1; name <= 100; ++name)
        EXPECT_EQ(pool[pool.find(name)].name, name);
    EXPECT_EQ(pool.find(101), nothing);
    const auto n = pool.find(50);
    pool.rename(n, 500);
    EXPECT_EQ(pool.find(50), nothing);
    EXPECT_EQ(pool.find(500), n);
    pool.remove(n);
    EXPECT_EQ(pool.find(500), nothing);
    EXPECT_EQ(pool.add(101), n);
}

TEST(Pool, isFullAtItsCapacity) {
    Pool<Group, uint64_t> pool(4, 1);
    EXPECT_EQ(pool.victim(), nothing) << "nothing to choose from";
    for (uint64_t name = 1; name <= 4; ++name)
        EXPECT_NE(pool.add(name), nothing);
    EXPECT_EQ(pool.add(5), nothing);
    EXPECT_EQ(pool.used(), 4U);
    EXPECT_EQ(pool.find(5), nothing);
    pool.remove(pool.find(2));
    EXPECT_NE(pool.add(5), nothing);
    EXPECT_EQ(pool.find(2), nothing);
}

TEST(Pool, choosesWhatWasNotUsedLately) {
    Pool<Group, uint64_t> pool(4, 1);
    std::vector<uint32_t> entries;
    for (uint64_t name = 1; name <= 4; ++name)
        entries.push_back(pool.add(name));
    pool[entries[0]].marked = true;
    pool.remove(entries[1]);
    EXPECT_EQ(pool.victim(entries[2]), entries[3]) << "in use, gone, to be kept: none of these";
    EXPECT_EQ(pool.victim(), entries[0]) << "it is its turn now";
    pool.remove(entries[0]);
    pool.remove(entries[3]);
    EXPECT_EQ(pool.victim(entries[2]), nothing);
}

/// a search that finds all in use ends, with the entry that it saw last
TEST(Pool, doesNotSearchForLong) {
    Pool<Group, uint64_t> pool(1000, 1);
    std::vector<uint32_t> entries;
    for (uint64_t name = 1; name <= 1000; ++name) {
        entries.push_back(pool.add(name));
        pool[entries.back()].marked = true;
    }
    EXPECT_EQ(pool.victim(), entries[63]);
    EXPECT_FALSE(pool[entries[0]].marked) << "next time it may go";
    EXPECT_TRUE(pool[entries[64]].marked);
}

TEST(NumberedTable, isFullAtItsCapacity) {
    NumberedTable<Membership, &Membership::nextInGroup> memberships(2);
    const auto one = memberships.add();
    EXPECT_FALSE(memberships.full());
    EXPECT_NE(memberships.add(), 0U);
    EXPECT_TRUE(memberships.full());
    EXPECT_EQ(memberships.add(), 0U);
    EXPECT_EQ(memberships.used(), 2U);
    memberships.remove(one);
    EXPECT_EQ(memberships.add(), one);
}

TEST(TrackedObject, noticesThatARequestIsReportedAgain) {
    TrackedObject o = TrackedObject();
    EXPECT_FALSE(o.noteRepeat(7, 1000 * second));
    EXPECT_FALSE(o.marked) << "it was asked for only once";
    EXPECT_TRUE(o.noteRepeat(7, 1005 * second));
    EXPECT_FALSE(o.noteRepeat(8, 1005 * second)) << "another client";
    EXPECT_TRUE(o.marked);
    EXPECT_FALSE(o.noteRepeat(8, 1020 * second)) << "long after";
    EXPECT_FALSE(o.noteRepeat(0, 1020 * second)) << "nobody knows who";
    EXPECT_FALSE(o.noteRepeat(0, 1020 * second));
}

TEST(TrackedObject, noticesWhatFollowsAgain) {
    TrackedObject o = TrackedObject();
    EXPECT_FALSE(o.noteSuccession(5));
    EXPECT_TRUE(o.noteSuccession(5));
    EXPECT_FALSE(o.noteSuccession(6)) << "one stranger in between";
    EXPECT_TRUE(o.noteSuccession(5));
    EXPECT_FALSE(o.noteSuccession(6));
    EXPECT_FALSE(o.noteSuccession(6)) << "two of them";
    EXPECT_TRUE(o.noteSuccession(6));
}
