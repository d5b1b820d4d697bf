// SPDX-License-Identifier: GPL-2.0-or-later
/* The read cache, alone on a device: windows and what brings them. */

#include "test-suite/unit/support/PartsSupport.h"

#include <algorithm>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

class ReadCacheTest : public ::testing::Test
{
protected:
    ReadCacheTest() {
        p.allFree();
        const auto &g = p.context.geometry;
        for (ClusterNo c{0}; c < 64_c; ++c) {
            const auto bytes = content(c);
            memcpy(device.media.data() + g.clusterOffset(c), bytes.data(), bytes.size());
        }
    }

    static std::string content(const ClusterNo c) { return bytesOf(c.value(), 65536); }

    /// loads and notes the answer
    void load(const ClusterNo c, const uint32_t start, const uint32_t size) {
        loader.load({c, 1_seq, start, size}, c, IoClass::urgent, [this, c, start, size](const Status s) {
            answers.push_back(s);
            const auto w = find(c, 1_seq, start, size);
            if (s == Status::ok) {
                ASSERT_NE(w, nullptr) << "in memory while its waiters are told";
                EXPECT_EQ(std::string(w->at(start), size), content(c).substr(start, size));
            }
        });
    }
    WindowPointer find(const ClusterNo c, const Sequence sequence, const uint32_t start, const uint32_t size) {
        return windows.find({c, sequence, start, size});
    }
    bool answered(const size_t n) {
        return p.until([&] { loader.poll(); return answers.size() >= n; }, 200);
    }
    /// one after the other
    void loadAll(const ClusterNo first, const ClusterNo end) {
        for (auto c = first; c < end; ++c) {
            load(c, 0, 65536);
            ASSERT_TRUE(answered(c.value() + 1));
        }
    }
    uint64_t reads() const { return device.device->requests(IoOp::read); }

    PartsDevice device;
    Parts p{device};
    ReadCache cache{*device.device, p.catalog, p.context.geometry, p.readPolicy, 4 * 65536};
    WindowStore &windows = cache.windows;
    WindowLoader &loader = cache.loader;
    std::vector<Status> answers;
};

} // namespace

TEST_F(ReadCacheTest, loadsWhatIsWantedAndNotMore) {
    EXPECT_EQ(find(3_c, 1_seq, 5000, 100), nullptr);
    EXPECT_EQ(windows.misses(), 1U);
    load(3_c, 5000, 4000);
    EXPECT_EQ(p.catalog.clusters()[3_c].pins, 1U) << "nobody may write there meanwhile";
    ASSERT_TRUE(answered(1));
    EXPECT_EQ(p.catalog.clusters()[3_c].pins, 0U);
    EXPECT_EQ(windows.bytes(), 8192U) << "two blocks of the device";
    EXPECT_NE(find(3_c, 1_seq, 4096, 8192), nullptr);
    EXPECT_EQ(find(3_c, 1_seq, 4096, 8193), nullptr);
    EXPECT_EQ(find(3_c, 1_seq, 4095, 10), nullptr);
    EXPECT_EQ(find(3_c, 2_seq, 5000, 100), nullptr) << "what the cluster holds now is something else";
    EXPECT_EQ(find(4_c, 1_seq, 5000, 100), nullptr);
}

TEST_F(ReadCacheTest, joinsReadsUnderWay) {
    device.device->setDelay(3000, 3000);
    load(3_c, 0, 20000);
    load(3_c, 5000, 100);
    load(3_c, 0, 20480);
    EXPECT_EQ(reads(), 1U);
    load(3_c, 15000, 6000); // goes beyond it
    EXPECT_EQ(reads(), 2U);
    load(4_c, 0, 100);
    EXPECT_EQ(reads(), 3U);
    ASSERT_TRUE(answered(5));
    EXPECT_EQ(answers, std::vector<Status>(5, Status::ok));
    EXPECT_EQ(reads(), 3U);
}

