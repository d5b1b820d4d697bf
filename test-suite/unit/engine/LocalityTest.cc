// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups on the device: packed side by side, read in one request. */

#include "test-suite/unit/support/PageSupport.h"

#include "fs/cluster/device/CostMeter.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t pageObjects = 12;

std::string
contentOf(const uint64_t object)
{
    return bytesOf(object, 500 + object * 37 % 3000);
}

/// visits pages by as many clients at once: their objects come in interleaved
void
visit(TestStore &t, const uint64_t pages)
{
    for (uint64_t n = 0; n < pageObjects; ++n) {
        for (uint64_t page = 1; page <= pages; ++page) {
            t.engine->note(requestFor(page, n, page));
            const auto object = objectOf(page, n);
            ASSERT_EQ(t.store(keyOf(object), contentOf(object)), Status::ok);
        }
    }
}

/// reads a page and says how many device reads that took
uint64_t
readsOfPage(TestStore &t, const uint64_t page)
{
    const auto before = t.faulty->requests(IoOp::read);
    for (uint64_t n = 0; n < pageObjects; ++n) {
        t.engine->note(requestFor(page, n, 77));
        const auto object = objectOf(page, n);
        EXPECT_TRUE(t.has(keyOf(object), contentOf(object))) << "object " << n << " of page " << page;
    }
    return t.faulty->requests(IoOp::read) - before;
}

} // namespace

TEST(Locality, aPageIsReadInOneRequest) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visit(t, 8));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t page = 1; page <= 8; ++page)
        EXPECT_EQ(readsOfPage(t, page), 1U) << "page " << page;
    const auto stats = t.engine->stats();
    EXPECT_EQ(stats.prefetches.reads, 8U);
    EXPECT_GT(stats.prefetches.objects, 8 * (pageObjects - 1)) << "a block may bring one of the next page";
}

TEST(Locality, groupsSurviveCrashes) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visit(t, 8));
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    EXPECT_EQ(readsOfPage(t, 3), 1U) << "known from the clusters";
    EXPECT_EQ(t.engine->stats().groupReads, 1U);
    EXPECT_EQ(t.engine->stats().matesRead, pageObjects - 1);
    ASSERT_TRUE(t.checkpoint());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    EXPECT_EQ(readsOfPage(t, 5), 1U) << "known from the checkpoint";
}

TEST(Locality, strangersAreReadAlone) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 50; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 9000)), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    const auto before = t.faulty->requests(IoOp::read);
    for (uint64_t n = 0; n < 50; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 9000)));
    EXPECT_EQ(t.faulty->requests(IoOp::read) - before, 50U);
    EXPECT_EQ(t.engine->stats().groupReads, 0U);
}

TEST(Locality, learningMayBeOff) {
    auto config = smallConfig();
    config.localityMb = 0;
    TestStore t(32 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visit(t, 4));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    EXPECT_EQ(readsOfPage(t, 2), pageObjects);
    EXPECT_EQ(t.engine->stats().tracker.groups, 0U);
}

/// an unreadable place in a group costs the objects there, not the others
TEST(Locality, aFailedGroupReadIsTriedAlone) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visit(t, 3));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 1, Fault::error);
    EXPECT_EQ(readsOfPage(t, 2), 3U) << "the group, the first object alone, the group again";
}

/// deleted mates leave no trap behind
TEST(Locality, groupsWithHoles) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visit(t, 3));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    EXPECT_TRUE(t.engine->remove(keyOf(objectOf(2, 0))));
    EXPECT_TRUE(t.engine->remove(keyOf(objectOf(2, 5))));
    EXPECT_TRUE(t.engine->remove(keyOf(objectOf(2, pageObjects - 1))));
    for (uint64_t page = 1; page <= 3; ++page) {
        for (uint64_t n = 0; n < pageObjects; ++n) {
            const auto object = objectOf(page, n);
            const bool gone = page == 2 && (n == 0 || n == 5 || n == pageObjects - 1);
            EXPECT_EQ(t.has(keyOf(object), contentOf(object)), !gone);
        }
    }
}

