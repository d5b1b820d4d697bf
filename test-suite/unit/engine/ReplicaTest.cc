// SPDX-License-Identifier: GPL-2.0-or-later
/* An object that several groups want lies in a cluster of each. */

#include "test-suite/unit/support/PageSupport.h"

#include <numeric>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t first = 1, second = 2, shared = 3, filler = 100; ///< names of objects

/// two groups that share an object, which lies with the first
class ReplicaTest : public ::testing::Test
{
protected:
    static Config config(const uint32_t percent) {
        auto c = smallConfig();
        c.replicas = percent;
        return c;
    }

    static std::string contentOf(const uint64_t object) { return bytesOf(object, 3000 + object % 16); }
    bool has(const uint64_t object) { return t.has(keyOf(object), contentOf(object)); }
    Counters counters() const { return t.engine->stats().counters; }
    uint64_t reads() const { return t.faulty->requests(IoOp::read); }

    /// stores objects and packs them
    void store(const std::vector<uint64_t> &objects) {
        for (const auto o: objects)
            ASSERT_EQ(t.store(keyOf(o), contentOf(o)), Status::ok);
        ASSERT_TRUE(t.pack());
    }

    /// both groups are on the device, the shared object being in memory meanwhile
    void prepare() {
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_NO_FATAL_FAILURE(storeFirst());
        ASSERT_NO_FATAL_FAILURE(storeSecond());
    }

    void storeFirst() {
        t.engine->collocate(keyOf(first), {keyOf(shared)});
        store({first, shared});
    }

    void storeSecond() {
        t.engine->collocate(keyOf(second), {keyOf(shared)});
        // something else fills most of the cluster: a replica may be a tenth of what is packed with it
        std::vector<uint64_t> objects(18);
        std::iota(objects.begin(), objects.end(), filler);
        objects.push_back(second);
        store(objects);
    }

    /// other objects take the memory
    void forgetMemory() {
        for (uint64_t n = 50000; n < 51600; ++n)
            ASSERT_EQ(t.store(keyOf(n), contentOf(n)), Status::ok);
        ASSERT_TRUE(t.pack());
    }

    /// how often the bytes of an object are on the device
    unsigned times(const uint64_t object) const {
        const std::string all(t.media.data(), t.media.size());
        unsigned n = 0;
        for (auto at = all.find(contentOf(object)); at != std::string::npos; at = all.find(contentOf(object), at + 1))
            ++n;
        return n;
    }

    TestStore t{16 * MB, config(20)};
};

} // namespace

TEST_F(ReplicaTest, eachGroupHasItInOneRead) {
    ASSERT_NO_FATAL_FAILURE(prepare());
    EXPECT_EQ(counters().replicas, 1U);
    EXPECT_EQ(counters().replicaBytes, contentOf(shared).size());
    EXPECT_EQ(times(shared), 2U);
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    const auto before = reads();
    EXPECT_TRUE(has(second));
    EXPECT_TRUE(has(shared));
    EXPECT_EQ(reads() - before, 1U);
    EXPECT_EQ(counters().readReplicas, 1U);
    EXPECT_TRUE(has(first));
    EXPECT_EQ(reads() - before, 2U);
}

TEST_F(ReplicaTest, noneIsWrittenWithoutTheOption) {
    t.config.replicas = 0;
    ASSERT_NO_FATAL_FAILURE(prepare());
    EXPECT_EQ(counters().replicas, 0U);
    EXPECT_EQ(times(shared), 1U);
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    const auto before = reads();
    EXPECT_TRUE(has(second));
    EXPECT_TRUE(has(shared));
    EXPECT_EQ(reads() - before, 2U);
}

TEST_F(ReplicaTest, theyTakeNoMoreThanTheOptionSays) {
    t.config.replicas = 1; // of 20 objects of the same size
    ASSERT_NO_FATAL_FAILURE(prepare());
    EXPECT_EQ(counters().replicas, 0U);
    EXPECT_EQ(times(shared), 1U);
}

