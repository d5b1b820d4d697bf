// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of real disks when the system refuses: opening, locking, measuring, and requests that the process itself does. */

#include "fs/cluster/device/AioDevice.h"

#include "test-suite/unit/support/DeviceSupport.h"
#include "test-suite/unit/support/SyscallFaults.h"

#include <gtest/gtest.h>

#include <linux/fs.h>
#include <poll.h>
#include <sys/file.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t fileSize = 1 << 20;

class AioFaultsTest : public testing::Test
{
protected:
    std::unique_ptr<AioDevice> open(const std::string &name, const bool logging = true) {
        AioDevice::OpenOptions options;
        options.path = name;
        error.clear();
        log.clear();
        const auto note = [this](LogLevel, const std::string &line) { log.push_back(line); };
        return AioDevice::Open(clock, options, logging ? Log(note) : Log(), error);
    }

    void expectRefused(const std::string &name, const std::string &words) {
        EXPECT_EQ(open(name), nullptr);
        EXPECT_EQ(error.find(name + ": "), 0U) << error;
        EXPECT_NE(error.find(words), std::string::npos) << "got: " << error << "\nwanted: " << words;
    }

    static bool readable(const AioDevice &device) {
        struct pollfd waiting = {device.wakeupFd(), POLLIN, 0};
        return ::poll(&waiting, 1, 0) == 1;
    }

    SystemClock clock;
    Folder folder;
    const std::string path = folder.file("image", fileSize);
    std::string error;
    std::vector<std::string> log;
};

const std::string eventName = "anon_inode:[eventfd]"; ///< as /proc calls it

} // namespace

