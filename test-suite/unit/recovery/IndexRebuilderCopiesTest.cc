// SPDX-License-Identifier: GPL-2.0-or-later
/* What a start makes of several copies of an object, which a crash leaves when it was being relocated. */

#include "test-suite/unit/recovery/IndexRebuilderSupport.h"

#include <algorithm>
#include <set>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST_F(IndexRebuilderTest, ofTwoCopiesTheNewerOneMustBeWhole) {
    for (const uint64_t n: {1, 2, 3})
        found(n, static_cast<uint32_t>(10 + n), 100 + n);
    table(3, ClusterState::packed, 50);
    table(4, ClusterState::packed, 51);
    object(1, 3);
    object(2, 4);
    removal(3, 50);
    object(3, 3);
    std::string image(60000, '\0'); // of cluster 11
    ExtentHeader header;
    header.size = 200;
    header.sequence = 101_seq;
    header.key = keyOf(1);
    sealExtent(&image[2048], header, p.context.uuid, 11_c, 2048);
    std::vector<ClusterNo> contested;
    std::vector<IndexRebuilder::Contested> all;
    for (IndexRebuilder::Contested c; f.contested(c); all.push_back(c)) {
        ASSERT_LT(all.size(), 3U) << "each is asked for once";
        contested.push_back(c.cluster);
        EXPECT_EQ(c.from, 2048U);
        EXPECT_EQ(c.to, 2048U + Catalog::ExtentBytes(200));
    }
    for (const auto &c: all) // several may be under way
        f.check(c, &image[c.from]); // no bytes of cluster 12
    std::sort(contested.begin(), contested.end());
    EXPECT_EQ(contested, (std::vector<ClusterNo>{11_c, 12_c}));
    finish();
    EXPECT_EQ(where(1), 11_c);
    EXPECT_EQ(where(2), 4_c);
    EXPECT_EQ(where(3), 13_c) << "the older one was deleted";
    EXPECT_EQ(stats.objectsLost, 0U);
    EXPECT_EQ(p.catalog.liveBytes(), 500U);
}

/// a cluster with many objects keeps nobody waiting, and each of them is judged all the same
TEST_F(IndexRebuilderTest, manyCopiesAreTakenInSlices) {
    constexpr uint64_t count = 100;
    Directory d;
    d.header.number = 11_c;
    d.header.sequence = 101_seq;
    d.header.end = 60000;
    std::string image(60000, '\0');
    for (uint64_t n = 0; n < count; ++n) {
        DirectoryEntry e;
        e.key = keyOf(n);
        e.offset = static_cast<uint32_t>(8192 + 256 * n);
        e.size = 200;
        e.info.size = 200;
        d.entries.push_back(e);
        if (n % 2) // of the others, the bytes did not arrive
            sealExtent(&image[e.offset], {200, 101_seq, keyOf(n)}, p.context.uuid, 11_c, e.offset);
    }
    EXPECT_EQ(take(11, d), (count + 15) / 16);
    for (uint64_t n = 0; n < count; ++n)
        ASSERT_EQ(where(n), 11_c) << n;
    table(3, ClusterState::packed, 50);
    for (uint64_t n = 0; n < count; ++n)
        add(objectRecord(n, 3, 200, static_cast<uint32_t>(4096 + 256 * n)));
    ASSERT_EQ(contested(), 11_c);
    EXPECT_EQ(asked_.from, 8192U);
    EXPECT_EQ(asked_.to, 8192U + 256 * (count - 1) + Catalog::ExtentBytes(200));
    EXPECT_EQ(read(&image[asked_.from]), count);
    EXPECT_EQ(contested(), noCluster);
    finish();
    for (uint64_t n = 0; n < count; ++n)
        EXPECT_EQ(where(n), n % 2 ? 11_c : 3_c) << n;
    EXPECT_EQ(stats.objectsLost, 0U);
    EXPECT_EQ(p.catalog.liveBytes(), count * 200);
}

