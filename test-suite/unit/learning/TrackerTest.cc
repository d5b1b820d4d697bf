// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tracker learns from which requests. */

#include "test-suite/unit/learning/TrackerSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(Tracker, followsAWholeReferer) {
    World w;
    w.visit(1, "http://a/p.html", {"http://a/1.png", "http://cdn/2.png"});
    const Names page{"http://a/p.html", "http://a/1.png", "http://cdn/2.png"};
    EXPECT_EQ(w.group("http://a/p.html"), page);
    EXPECT_EQ(w.group("http://cdn/2.png"), page);
    EXPECT_EQ(w.group("http://cdn/2.png", 2), (Names{"http://a/p.html", "http://a/1.png"}));
    EXPECT_TRUE(w.group("http://a/other").empty());
    const auto stats = w.tracker.stats();
    EXPECT_EQ(stats.groups, 1U);
    EXPECT_EQ(stats.members, 2U);
    EXPECT_EQ(stats.byReferer, 2U);
    EXPECT_EQ(stats.objects, 3U);
    EXPECT_EQ(stats.clients, 1U);
}

TEST(Tracker, learnsAPageThatItNeverSees) {
    World w;
    w.image(1, "http://a/1.png", "http://a/p.html");
    w.image(1, "http://a/2.png", "http://a/p.html");
    EXPECT_EQ(w.group("http://a/2.png"), (Names{"http://a/1.png", "http://a/2.png"}));
    w.open(1, "http://a/p.html"); // its document turns up later
    EXPECT_EQ(w.group("http://a/2.png"), (Names{"http://a/p.html", "http://a/1.png", "http://a/2.png"}));
}

TEST(Tracker, anObjectAloneHasNoGroup) {
    World w;
    w.image(1, "http://a/1.png", "http://a/p.html");
    EXPECT_TRUE(w.group("http://a/1.png").empty());
    w.open(1, "http://b/");
    EXPECT_TRUE(w.group("http://b/").empty());
}

TEST(Tracker, aContainerIsNotItsOwnMember) {
    World w;
    w.image(1, "http://a/q", "http://a/p");
    w.image(1, "http://a/1.png", "http://a/p");
    w.tracker.collocate(keyOf("http://a/q"), {keyOf("http://a/1.png")});
    EXPECT_EQ(w.group("http://a/q"), (Names{"http://a/q", "http://a/1.png"}));

    Request r; // the member of a page turns out to be its document
    r.url = urlId("http://b/p");
    r.kind = RequestKind::page;
    w.image(1, "http://b/x", "http://b/p");
    w.image(1, "http://b/y", "http://b/p");
    w.note(1, "http://b/x", r);
    w.wait(60 * second);
    w.note(1, "http://b/x", r);
    EXPECT_EQ(w.group("http://b/y"), (Names{"http://b/x", "http://b/y"}));
}

TEST(Tracker, anUncachablePageStillGathers) {
    World w;
    Request r;
    r.client = 1;
    r.url = urlId("http://a/p");
    r.site = siteId("http://a/p");
    r.kind = RequestKind::page; // no key
    w.tracker.note(r, w.now);
    w.image(1, "http://c/1.png", "http://a/");
    w.image(1, "http://c/2.png", "http://a/");
    EXPECT_EQ(w.group("http://c/1.png"), (Names{"http://c/1.png", "http://c/2.png"}));
}

TEST(Tracker, anOriginMeansTheClientsLatestPageOfThatSite) {
    World w;
    w.open(1, "http://a/old");
    w.open(1, "http://a/p");
    w.open(1, "http://b/q");
    w.open(2, "http://a/other");
    w.image(1, "http://cdn/1.png", "http://a/");
    w.image(1, "http://cdn/2.png", "http://b/");
    EXPECT_EQ(w.group("http://cdn/1.png"), (Names{"http://a/p", "http://cdn/1.png"}));
    EXPECT_EQ(w.group("http://cdn/2.png"), (Names{"http://b/q", "http://cdn/2.png"}));
    EXPECT_EQ(w.tracker.stats().byOrigin, 2U);
}