TEST_F(ReadCacheTest, doesNotJoinReadsOfFormerContents) {
    device.device->setDelay(3000, 3000);
    loader.load({3_c, 1_seq, 0, 4096}, 3_c, IoClass::urgent, [](Status) {});
    loader.load({3_c, 2_seq, 0, 4096}, 3_c, IoClass::urgent, [](Status) {});
    EXPECT_EQ(reads(), 2U);
    ASSERT_TRUE(p.idle());
    EXPECT_NE(find(3_c, 1_seq, 0, 10), nullptr);
    EXPECT_NE(find(3_c, 2_seq, 0, 10), nullptr);
}

TEST_F(ReadCacheTest, evictsWhatWasUsedLongestAgo) {
    for (ClusterNo c{0}; c < 4_c; ++c)
        load(c, 0, 65536);
    ASSERT_TRUE(answered(4));
    EXPECT_EQ(windows.bytes(), windows.limit());
    EXPECT_NE(find(0_c, 1_seq, 0, 1), nullptr);
    load(4_c, 0, 65536);
    ASSERT_TRUE(answered(5));
    EXPECT_NE(find(0_c, 1_seq, 0, 1), nullptr);
    EXPECT_EQ(find(1_c, 1_seq, 0, 1), nullptr);
    EXPECT_NE(find(2_c, 1_seq, 0, 1), nullptr);
    EXPECT_EQ(windows.bytes(), windows.limit());
}

/// a large window is quickly read again, for what it takes
TEST_F(ReadCacheTest, evictsWhatCostsLeastToReadAgain) {
    for (ClusterNo c{0}; c < 8_c; ++c)
        load(c, 0, 4096);
    for (ClusterNo c{8}; c < 11_c; ++c)
        load(c, 0, 65536);
    ASSERT_TRUE(answered(11));
    load(11_c, 0, 65536);
    ASSERT_TRUE(answered(12));
    EXPECT_EQ(find(8_c, 1_seq, 0, 1), nullptr);
    for (ClusterNo c{9}; c < 12_c; ++c)
        EXPECT_NE(find(c, 1_seq, 0, 1), nullptr) << c.value();
    for (ClusterNo c{1}; c < 8_c; ++c)
        EXPECT_NE(find(c, 1_seq, 0, 1), nullptr) << "small, and used longer ago: " << c.value();
    // but not forever
    for (ClusterNo c{12}; c < 60_c; ++c)
        load(c, 0, 65536);
    ASSERT_TRUE(answered(60));
    for (ClusterNo c{0}; c < 8_c; ++c)
        EXPECT_EQ(find(c, 1_seq, 0, 1), nullptr) << c.value();
}

/// or else large windows would be gone before anybody has read them to their end
TEST_F(ReadCacheTest, keepsWhatWasUsedJustNow) {
    for (ClusterNo c{0}; c < 60_c; ++c)
        load(c, 0, 4096);
    ASSERT_TRUE(answered(60));
    load(60_c, 0, 65536);
    ASSERT_TRUE(answered(61));
    load(61_c, 0, 65536);
    ASSERT_TRUE(answered(62));
    EXPECT_NE(find(60_c, 1_seq, 0, 65536), nullptr);
    EXPECT_NE(find(61_c, 1_seq, 0, 65536), nullptr);
    EXPECT_EQ(find(0_c, 1_seq, 0, 1), nullptr) << "worth more, but somebody has to go";
}

TEST_F(ReadCacheTest, keepsWithinItsLimit) {
    device.device->setDelay(1000, 5000);
    for (ClusterNo c{0}; c < 64_c; ++c) {
        load(c, 0, 65536);
        EXPECT_LE(windows.bytes(), windows.limit());
    }
    EXPECT_EQ(reads(), 4U) << "the others wait for memory";
    ASSERT_TRUE(p.until([&] {
        EXPECT_LE(windows.bytes(), windows.limit());
        return answers.size() == 64;
    }));
    EXPECT_EQ(answers, std::vector<Status>(64, Status::ok));
    for (ClusterNo c{0}; c < 64_c; ++c)
        EXPECT_EQ(p.catalog.clusters()[c].pins, 0U);
}