TEST_F(IndexRebuilderTest, copiesGiveWayOneByOne) {
    found(1, 11, 101);
    found(1, 12, 102);
    found(1, 10, 100);
    EXPECT_EQ(contested(), 12_c);
    unreadable();
    EXPECT_EQ(where(1), 11_c);
    EXPECT_EQ(contested(), 11_c);
    unreadable();
    EXPECT_EQ(where(1), 10_c);
    EXPECT_EQ(contested(), noCluster);
    finish();
    EXPECT_EQ(where(1), 10_c);
    EXPECT_EQ(p.catalog.clusters()[12_c].state, ClusterState::free);
}

TEST_F(IndexRebuilderTest, copiesKeepTheirParts) {
    foundPart(20, 90, full);
    found(1, 10, 100, false, 200, {{20_c, full, 90_seq}});
    found(1, 11, 101, false, 200, {{20_c, full, 90_seq}});
    f.joinParts();
    EXPECT_EQ(contested(), 11_c);
    unreadable();
    finish();
    EXPECT_EQ(where(1), 10_c);
    EXPECT_EQ(p.catalog.clusters()[20_c].state, ClusterState::part);
    EXPECT_EQ(p.catalog.liveBytes(), 200U + full);
}

/// its directory names them, although they were announced since the checkpoint, like all that was written since
TEST_F(IndexRebuilderTest, aLargeCopyComesBackWithItsParts) {
    for (const bool newerIsLarge: {false, true}) {
        const uint64_t n = newerIsLarge ? 2 : 1;
        const auto c = newerIsLarge ? 30_c : 20_c;
        for (ClusterNo part = c; part < c + 3; ++part)
            announce(part, 80);
        foundPart(c, 90, full);
        foundPart(c + 1, 91, 500);
        foundPart(c + 2, 92, 700);
        found(n, c + 3, 100, false, 200, {{c, full, 90_seq}, {c + 1, 500, 91_seq}});
        if (newerIsLarge)
            found(n, c + 4, 101, false, 200, {{c + 2, 700, 92_seq}});
        else
            found(n, c + 4, 101, false, 200);
    }
    f.joinParts();
    for (unsigned asked = 0; contested() != noCluster && asked < 9; ++asked)
        unreadable();
    finish();
    EXPECT_EQ(where(1), 23_c);
    EXPECT_EQ(where(2), 33_c);
    EXPECT_EQ(p.catalog.clusters()[20_c].nextPart, 21_c);
    EXPECT_EQ(p.catalog.clusters()[32_c].state, ClusterState::free);
    EXPECT_EQ(p.catalog.liveBytes(), 2 * (200U + full + 500U));
    EXPECT_EQ(stats.objectsLost, 0U);
}

TEST_F(IndexRebuilderTest, whatIsDeletedMeanwhileIsNotContested) {
    found(1, 10, 100);
    found(1, 11, 101);
    f.removedNow(keyOf(1));
    p.catalog.erase(p.catalog.index().find(keyOf(1)));
    EXPECT_EQ(contested(), noCluster);
    finish();
    EXPECT_EQ(where(1), noCluster);
}

/// an older copy that is not what it was any more does not come back
TEST_F(IndexRebuilderTest, onlyCopiesThatAreStillThereComeBack) {
    found(1, 11, 101);
    found(2, 13, 103);
    found(3, 15, 105);
    table(10, ClusterState::packed, 100);
    table(12, ClusterState::packed, 102);
    table(14, ClusterState::packed, 104);
    object(1, 10);
    auto behind = objectRecord(2, 12);
    behind.object.size = 65536; // its extent ends behind its cluster
    add(behind);
    auto parted = objectRecord(3, 14, 0xfffffff0U); // a first part that no device has
    parted.object.packed = flagParted;
    add(parted);
    f.endLog();
    p.entryOf(10).sequence = 200_seq; // written over
    unsigned asked = 0;
    for (; contested() != noCluster && asked < 9; ++asked)
        unreadable();
    EXPECT_EQ(asked, 3U);
    finish();
    for (const uint64_t n: {1, 2, 3})
        EXPECT_EQ(where(n), noCluster) << n;
    EXPECT_EQ(p.catalog.liveBytes(), 0U);
    EXPECT_EQ(stats.objectsLost, 3U);
}

