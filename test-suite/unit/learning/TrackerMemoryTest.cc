// SPDX-License-Identifier: GPL-2.0-or-later
/* How the tracker forgets, and what it does under load and under attack. */

#include "test-suite/unit/learning/TrackerSupport.h"

#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// requests of all kinds from a random source, ids included
void
noteRandomly(Tracker &tracker, const uint64_t requests, const uint64_t variety)
{
    std::mt19937_64 random(7);
    uint64_t now = 1;
    for (uint64_t i = 0; i < requests; ++i) {
        Request r;
        r.url = 1 + random() % variety;
        const uint64_t halves[] = { r.url * 0x9e3779b97f4a7c15ULL, r.url };
        memcpy(r.key.bytes.data(), halves, sizeof(halves));
        r.client = random() % (variety / 4 + 1);
        r.site = 1 + r.url % (variety / 8 + 1);
        if (random() % 2)
            r.referer = 1 + random() % variety;
        if (random() % 4)
            r.refererSite = 1 + random() % (variety / 8 + 1);
        r.kind = static_cast<RequestKind>(random() % 3);
        r.sheet = random() % 8 == 0;
        now += random() % 100000;
        tracker.note(r, now);
        if (random() % 512 == 0)
            tracker.collocate(r.key, {r.key, Key(), r.key});
    }
}

} // namespace

TEST(TrackerMemory, whatIsNoLongerPartOfThePageLeaves) {
    World w;
    const auto before = series("http://a/old", 10);
    const auto after = series("http://a/new", 10);
    w.visit(1, "http://a/p", before);
    for (int i = 0; i < 3; ++i) {
        w.visit(1, "http://a/p", after);
        EXPECT_EQ(w.group("http://a/p").size(), 21U) << i;
    }
    for (int i = 0; i < 2; ++i)
        w.visit(1, "http://a/p", after);
    EXPECT_EQ(w.group("http://a/p").size(), 11U);
    EXPECT_EQ(w.group("http://a/new3").size(), 11U);
    EXPECT_TRUE(w.group("http://a/old3").empty());
}

TEST(TrackerMemory, whatWasAlwaysThereLeavesLater) {
    World w;
    const auto before = series("http://a/old", 10);
    const auto after = series("http://a/new", 10);
    for (int i = 0; i < 5; ++i)
        w.visit(1, "http://a/p", before);
    for (int i = 0; i < 8; ++i)
        w.visit(1, "http://a/p", after);
    EXPECT_EQ(w.group("http://a/p").size(), 21U);
    for (int i = 0; i < 2; ++i)
        w.visit(1, "http://a/p", after);
    EXPECT_EQ(w.group("http://a/p").size(), 11U);
}

TEST(TrackerMemory, whatBrowsersHaveCachedStays) {
    World w;
    const auto members = series("http://a/m", 40);
    for (uint64_t i = 0; i < 4; ++i) {
        w.visit(i + 1, "http://a/p", members);
        for (int again = 0; again < 12; ++again) { // nothing, or a little of it
            w.visit(i + 1, "http://a/p", {});
            w.visit(i + 1, "http://a/p", {members[3]});
        }
    }
    EXPECT_EQ(w.group("http://a/p").size(), 41U);
}

TEST(TrackerMemory, aPageThatAlwaysBringsSomethingNewHasALimit) {
    World w;
    for (int i = 0; i < 300; ++i)
        w.visit(1, "http://a/p", series("http://a/" + std::to_string(i) + "-", 5));
    EXPECT_LE(w.tracker.stats().members, 5U * 96);
    EXPECT_GT(w.tracker.stats().forgotten, 1000U);
}

TEST(TrackerMemory, stayWithinTheLimit) {
    for (const uint64_t bytes: {uint64_t(0), uint64_t(64) << 10, uint64_t(1) << 20, uint64_t(10) << 20}) {
        Tracker tracker(bytes);
        const auto limit = std::max(bytes, uint64_t(64) << 10);
        EXPECT_LE(tracker.stats().bytes, limit / 10) << "what is not used yet takes none";
        noteRandomly(tracker, 200000, 1000000000);
        EXPECT_LE(tracker.stats().bytes, limit);
        EXPECT_GT(tracker.stats().bytes, limit / 2);
        noteRandomly(tracker, 100000, bytes / 200 + 10); // what comes again and again
        EXPECT_LE(tracker.stats().bytes, limit);
    }
}

TEST(TrackerMemory, theLimitIsEnoughForSoManyObjects) {
    Tracker tracker(1 << 20);
    uint64_t now = second;
    for (uint64_t page = 0; page < 1500; ++page) {
        for (uint64_t i = 1; i <= 20; ++i) {
            Request r;
            r.url = page * 100 + i;
            const uint64_t halves[] = { r.url * 0x9e3779b97f4a7c15ULL, r.url };
            memcpy(r.key.bytes.data(), halves, sizeof(halves));
            r.client = r.site = 1;
            r.kind = i > 1 ? RequestKind::member : RequestKind::page;
            r.referer = i > 1 ? page * 100 + 1 : 0;
            tracker.note(r, now += 10000);
        }
        now += 60 * second;
    }
    EXPECT_GT(tracker.stats().members, (1U << 20) / 120) << "120 bytes at most for each member that is known";
}

