// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine when something is full: device, index, memory, time. */

#include "test-suite/unit/support/EngineSupport.h"

#include <algorithm>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

class EngineWrap : public ::testing::TestWithParam<std::pair<const char *, const char *>>
{
};

/// writes the device over many times; each hit must be right
TEST_P(EngineWrap, servesRightBytesOrNone) {
    auto config = smallConfig();
    std::string error;
    ASSERT_TRUE(config.set("layout", GetParam().first, error)) << error;
    ASSERT_TRUE(config.set("replacement", GetParam().second, error)) << error;
    TestStore t(16 * MB, config, true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    std::mt19937_64 random(4);
    std::map<uint64_t, std::pair<uint64_t, size_t>> newest;
    uint64_t version = 0;
    uint64_t bytes = 0;
    uint64_t hits = 0;
    while (bytes < 120 * MB) {
        const auto n = random() % 3000;
        const auto size = random() % 40 ? random() % 26000 : random() % 300000;
        ASSERT_EQ(t.store(keyOf(n), bytesOf(++version, size), random() % 2), Status::ok) << version;
        newest[n] = {version, size};
        bytes += size;
        for (int i = 0; i < 2; ++i) {
            const auto m = random() % 3000;
            if (!t.remembers(keyOf(m)))
                continue;
            ASSERT_EQ(newest.count(m), 1U);
            ASSERT_TRUE(t.has(keyOf(m), bytesOf(newest[m].first, newest[m].second))) << m;
            t.engine->touch(keyOf(m));
            ++hits;
        }
        if (random() % 200 == 0)
            t.pass(20);
        if (random() % 15 == 0) {
            const auto m = random() % 3000;
            const bool known = t.remembers(keyOf(m));
            EXPECT_EQ(t.engine->remove(keyOf(m)), known);
            newest.erase(m);
        }
    }
    EXPECT_GT(hits, 500U);
    const auto s = t.engine->stats();
    EXPECT_GT(s.counters.evictedClusters, 500U);
    EXPECT_LE(s.liveBytes, t.engine->capacityBytes());
    EXPECT_GT(s.liveBytes, 4 * MB) << "most of the space should be in use";
    EXPECT_EQ(s.clusters, s.clustersFree + s.clustersPacked + s.clustersPart + s.clustersBad);

    for (int i = 0; i < 5 && !t.pack(); ++i) {
        // packing has made room, and what was relocated for that is staged
    }
    EXPECT_EQ(t.engine->stats().stagedObjects, 0U);
    t.pass(t.config.deleteTime + 1); // what was evicted may come back until the journal says that it was
    const auto objects = t.engine->objectCount();
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_EQ(t.engine->objectCount(), objects);
    for (uint64_t n = 0; n < 3000; ++n) {
        if (t.remembers(keyOf(n))) {
            ASSERT_EQ(newest.count(n), 1U) << "deleted objects stay deleted";
            ASSERT_TRUE(t.has(keyOf(n), bytesOf(newest[n].first, newest[n].second))) << n;
        }
    }
    EXPECT_EQ(t.engine->stats().counters.corrupt, 0U);
    EXPECT_EQ(t.errors, 0U);
}

INSTANTIATE_TEST_SUITE_P(policies, EngineWrap, ::testing::Values(
    std::make_pair("closest", "lru"), std::make_pair("closest-write", "lru"), std::make_pair("overwrite", "lru"),
    std::make_pair("middle", "lru"),
    std::make_pair("closest-write", "fifo"), std::make_pair("overwrite", "fifo"), std::make_pair("closest-write", "lfuda"),
    std::make_pair("closest-write", "gdsf"), std::make_pair("closest-write", "s3fifo")),
    [](const ::testing::TestParamInfo<std::pair<const char *, const char *>> &p) {
        std::string name = p.param.first;
        name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
        return name + "_" + p.param.second;
    });

/// under little load each cluster goes out half empty; that must not cost objects
TEST(EngineSpace, halfEmptyClustersAreMerged) {
    TestStore t(16 * MB, smallConfig(), true);
    t.config.persist = 2;
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto clusters = t.engine->stats().clusters;
    const auto count = clusters + clusters / 2;
    for (uint64_t n = 0; n < count; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
        t.pass(1.2);
    }
    for (uint64_t n = 0; n < count; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 20000))) << n << " of " << count;
    EXPECT_GT(t.engine->stats().counters.mergedBytes, 0U);
    EXPECT_EQ(t.engine->stats().counters.evictedObjects, 0U);

    const auto packs = t.engine->stats().counters.packs;
    t.pass(100);
    EXPECT_LE(t.engine->stats().counters.packs, packs + 8) << "it ends when nothing is stored";
}