/// the same when its cluster is not even packed any more
TEST_F(IndexRebuilderTest, copiesInClustersOutOfUseStayAway) {
    found(1, 11, 101);
    table(10, ClusterState::packed, 100);
    object(1, 10);
    p.catalog.retire(10_c);
    p.catalog.freeCluster(10_c);
    ASSERT_EQ(p.catalog.clusters()[10_c].state, ClusterState::bad);
    EXPECT_EQ(contested(), 11_c);
    unreadable();
    EXPECT_EQ(contested(), noCluster);
    finish();
    EXPECT_EQ(where(1), noCluster);
}

/// the caller may delete an object while its cluster is being read
TEST_F(IndexRebuilderTest, copiesMayGoWhileTheyAreChecked) {
    for (const uint64_t n: {1, 2})
        found(n, static_cast<uint32_t>(10 + n), 100 + n);
    table(3, ClusterState::packed, 50);
    object(1, 3);
    object(2, 3);
    const auto first = contested();
    const uint64_t other = first == 11_c ? 2 : 1;
    f.removedNow(keyOf(other));
    p.catalog.erase(p.catalog.index().find(keyOf(other)));
    unreadable();
    EXPECT_EQ(contested(), noCluster);
    finish();
    EXPECT_EQ(where(3 - other), 3_c);
    EXPECT_EQ(where(other), noCluster);
}

TEST_F(IndexRebuilderTest, aDirectoryThatNamesAnObjectTwiceHasOneOfIt) {
    found(1, 10, 100);
    found(1, 10, 100);
    EXPECT_EQ(contested(), noCluster) << "neither is newer";
    finish();
    EXPECT_EQ(where(1), 10_c);
    EXPECT_EQ(p.catalog.liveBytes(), 200U);
}

/// what was regrouped since the checkpoint: the copies of a cluster are looked at once, whatever their number
TEST_F(IndexRebuilderTest, manyCopiesAreSortedOutOnce) {
    constexpr uint64_t objects = 3000;
    const auto clusters = p.context.geometry.clusterCount;
    ASSERT_GT(clusters, 64U);
    for (ClusterNo c{0}; c < 32_c; ++c)
        table(c, ClusterState::packed, 50 + c.value());
    for (uint64_t n = 0; n < objects; ++n) {
        found(n, static_cast<uint32_t>(32 + n % 32), 1000 + n % 32, false, 100);
        object(n, static_cast<uint32_t>(n % 32));
    }
    std::set<ClusterNo> asked;
    for (ClusterNo c = contested(); c != noCluster; c = contested()) {
        EXPECT_TRUE(asked.insert(c).second) << c.value() << " once more";
        unreadable();
    }
    EXPECT_EQ(asked.size(), 32U);
    finish();
    for (uint64_t n = 0; n < objects; ++n)
        ASSERT_EQ(where(n), ClusterNo(n % 32)) << n;
}

namespace {

class LargeIndexRebuilder : public IndexRebuilderTest
{
protected:
    LargeIndexRebuilder(): IndexRebuilderTest(largeClusters()) {}
};

} // namespace

/// reads of many megabytes, sixteen at once, would take memory and time
TEST_F(LargeIndexRebuilder, copiesInLargeClustersAreReadAMegabyteAtATime) {
    constexpr uint64_t count = 40;
    Directory d;
    d.header.number = 11_c;
    d.header.sequence = 101_seq;
    d.header.end = 4 << 20;
    for (uint64_t n = 0; n < count; ++n) {
        DirectoryEntry e;
        e.key = keyOf(n);
        e.offset = static_cast<uint32_t>(4096 + 104448 * (n * 7 % count));
        e.size = 200;
        e.info.size = 200;
        d.entries.push_back(e);
    }
    take(11, d);
    table(3, ClusterState::packed, 50);
    for (uint64_t n = 0; n < count; ++n)
        add(objectRecord(n, 3, 200, static_cast<uint32_t>(4096 + 256 * n)));
    unsigned asked = 0;
    for (; contested() != noCluster && asked < count; ++asked) {
        EXPECT_EQ(asked_.cluster, 11_c);
        EXPECT_LT(asked_.to - asked_.from, IndexRebuilder::stretch + 512);
        unreadable();
    }
    EXPECT_EQ(asked, 4U);
    finish();
    for (uint64_t n = 0; n < count; ++n)
        EXPECT_EQ(where(n), 3_c) << n;
    EXPECT_EQ(stats.objectsLost, 0U);
}
