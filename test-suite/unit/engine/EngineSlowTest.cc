// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that come in slowly: which memory they take, and from whom. */

#include "test-suite/unit/support/EngineSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// an object that is coming in
struct Slow {
    std::unique_ptr<Writer> writer;
    std::string bytes; ///< all of it
    size_t sent = 0;

    /// \returns whether they were taken
    bool send(const size_t more) {
        const auto from = sent;
        sent += more;
        return writer->append(bytes.data() + from, more);
    }
};

/// begins an object
Slow
begin(TestStore &t, const uint64_t n, const size_t size, const bool known = true)
{
    return {t.engine->create(keyOf(n), infoOf(1), known ? static_cast<int64_t>(size) : -1), bytesOf(n, size), 0};
}

/// \param stagingMb memory for parts is 16 MB at least
Config
slowConfig(const uint32_t stagingMb)
{
    auto c = smallConfig();
    c.clusterKb = 1024;
    c.objectKb = 13;
    c.stagingMb = stagingMb;
    c.readCacheMb = 8;
    c.localityMb = 0;
    return c;
}

/// begins as many objects as there is room for
void
beginMost(TestStore &t, std::vector<Slow> &slow)
{
    for (uint64_t n = 0;; ++n) {
        auto s = begin(t, n, 16000);
        if (!s.writer)
            break;
        ASSERT_TRUE(s.send(10000));
        slow.push_back(std::move(s));
    }
    ASSERT_GT(slow.size(), 100U);
}

} // namespace

/// a part takes the memory of what has come of it
TEST(EngineSlow, manyLargeObjectsThatBeganTakeLittleMemory) {
    TestStore t(256 * MB, slowConfig(4));
    ASSERT_NO_FATAL_FAILURE(t.start());
    std::vector<Slow> slow;
    for (uint64_t n = 0; n < 200; ++n) {
        slow.push_back(begin(t, n, MB + 1000));
        ASSERT_NE(slow.back().writer, nullptr) << n;
        ASSERT_TRUE(slow.back().send(17000)) << n;
    }
    const auto stats = t.engine->stats();
    EXPECT_EQ(stats.fillingBytes, 200U * 16384);
    EXPECT_LE(stats.fillingBytes, stats.fillingLimit);
    EXPECT_EQ(stats.counters.refused, 0U);
    EXPECT_NE(t.engine->report().find("parts coming in limit"), std::string::npos);
    // what has grown in steps is whole
    for (const uint64_t n: {3U, 150U}) {
        while (slow[n].sent < slow[n].bytes.size())
            ASSERT_TRUE(slow[n].send(std::min<size_t>(5000, slow[n].bytes.size() - slow[n].sent)));
        ASSERT_EQ(slow[n].writer->finish(), Status::ok);
        EXPECT_TRUE(t.has(keyOf(n), slow[n].bytes));
    }
    EXPECT_EQ(t.engine->stats().fillingBytes, 198U * 16384);
    slow.clear();
    EXPECT_EQ(t.engine->stats().fillingBytes, 0U);
}

/// at the limit, those give way that have got nothing for longest, but not those that somebody reads
TEST(EngineSlow, partsTakeOnlySoMuchMemory) {
    TestStore t(256 * MB, slowConfig(4));
    ASSERT_NO_FATAL_FAILURE(t.start());
    std::vector<Slow> slow;
    slow.push_back(begin(t, 0, 3 * MB));
    ASSERT_TRUE(slow[0].send(900000));
    auto reader = t.engine->read(*slow[0].writer);
    ASSERT_NE(reader, nullptr);
    for (uint64_t n = 1; n < 40; ++n) {
        slow.push_back(begin(t, n, 3 * MB));
        ASSERT_NE(slow.back().writer, nullptr) << n;
        while (slow.back().sent < 900000)
            ASSERT_TRUE(slow.back().send(30000)) << n;
        EXPECT_LE(t.engine->stats().fillingBytes, t.engine->stats().fillingLimit);
    }
    EXPECT_EQ(t.engine->stats().fillingLimit, 16 * MB);
    EXPECT_EQ(t.engine->stats().fillingBytes, 16 * MB);
    EXPECT_EQ(t.engine->stats().counters.refused, 24U);
    EXPECT_FALSE(slow[1].send(1000));
    EXPECT_EQ(slow[1].writer->finish(), Status::aborted);
    std::string got;
    ASSERT_TRUE(slow[0].send(100000));
    ASSERT_EQ(t.readAll(*reader, got), Status::ok);
    EXPECT_TRUE(got == slow[0].bytes.substr(0, 1000000));
    while (slow[39].sent < slow[39].bytes.size())
        ASSERT_TRUE(slow[39].send(std::min<size_t>(30000, slow[39].bytes.size() - slow[39].sent)));
    ASSERT_EQ(slow[39].writer->finish(), Status::ok);
    EXPECT_TRUE(t.has(keyOf(39), slow[39].bytes));
    // where all are being read, there is more; a reader keeps the bytes of an object that ended
    slow.clear();
    EXPECT_EQ(t.engine->stats().fillingBytes, MB);
    EXPECT_EQ(t.readAll(*reader, got), Status::aborted) << "the rest never came";
    EXPECT_TRUE(got == bytesOf(0, 3 * MB).substr(0, 1000000));
    reader.reset();
    EXPECT_EQ(t.engine->stats().fillingBytes, 0U);
}

