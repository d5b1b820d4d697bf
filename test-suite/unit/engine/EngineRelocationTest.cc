// SPDX-License-Identifier: GPL-2.0-or-later
/* Power cuts while objects move from cluster to cluster. */

#include "test-suite/unit/support/EngineSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t perCluster = 10; ///< objects; the first of them is kept
constexpr uint64_t kept = 60;

class EngineRelocation : public ::testing::Test
{
protected:
    void SetUp() override { config.persist = 4; }

    void store(const uint64_t n, const size_t size) { ASSERT_EQ(t->store(keyOf(n), bytesOf(n, size)), Status::ok) << n; }

    /// clusters with one object each that is safe on the device, and so little
    /// room that some of them are being relocated
    void prepare(const uint64_t seed) {
        t = std::make_unique<TestStore>(16 * MB, config);
        ASSERT_NO_FATAL_FAILURE(t->start(seed));
        for (uint64_t n = 0; n < kept * perCluster; ++n)
            ASSERT_NO_FATAL_FAILURE(store(n, 6000));
        ASSERT_TRUE(t->pack());
        for (uint64_t n = 0; n < kept * perCluster; ++n) {
            if (n % perCluster) {
                EXPECT_TRUE(t->engine->remove(keyOf(n)));
            }
        }
        t->pass(config.deleteTime + 1);
        ASSERT_TRUE(t->checkpoint());
        t->faulty->setDelay(1000, 30000);
        uint64_t next = 1000;
        // fill up quickly, then gently, so that nothing need be evicted
        for (; t->engine->stats().clustersFree > 50; ++next)
            ASSERT_NO_FATAL_FAILURE(store(next, 20000));
        ASSERT_TRUE(t->pack());
        const auto relocating = [this] { return t->engine->stats().counters.relocatedObjects > 0; };
        for (; !relocating(); ++next) {
            ASSERT_NO_FATAL_FAILURE(store(next, 20000));
            for (const auto end = t->clock.micros() + 1000000; !relocating() && t->clock.micros() < end;)
                t->pass(0.1);
        }
    }

    Config config = smallConfig();
    std::unique_ptr<TestStore> t;
};

} // namespace

TEST_F(EngineRelocation, powerCutsLoseNothingThatIsBeingRelocated) {
    unsigned cuts = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        ASSERT_NO_FATAL_FAILURE(prepare(seed));
        // until they were written elsewhere, and not flushed there yet
        ASSERT_TRUE(t->until([&] {
            t->clock.advance(5000);
            return !t->engine->stats().stagedObjects;
        }));
        for (uint64_t i = 0; i < seed % 3; ++i)
            t->step();
        if (t->engine->stats().counters.evictedObjects)
            continue; // those may be gone
        ++cuts;
        t->cut();
        ASSERT_NO_FATAL_FAILURE(t->reopen());
        EXPECT_FALSE(t->engine->stats().recovery.scanned);
        for (uint64_t n = 0; n < kept * perCluster; n += perCluster)
            EXPECT_TRUE(t->has(keyOf(n), bytesOf(n, 6000))) << n << " of seed " << seed;
    }
    EXPECT_GT(cuts, 10U);
}