/// an object that made room and was stored anew: the old version must not come back
TEST(EngineSpace, evictedVersionsDoNotComeBack) {
    TestStore t(16 * MB, smallConfig(), true);
    t.config.persist = 3600;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    uint64_t n = 1000;
    for (; t.remembers(keyOf(1)); ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    ASSERT_EQ(t.store(keyOf(1), "newer"), Status::ok);
    t.pass(t.config.deleteTime + 1);
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_FALSE(t.remembers(keyOf(1)) && !t.has(keyOf(1), "newer"));
}

TEST(EngineSpace, keepsWhatIsUsed) {
    TestStore t(32 * MB, smallConfig(), true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    // as much in use as budgets allow to relocate
    for (uint64_t n = 0; n < 20; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 10000)), Status::ok);
    for (uint64_t n = 1000; n < 5000; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
        t.engine->touch(keyOf(n % 20));
    }
    unsigned kept = 0;
    for (uint64_t n = 0; n < 20; ++n)
        kept += t.has(keyOf(n), bytesOf(n, 10000));
    EXPECT_GE(kept, 18U) << "objects in constant use should outlive those used once";
    EXPECT_FALSE(t.remembers(keyOf(1000)));
    const auto s = t.engine->stats();
    EXPECT_LE(s.writeAmplification, 1.3);
}

/// the older ones go first, or the larger ones
TEST(EngineSpace, gdsfKeepsSmallObjectsForLargeOnes) {
    for (const uint32_t sizeWeight: {0, 100}) {
        auto config = smallConfig();
        config.replacement = &gdsfEviction;
        config.sizeWeight = sizeWeight;
        TestStore t(16 * MB, config, true);
        ASSERT_NO_FATAL_FAILURE(t.start());
        constexpr uint64_t small = 400;
        for (uint64_t n = 0; n < small; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 4000)), Status::ok);
        for (uint64_t n = small; n < small + 200; ++n) // one and a half of the device
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 50000)), Status::ok);
        uint64_t kept = 0;
        for (uint64_t n = 0; n < small; ++n)
            kept += t.has(keyOf(n), bytesOf(n, 4000));
        if (sizeWeight) {
            EXPECT_GE(kept, small * 8 / 10);
        } else {
            EXPECT_LE(kept, small / 2);
        }
        EXPECT_GT(t.engine->stats().counters.evictedClusters, 50U);
    }
}

/// what was used on trial outlives any number of objects that nobody comes back for, and what was not does not
TEST(EngineSpace, s3FifoKeepsWhatWasUsedFromAScan) {
    auto config = smallConfig();
    config.replacement = &s3FifoEviction;
    TestStore t(32 * MB, config, true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    constexpr uint64_t known = 1600; // half of the device, and more than may move
    for (uint64_t n = 0; n < known; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 10000)), Status::ok);
        if (n % 4)
            t.engine->touch(keyOf(n));
    }
    for (uint64_t n = 10000; n < 16000; ++n) // written over almost four times
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    unsigned kept = 0;
    for (uint64_t n = 0; n < known; ++n)
        kept += n % 4 && t.has(keyOf(n), bytesOf(n, 10000));
    EXPECT_GE(kept, known / 4 * 3 * 9 / 10);
    EXPECT_FALSE(t.remembers(keyOf(11000)));

    // a cluster on trial of which little is used goes, and the used objects move
    for (uint64_t n = 20000; n < 32000; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 4000)), Status::ok);
        if (n % 20 == 0)
            t.engine->touch(keyOf(n));
    }
    unsigned moved = 0;
    unsigned unused = 0;
    for (uint64_t n = 20000; n < 24000; ++n) {
        const bool isThere = t.has(keyOf(n), bytesOf(n, 4000));
        (n % 20 == 0 ? moved : unused) += isThere;
    }
    EXPECT_GE(moved, 180U) << "of 200";
    EXPECT_LE(unused, 200U) << "of 3,800";
    EXPECT_GT(t.engine->stats().counters.relocatedObjects, 100U);
}