TEST(Tracker, anOriginToItsOwnSiteIsTheRootWhenNothingElseIsKnown) {
    World w;
    w.image(1, "http://a/1.png", "http://a/");
    w.image(1, "http://cdn/2.png", "http://b/"); // says too little
    w.open(1, "http://a/");
    EXPECT_EQ(w.group("http://a/1.png"), (Names{"http://a/", "http://a/1.png"}));
    EXPECT_TRUE(w.group("http://cdn/2.png").empty());
}

TEST(Tracker, withoutARefererTheWindowOfTheClientsPageCounts) {
    World w;
    w.plain(1, "http://a/p.html", RequestKind::page);
    w.wait(second);
    w.plain(1, "http://a/1.gif", RequestKind::member);
    w.plain(2, "http://a/2.gif", RequestKind::member); // somebody else
    w.wait(second * 3 / 2); // the window moves on with each fetch
    w.plain(1, "http://a/3.gif", RequestKind::member);
    w.wait(3 * second);
    w.plain(1, "http://a/4.gif", RequestKind::member); // too late
    EXPECT_EQ(w.group("http://a/p.html"), (Names{"http://a/p.html", "http://a/1.gif", "http://a/3.gif"}));
    EXPECT_TRUE(w.group("http://a/4.gif").empty());
    EXPECT_EQ(w.tracker.stats().byWindow, 2U);
}

TEST(Tracker, aKnownDocumentIsAPageEvenWhenNobodySaysSo) {
    World w;
    w.open(1, "http://a/p");
    w.wait(60 * second);
    w.plain(1, "http://a/p");
    w.plain(1, "http://a/1.gif");
    EXPECT_EQ(w.group("http://a/p"), (Names{"http://a/p", "http://a/1.gif"}));
}

TEST(Tracker, parallelPagesOfOneClientStayApart) {
    World w;
    w.open(1, "http://a/p");
    w.open(1, "http://b/q");
    for (int i = 0; i < 3; ++i) {
        const auto n = std::to_string(i);
        w.image(1, "http://x/p" + n, "http://a/p"); // by Referer
        w.image(1, "http://x/q" + n, "http://b/q");
        w.plain(1, "http://a/r" + n, RequestKind::member); // by site
        w.plain(1, "http://b/s" + n, RequestKind::member);
    }
    EXPECT_EQ(w.group("http://a/p"), (Names{"http://a/p", "http://x/p0", "http://a/r0", "http://x/p1", "http://a/r1",
              "http://x/p2", "http://a/r2"}));
    EXPECT_EQ(w.group("http://b/q").size(), 7U);
    EXPECT_EQ(w.group("http://b/s2")[0], "http://b/q");
}

TEST(Tracker, clientsMixedOnOnePageAndOnSeveral) {
    World w;
    w.open(1, "http://a/p");
    w.open(2, "http://a/p");
    w.open(3, "http://a/q");
    for (const auto &m: series("http://a/m", 4)) {
        w.image(1, m, "http://a/p");
        w.image(2, m, "http://a/p");
        w.plain(3, m + "q", RequestKind::member);
    }
    EXPECT_EQ(w.group("http://a/p").size(), 5U);
    EXPECT_EQ(w.group("http://a/q").size(), 5U);
    EXPECT_EQ(w.tracker.stats().members, 8U);
}

TEST(Tracker, aCrowdOnOnePageDoesNotWearItOut) {
    World w;
    const auto members = series("http://a/m", 10);
    w.visit(1, "http://a/p", members);
    for (int round = 0; round < 5; ++round) {
        for (uint64_t client = 100; client < 200; ++client)
            w.open(client, "http://a/p");
        for (uint64_t client = 100; client < 200; ++client) {
            for (const auto &m: members)
                w.image(client, m, "http://a/p");
        }
        w.wait(60 * second);
    }
    EXPECT_EQ(w.group("http://a/p").size(), 11U);
}

