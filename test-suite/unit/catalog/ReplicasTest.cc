// SPDX-License-Identifier: GPL-2.0-or-later
/* Which replicas are known, and when they end. */

#include "fs/cluster/catalog/Replicas.h"

#include <gtest/gtest.h>

using namespace ClusterFs;

namespace {

using Where = Replicas::Place;

Where
at(const uint32_t cluster, const uint32_t offset)
{
    return {ClusterNo(cluster), offset};
}

/// \returns the clusters of the replicas of what is at a place
std::vector<uint32_t>
clustersOf(const Replicas &replicas, const Where &original)
{
    std::vector<uint32_t> found;
    EXPECT_FALSE(replicas.any(original, [&](const Where &p) {
        found.push_back(p.cluster.value());
        return false;
    }));
    return found;
}

} // namespace

TEST(ReplicasTest, anObjectHasSeveral) {
    Replicas r(10);
    EXPECT_TRUE(r.empty());
    EXPECT_TRUE(r.add(at(1, 512), at(2, 1024), 600));
    EXPECT_TRUE(r.add(at(1, 512), at(3, 2048), 600));
    EXPECT_TRUE(r.add(at(1, 8192), at(3, 1024), 700));
    EXPECT_EQ(clustersOf(r, at(1, 512)), (std::vector<uint32_t>{2, 3}));
    EXPECT_TRUE(r.any(at(1, 512), [](const Where &p) { return p == at(3, 2048); }));
    EXPECT_EQ(clustersOf(r, at(1, 513)), std::vector<uint32_t>());
    EXPECT_EQ(clustersOf(r, at(2, 1024)), std::vector<uint32_t>()) << "a replica has none";
    ASSERT_EQ(r.in(ClusterNo(3)).size(), 2U);
    EXPECT_EQ(r.in(ClusterNo(3))[0].offset, 1024U) << "in the order of their places";
    EXPECT_EQ(r.in(ClusterNo(3))[0].bytes, 700U);
    EXPECT_EQ(r.in(ClusterNo(3))[1].original, at(1, 512));
    EXPECT_EQ(r.count(), 3U);
}

TEST(ReplicasTest, noMoreThanSoMany) {
    Replicas r(1);
    EXPECT_TRUE(r.add(at(1, 512), at(2, 1024), 600));
    EXPECT_FALSE(r.add(at(1, 512), at(3, 1024), 600));
    r.released(ClusterNo(2));
    EXPECT_TRUE(r.add(at(1, 512), at(3, 1024), 600));
}

TEST(ReplicasTest, aReleasedClusterEndsItsReplicasAndThoseOfItsObjects) {
    Replicas r(10);
    r.add(at(1, 512), at(2, 1024), 600);
    r.add(at(2, 512), at(3, 1024), 600);
    r.add(at(4, 512), at(3, 2048), 600);
    r.released(ClusterNo(2));
    EXPECT_EQ(clustersOf(r, at(1, 512)), std::vector<uint32_t>());
    EXPECT_EQ(clustersOf(r, at(2, 512)), std::vector<uint32_t>());
    ASSERT_EQ(r.in(ClusterNo(3)).size(), 1U);
    EXPECT_EQ(r.in(ClusterNo(3))[0].original, at(4, 512));
    EXPECT_EQ(r.count(), 1U);
    r.released(ClusterNo(3));
    EXPECT_TRUE(r.empty());
}

TEST(ReplicasTest, aDamagedOneEndsAlone) {
    Replicas r(10);
    r.add(at(1, 512), at(2, 1024), 600);
    r.add(at(1, 512), at(3, 1024), 600);
    r.forget(at(2, 1024));
    r.forget(at(2, 1024));
    r.forget(at(5, 0));
    EXPECT_EQ(clustersOf(r, at(1, 512)), std::vector<uint32_t>{3});
    EXPECT_EQ(r.count(), 1U);
}

TEST(ReplicasTest, theyFollowAnObjectThatMoves) {
    Replicas r(10);
    r.add(at(1, 512), at(2, 1024), 600);
    r.add(at(1, 512), at(3, 1024), 600);
    r.add(at(1, 4096), at(3, 2048), 600);
    r.moved(at(1, 512), at(3, 8192));
    EXPECT_EQ(clustersOf(r, at(3, 8192)), std::vector<uint32_t>{2}) << "the one beside its new place has no use any more";
    EXPECT_EQ(clustersOf(r, at(1, 512)), std::vector<uint32_t>());
    EXPECT_EQ(clustersOf(r, at(1, 4096)), std::vector<uint32_t>{3});
    r.released(ClusterNo(1));
    EXPECT_EQ(clustersOf(r, at(3, 8192)), std::vector<uint32_t>{2}) << "its old place does not count any more";
    ASSERT_EQ(r.in(ClusterNo(2)).size(), 1U);
    EXPECT_EQ(r.in(ClusterNo(2))[0].original, at(3, 8192));
    EXPECT_EQ(r.count(), 1U);
}