/// what a page borrows from another one is read without the other page
TEST(Locality, guestsAreReadAlone) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(visit(t, 3));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    ASSERT_EQ(readsOfPage(t, 1), 1U);
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen()); // what was read is forgotten, and what was learned
    t.settle();
    for (uint64_t n = 1; n < pageObjects; ++n) // nobody opens it, or it would be read ahead
        t.engine->note(requestFor(1, n, 5));
    t.pass(60);
    // page 2 embeds an object of page 1
    t.engine->note(requestFor(2, 0, 6));
    auto borrowed = requestFor(1, 4, 6);
    borrowed.referer = requestFor(2, 1, 6).referer;
    t.engine->note(borrowed);
    const auto before = t.engine->stats();
    EXPECT_TRUE(t.has(borrowed.key, contentOf(objectOf(1, 4))));
    const auto after = t.engine->stats();
    EXPECT_EQ(after.groupReads, before.groupReads);
    EXPECT_EQ(after.counters.readFromDisk, before.counters.readFromDisk + 1);
}

/// stored before anything was known of them, the objects of a page lie apart
TEST(Locality, aVisitThatTookManyReadsRegroups) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < pageObjects; ++n) {
        for (uint64_t page = 1; page <= 8; ++page) {
            const auto object = objectOf(page, n);
            ASSERT_EQ(t.store(keyOf(object), contentOf(object)), Status::ok);
        }
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    // so that there is a budget
    for (uint64_t n = 0; n < 100; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 30000)), Status::ok);
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(readsOfPage(t, 4), pageObjects);
    t.pass(5);
    EXPECT_EQ(t.engine->stats().counters.regroupedGroups, 1U);
    EXPECT_EQ(t.engine->stats().counters.regroupedObjects, pageObjects);
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(t.engine->objectCount(), 100 + 8 * pageObjects);
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    EXPECT_EQ(readsOfPage(t, 4), 1U);
    EXPECT_EQ(t.engine->objectCount(), 100 + 8 * pageObjects);
}

/// looking at hundreds of groups at once would keep callers waiting
TEST(Locality, visitsAreHandledOneAtATime) {
    constexpr uint64_t visited = 3;
    TestStore t(32 * MB, muchRewriting());
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t page = 1; page <= visited; ++page) {
        for (uint64_t n = 0; n < pageObjects; ++n) {
            const auto object = objectOf(page, n);
            ASSERT_EQ(t.store(keyOf(object), contentOf(object)), Status::ok);
            ASSERT_EQ(t.store(keyOf(object + 500), bytesOf(object, 30000)), Status::ok);
            ASSERT_TRUE(t.pack());
        }
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t page = 1; page <= visited; ++page)
        EXPECT_EQ(readsOfPage(t, page), pageObjects);
    t.clock.advance(5000000);
    for (int i = 0; i < 3; ++i) {
        t.engine->poll();
        EXPECT_EQ(t.engine->stats().counters.regroupedGroups, 1U) << "without any time between";
    }
    t.pass(2);
    EXPECT_EQ(t.engine->stats().counters.regroupedGroups, visited);
}

/// what lies together already need not be written again to bring the rest together
TEST(Locality, mostOfAGroupStaysWhereItIs) {
    constexpr uint64_t scattered = 2;
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < pageObjects - scattered; ++n) {
        t.engine->note(requestFor(1, n, 1));
        ASSERT_EQ(t.store(keyOf(objectOf(1, n)), contentOf(objectOf(1, n))), Status::ok);
    }
    ASSERT_TRUE(t.pack());
    for (uint64_t n = pageObjects - scattered; n < pageObjects; ++n) {
        for (uint64_t other = 0; other < 10; ++other)
            ASSERT_EQ(t.store(keyOf(n * 10 + other), bytesOf(n * 10 + other, 30000)), Status::ok);
        ASSERT_EQ(t.store(keyOf(objectOf(1, n)), contentOf(objectOf(1, n))), Status::ok);
        ASSERT_TRUE(t.pack());
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    EXPECT_EQ(readsOfPage(t, 1), 1 + scattered);
    t.pass(5);
    EXPECT_EQ(t.engine->stats().counters.regroupedObjects, scattered);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    EXPECT_EQ(readsOfPage(t, 1), 2U);
}

/// of a group that no cluster has room for, the front is brought together
TEST(Locality, largeGroupsAreRegroupedInPart) {
    constexpr size_t size = 9000;
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_LT(t.geometry().clusterBytes, pageObjects * size);
    for (uint64_t n = 0; n < pageObjects; ++n) {
        ASSERT_EQ(t.store(keyOf(objectOf(1, n)), bytesOf(n, size)), Status::ok);
        for (uint64_t other = 0; other < 10; ++other)
            ASSERT_EQ(t.store(keyOf(n * 10 + other), bytesOf(n * 10 + other, 30000)), Status::ok);
        ASSERT_TRUE(t.pack());
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t n = 0; n < pageObjects; ++n) {
        t.engine->note(requestFor(1, n, 77));
        EXPECT_TRUE(t.has(keyOf(objectOf(1, n)), bytesOf(n, size)));
    }
    t.pass(5);
    const auto moved = t.engine->stats().counters.regroupedObjects;
    EXPECT_GT(moved, 2U);
    EXPECT_LT(moved * size, t.geometry().clusterBytes);
}