/// of known size or not: staging is for what is whole
TEST(EngineSlow, slowTransfersLeaveStagingToOthers) {
    for (const bool known: {true, false}) {
        TestStore t(256 * MB, slowConfig(8));
        ASSERT_NO_FATAL_FAILURE(t.start());
        std::vector<Slow> slow;
        for (uint64_t n = 0; n < 40; ++n) {
            slow.push_back(begin(t, n, 960000, known));
            ASSERT_NE(slow.back().writer, nullptr) << n;
        }
        for (int round = 0; round < 10; ++round) {
            for (auto &s: slow)
                (void)s.send(30000);
            // with an idle disk, nothing that is small is refused, and what is whole is packed
            for (uint64_t n = 0; n < 50; ++n) {
                const auto bytes = bytesOf(1000 + n, 20000);
                const auto writer = t.engine->create(keyOf(1000 * (round + 1) + n), infoOf(1), 20000);
                ASSERT_NE(writer, nullptr) << known << " " << round << " " << n;
                ASSERT_TRUE(writer->append(bytes.data(), bytes.size()));
                ASSERT_EQ(writer->finish(), Status::ok);
                t.engine->poll();
                t.device().wait(1);
            }
        }
        EXPECT_GT(t.engine->stats().counters.packedObjects, 300U);
        // some of them end well nonetheless
        unsigned whole = 0;
        for (uint64_t n = 0; n < slow.size(); ++n) {
            auto &s = slow[n];
            while (s.sent < s.bytes.size() && s.send(30000))
                t.step();
            if (s.writer->finish() == Status::ok) {
                ++whole;
                EXPECT_TRUE(t.has(keyOf(n), s.bytes));
            }
        }
        EXPECT_GE(whole, 20U);
    }
}

/// many that come to a standstill with their beginnings in staging make way after a while
TEST(EngineSlow, whatStandsStillGivesWay) {
    TestStore t(64 * MB, slowConfig(2));
    ASSERT_NO_FATAL_FAILURE(t.start());
    std::vector<Slow> slow;
    ASSERT_NO_FATAL_FAILURE(beginMost(t, slow));
    const auto reader = t.engine->read(*slow[0].writer);
    ASSERT_NE(reader, nullptr);
    t.pass(2.5);
    ASSERT_TRUE(slow[1].send(1000));
    EXPECT_EQ(t.engine->create(keyOf(1000), infoOf(1), 20000), nullptr);
    t.pass(1);
    const auto writer = t.engine->create(keyOf(1000), infoOf(1), 20000);
    EXPECT_NE(writer, nullptr);
    EXPECT_FALSE(slow[2].send(1000));
    EXPECT_TRUE(slow[0].send(6000)) << "somebody reads it";
    EXPECT_TRUE(slow[1].send(5000)) << "goes on";
    EXPECT_EQ(slow[0].writer->finish(), Status::ok);
    EXPECT_EQ(slow[1].writer->finish(), Status::ok);
    EXPECT_TRUE(t.has(keyOf(0), slow[0].bytes));
    EXPECT_TRUE(t.has(keyOf(1), slow[1].bytes));
    // no more of them than were needed
    unsigned left = 0;
    for (size_t n = 2; n < slow.size(); ++n)
        left += slow[n].writer->finish() != Status::aborted;
    EXPECT_GT(left, slow.size() / 2);
}

/// a few bytes now and then do not keep the memory of many
TEST(EngineSlow, whatDripsGivesWay) {
    TestStore t(64 * MB, slowConfig(2));
    ASSERT_NO_FATAL_FAILURE(t.start());
    std::vector<Slow> slow;
    ASSERT_NO_FATAL_FAILURE(beginMost(t, slow));
    const auto reader = t.engine->read(*slow[0].writer);
    ASSERT_NE(reader, nullptr);
    const auto drip = [&](const unsigned seconds) {
        for (unsigned i = 0; i < seconds; ++i) {
            t.pass(1);
            for (auto &s: slow)
                (void)s.send(1);
        }
    };
    drip(8);
    EXPECT_EQ(t.engine->create(keyOf(1000), infoOf(1), 20000), nullptr) << "they may be no slower than others";
    drip(4);
    const auto bytes = bytesOf(1000, 12000);
    ASSERT_EQ(t.store(keyOf(1000), bytes), Status::ok);
    EXPECT_TRUE(t.has(keyOf(1000), bytes));
    // somebody reads the first one, and the others are no more than were needed
    ASSERT_TRUE(slow[0].send(slow[0].bytes.size() - slow[0].sent));
    ASSERT_EQ(slow[0].writer->finish(), Status::ok);
    EXPECT_TRUE(t.has(keyOf(0), slow[0].bytes));
    unsigned whole = 0;
    for (uint64_t n = 1; n < slow.size(); ++n) {
        auto &s = slow[n];
        if (!s.send(s.bytes.size() - s.sent) || s.writer->finish() != Status::ok)
            continue;
        ++whole;
        EXPECT_TRUE(t.has(keyOf(n), s.bytes));
    }
    EXPECT_GT(whole, slow.size() / 2);
}
