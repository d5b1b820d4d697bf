// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that parts of the engine lend each other. */

#include "fs/cluster/api/SharedTables.h"
#include "fs/cluster/base/SystemMemory.h"
#include "test-suite/unit/support/EngineSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr size_t objectBytes = 60000;

Config
withStaging(const uint32_t megabytes)
{
    auto config = smallConfig();
    config.stagingMb = megabytes;
    config.localityMb = 1;
    return config;
}

struct LendingStore: TestStore {
    explicit LendingStore(const Config &c): TestStore(64 * MB, c) {}

    void storeMany(const uint64_t from, const uint64_t count) {
        for (auto n = from; n < from + count; ++n) {
            ASSERT_EQ(store(keyOf(n), bytesOf(n, objectBytes)), Status::ok);
            if (observe)
                observe();
        }
    }

    void readMany(const uint64_t from, const uint64_t count) {
        for (auto n = from; n < from + count; ++n)
            ASSERT_TRUE(has(keyOf(n), bytesOf(n, objectBytes))) << n;
    }

    std::function<void()> observe;
};

} // namespace

TEST(EngineBudget, theReadCacheBorrowsWhatStagingDoesNotUse)
{
    LendingStore t(withStaging(8));
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_EQ(t.engine->stats().readCacheLimit, 10 * MB);
    ASSERT_NO_FATAL_FAILURE(t.storeMany(0, 50));
    t.step();
    EXPECT_LE(t.engine->stats().readCacheLimit, 10 * MB - 50 * objectBytes) << "three megabytes are staged";
    EXPECT_GE(t.engine->stats().readCacheLimit, 6 * MB);
    ASSERT_NO_FATAL_FAILURE(t.storeMany(50, 100));
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    ASSERT_NO_FATAL_FAILURE(t.readMany(0, 150));
    EXPECT_GE(t.engine->stats().readCacheBytes, 150 * objectBytes) << "nine megabytes, where read-cache has two";
    const auto reads = t.faulty->requests(IoOp::read);
    ASSERT_NO_FATAL_FAILURE(t.readMany(0, 150));
    EXPECT_EQ(t.faulty->requests(IoOp::read), reads);
}

TEST(EngineBudget, stagingTakesBackItsOwnAtOnce)
{
    LendingStore t(withStaging(8));
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(t.storeMany(0, 160));
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.readMany(0, 160));
    ASSERT_GE(t.engine->stats().readCacheBytes, 9 * MB);
    uint64_t mostStaged = 0;
    t.observe = [&] {
        t.step();
        const auto s = t.engine->stats();
        mostStaged = std::max(mostStaged, s.stagingBytes);
        EXPECT_LE(s.readCacheLimit + s.stagingBytes, 10 * MB);
        // a cluster on its way to the device counts when it is there
        EXPECT_LE(s.readCacheBytes, s.readCacheLimit + 8 * 65536);
    };
    ASSERT_NO_FATAL_FAILURE(t.storeMany(1000, 400));
    EXPECT_GE(mostStaged, 3 * MB);
    ASSERT_NO_FATAL_FAILURE(t.readMany(1300, 100));
}

TEST(EngineBudget, aCommonLimitLeavesTheReadCacheTheRest)
{
    auto config = withStaging(2);
    config.memoryMb = 16;
    LendingStore t(config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto rest = [&](const uint64_t all, const bool pooled = false) {
        const auto s = t.engine->stats();
        // buffers of a few pages leave gaps
        return all - s.indexBytes - s.tracker.bytes - MB - (pooled ? s.readCacheBytes / 8 : 0);
    };
    EXPECT_LE(t.engine->stats().readCacheLimit, rest(16 * MB) + 100);
    EXPECT_GE(t.engine->stats().readCacheLimit, rest(16 * MB) - 100000);
    ASSERT_NO_FATAL_FAILURE(t.storeMany(0, 200));
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.readMany(0, 200));
    EXPECT_GE(t.engine->stats().readCacheBytes, 11 * MB) << "whatever read-cache is";

    config.memoryMb = 7;
    t.engine->reconfigure(config);
    t.step();
    EXPECT_LE(t.engine->stats().readCacheBytes, rest(7 * MB, true));
    EXPECT_GE(t.engine->stats().readCacheBytes, 2 * MB);
    config.memoryMb = 0;
    t.engine->reconfigure(config);
    t.step();
    EXPECT_LE(t.engine->stats().readCacheLimit, 4 * MB);
    EXPECT_EQ(std::count_if(t.log.begin(), t.log.end(), [](const auto &line) { return line.find("memory=") != line.npos; }), 0);
}

