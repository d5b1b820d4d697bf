// SPDX-License-Identifier: GPL-2.0-or-later
/* The catalog: whatever happens to objects, counts and lists agree. */

#include "test-suite/unit/support/PartsSupport.h"

#include <algorithm>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// the clusters that a catalog tells of
struct Heard final : public ReleaseListener, public RelocationListener {
    void released(const ClusterNo c) override { releases.push_back(c); }
    void copySettled(const ClusterNo c) override { settlements.push_back(c); }
    std::vector<ClusterNo> releases;
    std::vector<ClusterNo> settlements;
};

/// compares everything that the catalog counts with what it holds
void
verify(const Catalog &catalog)
{
    uint64_t liveBytes = 0;
    uint64_t linked = 0;
    for (SlotNo s{0}; s.value() < catalog.index().slotsTouched(); ++s) {
        const auto &r = catalog.index()[s];
        if (r.dead())
            continue;
        ++linked;
        liveBytes += catalog.objectSize(s);
        if (r.parted()) {
            for (auto c = r.firstPart(); c != noCluster; c = catalog.clusters()[c].nextPart) {
                ASSERT_EQ(catalog.clusters()[c].state, ClusterState::part);
                ASSERT_EQ(catalog.clusters()[c].first, s);
            }
        }
    }
    ASSERT_EQ(catalog.index().linked(), linked);
    ASSERT_EQ(catalog.liveBytes(), liveBytes);
    for (ClusterNo n{0}; catalog.clusters().has(n); ++n) {
        const auto &c = catalog.clusters()[n];
        ASSERT_EQ(catalog.free().contains(n), c.state == ClusterState::free) << n.value();
        ASSERT_EQ(catalog.clusters().linked(n), c.state == ClusterState::packed) << n.value();
        uint32_t live = 0;
        uint32_t bytes = 0;
        if (c.state == ClusterState::packed) {
            for (auto s = c.first; s != noSlot; s = catalog.index()[s].sibling) {
                ASSERT_EQ(catalog.index()[s].cluster, n);
                if (catalog.index()[s].dead())
                    continue;
                ++live;
                bytes += Catalog::ExtentBytes(catalog.payloadBytes(s));
            }
            ASSERT_GT(live, 0U) << "an empty cluster should be free";
        }
        ASSERT_EQ(c.live, live) << n.value();
        ASSERT_EQ(c.liveBytes, bytes) << n.value();
    }
}

} // namespace

TEST(Catalog, movesAnObjectFromStagingToItsCluster) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    Heard heard;
    const auto &released = heard.releases;
    p.catalog.tellReleases(heard);
    const auto slot = p.placed(1, 5, 4096, 777);
    EXPECT_EQ(p.catalog.index()[slot].cluster, 5_c);
    EXPECT_EQ(p.catalog.index()[slot].offset(), 4096U);
    EXPECT_EQ(p.catalog.payloadBytes(slot), 777U);
    EXPECT_EQ(p.catalog.info(slot).size, 777U);
    EXPECT_EQ(p.catalog.staging().objects(), 0U);
    EXPECT_EQ(p.catalog.clusters()[5_c].live, 1U);
    EXPECT_EQ(p.catalog.clusters()[5_c].liveBytes, Catalog::ExtentBytes(777));
    p.catalog.erase(slot);
    EXPECT_EQ(released, std::vector<ClusterNo>{5_c});
    EXPECT_TRUE(p.catalog.free().contains(5_c));
    EXPECT_EQ(p.catalog.index().used(), 0U);
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
}

TEST(Catalog, knowsTheSizeOfExtents) {
    for (const uint32_t payload: {0U, 1U, 8U, 777U, 65000U}) {
        EXPECT_GE(Catalog::ExtentBytes(payload), payload + ExtentHeader::encodedBytes);
        EXPECT_LT(Catalog::ExtentBytes(payload), payload + ExtentHeader::encodedBytes + extentAlignment);
        EXPECT_EQ(Catalog::ExtentBytes(payload) % extentAlignment, 0U);
    }
}