/// what comes back after its trial waits among those that stay
TEST(EngineSpace, s3FifoKnowsWhatComesBack) {
    auto config = smallConfig();
    config.replacement = &s3FifoEviction;
    TestStore t(32 * MB, config, true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    uint64_t n = 0;
    for (; n < 2000; ++n) // fills the device, and more
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    std::vector<uint64_t> gone;
    for (uint64_t m = 0; m < 2000 && gone.size() < 100; ++m) {
        if (!t.remembers(keyOf(m)))
            gone.push_back(m);
    }
    ASSERT_EQ(gone.size(), 100U);
    for (const auto m: gone)
        ASSERT_EQ(t.store(keyOf(m), bytesOf(m, 20000)), Status::ok);
    for (const auto end = n + 2000; n < end; ++n) // all that is new goes
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    unsigned back = 0;
    for (const auto m: gone)
        back += t.has(keyOf(m), bytesOf(m, 20000));
    EXPECT_GE(back, 90U);
    EXPECT_FALSE(t.remembers(keyOf(2100))) << "new, and stored later than those";
}

TEST(EngineSpace, storesAtTheRequestAskedFor) {
    auto config = smallConfig();
    config.admit = 2;
    TestStore t(16 * MB, config, true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto info = infoOf(t.clock.wallSeconds());
    EXPECT_EQ(t.engine->create(keyOf(1), info, 100), nullptr);
    EXPECT_EQ(t.engine->stats().counters.notAdmitted, 1U);
    EXPECT_EQ(t.engine->stats().counters.refused, 0U) << "that speaks of limits";
    EXPECT_EQ(t.store(keyOf(1), bytesOf(1, 100)), Status::ok);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 100)));
    EXPECT_EQ(t.engine->stats().counters.notAdmitted, 1U);
    // a new version of a known object
    EXPECT_TRUE(t.engine->remove(keyOf(1)));
    const auto again = t.engine->create(keyOf(1), info, 100);
    EXPECT_NE(again, nullptr);
    // another store was asked for the object before
    t.engine->noteUnadmitted(keyOf(3));
    EXPECT_NE(t.engine->create(keyOf(3), info, 100), nullptr);
    // what is refused for want of room was not refused by admission
    t.config.admit = 1;
    t.engine->reconfigure(t.config);
    EXPECT_NE(t.engine->create(keyOf(2), info, 100), nullptr);
}

/// a byte each takes a chunk of staging: memory fills up before bytes do
TEST(EngineSpace, takesManyTinyObjectsInARow) {
    TestStore t(32 * MB, smallConfig(), true);
    t.config.persist = 3600;
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 10000; ++n) {
        const auto w = t.engine->create(keyOf(n), infoOf(1), 10);
        ASSERT_NE(w, nullptr) << n;
        ASSERT_TRUE(w->append(bytesOf(n, 10).data(), 10));
        ASSERT_EQ(w->finish(), Status::ok);
        t.step();
    }
    for (uint64_t n = 0; n < 10000; ++n)
        ASSERT_TRUE(t.has(keyOf(n), bytesOf(n, 10))) << n;
    EXPECT_EQ(t.engine->stats().counters.refused, 0U);
}

