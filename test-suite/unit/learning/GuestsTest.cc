// SPDX-License-Identifier: GPL-2.0-or-later
/* What a page wants of what others want, too: the lists, and what is expected of a page. */

#include "test-suite/unit/learning/TrackerSupport.h"

#include "fs/cluster/learning/Guests.h"

#include <algorithm>
#include <set>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// object and visit of all of a list, the newest first
std::vector<std::pair<uint32_t, unsigned>>
all(const Guests &guests, const uint32_t first)
{
    std::vector<std::pair<uint32_t, unsigned>> result;
    for (auto n = first; n; n = guests[n].next)
        result.push_back({guests[n].object, guests[n].visit});
    return result;
}

using List = std::vector<std::pair<uint32_t, unsigned>>;

constexpr int pages = 8;

std::string
pageUrl(const int page)
{
    return "http://site/" + std::to_string(page);
}

/// two images of each page's own, and three that all pages embed
Names
membersOf(const int page)
{
    auto members = series(pageUrl(page) + "/own", 2);
    for (const auto &shared: series("http://site/shared", 3))
        members.push_back(shared);
    return members;
}

void
browse(World &w, const int visits = 2)
{
    for (int v = 0; v < visits; ++v) {
        for (int page = 0; page < pages; ++page)
            w.visit(7, pageUrl(page), membersOf(page));
    }
}

/// opens a page \returns what it is expected to want
std::set<std::string>
expected(World &w, const std::string &page, const size_t most = 1000)
{
    Request r;
    RequestText text;
    text.url = page;
    text.destination = "document";
    describe(text, r);
    r.client = 99;
    r.key = keyOf(page);
    w.wait(60 * second);
    const auto number = w.tracker.note(r, w.now);
    EXPECT_NE(number, 0U);
    std::vector<Key> keys;
    w.tracker.wantedBy(number, keys, most);
    EXPECT_LE(keys.size(), most);
    if (keys.size() > 1) {
        EXPECT_EQ(w.nameOf(keys.front()), page) << "the document comes first";
    }
    std::set<std::string> names;
    for (const auto &k: keys)
        names.insert(w.nameOf(k));
    return names;
}

std::set<std::string>
all(const int page)
{
    const auto members = membersOf(page);
    std::set<std::string> names(members.begin(), members.end());
    names.insert(pageUrl(page));
    return names;
}

} // namespace

TEST(Guests, eachPageHasItsOwn) {
    Guests guests(10);
    uint32_t a = 0, b = 0;
    guests.note(a, 1, 11, 5);
    guests.note(b, 1, 11, 6);
    guests.note(a, 2, 22, 5);
    guests.note(a, 1, 11, 7);
    EXPECT_EQ(all(guests, a), (List{{2, 5}, {1, 7}})) << "once each, with the last visit";
    EXPECT_EQ(all(guests, b), (List{{1, 6}}));
    guests.note(a, 1, 12, 7);
    EXPECT_EQ(all(guests, a).size(), 3U) << "another object that got the number of the first";
    guests.clear(a);
    EXPECT_EQ(a, 0U);
    EXPECT_EQ(all(guests, b), (List{{1, 6}}));
}

TEST(Guests, whatIsKnownLateIsNotNewer) {
    Guests guests(10);
    uint32_t a = 0;
    guests.note(a, 1, 11, 2);
    guests.note(a, 1, 11, 1);
    EXPECT_EQ(all(guests, a), (List{{1, 2}}));
    guests.note(a, 1, 11, 0xffff);
    EXPECT_EQ(all(guests, a), (List{{1, 2}}));
}

TEST(Guests, theOldestMakesRoom) {
    Guests guests(1000);
    uint32_t a = 0;
    for (unsigned i = 0; i < Guests::maxOfPage; ++i)
        guests.note(a, i + 1, 0, 0xfffe);
    EXPECT_EQ(all(guests, a).size(), Guests::maxOfPage);
    guests.note(a, 3, 0, 0xffff);
    for (unsigned i = 0; i < 200; ++i)
        guests.note(a, 1000 + i, 0, 1);
    const auto list = all(guests, a);
    EXPECT_EQ(list.size(), Guests::maxOfPage);
    EXPECT_TRUE(std::all_of(list.begin(), list.end(), [](const auto &g) { return g.second == 1; }))
            << "and what this visit has wanted makes none";
}

