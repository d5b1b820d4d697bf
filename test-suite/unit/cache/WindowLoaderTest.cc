// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads that bring windows, with a policy that says what the test wants. */

#include "test-suite/unit/support/PartsSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint32_t KB = 1024;

/// answers as it is told, and notes what it was asked
class ToldPolicy final : public ReadPolicy
{
public:
    bool readsGroup(const CostMeter &, double, const unsigned mates, const uint64_t bytes, const double displaced) const override {
        askedMates = mates;
        askedBytes = bytes;
        askedDisplaced = displaced;
        return group;
    }
    bool prefetches(double) const override { return ahead; }

    bool group = true;
    bool ahead = true;
    mutable unsigned askedMates = 0;
    mutable uint64_t askedBytes = 0;
    mutable double askedDisplaced = 0; ///< requests
};

class WindowLoaderTest : public ::testing::Test
{
protected:
    WindowLoaderTest() {
        p.allFree();
        device.device->setDelay(1000, 1000);
    }

    WindowLoader::Done noted() {
        return [this](const Status s) { answers.push_back(s); };
    }
    bool settle(const size_t wanted) {
        return p.until([&] { cache.loader.poll(); return answers.size() >= wanted && device.front().idle(); }, 500);
    }
    uint64_t reads() const { return device.device->requests(IoOp::read); }
    uint64_t bytesRead() const { return device.device->stats().of(IoOp::read).bytes; }
    /// a run of some objects in front of and behind an extent
    static Catalog::Run run(const uint32_t from, const uint32_t to, const uint32_t objects) {
        Catalog::Run r;
        r.from = from;
        r.to = to;
        r.objects = objects;
        return r;
    }

    PartsDevice device;
    Parts p{device};
    ToldPolicy policy;
    ReadCache cache{*device.device, p.catalog, p.context.geometry, policy, 16 * 64 * KB};
    WindowLoader &loader = cache.loader;
    std::vector<Status> answers;
};

} // namespace

TEST_F(WindowLoaderTest, hasWhatIsOnItsWay) {
    EXPECT_FALSE(loader.has({3_c, 1_seq, 5 * KB, 100}));
    loader.load({3_c, 1_seq, 5 * KB, 100}, 3_c, IoClass::urgent, noted());
    EXPECT_TRUE(loader.has({3_c, 1_seq, 5 * KB, 100}));
    EXPECT_FALSE(loader.has({3_c, 2_seq, 5 * KB, 100}));
    EXPECT_FALSE(loader.has({4_c, 1_seq, 5 * KB, 100}));
    ASSERT_TRUE(settle(1));
    EXPECT_TRUE(loader.has({3_c, 1_seq, 5 * KB, 100}));
    EXPECT_EQ(cache.windows.hits() + cache.windows.misses(), 0U) << "a question counts for nothing";
}

/// a disk orders what it has, and a hit must not wait for what is read or written for others
TEST_F(WindowLoaderTest, readsGoToADeviceThatIsBusy) {
    for (uint32_t n = 0; n < 4; ++n)
        loader.load({ClusterNo(n), 1_seq, 0, 100}, ClusterNo(n), IoClass::urgent, noted());
    EXPECT_EQ(reads(), 4U) << "all of them are on their way before the first is answered";
    EXPECT_TRUE(answers.empty());
    ASSERT_TRUE(settle(4));
}

/// a reader may want what housekeeping is about to read: it does not wait for all that was queued before
TEST_F(WindowLoaderTest, aReaderMakesAReadUrgent) {
    device.device->setDepth(2); // one background request at a time
    device.device->setDelay(5000, 5000);
    for (uint32_t n = 0; n < 6; ++n)
        loader.load({ClusterNo(n), 1_seq, 0, 100}, ClusterNo(n), IoClass::background, noted());
    EXPECT_EQ(reads(), 1U);
    const auto begin = device.clock.micros();
    loader.load({4_c, 1_seq, 0, 100}, 4_c, IoClass::background, noted());
    EXPECT_EQ(reads(), 1U);
    bool mine = false;
    loader.load({4_c, 1_seq, 0, 50}, 4_c, IoClass::urgent, [&](const Status s) { mine = s == Status::ok; });
    EXPECT_EQ(reads(), 2U);
    while (!mine && device.clock.micros() < begin + 100000) {
        device.clock.advance(1000);
        device.device->poll();
    }
    EXPECT_TRUE(mine);
    EXPECT_LE(device.clock.micros() - begin, 7000U);
    ASSERT_TRUE(settle(7));
}

