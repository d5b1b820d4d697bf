// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is a member of which group: the lists, and what makes room. */

#include "test-suite/unit/learning/TrackerSupport.h"

#include "fs/cluster/learning/GroupTable.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

using Keys = std::vector<Key>;

class GroupTableTest : public ::testing::Test
{
protected:
    uint32_t object(const std::string &name) { return table.objectFor(keyOf(name)); }
    uint32_t page(const uint64_t name, const uint64_t site = 1) { return table.groupFor(name, site, GroupKind::page); }
    uint32_t join(const std::string &name, const uint32_t group) {
        const auto m = table.join(object(name), group);
        table.membership(m).until = table[group].faded + weightOfNew;
        return m;
    }
    Keys list(const uint32_t group, const size_t most = 1000) const {
        Keys keys;
        table.list(group, keys, most);
        return keys;
    }
    std::vector<uint32_t> groupsOf(const std::string &name) {
        std::vector<uint32_t> groups;
        table.eachGroupOf(object(name), [&](const uint32_t g) { groups.push_back(g); });
        return groups;
    }

    GroupTable table{100, 1};
};

} // namespace

TEST_F(GroupTableTest, findsWhatItKnows) {
    EXPECT_EQ(table.find(keyOf("a")), nothing);
    EXPECT_EQ(table.find(uint64_t(7)), nothing);
    const auto a = object("a");
    const auto group = page(7);
    EXPECT_EQ(table.find(keyOf("a")), a);
    EXPECT_EQ(object("a"), a);
    EXPECT_EQ(table.find(uint64_t(7)), group);
    EXPECT_EQ(page(7), group);
    EXPECT_EQ(table.keyOf(a), keyOf("a"));
    EXPECT_EQ(table[group].site, 1U);
}

TEST_F(GroupTableTest, aSiteIsLearnedLater) {
    const auto group = page(7, 0);
    page(7, 5);
    EXPECT_EQ(table[group].site, 5U);
    page(7, 6);
    EXPECT_EQ(table[group].site, 5U);
}

TEST_F(GroupTableTest, listsMembersInTheirOrder) {
    const auto group = page(7);
    table.lead(group, object("page"));
    join("a", group);
    const auto b = join("b", group);
    join("c", group);
    EXPECT_EQ(list(group), (Keys{keyOf("page"), keyOf("a"), keyOf("b"), keyOf("c")}));
    EXPECT_EQ(list(group, 3), (Keys{keyOf("page"), keyOf("a"), keyOf("b")}));
    table.membership(b).confirmed = true;
    EXPECT_EQ(list(group), (Keys{keyOf("page"), keyOf("b"), keyOf("a"), keyOf("c")})) << "it was fetched in more than one visit";
    table.leave(b);
    EXPECT_EQ(list(group), (Keys{keyOf("page"), keyOf("a"), keyOf("c")}));
    table.putLast(table[group].first);
    EXPECT_EQ(list(group), (Keys{keyOf("page"), keyOf("c"), keyOf("a")}));
    EXPECT_EQ(table[group].members, 2U);
    EXPECT_TRUE(list(nothing).empty());
}

TEST_F(GroupTableTest, theFirstMembershipIsTheHome) {
    const auto one = page(1), two = page(2);
    join("a", one);
    const auto second = join("a", two);
    EXPECT_EQ(table.homeOf(object("a")), one);
    EXPECT_EQ(list(two), Keys()) << "it is at home elsewhere";
    table.moveHome(second);
    EXPECT_EQ(table.homeOf(object("a")), two);
    EXPECT_EQ(groupsOf("a"), (std::vector<uint32_t>{two, one}));
    table.moveHome(second);
    EXPECT_EQ(table.report().moved, 1U);
    EXPECT_TRUE(table.hasGroup(object("a")));
    EXPECT_FALSE(table.hasGroup(object("b")));
}