/// regrouping costs writes: no more than an eighth of what was stored
TEST(Locality, regroupingKeepsToItsBudget) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < pageObjects; ++n) {
        for (uint64_t page = 1; page <= 40; ++page) {
            const auto object = objectOf(page, n);
            ASSERT_EQ(t.store(keyOf(object), contentOf(object)), Status::ok);
        }
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t page = 1; page <= 40; ++page) {
        readsOfPage(t, page);
        t.pass(4);
    }
    const auto stats = t.engine->stats();
    EXPECT_GT(stats.counters.regroupedGroups, 0U);
    EXPECT_LT(stats.counters.regroupedGroups, 20U) << "of 40 that took many reads";
    EXPECT_LE(stats.counters.regroupedBytes * 8, stats.liveBytes + stats.counters.packedBytes);
}

/// a window must leave room for others
TEST(Locality, groupsTooLargeForTheReadCacheAreReadAlone) {
    auto config = smallConfig();
    config.clusterKb = 1024;
    TestStore t(32 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < pageObjects; ++n) {
        t.engine->note(requestFor(1, n, 1));
        ASSERT_EQ(t.store(keyOf(objectOf(1, n)), bytesOf(n, 55000)), Status::ok); // 660 KB, of 4 MB
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t n = 0; n < pageObjects; ++n)
        EXPECT_TRUE(t.has(keyOf(objectOf(1, n)), bytesOf(n, 55000)));
    const auto stats = t.engine->stats();
    EXPECT_LE(stats.groupReads, 1U) << "when what is left of it is less";
    EXPECT_LT(stats.matesBytes, 4 * MB / 8);
}

TEST(CostMeter, findsTheCostsOfAHardDisk) {
    CostMeter m;
    uint64_t now = 1000;
    for (unsigned i = 0; i < 2000; ++i) {
        const uint32_t bytes = 4096 * (1 + i * 7 % 100);
        const auto start = now;
        now += 9000 + (i * 13 % 4000) + bytes / 120; // 120 MB/s
        m.add(start, now, bytes);
    }
    EXPECT_NEAR(m.requestMicros(), 11000, 800);
    EXPECT_NEAR(m.byteMicros(), 1.0 / 120, 0.002);
}

/// what is done in parallel is cheaper, and waiting costs nothing
TEST(CostMeter, findsTheCostsOfParallelRequests) {
    CostMeter m;
    uint64_t finished = 1000000;
    for (unsigned i = 0; i < 2000; ++i) {
        const uint32_t bytes = 4096 * (1 + i % 32);
        finished += 20 + bytes / 400;
        m.add(finished - 20000, finished, bytes); // each waited long
    }
    EXPECT_NEAR(m.requestMicros(), 20, 5);
    EXPECT_NEAR(m.byteMicros(), 1.0 / 400, 0.0005);
}

TEST(CostMeter, readsOfOneSizeLeaveTheSharesOpen) {
    CostMeter m;
    uint64_t now = 0;
    for (unsigned i = 0; i < 1000; ++i) {
        m.add(now, now + 1000, 16384);
        now += 1000;
    }
    EXPECT_NEAR(m.requestMicros() + 16384 * m.byteMicros(), 1000, 1);
    EXPECT_GT(m.requestMicros(), 0);
    EXPECT_GT(m.byteMicros(), 0);
}

TEST(CostMeter, whatTookSecondsWasSomethingElse) {
    CostMeter m;
    CostMeter disturbed;
    uint64_t now = 0;
    for (unsigned i = 0; i < 640; ++i) {
        const uint32_t bytes = 4096 * (1 + i % 32);
        m.add(now, now + 1000 + bytes / 100, bytes);
        disturbed.add(now, now + 1000 + bytes / 100, bytes);
        now += 20000000;
        disturbed.add(now - 10000000, now - 4999999, bytes); // a little more than five seconds
    }
    EXPECT_EQ(disturbed.requestMicros(), m.requestMicros());
    EXPECT_EQ(disturbed.byteMicros(), m.byteMicros());
    EXPECT_NEAR(m.requestMicros(), 1000, 100);
}
