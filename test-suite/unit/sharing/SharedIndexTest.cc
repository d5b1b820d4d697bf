// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of an engine as a worker maps them, and those that it refuses. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/sharing/SharedIndex.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(SharedIndex, refusesWhatCantBe)
{
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    SharedIndex index;
    const auto refused = [&](const std::function<void(SharedTables &)> &change) {
        auto tables = t.engine->sharedTables();
        change(tables);
        SharedIndex::Descriptors descriptors;
        for (size_t i = 0; i < descriptors.size(); ++i)
            descriptors[i] = Descriptor(dup(tables.memories[i].fd));
        std::string error;
        const auto mapped = index.map(std::move(descriptors), tables, error);
        EXPECT_EQ(mapped, error.empty());
        ObjectInfo info;
        EXPECT_EQ(index.find(keyOf(1), info), mapped);
        return !mapped;
    };
    EXPECT_FALSE(refused([](SharedTables &) {}));
    EXPECT_TRUE(refused([](SharedTables &tables) { tables.baseBuckets = 0; }));
    EXPECT_TRUE(refused([](SharedTables &tables) { tables.baseBuckets = 0xffffffff; }));
    EXPECT_TRUE(refused([](SharedTables &tables) { tables.memories[SharedTables::clusters].bytes += 4096; }));
    EXPECT_TRUE(refused([](SharedTables &tables) { std::swap(tables.memories[SharedTables::head], tables.memories[SharedTables::records]); }));
}
