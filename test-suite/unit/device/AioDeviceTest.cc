// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of requests to real files and loop devices. Opening has tests of its
 * own in DeviceOpenTest.cc. */

#include "fs/cluster/device/AioDevice.h"

#include "fs/cluster/engine/Open.h"
#include "fs/cluster/recovery/Format.h"
#include "test-suite/unit/support/DeviceSupport.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <poll.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// what the kernel's side of AIO should do wrong
struct Sabotage {
    int setup = 0; ///< io_setup() fails with that errno value
    int submit = 0; ///< io_submit() fails with that errno value
    unsigned submitTimes = 0; ///< so many times
    long result = 0; ///< replaces the results of completions
    unsigned resultTimes = 0; ///< so many times
    unsigned refused = 0; ///< io_submit() calls that failed so
};
Sabotage sabotage;

template <class Function>
Function
original(const char *name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

// These stand in front of the functions of libaio.

extern "C" int
io_setup(const int most, io_context_t *context)
{
    if (sabotage.setup)
        return -sabotage.setup;
    return original<int (*)(int, io_context_t *)>("io_setup")(most, context);
}

extern "C" int
io_submit(io_context_t context, const long count, struct iocb **controls)
{
    if (sabotage.submitTimes > 0) {
        --sabotage.submitTimes;
        ++sabotage.refused;
        return -sabotage.submit;
    }
    return original<int (*)(io_context_t, long, struct iocb **)>("io_submit")(context, count, controls);
}

extern "C" int
io_getevents(io_context_t context, const long least, const long most, struct io_event *events, struct timespec *timeout)
{
    using Function = int (*)(io_context_t, long, long, struct io_event *, struct timespec *);
    const int count = original<Function>("io_getevents")(context, least, most, events, timeout);
    for (int i = 0; i < count && sabotage.resultTimes > 0; ++i) {
        --sabotage.resultTimes;
        events[i].res = static_cast<unsigned long>(sabotage.result);
    }
    return count;
}

namespace {

constexpr uint64_t fileSize = 16 << 20;

class AioDeviceTest : public testing::Test
{
protected:
    void SetUp() override { sabotage = Sabotage(); }
    void TearDown() override { sabotage = Sabotage(); }

    std::unique_ptr<AioDevice> open(const std::string &name, const bool writable = true, const unsigned depth = 32) {
        AioDevice::OpenOptions options;
        options.path = name;
        options.writable = writable;
        options.depth = depth;
        std::string error;
        auto device = AioDevice::Open(clock, options, [this](const LogLevel level, const std::string &line) {
            log.push_back(line);
            levels.push_back(level);
        }, error);
        if (!device)
            throw std::runtime_error(error);
        return device;
    }

    /// whether poll() is called for, after waiting at most that long
    static bool readable(const AioDevice &device, const int milliseconds) {
        struct pollfd waiting = {device.wakeupFd(), POLLIN, 0};
        return ::poll(&waiting, 1, milliseconds) == 1;
    }

    /// what an engine on the device reports; formats it
    std::string reportOn(Device &device) {
        Config config;
        config.clusterKb = 64;
        std::string error;
        std::unique_ptr<Engine> engine;
        EXPECT_EQ(formatDevice(device, config, 1, error), Status::ok) << error;
        EXPECT_EQ(openEngine(device, clock, config, [](LogLevel, const std::string &) {}, engine, error), Status::ok) << error;
        return engine ? engine->report() : error;
    }

    SystemClock clock;
    Folder folder;
    std::string path = folder.file("image", fileSize);
    std::vector<std::string> log;
    std::vector<LogLevel> levels; ///< of the lines in log
};

} // namespace

TEST_F(AioDeviceTest, isReportedAsAsynchronous)
{
    const auto device = open(path);
    const auto report = reportOn(*device);
    EXPECT_NE(report.find("\nasynchronous I/O:            yes\n"), std::string::npos) << report;
}

TEST_F(AioDeviceTest, movesBytes)
{
    const auto device = open(path);
    EXPECT_EQ(device->size(), fileSize);
    EXPECT_TRUE(device->asynchronous());
    EXPECT_TRUE(log.empty() || !device->direct());

    TestBuffer out(1 << 20);
    out.pattern(1);
    EXPECT_EQ(write(*device, 3 << 20, out), Status::ok);
    EXPECT_EQ(run(*device, IoOp::flush), Status::ok);
    EXPECT_EQ(peek(path, 3 << 20, 1 << 20), out.text());
    EXPECT_EQ(peek(path, (3 << 20) - 1, 1), std::string(1, '\0'));

    TestBuffer in(1 << 20);
    EXPECT_EQ(read(*device, 3 << 20, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
    EXPECT_EQ(device->stats().of(IoOp::write).bytes, 1U << 20);
    EXPECT_EQ(device->stats().of(IoOp::flush).requests, 1U);
    EXPECT_TRUE(device->idle());
}

TEST_F(AioDeviceTest, manyRequestsAtOnce)
{
    const auto device = open(path, true, 1000);
    EXPECT_EQ(device->depth(), AioDevice::maxDepth);
    device->setDepth(1000); // more than the kernel was asked for

    constexpr unsigned count = 600;
    std::vector<std::unique_ptr<TestBuffer>> buffers;
    unsigned answers = 0;
    const auto count1 = [&answers](const Status status) {
        EXPECT_EQ(status, Status::ok);
        ++answers;
    };
    for (unsigned i = 0; i < count; ++i) {
        buffers.push_back(std::make_unique<TestBuffer>(8192));
        buffers.back()->pattern(i);
        device->submit(makeIo(IoOp::write, i * 8192, 8192, buffers.back()->data(), count1));
        EXPECT_LE(device->inFlight(), AioDevice::maxDepth);
    }
    for (unsigned i = 0; i < 6000 && !device->idle(); ++i) {
        device->wait(10);
        device->poll();
    }
    ASSERT_EQ(answers, count);
    for (unsigned i = 0; i < count; ++i)
        ASSERT_EQ(peek(path, i * 8192, 8192), buffers[i]->text()) << i;
}

TEST_F(AioDeviceTest, wakesUpOnce)
{
    const auto device = open(path);
    EXPECT_EQ(fcntl(device->wakeupFd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    EXPECT_EQ(fcntl(device->wakeupFd(), F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    EXPECT_FALSE(readable(*device, 0));

    TestBuffer in(4096);
    unsigned answers = 0;
    for (unsigned i = 0; i < 3; ++i)
        device->submit(makeIo(IoOp::read, 0, 4096, in.data(), [&](Status) { ++answers; }));
    while (!device->idle()) {
        ASSERT_TRUE(readable(*device, 60000));
        device->poll();
    }
    EXPECT_EQ(answers, 3U);

    // a signal may lag behind its completion; then it costs one empty poll
    for (unsigned i = 0; i < 1000 && readable(*device, 0); ++i)
        EXPECT_EQ(device->poll(), 0U);
    EXPECT_FALSE(readable(*device, 0));
}

TEST_F(AioDeviceTest, wakesUpForRefusals)
{
    const auto device = open(path);
    TestBuffer in(4096);
    device->submit(makeIo(IoOp::read, 1, 4096, in.data(), nullptr));
    EXPECT_TRUE(readable(*device, 0));
    EXPECT_EQ(device->poll(), 1U);
    EXPECT_FALSE(readable(*device, 0));
}

TEST_F(AioDeviceTest, worksWithoutKernelAio)
{
    sabotage.setup = EAGAIN;
    const auto device = open(path);
    EXPECT_FALSE(device->asynchronous());
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(levels[0], LogLevel::warning);
    EXPECT_NE(log[0].find("fs.aio-max-nr"), std::string::npos) << log[0];
    EXPECT_NE(log[0].find(path), std::string::npos) << log[0];
    const auto report = reportOn(*device);
    EXPECT_NE(report.find("\nasynchronous I/O:            no: "), std::string::npos) << report;

    TestBuffer out(65536);
    out.pattern(2);
    bool answered = false;
    device->submit(makeIo(IoOp::write, 4096, 65536, out.data(), [&](const Status status) {
        EXPECT_EQ(status, Status::ok);
        answered = true;
    }));
    EXPECT_FALSE(answered);
    EXPECT_TRUE(readable(*device, 0)); // although the kernel signals nothing
    device->poll();
    EXPECT_TRUE(answered);
    EXPECT_FALSE(readable(*device, 0));
    EXPECT_EQ(peek(path, 4096, 65536), out.text());

    TestBuffer in(65536);
    EXPECT_EQ(read(*device, 4096, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
    EXPECT_EQ(run(*device, IoOp::flush), Status::ok);
}

TEST_F(AioDeviceTest, namesOtherReasonsForNoKernelAio)
{
    sabotage.setup = ENOSYS;
    const auto device = open(path);
    ASSERT_EQ(log.size(), 1U);
    EXPECT_NE(log[0].find(strerror(ENOSYS)), std::string::npos) << log[0];
}

TEST_F(AioDeviceTest, refusedWithNothingInFlightIsDoneAtOnce)
{
    const auto device = open(path);
    sabotage.submit = EAGAIN;
    sabotage.submitTimes = 1;
    TestBuffer out(4096);
    out.pattern(3);
    EXPECT_EQ(write(*device, 0, out), Status::ok);
    EXPECT_EQ(sabotage.refused, 1U);
    EXPECT_EQ(peek(path, 0, 4096), out.text());
    EXPECT_TRUE(device->asynchronous());

    sabotage.submit = 0; // none taken, and no reason given
    sabotage.submitTimes = 1;
    out.pattern(4);
    EXPECT_EQ(write(*device, 0, out), Status::ok);
    EXPECT_EQ(sabotage.refused, 2U);
    EXPECT_EQ(peek(path, 0, 4096), out.text());
}

TEST_F(AioDeviceTest, refusedWithSomeInFlightIsTriedAgain)
{
    const auto device = open(path);
    std::vector<std::unique_ptr<TestBuffer>> buffers;
    unsigned answers = 0;
    const auto submitOne = [&](const unsigned i) {
        buffers.push_back(std::make_unique<TestBuffer>(4096));
        buffers.back()->pattern(i);
        device->submit(makeIo(IoOp::write, i * 4096, 4096, buffers.back()->data(), [&](const Status status) {
            EXPECT_EQ(status, Status::ok);
            ++answers;
        }));
    };
    submitOne(0);
    sabotage.submit = EAGAIN;
    sabotage.submitTimes = 1;
    for (unsigned i = 1; i < 5; ++i)
        submitOne(i);
    EXPECT_EQ(sabotage.refused, 1U); // the others waited behind it
    EXPECT_EQ(device->queued(), 4U);
    for (unsigned i = 0; i < 6000 && !device->idle(); ++i) {
        device->wait(10);
        device->poll();
    }
    EXPECT_EQ(answers, 5U);
    for (unsigned i = 0; i < 5; ++i)
        EXPECT_EQ(peek(path, i * 4096, 4096), buffers[i]->text());
}

TEST_F(AioDeviceTest, flushWithoutKernelSupport)
{
    const auto device = open(path);
    sabotage.submit = EINVAL;
    sabotage.submitTimes = 1;
    EXPECT_EQ(run(*device, IoOp::flush), Status::ok);
    EXPECT_EQ(sabotage.refused, 1U);
    sabotage.result = -EINVAL;
    sabotage.resultTimes = 1;
    EXPECT_EQ(run(*device, IoOp::flush), Status::ok);
    EXPECT_EQ(sabotage.resultTimes, 0U);
    EXPECT_EQ(device->stats().of(IoOp::flush).errors, 0U);
}

TEST_F(AioDeviceTest, reportsErrors)
{
    const auto device = open(path);
    TestBuffer in(4096);
    for (const int errnum: {EINVAL, ENODEV}) {
        sabotage.submit = errnum;
        sabotage.submitTimes = 1;
        EXPECT_EQ(read(*device, 0, in), Status::ioError);
        EXPECT_EQ(device->stats().lastErrno, errnum);
    }

    for (const auto op: {IoOp::read, IoOp::write, IoOp::flush}) {
        sabotage.result = -EIO;
        sabotage.resultTimes = 1;
        EXPECT_EQ(run(*device, op, 0, 4096, in.data()), Status::ioError);
        EXPECT_EQ(device->stats().lastErrno, EIO);
    }
    EXPECT_EQ(device->stats().of(IoOp::read).errors, 3U);
    EXPECT_EQ(device->stats().of(IoOp::flush).errors, 1U);
    EXPECT_EQ(read(*device, 0, in), Status::ok);
}

TEST_F(AioDeviceTest, continuesAfterShortResults)
{
    const auto device = open(path);
    TestBuffer out(32768);
    out.pattern(4);
    sabotage.result = 8192;
    sabotage.resultTimes = 1;
    EXPECT_EQ(write(*device, 0, out), Status::ok);
    EXPECT_EQ(peek(path, 0, 32768), out.text());

    TestBuffer in(32768);
    sabotage.resultTimes = 1;
    EXPECT_EQ(read(*device, 0, in), Status::ok);
    EXPECT_EQ(in.text(), out.text());
    EXPECT_EQ(device->stats().of(IoOp::read).bytes, 32768U);

    for (const long nonsense: {0L, 65536L}) {
        sabotage.result = nonsense;
        sabotage.resultTimes = 1;
        EXPECT_EQ(read(*device, 0, in), Status::ioError);
        EXPECT_EQ(device->stats().lastErrno, EIO);
    }
}

TEST_F(AioDeviceTest, noticesAShrunkFile)
{
    const auto device = open(path);
    ASSERT_EQ(truncate(path.c_str(), 12288), 0);
    TestBuffer in(8192);
    EXPECT_EQ(read(*device, 4096, in), Status::ok);
    EXPECT_EQ(read(*device, 8192, in), Status::ioError); // half of it
    EXPECT_EQ(read(*device, 1 << 20, in), Status::ioError);
    EXPECT_EQ(device->stats().of(IoOp::read).errors, 2U);
}

TEST_F(AioDeviceTest, readOnlyWritesNothing)
{
    poke(path, 0, "before");
    const auto device = open(path, false);
    TestBuffer out(4096, 'x');
    EXPECT_EQ(write(*device, 0, out), Status::ioError);
    EXPECT_EQ(device->stats().lastErrno, EBADF);
    EXPECT_EQ(peek(path, 0, 6), "before");
    TestBuffer in(4096);
    EXPECT_EQ(read(*device, 0, in), Status::ok);
    EXPECT_EQ(in.text().substr(0, 6), "before");
}

TEST_F(AioDeviceTest, destroyingWaitsForWrites)
{
    constexpr unsigned count = 64;
    std::vector<std::unique_ptr<TestBuffer>> buffers;
    bool answered = false;
    {
        const auto device = open(path, true, count);
        for (unsigned i = 0; i < count; ++i) {
            buffers.push_back(std::make_unique<TestBuffer>(65536));
            buffers.back()->pattern(i);
            device->submit(makeIo(IoOp::write, i * 65536, 65536, buffers.back()->data(), [&](Status) { answered = true; }));
        }
        ASSERT_EQ(device->queued(), 0U);
    }
    EXPECT_FALSE(answered);
    for (unsigned i = 0; i < count; ++i)
        ASSERT_EQ(peek(path, i * 65536, 65536), buffers[i]->text()) << i;
}

TEST_F(AioDeviceTest, worksOnALoopDevice)
{
    const LoopDevice loop(path);
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    {
        const auto device = open(loop.path());
        EXPECT_EQ(device->size(), fileSize);
        EXPECT_TRUE(device->direct());
        EXPECT_TRUE(device->asynchronous());
        EXPECT_EQ(4096U % device->alignment(), 0U);

        TestBuffer out(1 << 20);
        out.pattern(5);
        EXPECT_EQ(write(*device, fileSize - (1 << 20), out), Status::ok);
        EXPECT_EQ(run(*device, IoOp::flush), Status::ok);
        TestBuffer in(1 << 20);
        EXPECT_EQ(read(*device, fileSize - (1 << 20), in), Status::ok);
        EXPECT_EQ(in.text(), out.text());
        EXPECT_EQ(read(*device, fileSize, in), Status::ioError);
    }
    ASSERT_EQ(fsync(loop.fd()), 0);
}
