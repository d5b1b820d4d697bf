// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of scripted and random faults. Power cuts are in DevicePowerTest.cc. */

#include "test-suite/doubles/FaultyDevice.h"
#include "tools/models/MemoryDevice.h"

#include "test-suite/unit/support/DeviceSupport.h"
#include "tools/models/ManualClock.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t mediaSize = 1 << 20;

class DeviceFaultyTest : public testing::Test
{
protected:
    DeviceFaultyTest() { out.pattern(1); }

    /// the bytes that the media holds now
    std::string held(const uint64_t offset, const size_t size) const { return std::string(media.data() + offset, size); }

    /// how many bytes differ
    static size_t differences(const std::string &a, const std::string &b) {
        size_t count = 0;
        for (size_t i = 0; i < a.size(); ++i)
            count += a[i] != b[i];
        return count;
    }

    ManualClock clock;
    MemoryDevice media{clock, mediaSize};
    TestBuffer out{8192};
    TestBuffer in{8192};
    const std::string zeros = std::string(8192, '\0');
};

/// runs a load with many faults; \returns all that can be observed
std::string
history(const uint64_t seed)
{
    ManualClock clock;
    MemoryDevice media(clock, mediaSize);
    std::string events;
    {
        FaultyDevice device(media, clock, seed);
        for (const auto op: {IoOp::read, IoOp::write, IoOp::flush}) {
            for (const auto fault: {Fault::error, Fault::flip, Fault::rot, Fault::torn, Fault::lost, Fault::misdirected})
                device.setRate(op, fault, 0.1);
        }
        device.setDelay(10, 5000);
        device.setShuffle(true);
        device.cutAt(400);
        std::vector<std::unique_ptr<TestBuffer>> buffers;
        for (unsigned i = 0; i < 500; ++i) {
            buffers.push_back(std::make_unique<TestBuffer>(8192));
            buffers.back()->pattern(i);
            const auto op = i % 10 == 9 ? IoOp::flush : i % 2 ? IoOp::read : IoOp::write;
            device.submit(makeIo(op, i * 7 % 100 * 8192, 8192, buffers.back()->data(), [&events, i](const Status status) {
                events += std::to_string(i) + statusText(status) + ' ';
            }));
        }
        while (!device.idle()) {
            device.wait(1);
            events += std::to_string(clock.micros()) + ':' + std::to_string(device.poll()) + ' ';
        }
        for (const auto &buffer: buffers)
            events += buffer->text();
    }
    return events + std::string(media.data(), mediaSize);
}

} // namespace

