// SPDX-License-Identifier: GPL-2.0-or-later
/* The tracker's tables when they are full, and rules that few requests meet. */

#include "test-suite/unit/learning/TrackerSupport.h"

#include <algorithm>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t least = 64 << 10; ///< bytes; a tracker never has less

/// so many objects that all others are forgotten, at one moment
void
forgetOthers(World &w)
{
    Request r;
    r.client = 999;
    for (uint64_t n = 1; n <= 5000; ++n) {
        memcpy(r.key.bytes.data(), &n, sizeof(n));
        w.tracker.note(r, w.now);
    }
}

/// \returns the leader of a group of that number
Key
leaderOf(const uint64_t group)
{
    return keyOf("leader" + std::to_string(group));
}

} // namespace

/// objects in many groups need more memberships than there are: whole groups make room
TEST(TrackerLimits, groupsMakeRoomForMemberships) {
    constexpr uint64_t groups = GroupTable::maxMemberships;
    const auto names = series("http://a/m", 300);
    World w(least);
    for (uint64_t group = 1; group <= groups; ++group) {
        for (const auto &name: names)
            w.tracker.collocate(leaderOf(group), {keyOf(name)});
    }
    std::vector<Key> members;
    w.tracker.groupOf(leaderOf(groups), members, 1000);
    EXPECT_EQ(members.size(), names.size() + 1) << "the newest is whole";
    w.tracker.groupOf(leaderOf(1), members, 1000);
    EXPECT_TRUE(members.empty()) << "the oldest is gone";
    EXPECT_EQ(w.tracker.stats().refused, 0U);
    EXPECT_EQ(w.tracker.stats().groups, w.tracker.stats().members / names.size());
    EXPECT_GT(w.tracker.stats().forgotten, 0U);
}

/// looking for a group that could make room must not take long
TEST(TrackerLimits, whatFindsNoRoomIsRefused) {
    World w(least);
    for (const auto &page: series("http://a/p", 70))
        w.open(1, page); // groups without members, the first to go
    uint64_t assigned = 0;
    for (uint64_t group = 1; !w.tracker.stats().refused && group < 20; ++group) {
        for (const auto &name: series("http://a/m", 200)) {
            w.tracker.collocate(leaderOf(group), {keyOf(name)});
            ++assigned;
            if (w.tracker.stats().refused)
                break;
        }
    }
    EXPECT_EQ(w.tracker.stats().refused, 1U);
    EXPECT_EQ(w.tracker.stats().members, assigned - 1) << "nobody has left";
    w.tracker.collocate(leaderOf(1), {keyOf("http://a/other")}); // six pages are left, then a group has members
    EXPECT_EQ(w.tracker.stats().refused, 1U);
    EXPECT_LT(w.tracker.stats().members, assigned - 1);
}

/// what a site's pages share has a limit, as pages have
TEST(TrackerLimits, aSiteSharesOnlySoMuch) {
    World w;
    const auto shared = series("http://a/m", Groups::maxMembers);
    const auto more = series("http://a/n", 40);
    for (const auto &page: series("http://a/p", 4))
        w.visit(1, page, shared);
    EXPECT_EQ(w.tracker.stats().bySharing, shared.size());
    EXPECT_TRUE(w.tracker.isShared(keyOf(shared[7])));
    EXPECT_EQ(w.tracker.stats().refused, 0U);
    for (const auto &page: series("http://a/q", 4))
        w.visit(1, page, more);
    EXPECT_EQ(w.tracker.stats().bySharing, shared.size());
    EXPECT_GT(w.tracker.stats().refused, 0U);
    EXPECT_FALSE(w.tracker.isShared(keyOf(more[7])));
    EXPECT_TRUE(w.tracker.isShared(keyOf(shared[7])));
}

/// memberships end between two sweeps, too
TEST(TrackerLimits, whatHasFadedIsNoMember) {
    World w;
    const std::string p = "http://a/p", q = "http://a/q", x = "http://a/x", y = "http://a/y";
    const auto members = series("http://a/m", 10);
    auto withX = members;
    withX.push_back(x);
    withX.push_back("http://a/z");
    auto withY = members;
    withY.push_back(y);
    w.visit(1, q, {x, y});
    w.visit(1, p, members);
    w.visit(1, p, {members[0]}); // of which little is learned: weights are no longer multiples of each other
    w.visit(1, p, withX);
    for (int i = 0; i < 3; ++i)
        w.visit(1, p, members);
    std::vector<Key> company;
    EXPECT_TRUE(w.tracker.isGuest(keyOf(x), company, 100));
    EXPECT_EQ(w.group("http://a/z").size(), 12U);
    w.visit(1, p, withY);
    EXPECT_FALSE(w.tracker.isGuest(keyOf(x), company, 100));
    EXPECT_TRUE(w.group("http://a/z").empty());
    EXPECT_EQ(w.group(p).size(), 11U);
    ASSERT_TRUE(w.tracker.isGuest(keyOf(y), company, 100));
    EXPECT_EQ(company.size(), 12U) << "page, members and the guest";
    EXPECT_EQ(std::count(company.begin(), company.end(), keyOf(x)), 0);
    ASSERT_TRUE(w.tracker.isGuest(keyOf(y), company, 5));
    EXPECT_EQ(company.size(), 5U);
}