TEST(EngineBudget, theTableThatTellsWorkersOfWindowsCounts)
{
    auto config = withStaging(2);
    config.memoryMb = 16;
    TestStore t(64 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    t.step();
    const auto before = t.engine->stats().readCacheLimit;
    SharedTables tables;
    std::string error;
    ASSERT_TRUE(t.engine->share(tables, error)) << error;
    t.step();
    const auto table = tables.memories[SharedTables::windowTable].bytes;
    EXPECT_GT(table, 0U);
    EXPECT_EQ(t.engine->stats().readCacheLimit, before - table);
}

TEST(EngineBudget, theReadCacheGivesWayWhileMemoryIsShort)
{
    auto config = withStaging(2);
    config.memoryMb = 16;
    LendingStore t(config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(t.storeMany(0, 200));
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.readMany(0, 200));
    const auto before = t.engine->stats();
    ASSERT_GE(before.readCacheBytes, 11 * MB);
    const MemoryRoom enough = {70 * MB, 1024 * MB}; // 32 MB should stay free
    t.engine->noteMemory(enough);
    t.step();
    EXPECT_EQ(t.engine->stats().readCacheLimit, before.readCacheLimit);

    t.engine->noteMemory({29 * MB, 1024 * MB});
    t.step();
    EXPECT_LE(t.engine->stats().readCacheBytes, before.readCacheBytes - 3 * MB);
    EXPECT_GE(t.engine->stats().readCacheBytes, before.readCacheBytes - 4 * MB);
    t.engine->noteMemory({33 * MB, 1024 * MB});
    t.step();
    EXPECT_GE(t.engine->stats().readCacheBytes, before.readCacheBytes - 4 * MB) << "enough, for now";
    for (int i = 0; i < 5; ++i) {
        t.engine->noteMemory({0, 1024 * MB});
        t.step();
    }
    EXPECT_EQ(t.engine->stats().readCacheLimit, 2 * MB) << "the least";
    ASSERT_NO_FATAL_FAILURE(t.readMany(0, 200));
    EXPECT_LE(t.engine->stats().readCacheBytes, 2 * MB);

    t.engine->noteMemory(enough);
    t.step();
    EXPECT_EQ(t.engine->stats().readCacheLimit, 4 * MB) << "it grows again slowly";
    for (int i = 0; i < 8; ++i)
        t.engine->noteMemory({200 * MB, 1024 * MB});
    t.step();
    EXPECT_GE(t.engine->stats().readCacheLimit, before.readCacheLimit);
    const auto isTold = [](const std::string &line) { return line.find("MB of memory are left: the read cache gives way") != line.npos; };
    EXPECT_EQ(std::count_if(t.log.begin(), t.log.end(), isTold), 1);
}

TEST(EngineBudget, anIndexThatTakesAllIsToldOnce)
{
    auto config = withStaging(2);
    config.localityMb = 0;
    config.memoryMb = 4;
    TestStore t(64 * MB, config, true);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 40000; ++n)
        ASSERT_EQ(t.store(keyOf(n), "x"), Status::ok);
    t.pass(5);
    ASSERT_GT(t.engine->stats().indexBytes, MB);
    EXPECT_EQ(std::count(t.log.begin(), t.log.end(),
                         "memory=4 MB is too little: the index takes 1 MB, and staging, locality and the least for the read cache 4 MB"), 1);
    EXPECT_EQ(t.engine->stats().readCacheLimit, 2 * MB) << "the least";
    for (uint64_t n = 0; n < 40000; n += 100)
        EXPECT_TRUE(t.has(keyOf(n), "x")) << n;
}
