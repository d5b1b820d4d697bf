// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of power cuts: what may be lost, and what may not. */

#include "test-suite/doubles/FaultyDevice.h"
#include "tools/models/MemoryDevice.h"

#include "test-suite/unit/support/DeviceSupport.h"
#include "tools/models/ManualClock.h"

#include <gtest/gtest.h>

#include <set>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t mediaSize = 1 << 20;
constexpr size_t sectorSize = VolatileMedia::sectorSize;
constexpr size_t sectors = mediaSize / sectorSize;

class DevicePowerTest : public testing::Test
{
protected:
    DevicePowerTest() { out.pattern(1); }

    std::string held(const uint64_t offset, const size_t size) const { return std::string(media.data() + offset, size); }

    /// how many sectors of the first 8 KB hold the new bytes; the others must
    /// hold the old ones
    unsigned landedSectors(const std::string &older, const std::string &newer) const {
        unsigned count = 0;
        for (size_t at = 0; at < 8192; at += sectorSize) {
            const auto now = held(at, sectorSize);
            if (now == newer.substr(at, sectorSize))
                ++count;
            else
                EXPECT_TRUE(now == older.substr(at, sectorSize)) << at;
        }
        return count;
    }

    ManualClock clock;
    MemoryDevice media{clock, mediaSize};
    TestBuffer out{8192};
    TestBuffer in{8192};
    const std::string zeros = std::string(8192, '\0');
};

} // namespace

TEST_F(DevicePowerTest, flushedBytesSurvive)
{
    for (uint64_t seed = 0; seed < 50; ++seed) {
        memset(media.data(), 0, 8192);
        FaultyDevice device(media, clock, seed);
        ASSERT_EQ(write(device, 0, out), Status::ok);
        ASSERT_EQ(device.unflushedSectors(), 16U);
        ASSERT_EQ(run(device, IoOp::flush), Status::ok);
        ASSERT_EQ(device.unflushedSectors(), 0U);
        device.cut();
        ASSERT_EQ(held(0, 8192), out.text());
    }
}

TEST_F(DevicePowerTest, flushesCoverWhatWasAnsweredBefore)
{
    FaultyDevice device(media, clock, 1);
    ASSERT_EQ(write(device, 0, out), Status::ok);
    device.setDelay(1000, 1000);
    std::vector<Status> answers;
    const auto note = [&](const Status s) { answers.push_back(s); };
    device.submit(makeIo(IoOp::write, 4096, 8192, out.data(), note));
    device.setDelay(2000, 2000);
    device.submit(makeIo(IoOp::flush, 0, 0, nullptr, note)); // answered after that write, but submitted before its answer
    while (!device.idle()) {
        device.wait(1);
        device.poll();
    }
    EXPECT_EQ(answers, std::vector<Status>(2, Status::ok));
    EXPECT_EQ(device.unflushedSectors(), 16U);
    ASSERT_EQ(run(device, IoOp::flush), Status::ok);
    EXPECT_EQ(device.unflushedSectors(), 0U);
}

TEST_F(DevicePowerTest, unflushedSectorsSurviveAtRandom)
{
    std::set<unsigned> counts;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        memset(media.data(), 'o', 8192);
        FaultyDevice device(media, clock, seed);
        ASSERT_EQ(write(device, 0, out), Status::ok);
        device.cut();
        counts.insert(landedSectors(std::string(8192, 'o'), out.text()));
    }
    EXPECT_GT(counts.size(), 5U);
}

TEST_F(DevicePowerTest, everyVersionMaySurvive)
{
    std::set<char> seen;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        memset(media.data(), '0', 4096);
        FaultyDevice device(media, clock, seed);
        for (const char version: {'1', '2', '3'}) {
            TestBuffer bytes(4096, version);
            ASSERT_EQ(write(device, 0, bytes), Status::ok);
        }
        device.cut();
        for (size_t at = 0; at < 4096; at += sectorSize) {
            ASSERT_EQ(held(at, sectorSize), std::string(sectorSize, held(at, 1)[0])); // whole sectors
            seen.insert(held(at, 1)[0]);
        }
    }
    EXPECT_EQ(seen, (std::set<char>{'0', '1', '2', '3'}));
}

TEST_F(DevicePowerTest, manyVersionsAreForgotten)
{
    FaultyDevice device(media, clock, 1);
    for (unsigned i = 0; i < 100; ++i) {
        TestBuffer bytes(4096, static_cast<char>(i));
        ASSERT_EQ(write(device, 0, bytes), Status::ok);
    }
    EXPECT_EQ(device.unflushedSectors(), 8U);
    device.cut();
    for (size_t at = 0; at < 4096; at += sectorSize)
        EXPECT_GE(held(at, 1)[0], 100 - 1 - static_cast<int>(VolatileMedia::maxVersions));
}

TEST_F(DevicePowerTest, writesInFlightAreTorn)
{
    std::set<unsigned> counts;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        memset(media.data(), 0, 8192);
        FaultyDevice device(media, clock, seed);
        device.setDelay(1000, 1000);
        std::vector<Status> answers;
        device.submit(makeIo(IoOp::write, 0, 8192, out.data(), [&](const Status s) { answers.push_back(s); }));
        device.cut();
        ASSERT_TRUE(answers.empty());
        device.poll();
        ASSERT_EQ(answers, std::vector<Status>{Status::ioError});
        counts.insert(landedSectors(zeros, out.text()));
    }
    EXPECT_TRUE(counts.count(0));
    EXPECT_GT(counts.size(), 5U);
}