TEST(TrackerMemory, millionsOfRequestsDoNotPushOutWhatIsUsed) {
    World w(1 << 20);
    const auto members = series("http://a/m", 20);
    std::vector<Key> keys;
    for (int round = 0; round < 100; ++round) {
        w.visit(1, "http://a/p", members);
        for (uint64_t i = 0; i < 500; ++i) {
            Request r;
            r.url = (uint64_t(round) << 32) + i + 1;
            r.client = 2 + i % 50;
            memcpy(r.key.bytes.data(), &r.url, sizeof(r.url));
            r.referer = i % 3 ? r.url * 77 : 0;
            w.tracker.note(r, w.now++);
        }
    }
    EXPECT_EQ(w.group("http://a/p").size(), 21U);
}

TEST(TrackerMemory, aPageHasAtMostSoManyMembers) {
    World w;
    w.visit(1, "http://a/p", series("http://a/m", 2 * Groups::maxMembers));
    EXPECT_EQ(w.tracker.stats().members, Groups::maxMembers);
    EXPECT_EQ(w.tracker.stats().refused, Groups::maxMembers);
    EXPECT_EQ(w.group("http://a/p").size(), Groups::maxMembers + 1U);
}

TEST(TrackerMemory, aPageThatClaimsEverythingGetsNothing) {
    World w;
    const auto victims = series("http://a/m", 20);
    for (int i = 0; i < 3; ++i) {
        w.visit(1, "http://a/p", victims);
        w.visit(666, "http://evil/", victims); // fetched with another page, once
        w.visit(1, "http://a/p", victims);
    }
    EXPECT_EQ(w.group("http://a/p").size(), 21U);
    EXPECT_TRUE(w.group("http://evil/").empty());
    for (int i = 0; i < 100; ++i) { // over and over, within moments
        for (const auto &v: victims)
            w.image(666, v, "http://evil/");
        w.visit(1, "http://a/p", victims);
    }
    EXPECT_EQ(w.group("http://a/p").size(), 21U);
}

TEST(TrackerMemory, manyPagesThatClaimAnObjectCanOnlyMakeItShared) {
    World w;
    for (int i = 0; i < 20; ++i) {
        w.visit(1, "http://a/p", {"http://a/x", "http://a/1"});
        w.visit(666, "http://evil/" + std::to_string(i), {"http://a/x"});
    }
    w.visit(1, "http://a/p", {"http://a/x"}); // twice in a row: home again
    w.visit(1, "http://a/p", {"http://a/x"});
    EXPECT_EQ(w.group("http://a/1"), (Names{"http://a/p", "http://a/1"}));
    EXPECT_LE(w.tracker.stats().members, 8U);
}

TEST(TrackerMemory, junkInAPageGivesWayToItsMembers) {
    World w;
    const auto junk = series("http://junk/", 600);
    for (const auto &j: junk)
        w.image(666, j, "http://a/p");
    w.wait(60 * second);
    const auto members = series("http://a/m", 40);
    for (int i = 0; i < 2; ++i)
        w.visit(1, "http://a/p", members);
    std::vector<Key> keys;
    w.tracker.groupOf(keyOf("http://a/p"), keys, 41);
    ASSERT_EQ(keys.size(), 41U); // first of all, and in the right order
    EXPECT_EQ(keys[0], keyOf("http://a/p"));
    for (size_t i = 0; i < 40; ++i)
        EXPECT_EQ(keys[i + 1], keyOf(members[i]));
    for (int i = 0; i < 70; ++i)
        w.visit(1, "http://a/p", members);
    w.tracker.groupOf(keyOf("http://a/p"), keys, 1000);
    EXPECT_EQ(keys.size(), 41U);
}

TEST(TrackerMemory, oddRequestsDoNoHarm) {
    World w;
    Request r;
    w.tracker.note(r, 0);
    r.kind = RequestKind::page;
    w.tracker.note(r, 0);
    r.client = 1;
    w.tracker.note(r, 0);
    r.key = keyOf("x");
    w.tracker.note(r, 0); // a page without a URL
    r.key = keyOf("y");
    r.kind = RequestKind::member;
    w.tracker.note(r, 0);
    r.key = keyOf("x"); // its own member
    r.referer = r.url = 5;
    w.tracker.note(r, 0);
    r.url = 0;
    w.tracker.note(r, 0);
    w.tracker.note(r, 5000000);
    w.tracker.note(r, 1000000); // time steps back
    w.tracker.collocate(Key(), {keyOf("x")});
    w.tracker.collocate(keyOf("x"), {keyOf("x"), Key()});
    std::vector<Key> keys(3);
    w.tracker.groupOf(Key(), keys, 0);
    EXPECT_TRUE(keys.empty());
    w.tracker.groupOf(keyOf("x"), keys, 0);
    EXPECT_TRUE(keys.empty());
}

TEST(TrackerMemory, sameCallsGiveTheSameAnswers) {
    Tracker one(1 << 20);
    Tracker two(1 << 20);
    noteRandomly(one, 100000, 20000);
    noteRandomly(two, 100000, 20000);
    std::vector<Key> a;
    std::vector<Key> b;
    uint64_t grouped = 0;
    for (uint64_t url = 1; url <= 20000; ++url) {
        const uint64_t halves[] = { url * 0x9e3779b97f4a7c15ULL, url };
        Key key;
        memcpy(key.bytes.data(), halves, sizeof(halves));
        one.groupOf(key, a, 100);
        two.groupOf(key, b, 100);
        ASSERT_EQ(a, b);
        grouped += !a.empty();
    }
    EXPECT_GT(grouped, 100U);
    EXPECT_EQ(one.stats().members, two.stats().members);
}