TEST(EngineSpace, keepsItsPromiseToThoseWhoToldTheirSize) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    // all of staging is promised
    std::vector<std::unique_ptr<Writer>> promised;
    while (auto w = t.engine->create(keyOf(promised.size()), infoOf(1), 30000))
        promised.push_back(std::move(w));
    ASSERT_GE(promised.size(), 60U);
    EXPECT_EQ(t.engine->create(keyOf(500), infoOf(1), 30000), nullptr);
    // these did not tell, or lied: they must not get what others were promised
    std::vector<std::unique_ptr<Writer>> others;
    for (uint64_t n = 600; n < 605; ++n) {
        if (auto w = t.engine->create(keyOf(n), infoOf(1), n % 2 ? 1 : -1))
            others.push_back(std::move(w));
    }
    for (const auto &w: others)
        w->append(bytesOf(1, 20000).data(), 20000);
    for (size_t n = 0; n < promised.size(); ++n) {
        ASSERT_TRUE(promised[n]->append(bytesOf(n, 30000).data(), 30000)) << n;
        ASSERT_EQ(promised[n]->finish(), Status::ok);
    }
    for (size_t n = 0; n < promised.size(); ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 30000)));
    others.clear();
    promised.clear();
    t.pack();
    EXPECT_EQ(t.engine->stats().stagingBytes, 0U);
}

TEST(EngineSpace, promisesToSmallObjectsCountWholeChunks) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    std::vector<std::unique_ptr<Writer>> promised;
    while (auto w = t.engine->create(keyOf(promised.size()), infoOf(1), 100))
        promised.push_back(std::move(w));
    EXPECT_GT(promised.size(), 1500U);
    for (size_t n = 0; n < promised.size(); ++n) {
        ASSERT_TRUE(promised[n]->append(bytesOf(n, 100).data(), 100)) << n;
        ASSERT_EQ(promised[n]->finish(), Status::ok);
    }
}

TEST(EngineSpace, tellsItsLoad) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    int load = -1;
    EXPECT_TRUE(t.engine->canCreate(1000, load));
    EXPECT_EQ(load, 0);
    EXPECT_TRUE(t.engine->canCreate(-1, load));
    EXPECT_TRUE(t.engine->canCreate(static_cast<int64_t>(t.engine->maxObjectSize()), load));
    EXPECT_FALSE(t.engine->canCreate(static_cast<int64_t>(t.engine->maxObjectSize()) + 1, load));
    int before = 0;
    std::vector<std::unique_ptr<Writer>> writers;
    for (uint64_t n = 0; n < 1000 && t.engine->canCreate(30000, load); ++n) {
        EXPECT_GE(load, before);
        EXPECT_LE(load, 1000);
        before = load;
        writers.push_back(t.engine->create(keyOf(n), infoOf(1), 30000));
    }
    EXPECT_GT(before, 900);
    EXPECT_EQ(load, 1000);
}

TEST(EngineSpace, refusesObjectsThatOutgrowTheLimit) {
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto most = t.engine->maxObjectSize();
    const auto w = t.engine->create(keyOf(1), infoOf(1), -1);
    ASSERT_NE(w, nullptr);
    const auto piece = bytesOf(1, 20000);
    uint64_t taken = 0;
    while (taken <= most && w->append(piece.data(), piece.size())) {
        taken += piece.size();
        t.step();
    }
    EXPECT_LE(taken, most);
    EXPECT_FALSE(w->append("x", 1));
    EXPECT_NE(w->finish(), Status::ok);
    EXPECT_FALSE(t.remembers(keyOf(1)));
    t.pass(1);
    EXPECT_EQ(t.engine->stats().clustersPart, 0U);
    EXPECT_EQ(t.engine->stats().stagingBytes, 0U);
}

/// large objects among small ones, the device several times over
TEST(EngineSpace, findsRoomForLargeObjects) {
    TestStore t(32 * MB, smallConfig(), true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 60; ++n) {
        const auto large = bytesOf(n, 2000000 + n * 1111);
        ASSERT_EQ(t.store(keyOf(n), large, n % 2), Status::ok) << n;
        ASSERT_TRUE(t.has(keyOf(n), large)) << n;
        for (uint64_t m = 0; m < 30; ++m)
            ASSERT_EQ(t.store(keyOf(1000 + n * 30 + m), bytesOf(m, 9000)), Status::ok);
    }
    for (uint64_t n = 0; n < 60; ++n) {
        if (t.remembers(keyOf(n))) {
            EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 2000000 + n * 1111))) << n;
        }
    }
}