TEST_F(GroupTableTest, whatHasFadedCountsForNothing) {
    const auto one = page(1), two = page(2);
    const auto m = join("a", one);
    join("a", two);
    table[one].faded += weightOfNew;
    EXPECT_FALSE(table.alive(m));
    EXPECT_EQ(table.homeOf(object("a")), two);
    EXPECT_EQ(groupsOf("a"), std::vector<uint32_t>{two});
    EXPECT_EQ(table.report().members, 2U) << "but it is still there";
    const auto found = table.scan(object("a"), two);
    EXPECT_NE(found.member, nothing);
    EXPECT_EQ(found.otherPages, 0U);
    EXPECT_EQ(table.report().members, 1U);
    table[two].faded += weightOfNew;
    table.sweep(two);
    EXPECT_EQ(table.report().members, 0U);
    EXPECT_EQ(table.report().groups, 0U);
    EXPECT_EQ(table.report().forgotten, 2U);
}

TEST_F(GroupTableTest, knowsTheOtherPagesOfAnObject) {
    const auto one = page(1), two = page(2), other = page(3, 9);
    const auto sequence = table.groupFor(4, 0, GroupKind::sequence);
    for (const auto g: {one, two, other, sequence})
        join("a", g);
    auto found = table.scan(object("a"), one);
    EXPECT_EQ(found.otherPages, 2U);
    EXPECT_TRUE(found.otherSites);
    table[other].faded = weightOfNew;
    found = table.scan(object("a"), one);
    EXPECT_EQ(found.otherPages, 1U);
    EXPECT_FALSE(found.otherSites);
    EXPECT_EQ(table.scan(object("b"), one).member, nothing);
}

TEST_F(GroupTableTest, anObjectHasFewMemberships) {
    for (uint64_t n = 1; n <= GroupTable::maxMemberships + 1; ++n)
        join("a", page(n));
    const auto groups = groupsOf("a");
    EXPECT_EQ(groups.size(), GroupTable::maxMemberships);
    EXPECT_EQ(groups.front(), page(1)) << "its home stays";
    EXPECT_EQ(groups[1], page(3)) << "the oldest of the others goes";
}

TEST_F(GroupTableTest, aLeaderIsNoMember) {
    const auto group = page(1);
    join("page", group);
    table.lead(group, object("page"));
    EXPECT_EQ(table.leaderOf(group), object("page"));
    EXPECT_EQ(table[group].members, 0U);
    EXPECT_TRUE(table.isDocument(object("page")));
    table.lead(group, object("other"));
    EXPECT_EQ(table.leaderOf(group), object("other"));
    EXPECT_FALSE(table.isDocument(object("page")));
    table.lead(page(2), object("other"));
    EXPECT_EQ(table.leaderOf(group), nothing) << "it leads another group now";
    table[page(2)].sheet = true;
    EXPECT_FALSE(table.isDocument(object("other")));
}

TEST_F(GroupTableTest, kindsOfGroups) {
    const auto site = table.groupFor(1, 1, GroupKind::site);
    const auto sequence = table.groupFor(2, 0, GroupKind::sequence);
    join("shared", site);
    join("next", sequence);
    table.lead(sequence, object("first"));
    EXPECT_TRUE(table.isShared(object("shared")));
    EXPECT_FALSE(table.isShared(object("next")));
    EXPECT_FALSE(table.isShared(nothing));
    EXPECT_EQ(table.sequenceOf(object("next")), sequence);
    EXPECT_EQ(table.sequenceOf(object("first")), sequence);
    EXPECT_EQ(table.sequenceOf(object("shared")), nothing);
    EXPECT_FALSE(table.isDocument(object("first")));
}

TEST_F(GroupTableTest, aGroupGetsTheNameOfAnother) {
    const auto chosen = table.groupFor(1, 0, GroupKind::chosen);
    join("a", chosen);
    const auto other = page(2);
    join("b", other);
    table.rename(chosen, 2);
    EXPECT_EQ(table.find(uint64_t(2)), chosen);
    EXPECT_EQ(table.find(uint64_t(1)), nothing);
    EXPECT_EQ(groupsOf("b"), std::vector<uint32_t>()) << "the other group is gone";
    table.rename(chosen, 2);
    EXPECT_EQ(groupsOf("a"), std::vector<uint32_t>{chosen});
}