TEST_F(ReplicaTest, aNewVersionIsNotFoundInThem) {
    ASSERT_NO_FATAL_FAILURE(prepare());
    const auto newer = bytesOf(77, 3003);
    ASSERT_EQ(t.store(keyOf(shared), newer), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    EXPECT_TRUE(has(second));
    EXPECT_TRUE(t.has(keyOf(shared), newer));
    EXPECT_EQ(counters().readReplicas, 0U);
    EXPECT_TRUE(t.engine->remove(keyOf(shared)));
    EXPECT_FALSE(t.remembers(keyOf(shared)));
}

TEST_F(ReplicaTest, aDamagedOneCostsNoObject) {
    ASSERT_NO_FATAL_FAILURE(prepare());
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    const std::string all(t.media.data(), t.media.size());
    const auto place = all.rfind(contentOf(shared)); // clusters are written one behind the other
    ASSERT_GT(place, all.find(contentOf(second)));
    t.damage(place + 100, 8);
    EXPECT_TRUE(has(second));
    EXPECT_TRUE(has(shared));
    EXPECT_EQ(counters().corrupt, 1U);
    EXPECT_EQ(counters().readReplicas, 1U);
    EXPECT_EQ(t.engine->stats().replicasKnown, 0U);
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    EXPECT_TRUE(has(second));
    EXPECT_TRUE(has(shared));
    EXPECT_EQ(counters().corrupt, 1U) << "nobody reads it again";
}

TEST_F(ReplicaTest, aDamagedObjectIsNotReplicated) {
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(storeFirst());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    ASSERT_TRUE(t.damageFirst(contentOf(shared)));
    EXPECT_TRUE(has(first)); // its group comes with it, and nobody has checked the shared object yet
    ASSERT_NO_FATAL_FAILURE(storeSecond());
    EXPECT_EQ(counters().replicas, 0U);
    EXPECT_FALSE(has(shared));
}

TEST_F(ReplicaTest, aStartKnowsNone) {
    ASSERT_NO_FATAL_FAILURE(prepare());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    EXPECT_TRUE(has(second));
    EXPECT_TRUE(has(shared));
    EXPECT_EQ(counters().readReplicas, 0U);
    t.crash();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    for (const auto o: {first, second, shared})
        EXPECT_TRUE(has(o)) << o;
}

TEST_F(ReplicaTest, aPageIsPrefetchedWithThem) {
    constexpr uint64_t members = 5;
    t.config.replicas = 50;
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto common = objectOf(1, 1);
    const auto visit = [&](const uint64_t page, const uint64_t client) {
        for (uint64_t n = 0; n < members; ++n)
            t.engine->note(requestFor(page, n, client));
        auto request = requestFor(page, 1, client);
        request.key = keyOf(common);
        request.url = mix(common);
        t.engine->note(request);
    };
    for (uint64_t page = 1; page <= 2; ++page) {
        visit(page, page);
        std::vector<uint64_t> objects;
        for (uint64_t n = 0; n < members; ++n)
            objects.push_back(objectOf(page, n));
        ASSERT_NO_FATAL_FAILURE(store(objects));
    }
    EXPECT_EQ(counters().replicas, 1U) << "two pages share it, and it came in with the first";
    const auto open = [this](const uint64_t page, const uint64_t client) {
        t.engine->note(requestFor(page, 0, client));
        for (int i = 0; i < 20; ++i)
            t.step();
    };
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    const auto before = reads();
    open(2, 9);
    EXPECT_EQ(reads() - before, 1U);
    for (uint64_t n = 0; n < members; ++n)
        EXPECT_TRUE(has(objectOf(2, n))) << n;
    EXPECT_TRUE(has(common));
    EXPECT_EQ(reads() - before, 1U);
    EXPECT_EQ(counters().readReplicas, 1U);
    // the other page needs what is missing of it, and not the common object
    open(1, 10);
    EXPECT_EQ(t.engine->stats().prefetches.objects, members + 1 + members - 1);
}

TEST_F(ReplicaTest, theyEndWithTheClusterOfTheObject) {
    ASSERT_NO_FATAL_FAILURE(prepare());
    EXPECT_EQ(t.engine->stats().replicasKnown, 1U);
    EXPECT_TRUE(t.engine->remove(keyOf(shared)));
    EXPECT_TRUE(t.engine->remove(keyOf(first)));
    EXPECT_EQ(t.engine->stats().replicasKnown, 0U);
}

TEST_F(ReplicaTest, theyFollowAnObjectThatIsMoved) {
    constexpr uint64_t apart = 4; // belongs to the first group, and lies somewhere else
    t.config.writeBudget = 50;
    ASSERT_NO_FATAL_FAILURE(prepare());
    ASSERT_NO_FATAL_FAILURE(store({apart}));
    t.engine->collocate(keyOf(first), {keyOf(shared), keyOf(apart)});
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    EXPECT_TRUE(has(first));
    EXPECT_TRUE(has(apart));
    t.pass(10);
    ASSERT_TRUE(t.pack());
    ASSERT_EQ(counters().regroupedObjects, 3U);
    ASSERT_NO_FATAL_FAILURE(forgetMemory());
    const auto before = reads();
    EXPECT_TRUE(has(second));
    EXPECT_TRUE(has(shared));
    EXPECT_EQ(reads() - before, 1U);
    EXPECT_EQ(counters().readReplicas, 1U);
}