TEST_F(ReadCacheTest, joinsReadsThatWaitForMemory) {
    device.device->setDelay(1000, 1000);
    for (ClusterNo c{0}; c < 6_c; ++c) {
        load(c, 0, 65536);
        load(c, 100, 100);
    }
    ASSERT_TRUE(answered(12));
    EXPECT_EQ(reads(), 6U);
}

/// memory that is full of clusters that somebody holds
TEST_F(ReadCacheTest, startsWaitingReadsWhenMemoryComesBack) {
    std::vector<WindowPointer> held;
    for (ClusterNo c{0}; c < 6_c; ++c) {
        held.push_back(windows.insert(c, 9_seq, std::make_shared<Buffer>(65536), 65536));
        windows.written(*held.back());
    }
    EXPECT_GT(windows.bytes(), windows.limit()) << "written bytes are in memory anyway";
    load(10_c, 0, 65536);
    EXPECT_FALSE(answered(1));
    held.clear();
    loader.poll();
    EXPECT_TRUE(answered(1));
    EXPECT_LE(windows.bytes(), windows.limit());
}

/// a hit is not to wait until large clusters are written
TEST_F(ReadCacheTest, readsWaitForNoWrite) {
    std::vector<WindowPointer> held;
    for (ClusterNo c{0}; c < 6_c; ++c)
        held.push_back(windows.insert(c, 9_seq, std::make_shared<Buffer>(65536), 65536));
    load(10_c, 0, 65536);
    EXPECT_TRUE(answered(1));
    EXPECT_EQ(answers, std::vector<Status>{Status::ok});
    for (const auto &w: held)
        EXPECT_EQ(find(w->range.cluster, 9_seq, 0, 65536), w);
    for (const auto &w: held)
        windows.written(*w);
    held.clear();
    loader.poll();
    EXPECT_LE(windows.bytes(), windows.limit()) << "now they count like others";
}

TEST_F(ReadCacheTest, findsWhatWasJustWritten) {
    auto buffer = std::make_shared<Buffer>(8192);
    memset(buffer->data(), 'w', 8192);
    windows.insert(7_c, 5_seq, buffer, 5000);
    const auto w = find(7_c, 5_seq, 100, 4900);
    ASSERT_NE(w, nullptr);
    EXPECT_TRUE(w->trusted);
    EXPECT_EQ(std::string(w->at(100), 4900), std::string(4900, 'w'));
    EXPECT_EQ(find(7_c, 5_seq, 100, 4901), nullptr);
    EXPECT_EQ(windows.bytes(), 8192U);
}

TEST_F(ReadCacheTest, forgets) {
    load(3_c, 0, 4096);
    load(3_c, 20000, 4096);
    load(4_c, 0, 4096);
    ASSERT_TRUE(answered(3));
    windows.forget(3_c);
    windows.forget(50_c);
    EXPECT_EQ(find(3_c, 1_seq, 0, 1), nullptr);
    EXPECT_EQ(find(3_c, 1_seq, 20000, 1), nullptr);
    EXPECT_NE(find(4_c, 1_seq, 0, 1), nullptr);
    EXPECT_EQ(windows.bytes(), 4096U);
}

TEST_F(ReadCacheTest, keepsNothingOfFailedReads) {
    device.device->script(IoOp::read, 1, Fault::error);
    load(3_c, 0, 65536);
    load(3_c, 10, 10);
    ASSERT_TRUE(answered(2));
    EXPECT_EQ(answers, std::vector<Status>(2, Status::ioError));
    EXPECT_EQ(windows.bytes(), 0U);
    EXPECT_EQ(p.catalog.clusters()[3_c].pins, 0U);
    load(3_c, 0, 65536);
    ASSERT_TRUE(answered(3));
    EXPECT_EQ(answers.back(), Status::ok);
}

TEST_F(ReadCacheTest, letsASingleLargeWindowIn) {
    windows.setLimit(1000);
    load(3_c, 0, 65536);
    load(4_c, 0, 65536);
    ASSERT_TRUE(answered(2));
    EXPECT_EQ(answers, std::vector<Status>(2, Status::ok));
    EXPECT_LE(windows.bytes(), 65536U);
}