TEST(Catalog, freesNothingThatSomebodyReads) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    const auto slot = p.placed(1, 5, 4096, 777);
    p.catalog.pin(5_c);
    p.catalog.pin(5_c);
    p.catalog.erase(slot);
    EXPECT_EQ(p.catalog.clusters()[5_c].state, ClusterState::draining);
    EXPECT_FALSE(p.catalog.free().contains(5_c));
    p.catalog.unpin(5_c);
    EXPECT_FALSE(p.catalog.free().contains(5_c));
    p.catalog.unpin(5_c);
    EXPECT_TRUE(p.catalog.free().contains(5_c));

    // a chain waits as a whole for readers of its first part
    const auto large = p.placed(2, 6, 4096, 100, p.chain({10, 12, 11}, 61440, 200000, 100));
    EXPECT_EQ(p.catalog.liveBytes(), 200000U);
    p.catalog.pin(10_c);
    p.catalog.erase(large);
    EXPECT_TRUE(p.catalog.free().contains(6_c));
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::draining), 3U);
    p.catalog.unpin(10_c);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::draining), 0U);
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
}

TEST(Catalog, separatesAnObjectFromItsParts) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    const auto old = p.placed(1, 6, 4096, 100);
    const auto first = p.chain({10, 11}, 61440, 100 + 2 * 61440, 100);
    const auto small = p.catalog.liveBytes();
    EXPECT_EQ(small, 100U);
    p.catalog.erase(old);
    const auto s = p.catalog.staging().open(keyOf(1), ObjectInfo());
    ASSERT_TRUE(p.catalog.staging().append(s, bytesOf(1, 100).data(), 100));
    p.catalog.staging().close(s, 100 + 2 * 61440, 0);
    p.catalog.putHead(s, first);
    const auto slot = p.catalog.addStaged(s);
    EXPECT_EQ(p.catalog.liveBytes(), 100U + 2 * 61440);
    EXPECT_EQ(p.catalog.objectSize(slot), 100U + 2 * 61440);
    EXPECT_EQ(p.catalog.payloadBytes(slot), 100U);
    p.catalog.disownParts(slot);
    EXPECT_EQ(p.catalog.liveBytes(), 100U);
    p.catalog.erase(slot);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::part), 2U) << "still there, for the next version";
    p.catalog.freeParts(first);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::part), 0U);
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
}

TEST(Catalog, putsClustersAsideForGood) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    p.placed(1, 5, 4096, 100);
    p.catalog.retire(5_c);
    EXPECT_EQ(p.catalog.clusters()[5_c].state, ClusterState::packed) << "until nothing is left of it";
    p.catalog.freeCluster(5_c);
    p.beginWrite(6);
    p.catalog.failWrite(6_c);
    for (const ClusterNo c: {5_c, 6_c}) {
        EXPECT_EQ(p.catalog.clusters()[c].state, ClusterState::bad);
        EXPECT_FALSE(p.catalog.free().contains(c));
    }
    EXPECT_EQ(p.catalog.objects(), 0U);
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
}

TEST(Catalog, knowsHowClustersGoFromStateToState) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    const auto &clusters = p.catalog.clusters();
    p.announce(5);
    EXPECT_EQ(clusters[5_c].state, ClusterState::announced);
    EXPECT_FALSE(p.catalog.free().contains(5_c));
    p.catalog.withdraw(5_c);
    EXPECT_EQ(clusters[5_c].state, ClusterState::free);
    EXPECT_TRUE(p.catalog.free().contains(5_c));

    p.beginWrite(5);
    EXPECT_EQ(clusters[5_c].state, ClusterState::writing);
    EXPECT_EQ(clusters[5_c].sequence, p.context.sequence);
    p.catalog.abandonWrite(5_c);
    EXPECT_EQ(clusters[5_c].state, ClusterState::announced);
    p.catalog.beginWrite(5_c, 77_seq);
    p.catalog.finishWrite(5_c, 4096, 1, 2_seq); // all its objects were deleted meanwhile
    EXPECT_EQ(clusters[5_c].state, ClusterState::free);

    p.catalog.giveToLog(0_c);
    EXPECT_EQ(clusters[0_c].state, ClusterState::log);
    EXPECT_FALSE(p.catalog.free().contains(0_c));
    for (const auto c: {0_c, 5_c})
        EXPECT_DEATH(p.catalog.failWrite(c), "writing") << "nobody writes it";
    EXPECT_DEATH(p.catalog.announce(0_c, 1_seq), "MayFollow") << "the index log keeps what it has";
    p.announce(5);
    EXPECT_DEATH(p.announce(5), "MayFollow");
    EXPECT_DEATH(p.catalog.freeCluster(5_c), "MayFollow");
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
}