TEST(Guests, memoryIsBounded) {
    Guests guests(3);
    uint32_t a = 0, b = 0;
    for (unsigned i = 1; i <= 5; ++i)
        guests.note(a, i, 0, 1);
    const auto bytes = guests.bytes();
    EXPECT_EQ(all(guests, a), (List{{3, 1}, {2, 1}, {1, 1}}));
    guests.note(b, 9, 0, 1);
    EXPECT_EQ(b, 0U) << "nothing is taken from other pages";
    guests.note(a, 6, 0, 2);
    EXPECT_EQ(all(guests, a).size(), 3U) << "but from the page's older visits";
    guests.clear(a);
    for (unsigned i = 1; i <= 5; ++i)
        guests.note(b, i, 0, 1);
    EXPECT_EQ(all(guests, b).size(), 3U) << "what was given back is used again";
    EXPECT_EQ(guests.bytes(), bytes);
}

TEST(TrackerExpects, whatTheLastVisitWanted) {
    World w;
    browse(w);
    for (int page = 0; page < pages; ++page)
        EXPECT_EQ(expected(w, pageUrl(page)), all(page)) << page;
}

TEST(TrackerExpects, noMoreThanWasAskedFor) {
    World w;
    browse(w);
    for (size_t most = 1; most < 6; ++most)
        EXPECT_EQ(expected(w, pageUrl(static_cast<int>(most)), most).size(), most);
}

TEST(TrackerExpects, notWhatIsGone) {
    World w;
    browse(w);
    auto members = membersOf(2);
    members.erase(members.begin()); // one of its own
    members.pop_back(); // and a shared one
    w.visit(8, pageUrl(2), members);
    auto names = all(2);
    names.erase(membersOf(2).front());
    names.erase(membersOf(2).back());
    EXPECT_EQ(expected(w, pageUrl(2)), names);
    EXPECT_EQ(expected(w, pageUrl(2)), std::set<std::string>{pageUrl(2)}) << "whose browser had all of it lately";
}

TEST(TrackerExpects, nothingOfAPageThatIsNew) {
    World w;
    browse(w);
    EXPECT_EQ(expected(w, "http://site/new"), std::set<std::string>{"?"});
    std::vector<Key> keys{keyOf("x")};
    w.tracker.wantedBy(12345, keys, 10);
    EXPECT_TRUE(keys.empty());
}

TEST(TrackerExpects, onlyOfWhoOpensAPage) {
    World w;
    browse(w);
    Request r;
    r.key = keyOf(pageUrl(1));
    r.client = 5;
    r.url = urlId(pageUrl(1));
    r.site = siteId(pageUrl(1));
    r.kind = RequestKind::page;
    EXPECT_NE(w.tracker.note(r, w.now), 0U);
    EXPECT_EQ(w.tracker.note(r, w.now + 1000), 0U) << "the same request once more";
    r.kind = RequestKind::member;
    r.client = 6;
    EXPECT_EQ(w.tracker.note(r, w.now), 0U);
    r.kind = RequestKind::page;
    r.key = Key();
    r.url = 0;
    EXPECT_EQ(w.tracker.note(r, w.now), 0U);
}

TEST(TrackerExpects, theSameAfterARestart) {
    World before;
    browse(before);
    std::vector<SavedGroups::GroupRecord> records;
    uint32_t at = 0;
    ASSERT_EQ(before.tracker.save(at, [](const Key &) { return true; }, SavedGroups::BytesInChunk(), records),
              SavedGroups::Saved::all);
    World after;
    after.known = before.known;
    for (const auto &r: records)
        after.tracker.restore(r);
    for (int page = 0; page < pages; ++page)
        EXPECT_EQ(expected(after, pageUrl(page)), all(page)) << page;

    // what was learned before that comes back counts more
    World late;
    late.known = before.known;
    late.visit(3, pageUrl(0), Names{membersOf(0).front()});
    for (const auto &r: records)
        late.tracker.restore(r);
    EXPECT_EQ(expected(late, pageUrl(0)), (std::set<std::string>{pageUrl(0), membersOf(0).front()}));
}

/// one client embeds so much in pages of its own that no memory is left
TEST(TrackerExpects, othersGetTheirTurn) {
    World w(64 << 10);
    for (int page = 0; page < 20; ++page)
        w.visit(1, "http://evil/" + std::to_string(page), series("http://evil/s", 60));
    browse(w, 3);
    for (int page = 0; page < pages; ++page)
        EXPECT_EQ(expected(w, pageUrl(page)), all(page)) << page;
}

TEST(TrackerExpects, nothingOfObjectsThatWereForgotten) {
    World w(64 << 10); // a few hundred objects
    browse(w);
    for (const auto &url: series("http://else/", 5000))
        w.plain(1, url);
    for (int page = 0; page < pages; ++page) {
        for (const auto &name: expected(w, pageUrl(page)))
            EXPECT_TRUE(all(page).count(name)) << name;
    }
}