TEST(TrackerLimits, visitsAreCountedRoundAndRound) {
    World w;
    const Names members{"http://a/1", "http://a/2"};
    w.visit(1, "http://a/p", members);
    for (int i = 0; i < 0x10000 - 3; ++i)
        w.visit(1, "http://a/p", {}); // the browser has all of it
    for (int i = 0; i < 5; ++i)
        w.visit(1, "http://a/p", members);
    EXPECT_EQ(w.group("http://a/p"), (Names{"http://a/p", "http://a/1", "http://a/2"}));
    for (int i = 0; i < 9; ++i)
        w.visit(1, "http://a/p", {"http://a/1"});
    EXPECT_EQ(w.group("http://a/p"), (Names{"http://a/p", "http://a/1"})) << "fades as ever";
}

TEST(TrackerSequence, growsAtBothEnds) {
    World w;
    auto tiles = series("http://t/tile", 3);
    for (int round = 0; round < 6; ++round) { // the more often, the surer
        for (const auto &tile: tiles)
            w.plain(1, tile);
        w.wait(60 * second);
    }
    EXPECT_EQ(w.group(tiles[0]), tiles);
    EXPECT_EQ(w.tracker.stats().bySequence, 2U);
    for (int round = 0; round < 2; ++round) {
        w.plain(1, "http://t/before");
        w.plain(1, tiles[0]);
        w.wait(60 * second);
    }
    tiles.push_back("http://t/before");
    EXPECT_EQ(w.group("http://t/before"), tiles);
}

/// a number may mean another object by the time that the next one comes
TEST(TrackerSequence, whatWasForgottenHasNoSuccessor) {
    World w(least);
    for (int round = 0; round < 3; ++round) {
        w.plain(1, "http://t/a");
        forgetOthers(w);
        w.plain(1, "http://t/b");
        w.wait(60 * second);
    }
    EXPECT_TRUE(w.group("http://t/b").empty());
    EXPECT_EQ(w.tracker.stats().bySequence, 0U);
}

TEST(TrackerSequence, nothingFollowsItself) {
    World w;
    for (int round = 0; round < 3; ++round) {
        w.plain(1, "http://t/a");
        w.plain(2, "http://t/a"); // so that the next one is not taken for a repetition
        w.plain(1, "http://t/a");
        w.wait(60 * second);
    }
    EXPECT_TRUE(w.group("http://t/a").empty());
    EXPECT_EQ(w.tracker.stats().bySequence, 0U);
}

/// the document of a page is asked for by somebody who does not tell the URL
TEST(TrackerLimits, aKnownDocumentNeedsNoUrl) {
    World w;
    w.visit(1, "http://a/p", {"http://a/1"});
    Request r;
    r.kind = RequestKind::page;
    w.note(2, "http://a/p", r);
    w.plain(2, "http://a/2", RequestKind::member);
    EXPECT_EQ(w.group("http://a/p"), (Names{"http://a/p", "http://a/1", "http://a/2"}));
}

TEST(TrackerLimits, aKeyMayBeginWithZeros) {
    World w;
    Request r;
    r.kind = RequestKind::member;
    r.referer = r.refererSite = 7;
    for (const size_t at: {size_t(0), size_t(8)}) {
        r.key = Key();
        r.key.bytes[at] = 1;
        w.tracker.note(r, w.now);
    }
    EXPECT_EQ(w.tracker.stats().members, 2U);
    r.key = Key();
    w.tracker.note(r, w.now);
    EXPECT_EQ(w.tracker.stats().members, 2U) << "this is none";
}

TEST(TrackerLimits, aPageThatEmbedsItselfIsNotItsMember) {
    World w;
    w.image(1, "http://a/", "http://a/");
    w.image(1, "http://a/1.png", "http://a/");
    EXPECT_EQ(w.tracker.stats().members, 1U);
    EXPECT_EQ(w.tracker.stats().byOrigin, 1U);
}

TEST(TrackerSheet, isAMemberLikeOthersWithoutItsUrl) {
    World w;
    w.open(1, "http://a/p");
    Request r;
    r.kind = RequestKind::member;
    r.sheet = true;
    r.referer = urlId("http://a/p");
    r.refererSite = siteId("http://a/p");
    w.note(1, "http://a/s.css", r);
    w.image(1, "http://a/1.png", "http://a/p");
    EXPECT_EQ(w.group("http://a/p").size(), 3U);
    w.fetch(1, "http://a/f.woff", "http://a/s.css", "font");
    EXPECT_TRUE(w.group("http://a/f.woff").empty()) << "nobody knows whose sheet that is";
}

/// the sheet is remembered by its URL, but no longer which object it is
TEST(TrackerSheet, maybeForgottenByWhatItBringsAlong) {
    World w(least);
    w.open(1, "http://a/p");
    w.fetch(1, "http://a/s.css", "http://a/p", "style");
    forgetOthers(w);
    w.fetch(2, "http://a/f.woff", "http://a/s.css", "font");
    w.fetch(2, "http://a/g.woff", "http://a/s.css", "font");
    EXPECT_EQ(w.group("http://a/g.woff"), (Names{"http://a/f.woff", "http://a/g.woff"}));
}