namespace {

/// the clusters that the next checkpoint has to name; takes them
std::vector<ClusterNo>
changed(Catalog &catalog)
{
    catalog.beginCheckpoint();
    std::vector<ClusterNo> found;
    unsigned looks = 1000000;
    for (ClusterNo from{0}, n; (n = catalog.changes().next(from, looks)) != noCluster;)
        found.push_back(n);
    return found;
}

} // namespace

/// nobody else has to remember it
TEST(Catalog, tellsTheNextCheckpointWhatHappens) {
    using Clusters = std::vector<ClusterNo>;
    PartsDevice d;
    Parts p(d);
    for (ClusterNo c{0}; p.catalog.clusters().has(c); ++c)
        p.catalog.addEmpty(c, c == 9_c);
    EXPECT_EQ(changed(p.catalog), Clusters{9_c}) << "what a start finds free is known to be, unless the log says something else";
    EXPECT_FALSE(p.catalog.changes().any());
    p.catalog.checkpointDone();

    const auto slot = p.placed(1, 5, 4096, 777);
    EXPECT_TRUE(p.catalog.changes().any());
    EXPECT_EQ(changed(p.catalog), Clusters{5_c});
    p.catalog.checkpointDone();

    p.announce(10);
    p.announce(12);
    p.catalog.addPart(10_c, noCluster, 50_seq, 60000, 0);
    (void)changed(p.catalog);
    p.catalog.checkpointDone();
    p.catalog.addPart(12_c, 10_c, 51_seq, 60000, 0);
    EXPECT_EQ(changed(p.catalog), (Clusters{10_c, 12_c})) << "the part before leads to it";
    p.catalog.checkpointDone();
    p.catalog.putHead(10_c, 100000, 100);
    EXPECT_EQ(changed(p.catalog), Clusters{10_c});
    p.catalog.checkpointDone();

    p.catalog.touch(slot, p.catalog.heat(slot), 99_seq, true);
    EXPECT_FALSE(p.catalog.changes().anyUses()) << "nothing is new";
    p.catalog.touch(slot, 33, 99_seq, true);
    EXPECT_TRUE(p.catalog.changes().anyUses());
    EXPECT_FALSE(p.catalog.changes().any()) << "that alone is worth no checkpoint";
    p.catalog.updateInfo(slot, p.catalog.info(slot));
    EXPECT_TRUE(p.catalog.changes().any());
    EXPECT_EQ(changed(p.catalog), Clusters{});
    EXPECT_EQ(p.catalog.changes().collectedUpdates().size(), 1U);
    EXPECT_EQ(p.catalog.changes().collectedUses().size(), 1U);
    p.catalog.checkpointDone();

    p.placed(2, 5, 8192, 777);
    p.catalog.erase(slot);
    EXPECT_EQ(changed(p.catalog), Clusters{});
    ASSERT_EQ(p.catalog.changes().collectedGone().size(), 1U);
    EXPECT_EQ(p.catalog.changes().collectedGone()[0].cluster, 5_c);
    EXPECT_EQ(p.catalog.changes().collectedGone()[0].offset, 4096U);
    p.catalog.checkpointDone();
    unsigned records = 10;
    EXPECT_TRUE(p.catalog.forgetSome(5_c, records));
    EXPECT_EQ(changed(p.catalog), Clusters{5_c});
    EXPECT_EQ(p.catalog.changes().collectedGone().size(), 0U) << "the cluster says it";
    p.catalog.checkpointDone();
}