TEST_F(ReadCacheTest, piecesOfAWrittenClusterLeaveOneByOne) {
    const auto bytes = content(7_c);
    const auto buffer = std::make_shared<Buffer>(65536);
    memcpy(buffer->data(), bytes.data(), bytes.size());
    auto whole = windows.insert(7_c, 1_seq, buffer, 65536);
    for (const auto &run: std::vector<std::pair<uint32_t, uint32_t>>{{4096, 12288}, {12288, 20000}, {20480, 65536}}) {
        EXPECT_TRUE(windows.split(whole, run));
        EXPECT_LE(windows.bytes(), 2 * 65536U) << "nothing counts twice";
        EXPECT_NE(find(7_c, 1_seq, 60000, 100), nullptr) << "all is there meanwhile";
    }
    windows.drop(whole);
    whole.reset();
    EXPECT_EQ(windows.bytes(), 8192U + 8192U + 45056U);
    const auto second = find(7_c, 1_seq, 12288, 7712);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(std::string(second->at(12288), 7712), bytes.substr(12288, 7712));
    EXPECT_TRUE(second->trusted) << "nobody else has written it";
    EXPECT_EQ(find(7_c, 1_seq, 0, 100), nullptr) << "nothing is wanted from there";
    EXPECT_EQ(find(7_c, 1_seq, 12000, 1000), nullptr) << "in two pieces";
}

/// who holds a window may go on with it, whatever becomes of its cluster
TEST_F(ReadCacheTest, doesNotForgetWhatIsHeld) {
    const auto held = windows.insert(7_c, 5_seq, std::make_shared<Buffer>(8192), 8192);
    windows.forget(7_c);
    windows.forgetUnused(7_c, 5_seq, {});
    EXPECT_EQ(find(7_c, 5_seq, 0, 100), held);
    EXPECT_EQ(windows.bytes(), 8192U);
}

/// of what has to go, that stays once more which somebody has used
TEST_F(ReadCacheTest, windowsAreReducedToWhatWasUsed) {
    windows.setLimit(16 * 65536);
    load(0_c, 0, 65536);
    ASSERT_TRUE(answered(1));
    const auto use = [this](const uint32_t from, const uint32_t size) {
        const auto w = find(0_c, 1_seq, from, size);
        ASSERT_NE(w, nullptr);
        EXPECT_EQ(std::string(w->at(from), size), content(0_c).substr(from, size));
        w->use(from, size);
    };
    ASSERT_NO_FATAL_FAILURE(use(30000, 5000));
    ASSERT_NO_FATAL_FAILURE(use(10000, 3001));
    ASSERT_NO_FATAL_FAILURE(use(30000, 5000));
    ASSERT_NO_FATAL_FAILURE(loadAll(1_c, 18_c));
    EXPECT_EQ(find(0_c, 1_seq, 0, 100), nullptr) << "nobody wanted that";
    EXPECT_EQ(find(0_c, 1_seq, 13000, 10), nullptr) << "beyond the end of a piece";
    EXPECT_EQ(find(0_c, 1_seq, 9999, 10), nullptr);
    ASSERT_NO_FATAL_FAILURE(use(10000, 3001));
    ASSERT_NO_FATAL_FAILURE(use(30000, 5000));
    ASSERT_NO_FATAL_FAILURE(use(34990, 10));
    EXPECT_LE(windows.bytes(), windows.limit());
    windows.setLimit(65536);
    ASSERT_NO_FATAL_FAILURE(loadAll(18_c, 19_c));
    EXPECT_EQ(find(0_c, 1_seq, 10000, 3001), nullptr) << "but not forever";
    EXPECT_EQ(windows.bytes(), 65536U);
    EXPECT_EQ(reads(), 19U);
}

TEST_F(ReadCacheTest, whatWasUsedNearlyAllIsNotReduced) {
    load(0_c, 0, 65536);
    windows.setLimit(16 * 65536);
    ASSERT_TRUE(answered(1));
    find(0_c, 1_seq, 0, 60000)->use(0, 60000);
    ASSERT_NO_FATAL_FAILURE(loadAll(1_c, 18_c));
    EXPECT_EQ(find(0_c, 1_seq, 0, 60000), nullptr);
    EXPECT_EQ(windows.bytes(), 16 * 65536U);
}