/// one object in use must not keep its whole cluster, at the cost of clusters that are in use altogether
TEST(EngineSpace, keepsClustersThatAreInUseRatherThanThoseWithOneObjectInUse) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    constexpr uint64_t objects = 2000; // of 10,000 bytes
    for (uint64_t n = 0; n < objects; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 10000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_EQ(t.engine->stats().counters.evictedObjects, 0U);
    // the first tenth is in use; of the others one in ten is, and that later
    for (uint64_t n = 0; n < objects / 10; ++n)
        t.engine->touch(keyOf(n));
    for (uint64_t n = objects / 10; n < objects; n += 10)
        t.engine->touch(keyOf(n));
    for (uint64_t n = objects; n < objects + 1400; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 10000)), Status::ok);
    uint64_t kept = 0;
    uint64_t others = 0;
    for (uint64_t n = 0; n < objects; ++n)
        (n < objects / 10 ? kept : others) += t.has(keyOf(n), bytesOf(n, 10000));
    EXPECT_GT(t.engine->stats().counters.evictedObjects, 500U);
    EXPECT_GT(kept * 9, others) << kept << " and " << others;
    EXPECT_GT(kept, objects / 10 * 8 / 10);
}

/// whatever size was expected: nothing goes while there are clusters
TEST(EngineSpace, theIndexGrowsWithWhatIsStored) {
    auto config = smallConfig();
    config.objectKb = 64; // some hundred were expected
    TestStore t(32 * MB, config, true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_LE(t.geometry().objectsExpected, 1024U);
    for (uint64_t n = 0; n < 8000; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 300)), Status::ok) << n;
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(t.engine->objectCount(), 8000U);
        for (uint64_t n = 0; n < 8000; n += 100)
            EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 300))) << n;
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        EXPECT_TRUE(t.engine->stats().recovery.clean);
    }
    EXPECT_EQ(t.engine->stats().counters.evictedObjects, 0U);
}

/// many small objects: the index log takes the first clusters, and all is found again
TEST(EngineSpace, theIndexLogGrowsIntoClusters) {
    auto config = smallConfig();
    config.objectKb = 16384;
    config.checkpoint = 5;
    TestStore t(32 * MB, config, true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    uint64_t n = 0;
    for (; !t.engine->superblock()->logClusters && n < 60000; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20)), Status::ok) << n;
        if (n % 1000 == 0)
            t.pass(5);
    }
    ASSERT_GT(t.engine->superblock()->logClusters, 0U) << n;
    ASSERT_TRUE(t.checkpoint());
    t.pass(60);
    for (int again = 0; again < 3; ++again) {
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_FALSE(t.engine->stats().recovery.scanned);
        EXPECT_EQ(t.engine->stats().recovery.blocksLost, 0U);
        uint64_t lost = 0;
        for (uint64_t i = 0; i < n; ++i)
            lost += !t.remembers(keyOf(i));
        EXPECT_LE(lost, t.config.clusterBytes() / 110 * t.engine->superblock()->logClusters) << "what had to make room";
        ASSERT_TRUE(t.checkpoint());
    }
}

/// the first clusters are those that the log grows into, and some of them are bad
TEST(EngineSpace, theIndexLogGrowsPastABadCluster) {
    auto config = smallConfig();
    config.objectKb = 16384;
    config.checkpoint = 5;
    TestStore t(32 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::error); // the first one that is packed
    uint64_t n = 0;
    for (; !t.engine->superblock()->logClusters && n < 60000; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20)), Status::ok) << n;
        if (n % 1000 == 0)
            t.pass(5);
    }
    EXPECT_EQ(t.engine->stats().clustersBad, 1U);
    ASSERT_TRUE(t.until([&] { return t.checkpoint() && t.engine->superblock()->logClusters > 2; }, 50));
    EXPECT_EQ(t.engine->superblock()->geometry.logSkips.size(), 1U) << "or another one is bad";
    for (int again = 0; again < 2; ++again) {
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_FALSE(t.engine->stats().recovery.scanned);
        EXPECT_EQ(t.engine->stats().recovery.blocksLost, 0U);
        EXPECT_EQ(t.engine->stats().clustersBad, 1U);
        uint64_t lost = 0;
        for (uint64_t i = 0; i < n; ++i)
            lost += !t.remembers(keyOf(i));
        EXPECT_LE(lost, t.config.clusterBytes() / 110 * t.engine->superblock()->logClusters) << "what had to make room";
        ASSERT_TRUE(t.checkpoint());
    }
}