TEST_F(DevicePowerTest, nothingWorksUntilRevived)
{
    FaultyDevice device(media, clock, 1);
    EXPECT_TRUE(device.powered());
    device.cut();
    EXPECT_FALSE(device.powered());
    device.cut(); // again: no change
    EXPECT_EQ(write(device, 0, out), Status::ioError);
    EXPECT_EQ(read(device, 0, in), Status::ioError);
    EXPECT_EQ(run(device, IoOp::flush), Status::ioError);
    EXPECT_EQ(held(0, 8192), zeros);
    device.revive();
    EXPECT_EQ(write(device, 0, out), Status::ok);
    EXPECT_EQ(read(device, 0, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
}

TEST_F(DevicePowerTest, hungRequestsAreAnsweredByTheCut)
{
    FaultyDevice device(media, clock, 1);
    device.script(IoOp::read, 1, Fault::hang);
    std::vector<Status> answers;
    device.submit(makeIo(IoOp::read, 0, 8192, in.data(), [&](const Status s) { answers.push_back(s); }));
    device.poll();
    EXPECT_TRUE(answers.empty());
    device.cut();
    device.poll();
    EXPECT_EQ(answers, std::vector<Status>{Status::ioError});
    EXPECT_TRUE(device.idle());
}

TEST_F(DevicePowerTest, scriptedCut)
{
    FaultyDevice device(media, clock, 5);
    device.script(IoOp::write, 2, Fault::cut);
    EXPECT_EQ(write(device, 65536, out), Status::ok);
    EXPECT_EQ(run(device, IoOp::flush), Status::ok);
    EXPECT_EQ(write(device, 0, out), Status::ioError);
    EXPECT_FALSE(device.powered());
    EXPECT_EQ(held(65536, 8192), out.text());
    (void)landedSectors(zeros, out.text());
    EXPECT_EQ(device.injected(Fault::cut), 1U);
}

TEST_F(DevicePowerTest, cutAtARequestOfAnyKind)
{
    for (uint64_t nth = 1; nth <= 6; ++nth) {
        FaultyDevice device(media, clock, nth);
        device.cutAt(nth);
        for (uint64_t i = 1; i <= 6; ++i) {
            const auto answer = i % 3 == 0 ? run(device, IoOp::flush) : i % 3 == 1 ? write(device, 0, out) : read(device, 0, in);
            EXPECT_EQ(answer, i < nth ? Status::ok : Status::ioError) << i << " of " << nth;
        }
        EXPECT_FALSE(device.powered());
        EXPECT_EQ(device.requests(), 6U);
    }
}

TEST_F(DevicePowerTest, cutFromAnAnswer)
{
    FaultyDevice device(media, clock, 1);
    std::vector<Status> answers;
    const auto note = [&](const Status s) { answers.push_back(s); };
    device.setDelay(0, 0);
    device.submit(makeIo(IoOp::read, 0, 8192, in.data(), [&](const Status s) {
        note(s);
        device.cut();
    }));
    device.poll();
    device.submit(makeIo(IoOp::read, 0, 8192, in.data(), note));
    device.poll();
    EXPECT_EQ(answers, (std::vector<Status>{Status::ok, Status::ioError}));
    EXPECT_TRUE(device.idle());
}

TEST_F(DevicePowerTest, lyingFlushKeepsBytesAtRisk)
{
    unsigned damaged = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        memset(media.data(), 0, 8192);
        FaultyDevice device(media, clock, seed);
        device.script(IoOp::flush, 1, Fault::lost);
        ASSERT_EQ(write(device, 0, out), Status::ok);
        ASSERT_EQ(run(device, IoOp::flush), Status::ok);
        device.cut();
        damaged += landedSectors(zeros, out.text()) < 16;
    }
    EXPECT_GT(damaged, 10U);
}

TEST_F(DevicePowerTest, anyCutKeepsThePromise)
{
    for (uint64_t seed = 0; seed < 30; ++seed) {
        memset(media.data(), 0, mediaSize);
        std::mt19937_64 random(seed);
        std::vector<std::set<std::string>> allowed(sectors, {std::string(sectorSize, '\0')});
        FaultyDevice device(media, clock, seed);
        device.cutAt(20 + random() % 60);
        for (unsigned i = 0; device.powered(); ++i) {
            if (random() % 8 == 0) {
                if (run(device, IoOp::flush) != Status::ok)
                    break;
                for (size_t s = 0; s < sectors; ++s)
                    allowed[s] = {held(s * sectorSize, sectorSize)};
                continue;
            }
            TestBuffer bytes(4096 * (1 + random() % 4));
            bytes.pattern(seed * 1000 + i);
            const auto offset = random() % 32 * 4096;
            (void)write(device, offset, bytes);
            for (size_t at = 0; at < bytes.size(); at += sectorSize)
                allowed[(offset + at) / sectorSize].insert(bytes.text().substr(at, sectorSize));
        }
        ASSERT_FALSE(device.powered());
        for (size_t s = 0; s < sectors; ++s)
            ASSERT_TRUE(allowed[s].count(held(s * sectorSize, sectorSize))) << "seed " << seed << ", sector " << s;
    }
}

TEST(DeviceVolatileTest, tooManyUnflushedAreWrittenDown)
{
    ManualClock clock;
    const uint64_t size = uint64_t(VolatileMedia::maxUnflushed + 4096) * sectorSize;
    MemoryDevice media(clock, size);
    VolatileMedia cache(media);
    TestBuffer bytes(1 << 20, 'b');
    for (uint64_t at = 0; at + bytes.size() <= size; at += bytes.size()) {
        ASSERT_EQ(cache.write(at, static_cast<uint32_t>(bytes.size()), bytes.data()), Status::ok);
        ASSERT_LE(cache.unflushed(), VolatileMedia::maxUnflushed);
    }
    std::mt19937_64 random(1);
    EXPECT_EQ(cache.cut(random), Status::ok);
    EXPECT_EQ(std::string(media.data(), 4096), std::string(4096, 'b'));
}
