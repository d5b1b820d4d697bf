// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the modelled device that takes memory only for what is not zero. */

#include "fs/cluster/base/Memory.h"
#include "tools/base/Random.h"
#include "tools/replay/ModelDevice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace ClusterFs;
using Replay::Costs;
using Replay::ModelDevice;

namespace {

void
carryOut(ModelDevice &device, const IoOp op, const uint64_t offset, std::vector<char> &bytes)
{
    auto status = Status::busy;
    const Buffer buffer(bytes.size()); // aligned
    std::copy(bytes.begin(), bytes.end(), buffer.data());
    Io io;
    io.op = op;
    io.offset = offset;
    io.size = static_cast<uint32_t>(bytes.size());
    io.buffer = buffer.data();
    io.done = [&](const Status s) { status = s; };
    device.submit(std::move(io));
    while (status == Status::busy)
        device.poll();
    ASSERT_EQ(status, Status::ok);
    std::copy_n(buffer.data(), bytes.size(), bytes.begin());
}

TEST(ModelDevice, readsWhatWasWritten)
{
    constexpr uint64_t size = 1 << 20;
    ManualClock clock;
    ModelDevice device(clock, size, Costs::Of("ssd"));
    std::vector<char> shadow(size);
    Tools::Random random(1);
    for (int turn = 0; turn < 2000; ++turn) {
        const auto begin = random.below(size / 4096) * 4096;
        const auto length = std::min<uint64_t>(size - begin, (1 + random.below(40)) * 4096);
        std::vector<char> bytes(length);
        for (uint64_t runs = random.below(6); runs; --runs) {
            const auto at = random.below(length);
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<uint64_t>(length - at, random.below(5000)),
                        static_cast<char>(random.below(256)));
        }
        ASSERT_NO_FATAL_FAILURE(carryOut(device, IoOp::write, begin, bytes));
        std::copy(bytes.begin(), bytes.end(), shadow.begin() + static_cast<std::ptrdiff_t>(begin));
        const auto from = random.below(size / 4096) * 4096;
        std::vector<char> got(std::min<uint64_t>(size - from, (1 + random.below(40)) * 4096), 'x');
        ASSERT_NO_FATAL_FAILURE(carryOut(device, IoOp::read, from, got));
        ASSERT_TRUE(std::equal(got.begin(), got.end(), shadow.begin() + static_cast<std::ptrdiff_t>(from))) << "turn " << turn;
    }
}

TEST(ModelDevice, takesNoMemoryForZerosAndTimeForAll)
{
    ManualClock clock;
    ModelDevice device(clock, uint64_t(1) << 40, Costs::Of("hdd"));
    std::vector<char> bytes(1 << 20);
    const auto before = clock.micros();
    for (uint64_t n = 0; n < 1000; ++n)
        ASSERT_NO_FATAL_FAILURE(carryOut(device, IoOp::write, n << 30, bytes));
    EXPECT_EQ(device.keptBytes(), 0U);
    EXPECT_EQ(device.busyMicros(), 1000U * (3800 + (1 << 20) / 105));
    EXPECT_EQ(clock.micros() - before, device.busyMicros());
    bytes[70000] = 1;
    ASSERT_NO_FATAL_FAILURE(carryOut(device, IoOp::write, 0, bytes));
    EXPECT_GT(device.keptBytes(), 0U);
    EXPECT_LT(device.keptBytes(), 100U);
    std::fill(bytes.begin(), bytes.end(), 0);
    ASSERT_NO_FATAL_FAILURE(carryOut(device, IoOp::write, 0, bytes));
    EXPECT_EQ(device.keptBytes(), 0U);
}

} // namespace
