// SPDX-License-Identifier: GPL-2.0-or-later
/* What the next run is told of groups. */

#include "test-suite/unit/learning/TrackerSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

using Records = std::vector<SavedGroups::GroupRecord>;

bool
keepsAll(const Key &)
{
    return true;
}

Records
saved(World &w, const std::function<bool(const Key &)> &kept = keepsAll, const size_t bytes = SavedGroups::BytesInChunk())
{
    Records all, chunk;
    uint32_t at = 0;
    for (;;) {
        const auto result = w.tracker.save(at, kept, bytes, chunk);
        if (result == SavedGroups::Saved::some)
            continue;
        size_t used = 0;
        for (auto &r: chunk) {
            used += r.bytes();
            all.push_back(std::move(r));
        }
        EXPECT_LE(used, bytes);
        if (result == SavedGroups::Saved::all)
            return all;
        EXPECT_FALSE(chunk.empty());
        chunk.clear();
    }
}

void
restore(World &w, const World &from, const Records &records)
{
    for (const auto &r: records)
        w.tracker.restore(r);
    w.known = from.known;
}

/// pages of a site with images of their own, and some that all of them share
void
browse(World &w, const int pages, const int visits = 3)
{
    for (int v = 0; v < visits; ++v) {
        for (int p = 0; p < pages; ++p) {
            const auto page = "http://site/" + std::to_string(p);
            auto members = series(page + "/own", 5);
            for (const auto &shared: series("http://site/shared", 4))
                members.push_back(shared);
            w.visit(static_cast<uint64_t>(p + 1), page, members);
        }
    }
}

} // namespace

TEST(TrackerSaved, groupsAreWhatTheyWere) {
    World before;
    browse(before, 20);
    World after;
    restore(after, before, saved(before));
    for (const auto &each: before.known) {
        const auto &url = each.second;
        EXPECT_EQ(after.group(url), before.group(url)) << url;
        EXPECT_EQ(after.tracker.groupNumber(keyOf(url)), before.tracker.groupNumber(keyOf(url))) << url;
        EXPECT_EQ(after.tracker.isShared(keyOf(url)), before.tracker.isShared(keyOf(url))) << url;
    }
    EXPECT_TRUE(after.tracker.isShared(keyOf("http://site/shared1")));
    EXPECT_EQ(after.tracker.stats().restored, before.tracker.stats().groups);
    EXPECT_EQ(after.tracker.stats().members, before.tracker.stats().members);
}

TEST(TrackerSaved, aChunkMayTakeOnlySome) {
    World before;
    browse(before, 20);
    const auto all = saved(before);
    const auto some = saved(before, keepsAll, 400);
    ASSERT_EQ(some.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(some[i].name, all[i].name);
        EXPECT_EQ(some[i].members.size(), all[i].members.size());
    }
}

/// what has left the store is nobody's company any more
TEST(TrackerSaved, onlyWhatIsStillThere) {
    World before;
    browse(before, 5);
    const auto gone = keyOf("http://site/1/own2");
    const auto leader = keyOf("http://site/2");
    World after;
    restore(after, before, saved(before, [&](const Key &k) { return !(k == gone) && !(k == leader); }));
    EXPECT_TRUE(after.group("http://site/1/own2").empty());
    EXPECT_EQ(after.group("http://site/1").size(), before.group("http://site/1").size() - 1);
    EXPECT_EQ(after.group("http://site/2/own0"), series("http://site/2/own", 5));
    Records none;
    uint32_t at = 0;
    EXPECT_EQ(before.tracker.save(at, [](const Key &) { return false; }, 1 << 20, none), SavedGroups::Saved::all);
    EXPECT_TRUE(none.empty());
}

TEST(TrackerSaved, weightsAndHomesGoOn) {
    World before;
    before.visit(1, "http://a/", series("http://a/m", 4));
    before.visit(1, "http://b/", {"http://b/1", "http://a/m1"}); // at home in a, a guest of b
    before.visit(1, "http://a/", {"http://a/m0", "http://a/m2", "http://a/m3"});
    World after;
    restore(after, before, saved(before));
    std::vector<Key> company;
    EXPECT_EQ(after.tracker.isGuest(keyOf("http://a/m1"), company, 10), before.tracker.isGuest(keyOf("http://a/m1"), company, 10));
    ASSERT_EQ(after.group("http://a/").size(), 5U);
    int visits[2] = {0, 0}; // until m1 has faded
    for (auto *const w: {&before, &after}) {
        for (auto &n = visits[w == &after]; w->group("http://a/").size() > 4 && n < 20; ++n)
            w->visit(1, "http://a/", {"http://a/m0", "http://a/m2", "http://a/m3"});
        EXPECT_EQ(w->group("http://a/"), (Names{"http://a/", "http://a/m0", "http://a/m2", "http://a/m3"}));
    }
    EXPECT_EQ(visits[1], visits[0] + 1) << "as ever, but for what the visit before the stop has to say";
}

