// SPDX-License-Identifier: GPL-2.0-or-later
/* What the pages of a site share: read from all over the device before it is brought together. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/space/Regrouper.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t pages = 4; ///< of a site; what three of them share gets a group of its own
constexpr size_t room = 63500; ///< bytes of objects that a cluster takes, and hardly more
constexpr size_t each = 3000; ///< bytes of a shared object, about

/// sites with objects that all of their pages embed, in many clusters
class Regrouping : public ::testing::Test
{
protected:
    static uint64_t objectOf(const uint64_t site, const uint64_t n) { return site * 1000 + n; }
    static std::string contentOf(const uint64_t object) { return bytesOf(object, each + object % 16); }

    /// \param together shared objects in a cluster; something else fills it
    void prepare(const uint64_t siteCount, const uint64_t objectCount, const uint64_t together = 1) {
        sites = siteCount;
        objects = objectCount;
        ASSERT_NO_FATAL_FAILURE(t.start());
        for (uint64_t site = 1; site <= sites; ++site) {
            for (uint64_t n = 0; n < objects; ++n) {
                const auto object = objectOf(site, n);
                ASSERT_EQ(t.store(keyOf(object), contentOf(object)), Status::ok);
                if ((n + 1) % together == 0) {
                    ASSERT_EQ(t.store(keyOf(object + 500), bytesOf(object, room - together * each)), Status::ok);
                }
            }
        }
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        t.settle();
        for (uint64_t page = 0; page < pages; ++page) {
            for (uint64_t site = 1; site <= sites; ++site)
                visit(site, page);
        }
    }

    void visit(const uint64_t site, const uint64_t page) {
        for (uint64_t n = 0; n < objects; ++n) {
            Request r;
            r.key = keyOf(objectOf(site, n));
            r.client = 1;
            r.url = mix(objectOf(site, n));
            r.site = r.refererSite = mix(site);
            r.referer = mix(objectOf(site, 900 + page));
            r.kind = RequestKind::member;
            t.engine->note(r);
        }
    }

    /// \returns the device reads that it took to read so many of a site's objects
    uint64_t read(const uint64_t site, const uint64_t count) {
        const auto before = t.faulty->requests(IoOp::read);
        for (uint64_t n = 0; n < count; ++n) {
            const auto object = objectOf(site, n);
            EXPECT_TRUE(t.has(keyOf(object), contentOf(object))) << n << " of site " << site;
        }
        return t.faulty->requests(IoOp::read) - before;
    }

    /// two objects of each site come in; then nobody wants more of it, and the rest is being read
    void readSome(const uint64_t delay, const Fault fault = Fault::none) {
        for (uint64_t site = 1; site <= sites; ++site)
            ASSERT_EQ(read(site, 2), 2U);
        t.faulty->setDelay(delay, delay);
        const auto before = t.faulty->requests(IoOp::read);
        t.faulty->script(IoOp::read, before + 1, fault, true);
        ASSERT_TRUE(t.until([&] {
            t.clock.advance(1000);
            return t.faulty->requests(IoOp::read) > before;
        }));
    }

    const Counters counters() const { return t.engine->stats().counters; }

    TestStore t{32 * MB, muchRewriting()};
    uint64_t sites = 0;
    uint64_t objects = 0; ///< of each site
};

} // namespace

TEST_F(Regrouping, whatIsSharedComesTogetherAsAWhole) {
    ASSERT_NO_FATAL_FAILURE(prepare(1, 12));
    const auto before = t.faulty->requests(IoOp::read);
    ASSERT_EQ(read(1, 3), 3U) << "they should lie apart";
    EXPECT_EQ(counters().regroupedGroups, 0U) << "the visit may go on";
    t.pass(5);
    EXPECT_EQ(t.faulty->requests(IoOp::read) - before, 12U) << "nobody asked for the other nine";
    EXPECT_EQ(counters().regroupedGroups, 1U);
    EXPECT_EQ(counters().regroupedObjects, 12U);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    EXPECT_EQ(read(1, 12), 1U);
    EXPECT_EQ(t.engine->objectCount(), 24U);
}

/// what lies in one cluster comes in one read
TEST_F(Regrouping, aReadBringsAllThatIsMissingOfACluster) {
    ASSERT_NO_FATAL_FAILURE(prepare(1, 12, 2));
    for (uint64_t n = 9000; n < 9002; ++n) // so that there is a budget
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 60000)), Status::ok);
    const auto before = t.faulty->requests(IoOp::read);
    ASSERT_EQ(read(1, 3), 3U) << "two of one cluster, one of the next";
    t.pass(5);
    EXPECT_EQ(t.faulty->requests(IoOp::read) - before, 3U + 5U) << "the others of five clusters";
    EXPECT_EQ(counters().regroupedObjects, 12U);
    EXPECT_EQ(counters().relocatedObjects, 12U);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    EXPECT_EQ(read(1, 12), 1U);
}

TEST_F(Regrouping, stagingIsForWhatIsNew) {
    ASSERT_NO_FATAL_FAILURE(prepare(1, 12));
    std::vector<std::unique_ptr<Writer>> writers;
    while (auto writer = t.engine->create(keyOf(5000 + writers.size()), infoOf(1), 30000))
        writers.push_back(std::move(writer));
    ASSERT_EQ(read(1, 2), 2U);
    t.pass(5);
    EXPECT_EQ(counters().regroupedGroups, 0U) << "all of it is promised";
    writers.clear();
    EXPECT_EQ(read(1, 4), 2U);
    t.pass(5);
    EXPECT_EQ(counters().regroupedGroups, 1U);
    EXPECT_EQ(counters().relocatedObjects, 12U);
}

TEST_F(Regrouping, whatCannotBeReadStaysBehind) {
    ASSERT_NO_FATAL_FAILURE(prepare(1, 12));
    ASSERT_NO_FATAL_FAILURE(readSome(1000, Fault::error));
    t.pass(5);
    EXPECT_EQ(t.faulty->injected(Fault::error), 10U) << "each is tried once";
    EXPECT_EQ(counters().regroupedGroups, 1U);
    EXPECT_EQ(counters().regroupedObjects, 2U);
    t.faulty->heal();
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    EXPECT_EQ(read(1, 2), 1U);
    EXPECT_EQ(read(1, 12), 10U) << "where they were";
}

TEST_F(Regrouping, oneObjectIsNoGroup) {
    ASSERT_NO_FATAL_FAILURE(prepare(1, 12));
    ASSERT_NO_FATAL_FAILURE(readSome(1000000, Fault::error));
    EXPECT_TRUE(t.engine->remove(keyOf(objectOf(1, 1))));
    t.pass(5);
    EXPECT_EQ(t.faulty->injected(Fault::error), 10U);
    EXPECT_EQ(counters().regroupedGroups, 0U) << "one is left, and it is all that is in memory";
    EXPECT_EQ(t.engine->objectCount(), 23U);
}

TEST_F(Regrouping, theEngineMayEndWhileItReads) {
    ASSERT_NO_FATAL_FAILURE(prepare(1, 12));
    ASSERT_NO_FATAL_FAILURE(readSome(1000000));
    ASSERT_GT(t.faulty->inFlight(), 0U);
    t.engine.reset();
    for (int i = 0; i < 100 && !t.faulty->idle(); ++i) { // the answers find nobody
        t.faulty->wait(1000);
        t.faulty->poll();
    }
    EXPECT_TRUE(t.faulty->idle());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    EXPECT_EQ(read(1, 12), 12U);
    EXPECT_EQ(counters().regroupedGroups, 0U);
}

/// the reads of many groups must not fill the device's queue
TEST_F(Regrouping, fewGroupsAreReadAtATime) {
    ASSERT_NO_FATAL_FAILURE(prepare(Regrouper::maxGathering + 1, 8));
    ASSERT_NO_FATAL_FAILURE(readSome(3000000));
    ASSERT_TRUE(t.until([&] {
        t.clock.advance(1000);
        return counters().regroupedGroups > 0;
    }, 200)) << "one group too many: what is in memory is moved without the rest";
    EXPECT_EQ(counters().relocatedObjects, 2U);
    t.pass(60);
    EXPECT_EQ(counters().regroupedGroups, Regrouper::maxGathering + 1);
    EXPECT_EQ(counters().relocatedObjects, 2U + 8 * Regrouper::maxGathering);
    for (uint64_t site = 1; site <= sites; ++site)
        (void)read(site, objects);
}

/// each cluster that objects are moved from is held until they are safe elsewhere
TEST_F(Regrouping, groupsThatWereReadWaitForNoRoom) {
    constexpr uint64_t many = 18; // almost more than a cluster takes
    ASSERT_NO_FATAL_FAILURE(prepare(Regrouper::maxGathering, many));
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::hang, true);
    ASSERT_NO_FATAL_FAILURE(readSome(100000));
    t.pass(5);
    const auto most = std::min<size_t>(Regrouper::maxHeld, t.geometry().clusterCount / 8);
    ASSERT_LT(most, Regrouper::maxGathering * many);
    EXPECT_EQ(counters().regroupedGroups, most / many);
    EXPECT_EQ(counters().relocatedObjects, most / many * many);
    EXPECT_EQ(t.engine->objectCount(), 2 * sites * objects);
}

/// what was there before counts for the budget, but not all of a large store anew with each start
TEST(RegroupingBudget, isNotRenewedByAStart) {
    PartsDevice device(256 * MB, muchRewriting(), true);
    Parts p(device);
    p.allFree();
    Tracker tracker(MB, 1);
    Relocator relocator(p.context, p.cache, p.journal, p.packer);
    const Regrouper regrouper(p.context, tracker, p.cache, relocator);
    constexpr uint32_t size = 60000;
    constexpr uint64_t most = uint64_t(768) * 65536 / 10; ///< bytes that may be regrouped for what was there
    EXPECT_FALSE(regrouper.affordable(size)) << "there is nothing";
    for (uint64_t n = 0; n < 600; ++n)
        p.placed(n, n, 0, size);
    auto &rewrites = p.context.rewrites;
    const auto regrouped = [&rewrites](const uint64_t bytes) {
        rewrites = RewriteBudget();
        rewrites.noteRegrouped(bytes);
    };
    regrouped(600 * uint64_t(size) / 10 - size);
    EXPECT_TRUE(regrouper.affordable(size));
    EXPECT_FALSE(regrouper.affordable(size + 1));
    for (uint64_t n = 600; n < 1200; ++n)
        p.placed(n, n, 0, size);
    regrouped(most - size);
    EXPECT_TRUE(regrouper.affordable(size));
    EXPECT_FALSE(regrouper.affordable(size + 1));
    regrouped(most);
    EXPECT_FALSE(regrouper.affordable(size));
    rewrites.notePacked(10 * uint64_t(size)); // new ones are a budget, too
    EXPECT_TRUE(regrouper.affordable(size));
}