TEST_F(AioFaultsTest, aRefusedOpenSaysTheWayOut)
{
    const struct { int errnum; const char *advice; } cases[] = {
        {EBUSY, "; it is mounted, used as swap"}, {EACCES, "; it must be readable and writable"},
        {EPERM, "; it must be readable and writable"}, {ELOOP, "; it became a symbolic link just now"}, {EIO, ""},
    };
    std::vector<SyscallFault> faults;
    for (const auto &c: cases)
        faults.push_back(SyscallFault({SCMP_SYS(openat)}, c.errnum).on(path));
    const auto whyNot = withFaults(faults, [&] {
        for (const auto &c: cases) {
            expectRefused(path, std::string("cannot open: ") + strerror(c.errnum) + c.advice);
            EXPECT_EQ(error.find(';') != std::string::npos, *c.advice != 0) << error;
        }
        EXPECT_TRUE(open(path)) << error;
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, whatIsReplacedBetweenLookingAndOpeningIsRefused)
{
    const auto other = folder.file("other", fileSize);
    const auto toOther = [&] { ASSERT_EQ(rename(other.c_str(), path.c_str()), 0); };
    auto whyNot = withFaults({SyscallFault({SCMP_SYS(openat)}, 0).on(path).after(toOther)}, [&] {
        expectRefused(path, "replaced by something else");
        EXPECT_TRUE(open(path)) << error; // neither its descriptor nor its lock is left
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;

    const auto toLink = [&] { ASSERT_TRUE(unlink(path.c_str()) == 0 && symlink("/dev/null", path.c_str()) == 0); };
    whyNot = withFaults({SyscallFault({SCMP_SYS(openat)}, 0).on(path).after(toLink)}, [&] {
        expectRefused(path, "it became a symbolic link just now");
    });
    EXPECT_EQ(whyNot, "");
}

TEST_F(AioFaultsTest, whatMovesToAnotherFileSystemIsRefused)
{
    const Twins twins(fileSize);
    if (!twins.works())
        GTEST_SKIP() << "cannot mount two file systems that number alike";
    const auto exchange = [&] { twins.exchange(); };
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(openat)}, 0).on(twins.path()).after(exchange)}, [&] {
        expectRefused(twins.path(), "replaced by something else");
        EXPECT_TRUE(open(twins.path())) << error;
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, aFileThatCannotBeLookedAtIsRefused)
{
    const auto whyNot = withFaults({fstatFault(EIO).on(path), fstatFault(EIO).on(path).nth(2)}, [&] {
        expectRefused(path, "replaced by something else");
        expectRefused(path, std::string("cannot find out its size: ") + strerror(EIO));
        EXPECT_TRUE(open(path)) << error;
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, withoutDirectReadsTheCacheIsUsed)
{
    const auto refuseDirect = SyscallFault({SCMP_SYS(pread64)}, EINVAL).on(path).with(3, 0);
    const auto whyNot = withFaults({refuseDirect, refuseDirect}, [&] {
        auto device = open(path);
        ASSERT_TRUE(device) << error;
        EXPECT_FALSE(device->direct());
        ASSERT_EQ(log.size(), 1U);
        EXPECT_NE(log[0].find("O_DIRECT is not supported here"), std::string::npos) << log[0];
        TestBuffer out(4096, 'x');
        EXPECT_EQ(write(*device, 4096, out), Status::ok);
        EXPECT_EQ(peek(path, 4096, 4096), out.text());

        device.reset();
        device = open(path, false); // nobody wants to hear of it
        ASSERT_TRUE(device) << error;
        EXPECT_FALSE(device->direct());
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, aFailedFirstReadSaysNothingAboutDirectIo)
{
    bool usual = false;
    if (const auto device = open(path))
        usual = device->direct();
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(pread64)}, EIO).on(path)}, [&] {
        const auto device = open(path);
        ASSERT_TRUE(device) << error;
        EXPECT_EQ(device->direct(), usual);
    });
    if (!usual)
        GTEST_SKIP() << "no O_DIRECT here";
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, directIoThatCannotBeSwitchedOffIsRefused)
{
    const auto refuseDirect = SyscallFault({SCMP_SYS(pread64)}, EINVAL).on(path);
    const auto refuse = [this](const int command) { return SyscallFault({SCMP_SYS(fcntl)}, EBADF).on(path).with(1, command); };
    const auto whyNot = withFaults({refuseDirect, refuseDirect, refuse(F_GETFL), refuse(F_SETFL)}, [&] {
        for (int i = 0; i < 2; ++i)
            expectRefused(path, std::string("cannot switch O_DIRECT off: ") + strerror(EBADF));
        EXPECT_TRUE(open(path)) << error;
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, lockingGoesOnAfterSignalsButNotForEver)
{
    const auto locking = [this](const int errnum) { return SyscallFault({SCMP_SYS(flock)}, errnum).on(path); };
    auto whyNot = withFaults({locking(EINTR).times(3)}, [&] {
        const auto device = open(path);
        ASSERT_TRUE(device) << error;
        const int second = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        EXPECT_NE(flock(second, LOCK_EX | LOCK_NB), 0) << "not locked";
        close(second);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
    whyNot = withFaults({locking(EINTR).times(1000), locking(ENOLCK)}, [&] {
        for (const int errnum: {EINTR, ENOLCK})
            expectRefused(path, std::string("cannot lock: ") + strerror(errnum));
        EXPECT_TRUE(open(path)) << error;
    });
    EXPECT_EQ(whyNot, "");
}

TEST_F(AioFaultsTest, aFileSystemThatDoesNotTellItsAlignmentGetsItsBlocks)
{
    // the C library has a way round the first of these, which cannot tell it either
    const SyscallFault missing = SyscallFault({SCMP_SYS(statx)}, ENOSYS).on(path);
    const SyscallFault refused = SyscallFault({SCMP_SYS(statx)}, EINVAL).on(path);
    const auto whyNot = withFaults({missing, refused}, [&] {
        for (int i = 0; i < 2; ++i) {
            const auto device = open(path);
            ASSERT_TRUE(device) << error;
            struct stat found;
            ASSERT_EQ(stat(path.c_str(), &found), 0);
            const auto block = static_cast<uint32_t>(found.st_blksize);
            EXPECT_EQ(device->alignment(), std::max(512U, std::min(4096U, block)));
        }
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, aDiskOfUnknownSizeIsRefused)
{
    const LoopDevice loop(path);
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    std::vector<SyscallFault> faults;
    for (const uint64_t question: {BLKGETSIZE64, uint64_t(BLKSSZGET), uint64_t(BLKPBSZGET)})
        faults.push_back(SyscallFault({SCMP_SYS(ioctl)}, ENOTTY).on(loop.path()).with(1, question));
    const auto whyNot = withFaults(faults, [&] {
        for (int i = 0; i < 3; ++i)
            expectRefused(loop.path(), std::string("cannot find out its size: ") + strerror(ENOTTY));
        const auto device = open(loop.path());
        ASSERT_TRUE(device) << error;
        EXPECT_EQ(device->size(), fileSize);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, withoutAnEventfdNothingIsOpened)
{
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(eventfd2)}, EMFILE)}, [&] {
        expectRefused(path, std::string("cannot create an eventfd: ") + strerror(EMFILE));
        EXPECT_TRUE(open(path)) << error; // its lock has ended
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, requestsThatBlockGoOnAfterSignalsAndReportErrors)
{
    constexpr unsigned size = 65536;
    const auto moving = [this](const int number, const int errnum) {
        return SyscallFault({number}, errnum).on(path).with(2, size);
    };
    const std::vector<SyscallFault> faults = {
        SyscallFault({SCMP_SYS(io_setup)}, ENOSYS),
        moving(SCMP_SYS(pwrite64), EINTR), moving(SCMP_SYS(pwrite64), ENOSPC), moving(SCMP_SYS(pread64), EINTR).times(2),
        moving(SCMP_SYS(pread64), EIO), SyscallFault({SCMP_SYS(fdatasync)}, EDQUOT).on(path),
    };
    const auto whyNot = withFaults(faults, [&] {
        const auto device = open(path, false);
        ASSERT_TRUE(device) << error;
        EXPECT_FALSE(device->asynchronous());
        TestBuffer out(size);
        out.pattern(1);
        EXPECT_EQ(write(*device, 0, out), Status::ioError);
        EXPECT_EQ(device->stats().lastErrno, ENOSPC) << "not EINTR";
        EXPECT_EQ(write(*device, 0, out), Status::ok);
        TestBuffer in(size);
        EXPECT_EQ(read(*device, 0, in), Status::ioError);
        EXPECT_EQ(device->stats().lastErrno, EIO);
        EXPECT_EQ(read(*device, 0, in), Status::ok);
        EXPECT_EQ(in.text(), out.text());
        EXPECT_EQ(run(*device, IoOp::flush), Status::ioError);
        EXPECT_EQ(device->stats().lastErrno, EDQUOT);
        EXPECT_EQ(run(*device, IoOp::flush), Status::ok);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, aWakeUpThatFailsLosesNoAnswer)
{
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(write)}, EAGAIN).on(eventName)}, [&] {
        const auto device = open(path);
        ASSERT_TRUE(device) << error;
        TestBuffer in(4096);
        for (const bool signalled: {false, true}) {
            device->submit(makeIo(IoOp::read, 1, 4096, in.data(), nullptr)); // unaligned
            EXPECT_EQ(readable(*device), signalled);
            EXPECT_EQ(device->poll(), 1U);
            EXPECT_FALSE(readable(*device));
        }
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, aSignalThatCannotBeReadYetIsReadLater)
{
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(read)}, EAGAIN).on(eventName)}, [&] {
        const auto device = open(path);
        ASSERT_TRUE(device) << error;
        TestBuffer in(4096);
        device->submit(makeIo(IoOp::read, 1, 4096, in.data(), nullptr)); // unaligned
        EXPECT_EQ(device->poll(), 1U);
        EXPECT_TRUE(readable(*device));
        EXPECT_EQ(device->poll(), 0U);
        EXPECT_FALSE(readable(*device));
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, destroyingWaitsAlthoughInterrupted)
{
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(io_getevents)}, EINTR).times(3)}, [&] {
        auto device = open(path);
        ASSERT_TRUE(device) << error;
        TestBuffer out(1 << 19);
        out.pattern(2);
        device->submit(makeIo(IoOp::write, 0, 1 << 19, out.data(), nullptr));
        device.reset();
        EXPECT_EQ(peek(path, 0, 1 << 19), out.text());
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(AioFaultsTest, destroyingEndsWhenCompletionsCannotBeCollected)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the memory of the request is lost then";
#endif
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(io_getevents)}, EINVAL)}, [&] {
        auto device = open(path);
        ASSERT_TRUE(device) << error;
        TestBuffer out(1 << 19);
        out.pattern(3);
        device->submit(makeIo(IoOp::write, 0, 1 << 19, out.data(), nullptr));
        device.reset(); // io_destroy() waits as well
        EXPECT_EQ(peek(path, 0, 1 << 19), out.text());
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}