/// nor what somebody does not want to have in memory
TEST_F(ReadCacheTest, whatIsToLeaveFirstIsNotReduced) {
    load(0_c, 0, 65536);
    ASSERT_TRUE(answered(1));
    find(0_c, 1_seq, 0, 5000)->use(0, 5000);
    windows.putFirst({0_c, 1_seq, 0, 5000});
    windows.setLimit(16 * 65536);
    ASSERT_NO_FATAL_FAILURE(loadAll(1_c, 17_c));
    EXPECT_EQ(find(0_c, 1_seq, 0, 5000), nullptr);
}

/// what is only a copy of what was used is void with its cluster, too
TEST_F(ReadCacheTest, reducedWindowsAreForgotten) {
    windows.setLimit(16 * 65536);
    load(0_c, 0, 65536);
    ASSERT_TRUE(answered(1));
    find(0_c, 1_seq, 0, 5000)->use(0, 5000);
    ASSERT_NO_FATAL_FAILURE(loadAll(1_c, 18_c));
    ASSERT_NE(find(0_c, 1_seq, 0, 5000), nullptr);
    windows.forget(0_c);
    EXPECT_EQ(find(0_c, 1_seq, 0, 5000), nullptr);
}

/// nothing comes in the place of what is not there
TEST_F(ReadCacheTest, splitsOnlyItsOwnWindows) {
    const auto stranger = std::make_shared<Window>();
    stranger->range = {7_c, 0_seq, 0, 8192};
    stranger->buffer = std::make_shared<Buffer>(8192);
    EXPECT_FALSE(windows.split(stranger, {0, 4096}));
    EXPECT_EQ(windows.bytes(), 0U);
    windows.insert(7_c, 5_seq, std::make_shared<Buffer>(8192), 8192);
    EXPECT_FALSE(windows.split(stranger, {0, 4096}));
    EXPECT_EQ(windows.bytes(), 8192U);
    EXPECT_NE(find(7_c, 5_seq, 0, 8192), nullptr);
}

/// windows of all sizes in one cluster, some over others
TEST_F(ReadCacheTest, findsAmongWindowsOfAllSizes) {
    std::vector<std::pair<uint32_t, uint32_t>> pieces = {{0, 4096}, {4096, 512}, {4608, 512}, {8192, 20000}, {9000, 700}, {30000, 35536}};
    for (uint32_t n = 0; n < 40; ++n)
        pieces.push_back({28672 + n * 8, 8});
    ReadCache large(*device.device, p.catalog, p.context.geometry, p.readPolicy, 64 * 65536);
    const auto whole = std::make_shared<Buffer>(65536);
    const auto bytes = content(3_c);
    memcpy(whole->data(), bytes.data(), 65536);
    for (const auto &w: pieces) {
        const auto window = large.windows.insert(3_c, 1_seq, whole, 65536);
        EXPECT_TRUE(large.windows.split(window, {w.first, w.first + w.second}));
        large.windows.drop(window);
    }
    for (uint32_t start = 0; start < 65536; start += 4) {
        for (const uint32_t size: {1U, 8U, 9U, 600U, 5000U, 30000U}) {
            const bool is = std::any_of(pieces.begin(), pieces.end(), [&](const auto &w) {
                return start >= w.first && start + size <= w.first + w.second;
            });
            const auto found = large.windows.find({3_c, 1_seq, start, size});
            ASSERT_EQ(found != nullptr, is) << start << " " << size;
            if (found) {
                ASSERT_EQ(memcmp(found->at(start), bytes.data() + start, size), 0);
            }
        }
    }
    EXPECT_EQ(large.windows.find({3_c, 2_seq, 0, 8}), nullptr);
    large.windows.forget(3_c);
    EXPECT_EQ(large.windows.find({3_c, 1_seq, 0, 8}), nullptr);
    EXPECT_EQ(large.windows.bytes(), 0U);
}