/// nobody has fetched what was only known: it does not fade for that either
TEST(TrackerSaved, takingBackIsNoVisit) {
    World before;
    before.visit(1, "http://a/", series("http://a/m", 4));
    const auto records = saved(before);
    World after;
    restore(after, before, records);
    for (const auto &r: records)
        EXPECT_TRUE(after.tracker.restore(r)) << "twice";
    EXPECT_EQ(saved(after).front().members.front().weight, records.front().members.front().weight);
    after.open(1, "http://a/");
    EXPECT_EQ(saved(after).front().members.front().weight, records.front().members.front().weight);
}

TEST(TrackerSaved, whatSomebodyHasChosenStaysChosen) {
    World before;
    for (const auto &url: {"http://a/", "http://b/", "http://c/"})
        before.remember(url);
    before.tracker.collocate(keyOf("http://a/"), {keyOf("http://b/"), keyOf("http://c/")});
    World after;
    restore(after, before, saved(before));
    for (int v = 0; v < 20; ++v)
        after.visit(1, "http://x/", {"http://b/", "http://c/"});
    EXPECT_EQ(after.group("http://a/"), (Names{"http://a/", "http://b/", "http://c/"}));
}

TEST(TrackerSaved, whatWasLearnedSinceCountsMore) {
    World before;
    before.visit(1, "http://a/", {"http://a/1", "http://a/2"});
    World after;
    after.visit(1, "http://b/", {"http://a/1"});
    after.tracker.collocate(keyOf("http://b/"), {keyOf("http://a/1")});
    const auto records = saved(before);
    restore(after, before, records);
    after.remember("http://b/");
    EXPECT_EQ(after.group("http://a/1"), (Names{"http://b/", "http://a/1"}));
    EXPECT_EQ(after.group("http://a/2"), (Names{"http://a/", "http://a/2"}));
}

/// less memory than before: what there is no room for is learned again
TEST(TrackerSaved, keepsToItsMemory) {
    World before(4 << 20);
    browse(before, 400, 1);
    const auto records = saved(before);
    World after(1);
    after.visit(1, "http://now/", series("http://now/m", 5));
    restore(after, before, records);
    for (const auto &url: series("http://now/m", 5))
        after.remember(url);
    after.remember("http://now/");
    EXPECT_EQ(after.group("http://now/").size(), 6U) << "nothing is forgotten for the past";
    EXPECT_GT(after.tracker.stats().restored, 5U);
    EXPECT_LT(after.tracker.stats().restored, before.tracker.stats().groups);
    EXPECT_FALSE(after.tracker.restore(records.back()));
}

TEST(TrackerSaved, takesAnyRecord) {
    World w;
    SavedGroups::GroupRecord r;
    r.name = 1;
    r.leader = keyOf("http://a/");
    SavedGroups::MemberRecord m;
    m.key = keyOf("http://a/"); // its own container
    r.members.push_back(m);
    m.evidence = 15; // no such
    m.key = keyOf("http://b/");
    r.members.push_back(m);
    r.kind = 9; // no such
    EXPECT_TRUE(w.tracker.restore(r));
    EXPECT_EQ(w.tracker.stats().groups, 0U);
    r.kind = 3;
    EXPECT_TRUE(w.tracker.restore(r));
    EXPECT_EQ(w.tracker.stats().members, 0U);
    m.evidence = 0;
    m.weight = 200; // more than there is
    r.members.assign(2000, m);
    for (size_t i = 0; i < r.members.size(); ++i)
        r.members[i].key = keyOf("http://m/" + std::to_string(i));
    EXPECT_TRUE(w.tracker.restore(r));
    EXPECT_EQ(w.tracker.stats().members, Groups::maxMembers);
    r.leader = keyOf("http://m/1"); // it has one already
    EXPECT_TRUE(w.tracker.restore(r));
    EXPECT_EQ(saved(w).front().members.front().weight, 144);
}