TEST(Tracker, aStyleSheetsFontsBelongToItsPage) {
    World w;
    w.open(1, "http://a/p");
    w.fetch(1, "http://a/s.css", "http://a/p", "style");
    w.fetch(1, "http://a/more.css", "http://a/s.css", "style"); // imported
    w.fetch(1, "http://a/f.woff", "http://a/s.css", "font");
    w.fetch(1, "http://a/g.woff", "http://a/more.css", "font");
    EXPECT_EQ(w.group("http://a/g.woff"), (Names{"http://a/p", "http://a/s.css", "http://a/more.css",
              "http://a/f.woff", "http://a/g.woff"}));
}

TEST(Tracker, aStyleSheetOfTwoPagesLeadsEachClientToItsOwn) {
    World w;
    w.open(1, "http://a/p");
    w.open(2, "http://a/q");
    w.fetch(1, "http://a/s.css", "http://a/p", "style");
    w.fetch(2, "http://a/s.css", "http://a/q", "style");
    w.fetch(1, "http://a/p.woff", "http://a/s.css", "font");
    w.fetch(2, "http://a/q.woff", "http://a/s.css", "font");
    EXPECT_EQ(w.group("http://a/p.woff")[0], "http://a/p");
    EXPECT_EQ(w.group("http://a/q.woff")[0], "http://a/q");
}

/// so many that it is a member of few of them
TEST(Tracker, aStyleSheetOfManyPagesLeadsEachClientToItsOwn) {
    for (const std::string host: {"http://a", "http://cdn"}) {
        World w;
        const auto sheet = host + "/s.css";
        const auto pages = series("http://a/p", 8);
        for (int visit = 0; visit < 2; ++visit) {
            for (const auto &page: pages) {
                w.open(1, page);
                w.fetch(1, sheet, page, "style");
                w.fetch(1, page + ".woff", sheet, "font");
                w.wait(60 * second);
            }
        }
        EXPECT_TRUE(w.tracker.isShared(keyOf(sheet)));
        for (const auto &page: pages)
            EXPECT_EQ(w.group(page), (Names{page, page + ".woff"})) << sheet;
        w.wait(60 * second);
        w.fetch(1, "http://a/late.woff", sheet, "font");
        EXPECT_NE(w.group("http://a/late.woff")[0], pages.back()) << "that page was closed long ago, most likely";
    }
}

TEST(Tracker, aFrameIsPartOfItsPageButAPageOfItsOwnWhenOpened) {
    World w;
    w.open(1, "http://a/p");
    w.fetch(1, "http://ad/f", "http://a/p", "iframe");
    w.image(1, "http://ad/1.png", "http://ad/f");
    EXPECT_EQ(w.group("http://ad/1.png"), (Names{"http://a/p", "http://ad/f", "http://ad/1.png"}));
    w.open(2, "http://ad/f");
    w.image(2, "http://ad/2.png", "http://ad/f");
    EXPECT_EQ(w.group("http://ad/2.png"), (Names{"http://ad/f", "http://ad/2.png"}));
}

TEST(Tracker, anObjectMovesWhenFetchedTwiceInARowElsewhere) {
    World w;
    w.visit(1, "http://a/p", {"http://a/x", "http://a/1"});
    w.visit(1, "http://a/q", {"http://a/x", "http://a/2"});
    EXPECT_EQ(w.group("http://a/x")[0], "http://a/p");
    EXPECT_EQ(w.group("http://a/q"), (Names{"http://a/q", "http://a/2"}));
    w.visit(1, "http://a/p", {"http://a/x"});
    w.visit(1, "http://a/q", {"http://a/x"});
    EXPECT_EQ(w.group("http://a/x")[0], "http://a/p");
    w.visit(1, "http://a/q", {"http://a/x"});
    EXPECT_EQ(w.group("http://a/x"), (Names{"http://a/q", "http://a/x", "http://a/2"}));
    EXPECT_EQ(w.group("http://a/p"), (Names{"http://a/p", "http://a/1"}));
    EXPECT_EQ(w.tracker.stats().moved, 1U);
}