/// it may be in both places after a crash, until the newer one is on the device
TEST(Catalog, relocatesAnObject) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    Heard heard;
    const auto &settled = heard.settlements;
    p.catalog.tellSettled(heard);
    const auto slot = p.placed(1, 5, 4096, 100, p.chain({10, 11}, 61440, 100 + 2 * 61440, 100));
    const auto live = p.catalog.liveBytes();
    p.catalog.beginRelocating(5_c);
    const auto s = p.catalog.staging().open(keyOf(1), p.catalog.info(slot));
    ASSERT_TRUE(p.catalog.staging().append(s, bytesOf(1, 100).data(), 100));
    p.catalog.relocate(slot, s);
    EXPECT_EQ(p.catalog.clusters()[5_c].state, ClusterState::packed) << "though nothing is left in it";
    EXPECT_EQ(p.catalog.clusters()[5_c].relocated, 2U);
    EXPECT_EQ(p.catalog.liveBytes(), live);
    const auto moved = p.catalog.index().find(keyOf(1));
    EXPECT_EQ(p.catalog.staging()[s].record, moved);
    EXPECT_EQ(p.catalog.objectSize(moved), 100U + 2 * 61440);
    EXPECT_EQ(p.catalog.clusters()[10_c].first, moved);
    EXPECT_DEATH(p.catalog.staging().drop(s), "record") << "the catalog knows it";
    p.catalog.freeIfEmpty(5_c);
    EXPECT_EQ(p.catalog.clusters()[5_c].state, ClusterState::packed);
    EXPECT_EQ(settled, std::vector<ClusterNo>{});

    p.catalog.staging().complete(s, 1);
    p.catalog.staging().startPacking(s);
    p.beginWrite(6);
    p.catalog.place(moved, 6_c, 4096, 100);
    p.catalog.finishWrite(6_c, 8192, 0, 0_seq);
    EXPECT_EQ(settled, std::vector<ClusterNo>{5_c});
    p.catalog.endRelocating(5_c);
    p.catalog.freeIfEmpty(5_c);
    EXPECT_EQ(p.catalog.clusters()[5_c].state, ClusterState::free);
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
}

TEST(Catalog, holdsEmptyClustersDuringAStart) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    p.catalog.beginAdding(0);
    p.catalog.erase(p.placed(1, 5, 4096, 100));
    EXPECT_EQ(p.catalog.clusters()[5_c].state, ClusterState::packed);
    EXPECT_EQ(p.catalog.index().used(), 1U) << "the slot stays with its cluster";
    p.placed(2, 5, 8192, 100);
    p.catalog.freeCluster(5_c);
    EXPECT_EQ(p.catalog.index().used(), 0U);
}

TEST(Catalog, isFullWhenTheIndexIs) {
    PartsDevice d;
    d.superblock.geometry.maxObjects = 1024;
    Parts p(d);
    p.allFree();
    for (uint64_t n = 0; n < 1024; ++n)
        p.stage(n, "x");
    const auto s = p.catalog.staging().open(keyOf(2000), ObjectInfo());
    EXPECT_EQ(p.catalog.addStaged(s), noSlot);
    EXPECT_EQ(p.catalog.addFound(HashedKey{1, 1}, nullptr, Record(), 100), noSlot);
    EXPECT_EQ(p.catalog.objects(), 1024U);
}

TEST(Catalog, staysConsistentUnderRandomChanges) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    std::mt19937_64 random(8);
    std::vector<uint64_t> objects;
    std::vector<ClusterNo> pinned;
    uint64_t next = 0;
    const auto anyFree = [&] { return p.catalog.free().following(ClusterNo(static_cast<uint32_t>(random() % p.catalog.clusters().count()))); };
    for (int i = 0; i < 3000; ++i) {
        const auto what = random() % 10;
        if (what < 4 && p.catalog.free().size() > 30) {
            const auto c = anyFree();
            for (uint32_t n = 0; n < 1 + random() % 5; ++n) {
                const auto size = static_cast<uint32_t>(random() % 8000);
                auto first = noCluster;
                if (random() % 5 == 0) {
                    std::vector<Plain<ClusterNo>> parts;
                    for (uint64_t k = 0; k < 1 + random() % 3; ++k) {
                        parts.push_back(anyFree());
                        if (parts.back() == c)
                            parts.back() = p.catalog.free().following(c + 1);
                        p.announce(parts.back());
                    }
                    first = p.chain(parts, 61440, size + parts.size() * 61440, size);
                }
                p.placed(next, c, 4096 + n * 8192, size, first);
                objects.push_back(next++);
            }
        } else if (what < 7 && !objects.empty()) {
            const auto n = random() % objects.size();
            const auto slot = p.catalog.index().find(keyOf(objects[n]));
            if (slot != noSlot)
                p.catalog.erase(slot);
            objects[n] = objects.back();
            objects.pop_back();
        } else if (what == 7) {
            const auto c = ClusterNo(static_cast<uint32_t>(random() % p.catalog.clusters().count()));
            if (p.catalog.clusters()[c].state == ClusterState::packed)
                p.catalog.freeCluster(c);
        } else if (what == 8) {
            const auto c = ClusterNo(static_cast<uint32_t>(random() % p.catalog.clusters().count()));
            if (p.catalog.clusters()[c].state == ClusterState::packed) {
                p.catalog.pin(c);
                pinned.push_back(c);
            }
        } else if (!pinned.empty()) {
            p.catalog.unpin(pinned.back());
            pinned.pop_back();
        }
        if (i % 20 == 0) {
            ASSERT_NO_FATAL_FAILURE(verify(p.catalog)) << i;
        }
    }
    for (const auto c: pinned)
        p.catalog.unpin(c);
    for (const auto n: objects) {
        const auto slot = p.catalog.index().find(keyOf(n));
        if (slot != noSlot)
            p.catalog.erase(slot);
    }
    EXPECT_EQ(p.catalog.free().size(), p.catalog.clusters().count());
    EXPECT_EQ(p.catalog.index().used(), 0U);
    EXPECT_EQ(p.catalog.liveBytes(), 0U);
}