TEST_F(WindowLoaderTest, aPinStaysUntilTheAnswer) {
    device.device->script(IoOp::read, 1, Fault::error);
    loader.load({3_c, 1_seq, 0, 100}, 5_c, IoClass::urgent, noted());
    EXPECT_EQ(p.catalog.clusters()[5_c].pins, 1U);
    EXPECT_EQ(p.catalog.clusters()[3_c].pins, 0U);
    ASSERT_TRUE(settle(1));
    EXPECT_EQ(p.catalog.clusters()[5_c].pins, 0U);
    EXPECT_EQ(answers, std::vector<Status>{Status::ioError});
    EXPECT_FALSE(loader.has({3_c, 1_seq, 0, 100}));
}

TEST_F(WindowLoaderTest, thePolicyDecidesOnGroups) {
    EXPECT_TRUE(loader.loadWithGroup({3_c, 1_seq, 8 * KB, 4 * KB}, run(4 * KB, 24 * KB, 5), noted()));
    EXPECT_EQ(policy.askedMates, 4U);
    EXPECT_EQ(policy.askedBytes, 16 * KB) << "those of the mates";
    EXPECT_TRUE(loader.has({3_c, 1_seq, 20 * KB, 4 * KB}));
    policy.group = false;
    EXPECT_FALSE(loader.loadWithGroup({4_c, 1_seq, 8 * KB, 4 * KB}, run(4 * KB, 24 * KB, 5), noted()));
    EXPECT_FALSE(loader.has({4_c, 1_seq, 20 * KB, 4 * KB}));
    ASSERT_TRUE(settle(2));
    EXPECT_EQ(bytesRead(), 20 * KB + 4 * KB);
    EXPECT_EQ(cache.use.groupReads().reads, 1U);
    EXPECT_EQ(cache.use.groupReads().mates, 4U);
    EXPECT_EQ(cache.use.groupReads().bytes, 16 * KB);
}

TEST_F(WindowLoaderTest, noPolicyIsAskedForWhatIsNoGroup) {
    EXPECT_FALSE(loader.loadWithGroup({3_c, 1_seq, 8 * KB, 4 * KB}, run(8 * KB, 12 * KB, 1), noted())) << "it is alone";
    EXPECT_FALSE(loader.loadWithGroup({4_c, 1_seq, 8 * KB, 4 * KB}, run(12 * KB, 24 * KB, 3), noted())) << "it is not in the run";
    EXPECT_FALSE(loader.loadWithGroup({5_c, 1_seq, 0, 4 * KB}, run(0, 128 * KB, 30), noted())) << "an eighth of the memory";
    EXPECT_FALSE(loader.loadWithGroup({6_c, 1_seq, 0, 4 * KB}, Catalog::Run(), noted())) << "nothing is known";
    EXPECT_EQ(policy.askedMates, 0U);
    ASSERT_TRUE(settle(4));
    EXPECT_EQ(bytesRead(), 4 * 4 * KB);
}

/// what comes takes the place of windows that may be found
TEST_F(WindowLoaderTest, thePolicyKnowsWhatIsDisplaced) {
    for (unsigned i = 0; i < 20000; ++i)
        cache.use.windowLeaves(4 * KB, i % 2);
    EXPECT_TRUE(loader.loadWithGroup({3_c, 1_seq, 8 * KB, 4 * KB}, run(4 * KB, 24 * KB, 5), noted()));
    EXPECT_NEAR(policy.askedDisplaced, 2, 0.1) << "half of four windows";
    EXPECT_TRUE(loader.mayReadGroup(run(4 * KB, 28 * KB, 6)));
    EXPECT_NEAR(policy.askedDisplaced, 1.5, 0.1);
    ASSERT_TRUE(settle(1));
}

