// SPDX-License-Identifier: GPL-2.0-or-later
/* How memberships begin, grow, fade, move and end. */

#include "test-suite/unit/learning/TrackerSupport.h"

#include "fs/cluster/learning/Groups.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

using Keys = std::vector<Key>;

constexpr uint64_t site = 1;

class GroupsTest : public ::testing::Test
{
protected:
    uint32_t object(const std::string &name) { return table.objectFor(keyOf(name)); }
    uint32_t page(const uint64_t name) { return table.groupFor(name, site, GroupKind::page); }

    /// a visit of a page by somebody, a minute after the last one
    void visit(const uint64_t name, const Names &members) {
        now += 60 * second;
        groups.visit(page(name), now);
        for (const auto &m: members)
            groups.sight(object(m), site, page(name), Evidence::referer, now);
    }
    uint32_t membershipIn(const std::string &name, const uint64_t group) { return table.scan(object(name), page(group)).member; }
    /// how much the page may fade until the object is no member any more
    uint32_t weight(const std::string &name, const uint64_t group) {
        const auto m = membershipIn(name, group);
        return m ? table.membership(m).until - table[page(group)].faded : 0;
    }
    Keys wanted(const uint64_t name) const {
        Keys keys;
        groups.listWanted(name, keys, 1000);
        return keys;
    }

    GroupTable table{1000, 1};
    Groups groups{table};
    uint64_t now = 1000 * second;
};

} // namespace

TEST_F(GroupsTest, aMemberWeighsMoreWithEachVisit) {
    visit(1, {"a", "b"});
    EXPECT_EQ(weight("a", 1), weightOfNew);
    visit(1, {"a", "b"});
    EXPECT_EQ(weight("a", 1), weightOfNew - fadeInVisit + weightWhenSeen);
    groups.sight(object("a"), site, page(1), Evidence::referer, now);
    EXPECT_EQ(weight("a", 1), weightOfNew - fadeInVisit + weightWhenSeen) << "once a visit";
    for (int n = 0; n < 5; ++n)
        visit(1, {"a", "b"});
    EXPECT_EQ(weight("a", 1), weightAtMost);
}

TEST_F(GroupsTest, aMemberThatNobodyFetchesLeaves) {
    visit(1, {"a", "b"});
    for (int n = 0; n < 3; ++n)
        visit(1, {"b"});
    EXPECT_NE(membershipIn("a", 1), nothing);
    visit(1, {"b"});
    EXPECT_EQ(membershipIn("a", 1), nothing);
    EXPECT_EQ(table[page(1)].members, 1U);
}

/// the browser had the others
TEST_F(GroupsTest, aSmallVisitSaysLittle) {
    visit(1, {"a", "b", "c", "d", "e"});
    visit(1, {"a"});
    visit(1, {"a"});
    EXPECT_EQ(weight("b", 1), weightOfNew - fadeInVisit - fadeInSmallVisit) << "the first visit fetched all";
    visit(1, {});
    visit(1, {});
    EXPECT_EQ(weight("b", 1), weightOfNew - fadeInVisit - 2 * fadeInSmallVisit) << "one that fetched nothing says nothing";
}

TEST_F(GroupsTest, visitsThatFollowAtOnceAreOne) {
    groups.visit(page(1), now);
    groups.visit(page(1), now + second);
    EXPECT_EQ(table[page(1)].visit, 1U);
    EXPECT_FALSE(table[page(1)].marked) << "what was visited only once makes room first";
    groups.visit(page(1), now + 3 * second);
    EXPECT_EQ(table[page(1)].visit, 2U);
    EXPECT_TRUE(table[page(1)].marked);
}

TEST_F(GroupsTest, theHomeMovesWithTheSecondVisitElsewhere) {
    visit(1, {"a"});
    visit(2, {"a"});
    EXPECT_EQ(table.homeOf(object("a")), page(1));
    visit(1, {"a"});
    visit(2, {"a"});
    EXPECT_EQ(table.homeOf(object("a")), page(1)) << "it was at home in between";
    visit(2, {"a"});
    EXPECT_EQ(table.homeOf(object("a")), page(2));
    EXPECT_EQ(groups.numberFor(keyOf("a")), 2U);
    EXPECT_EQ(groups.numberFor(keyOf("unknown")), 0U);
    EXPECT_EQ(groups.numberFor(keyOf("b")), 0U);
}