/// On a device of a few clusters not all that hold small objects may be on their way out at once, with what is used
/// in them being moved: a large object that has just come would have to make room for the next one.
TEST(EngineSpace, whatHasJustComeMakesNoRoomWhileClustersAreBeingEmptied) {
    auto config = smallConfig();
    config.clusterKb = 256;
    config.persist = 2;
    unsigned lost = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        TestStore t(11 * MB, config);
        ASSERT_NO_FATAL_FAILURE(t.start(seed));
        t.faulty->setDelay(1000, 30000);
        std::mt19937_64 random(seed);
        uint64_t n = 0;
        for (int round = 0; round < 20; ++round) {
            for (int i = 0; i < 120; ++i, ++n) {
                ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 8000)), Status::ok);
                t.engine->touch(keyOf(n));
            }
            t.pass(4);
            for (int i = 0; i < 2; ++i, ++n)
                ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 600000 + random() % 600000)), Status::ok);
            lost += !t.remembers(keyOf(n - 2));
            EXPECT_TRUE(t.remembers(keyOf(n - 1))) << round << " of seed " << seed;
        }
    }
    EXPECT_LE(lost, 3U) << "of 200"; // where there were only one or two clusters of small objects
}

/* time */

TEST(EngineTime, objectsOutliveTheirLifetimeNowhere) {
    for (const bool packed: {false, true}) {
        TestStore t(16 * MB);
        t.config.fileLifetime = 1000;
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 500)), Status::ok);
        if (packed) {
            ASSERT_TRUE(t.pack());
        }
        t.pass(500);
        ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 500)), Status::ok);
        const auto newer = infoOf(t.clock.wallSeconds());
        EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 500)));
        t.clock.advance(600 * MB); // 629 s
        EXPECT_FALSE(t.remembers(keyOf(1)));
        EXPECT_EQ(t.engine->read(keyOf(1)), nullptr);
        EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 500)));
        t.pass(30);
        if (packed) {
            EXPECT_GE(t.engine->stats().counters.expiredObjects, 1U);
        }
        t.engine->updateInfo(keyOf(2), newer);
        t.pass(2000);
        EXPECT_FALSE(t.remembers(keyOf(2)));
    }
}

TEST(EngineTime, clustersGoAfterTheirLifetime) {
    TestStore t(16 * MB);
    t.config.clusterLifetime = 1000;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 500)), Status::ok);
    ASSERT_TRUE(t.pack());
    t.pass(500);
    EXPECT_TRUE(t.remembers(keyOf(1)));
    t.clock.advance(1000 * MB);
    t.pass(30);
    EXPECT_FALSE(t.remembers(keyOf(1)));
    EXPECT_EQ(t.engine->stats().clustersPacked, 0U);
}

TEST(EngineTime, packsWithinThePromisedWindow) {
    TestStore t(16 * MB);
    t.config.persist = 10;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 500)), Status::ok);
    t.pass(3);
    EXPECT_EQ(t.engine->stats().counters.packs, 0U) << "as late as allowed";
    t.pass(7);
    t.cut();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 500)));
}

TEST(EngineTime, checkpointsAsOftenAsTold) {
    TestStore t(16 * MB);
    t.config.checkpoint = 100;
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t i = 0; i < 101; ++i) {
        ASSERT_EQ(t.store(keyOf(i), bytesOf(i, 500)), Status::ok);
        t.pass(10);
    }
    const auto n = t.engine->stats().counters.checkpoints;
    EXPECT_GE(n, 9U);
    EXPECT_LE(n, 11U);
    EXPECT_LT(t.engine->stats().checkpointAge, 101);
}