/// whoever used a number before leaves nothing behind
TEST_F(GroupTableTest, forgetsWhenItIsFull) {
    for (int n = 0; n < 1000; ++n) {
        const auto group = page(static_cast<uint64_t>(n) + 1);
        table.lead(group, object("page" + std::to_string(n)));
        table.noteGuest(group, object("guest" + std::to_string(n)), 0);
        if (table.membershipsFull()) {
            ASSERT_TRUE(table.forgetGroup(group));
        }
        ASSERT_NE(table.join(object("member" + std::to_string(n)), group), nothing);
    }
    EXPECT_TRUE(table.groupsFull());
    EXPECT_EQ(table.maxGroup(), 20U);
    const auto stats = table.report();
    EXPECT_EQ(stats.objects, 100U);
    EXPECT_EQ(stats.groups, stats.members);
    EXPECT_LE(stats.groups, 20U);
    EXPECT_EQ(stats.members + stats.forgotten, 1000U);
    const auto known = object("page999");
    EXPECT_EQ(table.objectIfRoom(keyOf("page999")), known);
    EXPECT_EQ(table.objectIfRoom(keyOf("new")), nothing);
    GroupTable empty(100, 1);
    EXPECT_NE(empty.objectIfRoom(keyOf("new")), nothing);
    EXPECT_FALSE(empty.forgetGroup(nothing));
}

TEST_F(GroupTableTest, guestsAreThoseOfAPage) {
    const auto one = page(1), two = page(2);
    table.noteGuest(one, object("a"), 4);
    table.noteGuest(one, object("b"), 5);
    table.noteGuest(two, object("a"), 6);
    std::vector<std::pair<Key, unsigned>> guests;
    const auto note = [&](const uint32_t o, const uint16_t visit) {
        guests.push_back({table.keyOf(o), visit});
        return true;
    };
    table.eachGuestOf(one, note);
    EXPECT_EQ(guests, (std::vector<std::pair<Key, unsigned>>{{keyOf("b"), 5}, {keyOf("a"), 4}}));
    unsigned count = 0;
    table.eachGuestOf(one, [&](uint32_t, uint16_t) { return ++count < 1; });
    EXPECT_EQ(count, 1U) << "the visitor has had enough";
    table.rename(two, 1); // forgets the first page
    guests.clear();
    table.eachGuestOf(two, note);
    EXPECT_EQ(guests, (std::vector<std::pair<Key, unsigned>>{{keyOf("a"), 6}}));
}

/// a number that means another object by now is no guest
TEST_F(GroupTableTest, guestsMayBeForgotten) {
    const auto one = page(1);
    table.noteGuest(one, object("guest"), 1);
    for (int n = 0; n < 1000; ++n)
        object("other" + std::to_string(n));
    ASSERT_EQ(table.find(keyOf("guest")), nothing);
    table.eachGuestOf(one, [](uint32_t, uint16_t) {
        ADD_FAILURE();
        return true;
    });
}

TEST_F(GroupTableTest, guestsOfAnotherPageMakeRoom) {
    const auto countOf = [this](const uint32_t page) {
        unsigned count = 0;
        table.eachGuestOf(page, [&](uint32_t, uint16_t) { return ++count; });
        return count;
    };
    const auto visited = page(1), once = page(2), now = page(3);
    table[visited].marked = true;
    for (int n = 0; n < 20; ++n) {
        table.noteGuest(visited, object("a" + std::to_string(n)), 1);
        table.noteGuest(once, object("b" + std::to_string(n)), 1);
    }
    for (int n = 0; n < 10; ++n)
        table.noteGuest(now, object("c" + std::to_string(n)), 1);
    table.makeGuestRoom(now);
    EXPECT_EQ(countOf(once), 0U) << "visited only once";
    EXPECT_EQ(countOf(visited), 20U);
    EXPECT_EQ(countOf(now), 10U);
    table.makeGuestRoom(now);
    EXPECT_EQ(countOf(visited), 20U) << "there is room";
}
