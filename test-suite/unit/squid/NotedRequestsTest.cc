// SPDX-License-Identifier: GPL-2.0-or-later
/* Each request is told of once for each key. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/squid/NotedRequests.h"

#include <gtest/gtest.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(NotedRequests, tellsOfEachRequestOnce)
{
    NotedRequests noted;
    EXPECT_TRUE(noted.add(1, keyOf(1)));
    EXPECT_FALSE(noted.add(1, keyOf(1)));
    EXPECT_TRUE(noted.add(2, keyOf(1))) << "another request for the same object";
    EXPECT_FALSE(noted.add(1, keyOf(1))) << "others have come in between";
    EXPECT_FALSE(noted.add(2, keyOf(1)));
}

TEST(NotedRequests, tellsOfAVariant)
{
    NotedRequests noted;
    EXPECT_TRUE(noted.add(1, keyOf(1)));
    EXPECT_TRUE(noted.add(1, keyOf(2)));
    EXPECT_FALSE(noted.add(1, keyOf(2)));
}

TEST(NotedRequests, forgetsOldOnes)
{
    NotedRequests noted;
    EXPECT_TRUE(noted.add(1, keyOf(1)));
    for (uint64_t n = 2; n <= NotedRequests::most; ++n)
        EXPECT_TRUE(noted.add(n, keyOf(n)));
    EXPECT_FALSE(noted.add(1, keyOf(1)));
    EXPECT_TRUE(noted.add(NotedRequests::most + 1, keyOf(1)));
    EXPECT_TRUE(noted.add(1, keyOf(1))) << "it costs no more than it did before";
}

TEST(NotedRequests, tellsOfWhatIsUnknown)
{
    NotedRequests noted;
    EXPECT_TRUE(noted.add(0, keyOf(1)));
    EXPECT_TRUE(noted.add(0, keyOf(1)));
}
