// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the device in memory. */

#include "tools/models/MemoryDevice.h"

#include "test-suite/unit/support/DeviceSupport.h"
#include "tools/models/ManualClock.h"

#include <gtest/gtest.h>

#include <system_error>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(DeviceMemoryTest, keepsBytes)
{
    ManualClock clock;
    MemoryDevice device(clock, 1 << 20);
    TestBuffer out(16384);
    out.pattern(1);
    EXPECT_EQ(write(device, 8192, out), Status::ok);
    EXPECT_EQ(std::string(device.data() + 8192, 16384), out.text());
    EXPECT_EQ(device.data()[8191], 0);
    EXPECT_EQ(device.data()[8192 + 16384], 0);

    TestBuffer in(16384, 'x');
    EXPECT_EQ(read(device, 8192, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
    EXPECT_EQ(device.stats().of(IoOp::write).bytes, 16384U);
    EXPECT_EQ(device.stats().of(IoOp::read).bytes, 16384U);
}

TEST(DeviceMemoryTest, readsZerosAtFirst)
{
    ManualClock clock;
    MemoryDevice device(clock, 1 << 20);
    TestBuffer in(4096, 'x');
    EXPECT_EQ(read(device, (1 << 20) - 4096, in), Status::ok);
    EXPECT_EQ(in.text(), std::string(4096, '\0'));
}

TEST(DeviceMemoryTest, seesChangesFromOutside)
{
    ManualClock clock;
    MemoryDevice device(clock, 1 << 20);
    device.data()[5000] = 'y';
    TestBuffer in(4096);
    EXPECT_EQ(read(device, 4096, in), Status::ok);
    EXPECT_EQ(in[5000 - 4096], 'y');
}

TEST(DeviceMemoryTest, largeDevicesAreSparse)
{
    ManualClock clock;
    const uint64_t size = uint64_t(1) << 42;
    std::unique_ptr<MemoryDevice> device;
    try {
        device = std::make_unique<MemoryDevice>(clock, size);
    } catch (const std::system_error &e) {
        GTEST_SKIP() << "address space is limited here: " << e.what();
    }
    TestBuffer out(4096, 'e');
    EXPECT_EQ(write(*device, size - 4096, out), Status::ok);
    TestBuffer in(4096);
    EXPECT_EQ(read(*device, size - 4096, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
}

TEST(DeviceMemoryTest, impossibleSizesAreReported)
{
    ManualClock clock;
    EXPECT_THROW(MemoryDevice(clock, uint64_t(1) << 62), std::system_error);
}

TEST(DeviceMemoryTest, oddSizesAreRoundedDown)
{
    ManualClock clock;
    MemoryDevice device(clock, 10000, 512);
    EXPECT_EQ(device.size(), 9728U);
    EXPECT_EQ(device.alignment(), 512U);
    TestBuffer in(512);
    EXPECT_EQ(read(device, 9216, in), Status::ok);
    EXPECT_EQ(read(device, 9728, in), Status::ioError);
    MemoryDevice nothing(clock, 100);
    EXPECT_EQ(nothing.size(), 0U);
    EXPECT_EQ(read(nothing, 0, in), Status::ioError);
}

TEST(DeviceMemoryTest, manyRequestsInTurn)
{
    ManualClock clock;
    MemoryDevice device(clock, 1 << 20, 4096, 8);
    std::vector<std::unique_ptr<TestBuffer>> buffers;
    unsigned answers = 0;
    for (unsigned i = 0; i < 200; ++i) {
        buffers.push_back(std::make_unique<TestBuffer>(4096, static_cast<char>(i)));
        device.submit(makeIo(IoOp::write, (i % 100) * 4096, 4096, buffers.back()->data(), [&](const Status s) {
            EXPECT_EQ(s, Status::ok);
            ++answers;
        }));
    }
    while (!device.idle())
        EXPECT_LE(device.poll(), 8U);
    EXPECT_EQ(answers, 200U);
    for (unsigned i = 0; i < 100; ++i)
        EXPECT_EQ(device.data()[i * 4096 + 17], static_cast<char>(i + 100));
}

TEST(DeviceMemoryTest, destroyedWithRequestsInFlight)
{
    ManualClock clock;
    TestBuffer out(4096, 'q');
    bool answered = false;
    {
        MemoryDevice device(clock, 1 << 20, 4096, 2);
        for (unsigned i = 0; i < 5; ++i)
            device.submit(makeIo(IoOp::write, 0, 4096, out.data(), [&](Status) { answered = true; }));
        EXPECT_EQ(device.inFlight(), 2U);
        EXPECT_EQ(device.queued(), 3U);
    }
    EXPECT_FALSE(answered);
}