/// to look at the members takes longer than the read of one object
TEST_F(WindowLoaderTest, groupsOfNoUseAreNotLookedAt) {
    EXPECT_TRUE(loader.mayReadGroup(run(4 * KB, 24 * KB, 5)));
    EXPECT_EQ(policy.askedMates, 4U);
    EXPECT_EQ(policy.askedBytes, 10 * KB) << "the other half may be in memory";
    policy.group = false;
    EXPECT_TRUE(loader.mayReadGroup(run(4 * KB, 24 * KB, 1))) << "there is nothing to look at";
    unsigned looks = 0;
    for (unsigned n = 0; n < 255; ++n)
        looks += loader.mayReadGroup(run(4 * KB, 24 * KB, 5));
    EXPECT_EQ(looks, 0U);
    EXPECT_TRUE(loader.mayReadGroup(run(4 * KB, 24 * KB, 5))) << "a trial is due";
    EXPECT_FALSE(loader.loadWithGroup({3_c, 1_seq, 8 * KB, 4 * KB}, Catalog::Run(), noted())) << "there was no group after all";
    EXPECT_TRUE(loader.mayReadGroup(run(4 * KB, 24 * KB, 5))) << "so that it stays due";
    EXPECT_TRUE(loader.loadWithGroup({4_c, 1_seq, 8 * KB, 4 * KB}, run(4 * KB, 24 * KB, 5), noted()));
    EXPECT_FALSE(loader.mayReadGroup(run(4 * KB, 24 * KB, 5))) << "that was the trial";
    ASSERT_TRUE(settle(2));
}

TEST_F(WindowLoaderTest, aTrialComesAfterManyRefusals) {
    policy.group = policy.ahead = false;
    unsigned groups = 0;
    unsigned ahead = 0;
    for (uint32_t n = 0; n < 256; ++n) {
        const ClusterNo c(n % 60);
        groups += loader.loadWithGroup({c, Sequence(1 + n), 0, KB}, run(0, 4 * KB, 3), noted());
        ahead += loader.prefetch({c, Sequence(1000 + n), 0, KB}, 3, 7);
        ASSERT_TRUE(settle(n + 1));
    }
    EXPECT_EQ(groups, 1U);
    EXPECT_EQ(ahead, 4U);
}

TEST_F(WindowLoaderTest, prefetchesAsThePolicySays) {
    EXPECT_FALSE(loader.prefetch({3_c, 1_seq, 0, static_cast<uint32_t>(loader.maxPrefetch()) + 1}, 40, 7)) << "too large";
    EXPECT_TRUE(loader.prefetch({3_c, 1_seq, 0, static_cast<uint32_t>(loader.maxPrefetch())}, 40, 7));
    policy.ahead = false;
    EXPECT_FALSE(loader.prefetch({4_c, 1_seq, 0, KB}, 2, 7));
    ASSERT_TRUE(settle(0));
    EXPECT_EQ(reads(), 1U);
    const auto w = cache.windows.peek({3_c, 1_seq, 0, KB});
    ASSERT_NE(w, nullptr);
    EXPECT_EQ(w->extra.prefetched, 40U);
    EXPECT_EQ(w->extra.client, 7U);
    EXPECT_EQ(cache.use.prefetches().objects, 40U);
}

/// what nobody waits for is not begun when others wait
TEST_F(WindowLoaderTest, unaskedReadsAreNotDeferred) {
    std::vector<WindowPointer> held;
    for (ClusterNo c{0}; c < 16_c; ++c)
        held.push_back(cache.windows.expect({c, 1_seq, 0, 64 * KB}, Window::Extra()));
    loader.load({20_c, 1_seq, 0, KB}, 20_c, IoClass::urgent, noted());
    EXPECT_EQ(reads(), 0U) << "it waits for memory";
    EXPECT_TRUE(loader.has({20_c, 1_seq, 0, KB}));
    EXPECT_FALSE(loader.prefetch({21_c, 1_seq, 0, KB}, 2, 7));
    EXPECT_FALSE(loader.readAhead({22_c, 1_seq, 0, KB}, 22_c));
    EXPECT_FALSE(loader.has({21_c, 1_seq, 0, KB}));
    EXPECT_FALSE(loader.has({22_c, 1_seq, 0, KB}));
    for (const auto &w: held)
        cache.windows.drop(w);
    ASSERT_TRUE(settle(1));
    EXPECT_EQ(reads(), 1U);
}

TEST_F(WindowLoaderTest, nextPartsTakeAQuarterOfTheMemory) {
    for (ClusterNo c{0}; c < 4_c; ++c)
        EXPECT_TRUE(loader.readAhead({c, 1_seq, 0, 64 * KB}, c)) << c.value();
    EXPECT_FALSE(loader.readAhead({4_c, 1_seq, 0, 64 * KB}, 4_c));
    EXPECT_FALSE(loader.readAhead({0_c, 1_seq, 0, 64 * KB}, 0_c)) << "that is on its way";
    ASSERT_TRUE(settle(0));
    ASSERT_NE(cache.windows.find({0_c, 1_seq, 0, 64 * KB}), nullptr);
    EXPECT_TRUE(loader.readAhead({4_c, 1_seq, 0, 64 * KB}, 4_c)) << "the first one has found its reader";
}