TEST_F(GroupsTest, manyPagesShareAnObject) {
    for (uint64_t name = 1; name <= Groups::sharedFrom; ++name)
        visit(name, {"logo"});
    EXPECT_FALSE(table.isShared(object("logo"))) << "it has been there once";
    visit(1, {"logo"});
    EXPECT_TRUE(table.isShared(object("logo")));
    visit(9, {"own", "logo"});
    EXPECT_EQ(membershipIn("logo", 9), nothing) << "a guest there";
    EXPECT_EQ(wanted(9), (Keys{keyOf("own"), keyOf("logo")}));
    visit(9, {"own"});
    visit(9, {"own"});
    EXPECT_EQ(wanted(9), Keys{keyOf("own")}) << "the last visit did not want it";
}

TEST_F(GroupsTest, aGuestIsWantedElsewhereThanAtHome) {
    visit(1, {"a", "b"});
    visit(2, {"c", "a"});
    Keys company;
    ASSERT_TRUE(groups.isGuest(keyOf("a"), company, 100));
    EXPECT_EQ(company, (Keys{keyOf("c"), keyOf("a")}));
    EXPECT_FALSE(groups.isGuest(keyOf("b"), company, 100));
    visit(1, {"a"});
    EXPECT_FALSE(groups.isGuest(keyOf("a"), company, 100));
}

TEST_F(GroupsTest, whatIsSettledStays) {
    groups.settle(object("a"), table.groupFor(7, 0, GroupKind::chosen));
    for (int n = 0; n < 20; ++n)
        visit(1, {"a", "b"});
    EXPECT_EQ(groups.numberFor(keyOf("a")), 7U);
    EXPECT_EQ(table.report().explicitly, 1U);
}

TEST_F(GroupsTest, aChosenGroupBecomesThePageOfItsLeader) {
    const auto chosen = table.groupFor(7, 0, GroupKind::chosen);
    table.lead(chosen, object("page"));
    groups.settle(object("a"), chosen);
    EXPECT_EQ(groups.pageOf(1, site, object("page")), chosen);
    EXPECT_EQ(table[chosen].kind, GroupKind::page);
    EXPECT_EQ(table[chosen].site, site);
    EXPECT_EQ(table.find(uint64_t(1)), chosen);
    EXPECT_EQ(groups.pageOf(1, site, nothing), chosen);
    Keys keys;
    groups.list(keyOf("a"), keys, 10);
    EXPECT_EQ(keys, (Keys{keyOf("page"), keyOf("a")}));
}

TEST_F(GroupsTest, aSheetLeadsAPageThatIsNoDocument) {
    groups.noteSheet(5, site, object("style"));
    EXPECT_EQ(table.leaderOf(page(5)), object("style"));
    EXPECT_TRUE(table[page(5)].sheet);
    EXPECT_FALSE(table.isDocument(object("style")));
    const auto sequence = table.groupFor(6, 0, GroupKind::sequence);
    table.lead(sequence, object("other"));
    groups.noteSheet(7, site, object("other"));
    EXPECT_EQ(table.find(uint64_t(7)), nothing) << "it leads something else";
}

TEST_F(GroupsTest, aFullGroupTakesOthersForThoseThatCameOnce) {
    GroupTable large(10000, 1);
    Groups of(large);
    const auto group = large.groupFor(1, site, GroupKind::page);
    of.visit(group, now);
    for (unsigned n = 0; n < Groups::maxMembers; ++n)
        of.sight(large.objectFor(keyOf("m" + std::to_string(n))), site, group, Evidence::referer, now);
    of.sight(large.objectFor(keyOf("new")), site, group, Evidence::referer, now);
    EXPECT_EQ(large.report().refused, 1U) << "all of them were fetched in this visit";
    of.visit(group, now + 60 * second);
    of.sight(large.objectFor(keyOf("new")), site, group, Evidence::referer, now);
    EXPECT_EQ(large[group].members, Groups::maxMembers);
    EXPECT_NE(large.scan(large.objectFor(keyOf("new")), group).member, nothing);
}

TEST_F(GroupsTest, countsWhatItLearnsFrom) {
    groups.sight(object("a"), site, page(1), Evidence::referer, now);
    groups.sight(object("b"), site, page(1), Evidence::origin, now);
    groups.sight(object("c"), site, page(1), Evidence::window, now);
    groups.sight(object("d"), 0, table.groupFor(2, 0, GroupKind::sequence), Evidence::sequence, now);
    groups.settle(object("e"), page(1));
    const auto stats = table.report();
    EXPECT_EQ(stats.byReferer, 1U);
    EXPECT_EQ(stats.byOrigin, 1U);
    EXPECT_EQ(stats.byWindow, 1U);
    EXPECT_EQ(stats.bySequence, 1U);
    EXPECT_EQ(stats.explicitly, 1U);
    EXPECT_EQ(stats.members, 5U);
    EXPECT_EQ(stats.groups, 2U);
}