TEST(Tracker, whatManyPagesShareIsAGroupOfItsOwn) {
    World w;
    for (int round = 0; round < 2; ++round) {
        for (const auto &page: series("http://a/p", 6))
            w.visit(1, page, {"http://a/s.css", "http://cdn/logo.png", page + ".png"});
    }
    EXPECT_EQ(w.group("http://a/s.css"), (Names{"http://a/s.css", "http://cdn/logo.png"}));
    for (const auto &page: series("http://a/p", 6))
        EXPECT_EQ(w.group(page), (Names{page, page + ".png"}));
    EXPECT_EQ(w.tracker.stats().bySharing, 2U);
}

TEST(Tracker, whatManySitesShareStaysWithOne) {
    World w;
    for (int round = 0; round < 4; ++round) {
        for (const auto &site: series("http://s", 12))
            w.visit(1, site + "/p", {"http://stats/count.js", site + "/own.png"});
    }
    for (const auto &site: series("http://s", 12))
        EXPECT_EQ(w.group(site + "/p"), (Names{site + "/p", site + "/own.png"}));
    EXPECT_TRUE(w.group("http://stats/count.js").empty());
    EXPECT_LE(w.tracker.stats().moved, 4U);
}

TEST(Tracker, repeatedSuccessionMakesASequence) {
    World w;
    const auto tiles = series("http://t/tile", 5);
    for (const auto &t: tiles)
        w.plain(1, t);
    EXPECT_TRUE(w.group(tiles[0]).empty());
    w.wait(60 * second);
    for (const auto &t: tiles)
        w.plain(2, t);
    EXPECT_EQ(w.group(tiles[3]), tiles);
    EXPECT_EQ(w.tracker.stats().bySequence, 4U);
    for (int round = 0; round < 3; ++round) {
        w.wait(60 * second);
        w.plain(2, tiles[4]);
        w.wait(2 * second); // too slow
        w.plain(2, "http://t/else");
    }
    EXPECT_EQ(w.group(tiles[3]).size(), 5U);
}

TEST(Tracker, interleavedClientsDoNotMakeSequences) {
    World w;
    for (int round = 0; round < 5; ++round) {
        w.plain(1, "http://t/a");
        w.plain(2, "http://t/b");
        w.wait(60 * second);
    }
    EXPECT_TRUE(w.group("http://t/a").empty());
}

TEST(Tracker, reportsOfOneRequestCountOnce) {
    World w;
    w.plain(1, "http://t/a"); // two lookups
    w.plain(1, "http://t/b");
    w.plain(1, "http://t/a"); // and their stores
    w.plain(1, "http://t/b");
    EXPECT_TRUE(w.group("http://t/a").empty());

    w.open(1, "http://a/p");
    w.image(1, "http://a/1", "http://a/p");
    w.plain(1, "http://a/2", RequestKind::member);
    w.wait(second);
    w.open(1, "http://b/q");
    w.plain(1, "http://a/2", RequestKind::member); // stored while the next page loads
    w.open(1, "http://a/p"); // as this one
    w.plain(1, "http://b/3", RequestKind::member);
    EXPECT_EQ(w.group("http://b/q"), (Names{"http://b/q", "http://b/3"}));
    EXPECT_EQ(w.group("http://a/p"), (Names{"http://a/p", "http://a/1", "http://a/2"}));
}

TEST(Tracker, collocatedObjectsStayTogether) {
    World w;
    w.remember("lead");
    w.remember("one");
    w.remember("two");
    w.tracker.collocate(keyOf("lead"), {keyOf("one"), keyOf("two")});
    const Names group{"lead", "one", "two"};
    EXPECT_EQ(w.group("two"), group);
    for (int i = 0; i < 20; ++i)
        w.visit(1, "http://a/p", {"one", "http://a/1"});
    EXPECT_EQ(w.group("one"), group);
    w.open(1, "lead");
    EXPECT_EQ(w.group("one"), group);
    EXPECT_EQ(w.tracker.stats().explicitly, 2U);
}