/// with too many records to look at, a group is what was packed behind the object
TEST(Catalog, findsGroupsInLargeClusters) {
    auto config = smallConfig();
    config.clusterKb = 4096;
    config.stagingMb = config.readCacheMb = 8;
    PartsDevice d(64 * MB, config);
    Parts p(d);
    p.allFree();
    constexpr uint32_t size = 100;
    const auto offsetOf = [](const uint64_t n) { return static_cast<uint32_t>(4096 + n * Catalog::ExtentBytes(size)); };
    const auto fill = [&](const uint32_t c, const uint64_t objects) {
        for (auto n = objects; n-- > 0;) { // as they are packed: what is behind comes first
            const bool joined = n > 4 && n < 10; // a group of six, all others alone
            p.placed(c * 100000 + n, c, offsetOf(n), size, noCluster, joined);
        }
    };
    const auto slotOf = [&](const uint32_t c, const uint64_t n) { return p.catalog.index().find(keyOf(c * 100000 + n)); };
    const auto expectRun = [&](const uint32_t c, const uint64_t n, const uint64_t from, const uint64_t end) {
        const auto run = p.catalog.runAround(slotOf(c, n));
        EXPECT_EQ(run.from, offsetOf(from)) << n;
        EXPECT_EQ(run.to, offsetOf(end)) << n;
        EXPECT_EQ(run.objects, end - from) << n;
        EXPECT_LE(run.records, Catalog::maxWalk);
        const auto rest = p.catalog.without(run, offsetOf(n), [&](const uint32_t offset, uint32_t) { return offset == offsetOf(9); });
        EXPECT_EQ(rest.objects, end - from - (n != 9 && from <= 9 && end > 9)) << n;
    };
    fill(1, Catalog::maxWalk);
    expectRun(1, 6, 4, 10);
    expectRun(1, 3, 3, 4);
    fill(2, Catalog::maxWalk + 1);
    expectRun(2, 4, 4, 10);
    expectRun(2, 6, 6, 10);
    expectRun(2, 3, 3, 4);
    expectRun(2, Catalog::maxWalk, Catalog::maxWalk, Catalog::maxWalk + 1);
    p.catalog.erase(slotOf(2, 8));
    expectRun(2, 5, 5, 8);
    std::vector<uint32_t> offsets;
    ASSERT_TRUE(p.catalog.offsetsIn(1_c, offsets));
    EXPECT_EQ(offsets.size(), Catalog::maxWalk);
    EXPECT_EQ(offsets[7], offsetOf(7));
    EXPECT_FALSE(p.catalog.offsetsIn(2_c, offsets));
}

TEST(Catalog, forgetsSomeAtATime) {
    PartsDevice d;
    Parts p(d);
    p.allFree();
    for (uint64_t n = 0; n < 10; ++n)
        p.placed(n, 5, static_cast<uint32_t>(4096 + 1000 * n), 777);
    unsigned records = 4;
    EXPECT_FALSE(p.catalog.forgetSome(5_c, records));
    EXPECT_EQ(records, 0U);
    EXPECT_EQ(p.catalog.objects(), 6U);
    EXPECT_EQ(p.catalog.index().used(), 6U);
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
    records = 10;
    EXPECT_TRUE(p.catalog.forgetSome(5_c, records));
    EXPECT_EQ(records, 4U);
    EXPECT_EQ(p.catalog.objects(), 0U);
    EXPECT_EQ(p.catalog.clusters()[5_c].state, ClusterState::packed) << "the caller frees it";
    p.catalog.freeCluster(5_c);
    ASSERT_NO_FATAL_FAILURE(verify(p.catalog));
}