/// the journal's region is never full: a checkpoint comes first
TEST(EngineTime, checkpointsWhenTheJournalFillsUp) {
    TestStore t(16 * MB, smallConfig(), true);
    t.config.checkpoint = 604800;
    t.config.deleteCount = 1;
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 2000; ++n) {
        ASSERT_EQ(t.store(keyOf(n % 10), bytesOf(n, 10)), Status::ok);
        t.settle();
    }
    EXPECT_GT(t.engine->stats().counters.checkpoints, 2U);
    t.pack();
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t n = 1990; n < 2000; ++n)
        EXPECT_TRUE(t.has(keyOf(n % 10), bytesOf(n, 10)));
}

TEST(EngineTime, takesNewOptionsWhileItRuns) {
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 60000)), Status::ok);
    ASSERT_TRUE(t.pack());
    auto c = t.config;
    c.readCacheMb = 5;
    c.depth = 3;
    c.fileLifetime = 100;
    c.stagingMb = 99; // not while it runs
    c.list = true; // neither
    t.engine->reconfigure(c);
    EXPECT_GT(t.engine->stats().readCacheLimit, 5 * MB);
    EXPECT_LE(t.engine->stats().readCacheLimit, (5 + 2) * MB) << "that of staging, too";
    EXPECT_EQ(t.device().depth(), 3U);
    EXPECT_EQ(t.engine->stats().stagingLimit, 2 * MB);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 60000)));
    t.clock.advance(200 * MB);
    EXPECT_FALSE(t.remembers(keyOf(1)));
}

/// Nearly all of a small device are parts of large objects, and all other clusters are being
/// relocated from: what is staged finds no cluster, and those wait for what is staged.
TEST(EngineSpace, aStopFindsRoomForAllThatIsStaged) {
    for (uint64_t seed = 100; seed < 200; ++seed) {
        TestStore t(7929856, smallConfig());
        ASSERT_NO_FATAL_FAILURE(t.start(seed));
        t.faulty->setDelay(100, 20000);
        std::mt19937_64 random(seed);
        for (int i = 0; i < 60; ++i) {
            const auto n = random() % 40;
            const auto size = random() % 5 ? random() % 12000 : 60000 + random() % 260000;
            t.store(keyOf(n), bytesOf(n, size)); // may find no room
            for (int k = 0; k < 5; ++k)
                t.engine->touch(keyOf(random() % 40));
            if (random() % 4 == 0)
                t.pass(static_cast<double>(random() % 30) / 10);
        }
        EXPECT_EQ(t.engine->close(60000), Status::ok) << seed;
    }
}

TEST(EngineSpace, tellsTheAgeOfTheObjectsThatItEvicts) {
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    constexpr double day = 86400;
    for (uint64_t n = 0; n < 100; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    t.clock.advance(static_cast<uint64_t>(day * 1e6));
    EXPECT_EQ(t.engine->stats().counters.evictedAge, 0);
    for (uint64_t n = 100; !t.engine->stats().counters.evictedObjects; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    EXPECT_NEAR(t.engine->stats().counters.evictedAge, day, 100) << "the first ones went";
}

/// Squid may delete what was evicted a moment ago, and we have forgotten
TEST(EngineSpace, whatWasEvictedAndThenDeletedStaysAway) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start(seed));
        uint64_t n = 0;
        for (; !t.engine->stats().counters.evictedObjects; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
        std::vector<uint64_t> gone;
        for (uint64_t i = 0; i < n; ++i) {
            if (!t.remembers(keyOf(i))) {
                EXPECT_FALSE(t.engine->remove(keyOf(i)));
                gone.push_back(i);
            }
        }
        ASSERT_FALSE(gone.empty());
        t.pass(t.config.deleteTime + 0.5);
        t.cut();
        ASSERT_NO_FATAL_FAILURE(t.reopen());
        for (const auto i: gone)
            EXPECT_FALSE(t.remembers(keyOf(i))) << i << " of seed " << seed;
    }
}
