// SPDX-License-Identifier: GPL-2.0-or-later
/* What was in memory before a restart is in memory after it. */

#include "test-suite/unit/support/EngineSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr size_t objectBytes = 10000;

Config
warmConfig()
{
    auto c = smallConfig();
    c.warm = true;
    return c;
}

class WarmStart : public testing::Test
{
protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(t.start());
        for (uint64_t n = 0; n < 400; ++n) // twice what the read cache takes
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, objectBytes)), Status::ok);
        ASSERT_TRUE(t.pack());
        EXPECT_GT(readsOf(hot), 10U);
        EXPECT_LE(readsOf(hot), 5U);
    }

    /// \returns the device reads that these objects took
    uint64_t readsOf(const std::pair<uint64_t, uint64_t> &objects) {
        const auto before = t.faulty->requests(IoOp::read);
        for (auto n = objects.first; n < objects.second; ++n)
            EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, objectBytes))) << n;
        return t.faulty->requests(IoOp::read) - before;
    }
    /// until nothing more is read
    void warmUp() {
        t.settle();
        t.pass(2);
    }

    TestStore t{32 * MB, warmConfig()};
    const std::pair<uint64_t, uint64_t> hot{0, 100};
};

} // namespace

TEST_F(WarmStart, readsWhatWasInMemory) {
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    warmUp();
    const auto s = t.engine->stats();
    EXPECT_GT(s.windowsWarmed, 0U);
    EXPECT_LE(s.readCacheBytes, s.readCacheLimit / 4 * 3 + 2 * t.engine->clusterBytes());
    EXPECT_LT(readsOf(hot), 50U) << "see isAnOption";
}

TEST_F(WarmStart, goesOnAfterACrash) {
    ASSERT_TRUE(t.checkpoint());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    warmUp();
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    warmUp();
    EXPECT_GT(t.engine->stats().windowsWarmed, 0U) << "from the list of the last stop";
    (void)readsOf(hot);
}

TEST_F(WarmStart, isAnOption) {
    t.config.warm = false;
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    warmUp();
    EXPECT_EQ(t.engine->stats().windowsWarmed, 0U);
    EXPECT_GT(readsOf(hot), 90U);
}

/// the list is of an earlier stop: what was evicted, replaced or deleted since is left out
TEST_F(WarmStart, leavesOutWhatIsGone) {
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.config.warm = false;
    for (uint64_t n = 0; n < 400; n += 2)
        EXPECT_TRUE(t.engine->remove(keyOf(n)));
    for (uint64_t n = 1000; n < 5000; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, objectBytes)), Status::ok);
    t.config.warm = true;
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    warmUp();
    for (uint64_t n = 0; n < 400; n += 2)
        EXPECT_FALSE(t.engine->has(keyOf(n))) << n;
    for (uint64_t n = 4900; n < 4950; ++n) {
        if (t.engine->has(keyOf(n))) {
            EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, objectBytes))) << n;
        }
    }
}