TEST(Tracker, aCollocatedLeaderMayBecomeAPage) {
    World w;
    w.tracker.collocate(keyOf("http://a/p"), {keyOf("http://a/1")});
    w.remember("http://a/1");
    w.visit(1, "http://a/p", {"http://a/2"});
    EXPECT_EQ(w.group("http://a/2"), (Names{"http://a/p", "http://a/1", "http://a/2"}));
}

/// an object of two pages is a guest where it is not at home
TEST(Tracker, knowsGuests) {
    World w;
    const std::string a = "http://h/a", b = "http://h/b", both = "http://h/both.png";
    w.visit(1, a, {"http://h/a1.png", both, "http://h/a2.png"});
    std::vector<Key> company;
    EXPECT_FALSE(w.tracker.isGuest(keyOf(both), company, 100)) << "at home";
    EXPECT_FALSE(w.tracker.isGuest(keyOf("http://h/nothing"), company, 100));
    w.visit(2, b, {"http://h/b1.png", both});
    ASSERT_TRUE(w.tracker.isGuest(keyOf(both), company, 100));
    EXPECT_EQ(company, (std::vector<Key>{keyOf(b), keyOf("http://h/b1.png"), keyOf(both)}));
    EXPECT_NE(w.tracker.groupNumber(keyOf(a)), 0U);
    EXPECT_EQ(w.tracker.groupNumber(keyOf(both)), w.tracker.groupNumber(keyOf(a)));
    EXPECT_NE(w.tracker.groupNumber(keyOf(b)), w.tracker.groupNumber(keyOf(a)));
    w.visit(3, a, {both});
    EXPECT_FALSE(w.tracker.isGuest(keyOf(both), company, 100)) << "at home again";
}

TEST(Tracker, knowsWhatManyPagesShare) {
    World w;
    for (unsigned n = 0; n < 8; ++n) {
        const auto page = "http://h/page" + std::to_string(n);
        w.visit(1, page, {"http://h/logo.png", "http://h/own" + std::to_string(n) + ".png"});
        EXPECT_EQ(w.tracker.isShared(keyOf("http://h/logo.png")), n >= Groups::sharedFrom) << n;
    }
    EXPECT_TRUE(w.tracker.isShared(keyOf("http://h/logo.png")));
    EXPECT_FALSE(w.tracker.isShared(keyOf("http://h/own3.png")));
    EXPECT_FALSE(w.tracker.isShared(keyOf("http://h/page3")));
}

/// what an object is read with, where that is not what it was packed with
TEST(Tracker, namesTheCompanyOfGuestsAndOfSharedObjects) {
    World w;
    const std::string a = "http://h/a", b = "http://h/b", both = "http://h/both.png";
    std::vector<Key> company;
    w.visit(1, a, {both, "http://h/a1.png"});
    EXPECT_FALSE(w.tracker.companyOf(keyOf(both), company, 100)) << "at home";
    EXPECT_FALSE(w.tracker.companyOf(keyOf("http://h/nothing"), company, 100));
    w.visit(2, b, {both});
    ASSERT_TRUE(w.tracker.companyOf(keyOf(both), company, 100));
    EXPECT_EQ(company, (std::vector<Key>{keyOf(b), keyOf(both)})) << "those of the other page";
    for (const char *const page: {"http://h/c", "http://h/d", "http://h/e"})
        w.visit(3, page, {both, "http://h/logo.png"});
    w.visit(4, "http://h/f", {both, "http://h/logo.png"});
    ASSERT_TRUE(w.tracker.isShared(keyOf(both)));
    ASSERT_TRUE(w.tracker.companyOf(keyOf(both), company, 100));
    EXPECT_EQ(std::count(company.begin(), company.end(), keyOf("http://h/logo.png")), 1) << "what the site's pages share";
    ASSERT_TRUE(w.tracker.companyOf(keyOf(both), company, 2));
    EXPECT_EQ(company.size(), 2U);
}