TEST_F(DeviceFaultyTest, withoutFaultsIsLikeTheMedia)
{
    FaultyDevice device(media, clock, 1);
    EXPECT_EQ(device.size(), media.size());
    EXPECT_EQ(device.alignment(), media.alignment());
    EXPECT_EQ(device.depth(), media.depth());
    EXPECT_EQ(write(device, 4096, out), Status::ok);
    EXPECT_EQ(held(4096, 8192), out.text());
    EXPECT_EQ(read(device, 4096, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
    EXPECT_EQ(run(device, IoOp::flush), Status::ok);
    EXPECT_EQ(read(device, mediaSize, in), Status::ioError);
    EXPECT_EQ(device.requests(), 3U); // what was refused does not count
    EXPECT_EQ(device.requests(IoOp::write), 1U);
    EXPECT_EQ(device.injected(Fault::none), 3U);
}

TEST_F(DeviceFaultyTest, refusesOddSectors)
{
    MemoryDevice odd(clock, 4096, 16);
    EXPECT_THROW(FaultyDevice(odd, clock, 1), std::invalid_argument);
}

TEST_F(DeviceFaultyTest, nthRequestFails)
{
    FaultyDevice device(media, clock, 1);
    device.script(IoOp::write, 2, Fault::error);
    EXPECT_EQ(read(device, 0, in), Status::ok); // other kinds do not count
    EXPECT_EQ(write(device, 0, out), Status::ok);
    EXPECT_EQ(write(device, 65536, out), Status::ioError);
    EXPECT_EQ(held(65536, 8192), zeros);
    EXPECT_EQ(write(device, 65536, out), Status::ok);
    EXPECT_EQ(held(65536, 8192), out.text());
    EXPECT_EQ(device.injected(Fault::error), 1U);
    EXPECT_EQ(device.stats().of(IoOp::write).errors, 1U);
    EXPECT_EQ(device.stats().lastErrno, EIO);
}

TEST_F(DeviceFaultyTest, failsFromThenOn)
{
    FaultyDevice device(media, clock, 1);
    device.script(IoOp::read, device.requests(IoOp::read) + 2, Fault::error, true);
    EXPECT_EQ(read(device, 0, in), Status::ok);
    for (unsigned i = 0; i < 5; ++i)
        EXPECT_EQ(read(device, 0, in), Status::ioError);
    EXPECT_EQ(write(device, 0, out), Status::ok);
    device.heal();
    EXPECT_EQ(read(device, 0, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
}

TEST_F(DeviceFaultyTest, flipsOnce)
{
    FaultyDevice device(media, clock, 1);
    EXPECT_EQ(write(device, 0, out), Status::ok);
    device.script(IoOp::read, 1, Fault::flip);
    EXPECT_EQ(read(device, 0, in), Status::ok);
    const auto changed = differences(in.text(), out.text());
    EXPECT_GE(changed, 1U);
    EXPECT_LE(changed, 4U);
    EXPECT_EQ(held(0, 8192), out.text());
    EXPECT_EQ(read(device, 0, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
}

TEST_F(DeviceFaultyTest, rotStays)
{
    FaultyDevice device(media, clock, 1);
    EXPECT_EQ(write(device, 0, out), Status::ok);
    device.script(IoOp::read, 1, Fault::rot);
    EXPECT_EQ(read(device, 0, in), Status::ok);
    const auto rotten = in.text();
    EXPECT_NE(rotten, out.text());
    EXPECT_EQ(held(0, 8192), rotten);
    EXPECT_EQ(read(device, 0, in), Status::ok);
    EXPECT_EQ(in.text(), rotten);
}

TEST_F(DeviceFaultyTest, tornWritesLandFromTheStart)
{
    std::vector<bool> seen(16, false);
    for (uint64_t seed = 0; seed < 200; ++seed) {
        memset(media.data(), 0, 8192);
        FaultyDevice device(media, clock, seed);
        device.script(IoOp::write, 1, Fault::torn);
        ASSERT_EQ(write(device, 0, out), Status::ioError);
        size_t landed = 0;
        while (landed < 16 && held(landed * 512, 512) == out.text().substr(landed * 512, 512))
            ++landed;
        ASSERT_LT(landed, 16U);
        ASSERT_EQ(held(landed * 512, 8192 - landed * 512), zeros.substr(landed * 512));
        seen[landed] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 16); // every length happens
}

TEST_F(DeviceFaultyTest, lostWritesLeaveStaleBytes)
{
    FaultyDevice device(media, clock, 1);
    EXPECT_EQ(write(device, 0, out), Status::ok);
    device.script(IoOp::write, 2, Fault::lost);
    TestBuffer newer(8192);
    newer.pattern(2);
    EXPECT_EQ(write(device, 0, newer), Status::ok);
    EXPECT_EQ(read(device, 0, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
}

TEST_F(DeviceFaultyTest, misdirectedWritesLandElsewhere)
{
    for (uint64_t seed = 0; seed < 100; ++seed) {
        memset(media.data(), 0, mediaSize);
        FaultyDevice device(media, clock, seed);
        device.script(IoOp::write, 1, Fault::misdirected);
        ASSERT_EQ(write(device, 65536, out), Status::ok);
        const std::string all(media.data(), mediaSize);
        const auto at = all.find(out.text());
        ASSERT_NE(at, std::string::npos);
        ASSERT_NE(at, 65536U);
        ASSERT_EQ(at % 4096, 0U);
        ASSERT_EQ(all.find_first_not_of('\0', at + 8192), std::string::npos);
    }
}

TEST_F(DeviceFaultyTest, misdirectedWithNowhereToGoIsLost)
{
    MemoryDevice small(clock, 8192);
    FaultyDevice device(small, clock, 1);
    device.script(IoOp::write, 1, Fault::misdirected);
    EXPECT_EQ(write(device, 0, out), Status::ok);
    EXPECT_EQ(std::string(small.data(), 8192), zeros);
}

TEST_F(DeviceFaultyTest, duplicatedWritesLandTwice)
{
    for (uint64_t seed = 0; seed < 100; ++seed) {
        memset(media.data(), 0, mediaSize);
        FaultyDevice device(media, clock, seed);
        device.script(IoOp::write, 1, Fault::duplicated);
        ASSERT_EQ(write(device, 65536, out), Status::ok);
        ASSERT_TRUE(held(65536, 8192) == out.text());
        memset(media.data() + 65536, 0, 8192);
        const std::string all(media.data(), mediaSize);
        ASSERT_NE(all.find_first_not_of('\0'), std::string::npos); // all of it, or what is not at its own place
    }
}

TEST_F(DeviceFaultyTest, repeatedWritesComeBackLater)
{
    TestBuffer newer(8192, 'n');
    std::set<unsigned> when;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        FaultyDevice device(media, clock, seed);
        device.script(IoOp::write, 1, Fault::repeated);
        ASSERT_EQ(write(device, 65536, out), Status::ok);
        ASSERT_TRUE(held(65536, 8192) == out.text());
        ASSERT_EQ(write(device, 65536, newer), Status::ok);
        ASSERT_TRUE(held(65536, 8192) == newer.text());
        unsigned requests = 0;
        for (; held(65536, 8192) == newer.text() && requests < 200; ++requests)
            ASSERT_EQ(read(device, 0, in), Status::ok);
        ASSERT_TRUE(held(65536, 8192) == out.text());
        when.insert(requests);
    }
    EXPECT_GT(when.size(), 20U);
}

TEST_F(DeviceFaultyTest, nthRequestOfAnyKindFails)
{
    for (uint64_t nth = 1; nth <= 6; ++nth) {
        FaultyDevice device(media, clock, nth);
        device.script(nth, Fault::error, nth == 4);
        for (uint64_t i = 1; i <= 6; ++i) {
            const auto answer = i % 3 == 0 ? run(device, IoOp::flush) : i % 3 == 1 ? write(device, 0, out) : read(device, 0, in);
            EXPECT_EQ(answer, i == nth || (nth == 4 && i > nth) ? Status::ioError : Status::ok) << i << " of " << nth;
        }
    }
}

TEST_F(DeviceFaultyTest, faultsOfOtherKindsAreIgnored)
{
    FaultyDevice device(media, clock, 1);
    device.script(IoOp::write, 1, Fault::flip);
    device.script(IoOp::read, 1, Fault::torn);
    device.script(IoOp::read, 1, Fault::lost);
    device.setRate(IoOp::flush, Fault::misdirected, 1.0);
    EXPECT_EQ(write(device, 0, out), Status::ok);
    EXPECT_EQ(held(0, 8192), out.text());
    EXPECT_EQ(read(device, 0, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
    EXPECT_EQ(run(device, IoOp::flush), Status::ok);
    EXPECT_EQ(device.injected(Fault::none), 3U);
}

TEST_F(DeviceFaultyTest, probabilitiesHold)
{
    FaultyDevice device(media, clock, 7);
    device.setRate(IoOp::read, Fault::error, 0.25);
    unsigned failed = 0;
    for (unsigned i = 0; i < 4000; ++i)
        failed += read(device, 0, in) == Status::ioError;
    EXPECT_GT(failed, 850U);
    EXPECT_LT(failed, 1150U);
    EXPECT_EQ(device.injected(Fault::error), failed);
    device.setRate(IoOp::read, Fault::error, 1.0);
    EXPECT_EQ(read(device, 0, in), Status::ioError);
    device.setRate(IoOp::read, Fault::error, 0.0);
    EXPECT_EQ(read(device, 0, in), Status::ok);
}

TEST_F(DeviceFaultyTest, hungRequestsStayInFlight)
{
    unsigned answers = 0;
    const auto count = [&](Status) { ++answers; };
    {
        FaultyDevice device(media, clock, 1);
        device.script(IoOp::write, 1, Fault::hang);
        device.submit(makeIo(IoOp::write, 0, 8192, out.data(), count));
        device.submit(makeIo(IoOp::write, 8192, 8192, out.data(), count));
        for (unsigned i = 0; i < 100; ++i) {
            device.wait(1000);
            device.poll();
        }
        EXPECT_EQ(answers, 1U);
        EXPECT_EQ(device.inFlight(), 1U);
        EXPECT_EQ(held(0, 8192), zeros);
        EXPECT_EQ(held(8192, 8192), out.text());
        EXPECT_GE(clock.micros(), 90000000U); // time passes, so timeouts can be tested
    }
    EXPECT_EQ(answers, 1U);
    EXPECT_EQ(held(0, 8192), zeros);
}

TEST_F(DeviceFaultyTest, answersTakeTime)
{
    FaultyDevice device(media, clock, 1);
    device.setDelay(3000, 3000);
    bool answered = false;
    device.submit(makeIo(IoOp::write, 0, 8192, out.data(), [&](Status) { answered = true; }));
    device.poll();
    EXPECT_FALSE(answered);
    clock.advance(2999);
    device.poll();
    EXPECT_FALSE(answered);
    EXPECT_EQ(held(0, 8192), zeros); // not yet
    clock.advance(1);
    device.poll();
    EXPECT_TRUE(answered);
    EXPECT_EQ(device.stats().of(IoOp::write).latency.most(), 3000U);
}

TEST_F(DeviceFaultyTest, waitMovesTheClock)
{
    FaultyDevice device(media, clock, 1);
    device.setDelay(2500, 2500);
    auto before = clock.micros();
    device.submit(makeIo(IoOp::read, 0, 8192, in.data(), nullptr));
    device.wait(1);
    EXPECT_EQ(clock.micros() - before, 1000U);
    device.wait(100);
    EXPECT_EQ(clock.micros() - before, 2500U);
    EXPECT_EQ(device.poll(), 1U);
    before = clock.micros();
    device.wait(7);
    EXPECT_EQ(clock.micros() - before, 7000U);
    device.submit(makeIo(IoOp::read, 1, 8192, in.data(), nullptr)); // answered at once
    device.wait(7);
    EXPECT_EQ(clock.micros() - before, 7000U);
}

TEST_F(DeviceFaultyTest, shuffleChangesTheOrder)
{
    FaultyDevice device(media, clock, 3);
    device.setShuffle(true);
    std::vector<unsigned> order;
    for (unsigned i = 0; i < 20; ++i)
        device.submit(makeIo(IoOp::read, 0, 8192, in.data(), [&order, i](Status) { order.push_back(i); }));
    unsigned polls = 0;
    while (!device.idle()) {
        device.poll();
        ASSERT_LT(++polls, 1000U);
    }
    ASSERT_EQ(order.size(), 20U);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    std::vector<unsigned> all(20);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(order, all);
}

TEST_F(DeviceFaultyTest, destroyingCarriesOutWhatIsInFlight)
{
    bool answered = false;
    {
        FaultyDevice device(media, clock, 1);
        device.setDelay(1000, 1000);
        device.submit(makeIo(IoOp::write, 0, 8192, out.data(), [&](Status) { answered = true; }));
    }
    EXPECT_FALSE(answered);
    EXPECT_EQ(held(0, 8192), out.text());
}

TEST_F(DeviceFaultyTest, errorsOfTheMediaArePassedOn)
{
    FaultyDevice inner(media, clock, 1);
    FaultyDevice outer(inner, clock, 2);
    inner.script(IoOp::read, 1, Fault::error);
    EXPECT_EQ(read(outer, 0, in), Status::ioError);
    EXPECT_EQ(outer.injected(Fault::error), 0U);
    EXPECT_EQ(write(outer, 0, out), Status::ok);
    EXPECT_EQ(held(0, 8192), out.text());
}

TEST_F(DeviceFaultyTest, errorsOfTheMediaUndoNothing)
{
    FaultyDevice inner(media, clock, 1);
    FaultyDevice outer(inner, clock, 2);
    ASSERT_EQ(write(outer, 0, out), Status::ok);
    inner.script(IoOp::flush, 1, Fault::error);
    EXPECT_EQ(run(outer, IoOp::flush), Status::ioError);
    EXPECT_EQ(outer.unflushedSectors(), 16U) << "still at risk";

    for (const auto op: {IoOp::read, IoOp::write}) {
        inner.script(op, 1, Fault::error, true);
        outer.script(IoOp::read, outer.requests(IoOp::read) + 1, Fault::rot);
        EXPECT_EQ(read(outer, 0, in), Status::ioError);
        EXPECT_EQ(write(outer, 8192, in), Status::ioError);
        outer.cut(); // cannot take back anything
        EXPECT_EQ(held(0, 8192), out.text());
        inner.heal();
        outer.revive();
    }
    EXPECT_GT(outer.unflushedSectors(), 0U);
}

TEST(DeviceFaultyReplayTest, sameSeedSameHistory)
{
    const auto first = history(11);
    EXPECT_TRUE(first == history(11));
    EXPECT_FALSE(first == history(12));
}
