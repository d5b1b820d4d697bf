// SPDX-License-Identifier: GPL-2.0-or-later
/* What a start makes of several copies of an object, which a crash leaves when it was being carried. */

#include "FindingsSupport.h"

#include <algorithm>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST_F(FindingsTest, ofTwoCopiesTheNewerOneMustBeWhole) {
    for (const uint64_t n: {1, 2, 3})
        found(n, static_cast<ClusterNo>(10 + n), 100 + n);
    table(3, ClusterState::packed, 50);
    table(4, ClusterState::packed, 51);
    object(1, 3);
    object(2, 4);
    removal(3, 50);
    object(3, 3);
    std::string image(60000, '\0');
    ExtentHeader header;
    header.size = 200;
    header.sequence = 101;
    header.key = keyOf(1);
    sealExtent(&image[2048], header, p.shared.uuid, 11, 2048);
    std::vector<ClusterNo> contested;
    for (auto c = f.contested(); c != noCluster; c = f.contested()) {
        ASSERT_LT(contested.size(), 3U) << "each is asked for once";
        contested.push_back(c);
        f.check(c, image.data()); // no bytes of cluster 12
    }
    std::sort(contested.begin(), contested.end());
    EXPECT_EQ(contested, (std::vector<ClusterNo>{11, 12}));
    finish();
    EXPECT_EQ(where(1), 11U);
    EXPECT_EQ(where(2), 4U);
    EXPECT_EQ(where(3), 13U) << "the older one was deleted";
    EXPECT_EQ(p.catalog.liveBytes(), 500U);
}

TEST_F(FindingsTest, copiesGiveWayOneByOne) {
    found(1, 11, 101);
    found(1, 12, 102);
    found(1, 10, 100);
    EXPECT_EQ(f.contested(), 12U);
    f.check(12, nullptr);
    EXPECT_EQ(where(1), 11U);
    EXPECT_EQ(f.contested(), 11U);
    f.check(11, nullptr);
    EXPECT_EQ(where(1), 10U);
    EXPECT_EQ(f.contested(), noCluster);
    finish();
    EXPECT_EQ(where(1), 10U);
    EXPECT_EQ(p.catalog.clusters[12].state, ClusterState::free);
}

TEST_F(FindingsTest, copiesKeepTheirParts) {
    foundPart(20, 90, full);
    found(1, 10, 100, false, 200, {{20, full, 90}});
    found(1, 11, 101, false, 200, {{20, full, 90}});
    f.joinParts();
    EXPECT_EQ(f.contested(), 11U);
    f.check(11, nullptr);
    finish();
    EXPECT_EQ(where(1), 10U);
    EXPECT_EQ(p.catalog.clusters[20].state, ClusterState::part);
    EXPECT_EQ(p.catalog.liveBytes(), 200U + full);
}

TEST_F(FindingsTest, whatIsDeletedMeanwhileIsNotContested) {
    found(1, 10, 100);
    found(1, 11, 101);
    f.removedNow(keyOf(1));
    p.catalog.erase(p.catalog.index.find(keyOf(1)));
    EXPECT_EQ(f.contested(), noCluster);
    finish();
    EXPECT_EQ(where(1), noCluster);
}

/// an older copy that is not what it was any more does not come back
TEST_F(FindingsTest, onlyCopiesThatAreStillThereComeBack) {
    found(1, 11, 101);
    found(2, 13, 103);
    found(3, 15, 105);
    table(10, ClusterState::packed, 100);
    table(12, ClusterState::packed, 102);
    table(14, ClusterState::packed, 104);
    object(1, 10);
    auto behind = objectRecord(2, 12);
    behind.size = 65536; // its extent ends behind its cluster
    f.checkpointed(behind, false);
    auto parted = objectRecord(3, 14, 0xfffffff0U); // a first part that no device has
    parted.packed = flagParted;
    f.checkpointed(parted, false);
    p.catalog.clusters[10].sequence = 200; // written over
    unsigned asked = 0;
    for (auto c = f.contested(); c != noCluster && asked < 9; c = f.contested(), ++asked)
        f.check(c, nullptr);
    EXPECT_EQ(asked, 3U);
    finish();
    for (const uint64_t n: {1, 2, 3})
        EXPECT_EQ(where(n), noCluster) << n;
    EXPECT_EQ(p.catalog.liveBytes(), 0U);
}

/// the same when its cluster is not even packed any more
TEST_F(FindingsTest, copiesInClustersOutOfUseStayAway) {
    found(1, 11, 101);
    table(10, ClusterState::packed, 100);
    object(1, 10);
    p.catalog.clusters.unlink(10);
    p.catalog.clusters.setState(10, ClusterState::bad);
    EXPECT_EQ(f.contested(), 11U);
    f.check(11, nullptr);
    EXPECT_EQ(f.contested(), noCluster);
    finish();
    EXPECT_EQ(where(1), noCluster);
}

/// the caller may delete an object while its cluster is being read
TEST_F(FindingsTest, copiesMayGoWhileTheyAreChecked) {
    for (const uint64_t n: {1, 2})
        found(n, static_cast<ClusterNo>(10 + n), 100 + n);
    table(3, ClusterState::packed, 50);
    object(1, 3);
    object(2, 3);
    const auto first = f.contested();
    const uint64_t other = first == 11 ? 2 : 1;
    f.removedNow(keyOf(other));
    p.catalog.erase(p.catalog.index.find(keyOf(other)));
    f.check(first, nullptr);
    EXPECT_EQ(f.contested(), noCluster);
    finish();
    EXPECT_EQ(where(3 - other), 3U);
    EXPECT_EQ(where(other), noCluster);
}

TEST_F(FindingsTest, aDirectoryThatNamesAnObjectTwiceHasOneOfIt) {
    found(1, 10, 100);
    found(1, 10, 100);
    EXPECT_EQ(f.contested(), noCluster) << "neither is newer";
    finish();
    EXPECT_EQ(where(1), 10U);
    EXPECT_EQ(p.catalog.liveBytes(), 200U);
}
