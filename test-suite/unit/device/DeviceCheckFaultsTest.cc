// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of examine() and Preallocation when the system refuses, or when somebody changes the file meanwhile. */

#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/device/Preallocation.h"

#include "test-suite/unit/support/DeviceSupport.h"
#include "test-suite/unit/support/SyscallFaults.h"

#include <gtest/gtest.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t mebibyte = 1 << 20;
constexpr uint64_t imageSize = 64 * mebibyte;

class OwnershipFaultsTest : public testing::Test
{
protected:
    /// that the image is refused for that reason, which no force overrides
    void expectRefused(const std::string &words) {
        const auto verdict = examine(image);
        EXPECT_FALSE(verdict.usable || verdict.forceable || verdict.ours || verdict.blank) << verdict.reason;
        EXPECT_EQ(verdict.reason.find(image + ": "), 0U) << verdict.reason;
        EXPECT_NE(verdict.reason.find(words), std::string::npos) << "got: " << verdict.reason << "\nwanted: " << words;
    }

    void expectUsable() {
        const auto verdict = examine(image);
        EXPECT_TRUE(verdict.usable && verdict.blank) << verdict.reason;
    }

    SyscallFault reading(const uint64_t offset, const uint64_t size, const int errnum) const {
        return SyscallFault({SCMP_SYS(pread64)}, errnum).on(image).with(2, size).with(3, offset);
    }

    Folder folder;
    const std::string image = folder.file("image", imageSize);
};

class PreallocateFaultsTest : public testing::Test
{
protected:
    /// that nothing is made, for that reason
    void expectFailure(const int errnum) {
        std::string error;
        EXPECT_FALSE(Preallocation().create(path, mebibyte, error));
        EXPECT_EQ(error, path + ": cannot reserve 1048576 bytes: " + strerror(errnum) + "; nothing was left behind");
        EXPECT_NE(access(path.c_str(), F_OK), 0);
    }

    void expectSuccess() {
        std::string error;
        EXPECT_TRUE(Preallocation().create(path, mebibyte, error)) << error;
        EXPECT_EQ(peek(path, 0, mebibyte), std::string(mebibyte, '\0'));
        (void)unlink(path.c_str());
    }

    Folder folder;
    const std::string path = folder / "new";
};

} // namespace

TEST_F(OwnershipFaultsTest, whatCannotBeOpenedOrMeasuredIsRefused)
{
    const std::vector<SyscallFault> faults = {
        SyscallFault({SCMP_SYS(openat)}, EACCES).on(image),
        SyscallFault({SCMP_SYS(lseek)}, ESPIPE).on(image),
        fstatFault(EIO).on(image),
    };
    const auto whyNot = withFaults(faults, [&] {
        expectRefused(std::string("cannot open: ") + strerror(EACCES) + "; it must be readable");
        expectRefused(std::string("cannot find out its size: ") + strerror(ESPIPE));
        expectRefused(std::string("cannot find out its size: ") + strerror(EIO));
        expectUsable();
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(OwnershipFaultsTest, whenItsUsersCannotBeSeenItIsRefused)
{
    for (const std::string place: {"/proc/self/mountinfo", "/proc/swaps", "/sys/block"}) {
        const auto whyNot = withFaults({SyscallFault({SCMP_SYS(openat)}, EACCES).on(place)}, [&] {
            expectRefused("cannot find out who uses it: " + place + ": " + strerror(EACCES) + "; this user must");
            expectUsable();
        });
        if (!whyNot.empty())
            GTEST_SKIP() << whyNot;
    }
}

TEST_F(OwnershipFaultsTest, whatIsReplacedMeanwhileIsRefused)
{
    const auto other = folder.file("other", imageSize);
    const auto replace = [&] { ASSERT_EQ(rename(other.c_str(), image.c_str()), 0); };
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(openat)}, 0).on(image).after(replace)}, [&] {
        expectRefused("replaced by something else while it was examined");
        expectUsable();
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(OwnershipFaultsTest, whatMovesToAnotherFileSystemIsRefused)
{
    const Twins twins(smallestDevice);
    if (!twins.works())
        GTEST_SKIP() << "cannot mount two file systems that number alike";
    const auto exchange = [&] { twins.exchange(); };
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(openat)}, 0).on(twins.path()).after(exchange)}, [&] {
        const auto verdict = examine(twins.path());
        EXPECT_FALSE(verdict.usable || verdict.forceable) << verdict.reason;
        EXPECT_NE(verdict.reason.find("replaced by something else while it was examined"), std::string::npos) << verdict.reason;
        EXPECT_TRUE(examine(twins.path()).usable);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(OwnershipFaultsTest, aReadErrorAnywhereIsNamed)
{
    const std::vector<SyscallFault> faults = {
        reading(0, 16, EIO), reading(mebibyte, 16, EIO), // our superblocks
        reading(0, mebibyte, EIO), reading(imageSize - mebibyte, mebibyte, EIO), // both ends
        reading(imageSize / 64, 4096, EIO), reading(imageSize / 64 * 63, 4096, EIO), // samples
    };
    const auto whyNot = withFaults(faults, [&] {
        for (size_t i = 0; i < faults.size(); ++i)
            expectRefused(std::string("cannot read it: ") + strerror(EIO) + "; check the disk");
        expectUsable();
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(OwnershipFaultsTest, readingGoesOnAfterSignals)
{
    poke(image, mebibyte - 1, "x");
    const auto whyNot = withFaults({reading(0, mebibyte, EINTR).times(2)}, [&] {
        const auto verdict = examine(image);
        EXPECT_FALSE(verdict.usable) << verdict.reason;
        EXPECT_TRUE(verdict.forceable) << verdict.reason; // its bytes were seen
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(OwnershipFaultsTest, aFileThatShrinksMeanwhileIsRefused)
{
    const auto shrink = [this] { ASSERT_EQ(truncate(image.c_str(), imageSize - mebibyte / 2), 0); };
    const auto whyNot = withFaults({reading(imageSize - mebibyte, mebibyte, 0).after(shrink)}, [&] {
        expectRefused(std::string("cannot read it: ") + strerror(EIO));
        expectUsable(); // as it is now
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(OwnershipFaultsTest, whatLibblkidCannotReadIsRefused)
{
    // it has a way of its own to measure and to read
    const std::vector<SyscallFault> faults = {
        fstatFault(EIO).on(image).nth(2),
        SyscallFault({SCMP_SYS(read)}, EIO).on(image).always(),
    };
    const auto whyNot = withFaults(faults, [&] {
        for (int i = 0; i < 2; ++i)
            expectRefused(std::string("cannot read it: ") + strerror(EIO) + "; check the disk");
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(PreallocateFaultsTest, nothingIsLeftOfAFileThatCouldNotBeMade)
{
    const auto on = [this](const int number, const int errnum) { return SyscallFault({number}, errnum).on(path); };
    const std::vector<SyscallFault> faults = {
        on(SCMP_SYS(fchmod), EPERM), on(SCMP_SYS(fsync), EIO),
    };
    const auto whyNot = withFaults(faults, [&] {
        for (const int errnum: {EPERM, EIO})
            expectFailure(errnum);
        expectSuccess();
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(PreallocateFaultsTest, whatReplacedTheFileStays)
{
    const auto other = folder.file("other", mebibyte);
    const auto replace = [&] { ASSERT_EQ(rename(other.c_str(), path.c_str()), 0); };
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(fsync)}, EIO).on(path).after(replace)}, [&] {
        std::string error;
        EXPECT_FALSE(Preallocation().create(path, 2 * mebibyte, error));
        EXPECT_NE(error.find(std::string(strerror(EIO)) + "; what was made of it is left"), std::string::npos) << error;
        EXPECT_EQ(examine(path).bytes, mebibyte);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(PreallocateFaultsTest, aFileThatCouldNotBeExtendedKeepsItsLength)
{
    ASSERT_EQ(folder.file("new", 4096), path);
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(fsync)}, EIO).on(path)}, [&] {
        std::string error;
        EXPECT_FALSE(Preallocation().extend(path, examine(path).id, mebibyte, error));
        EXPECT_EQ(error, path + ": cannot reserve 1048576 bytes: " + strerror(EIO) + "; nothing was left behind");
        EXPECT_EQ(examine(path).bytes, 4096U);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(PreallocateFaultsTest, theNameMustSurviveAPowerCutToo)
{
    const std::vector<SyscallFault> faults = {
        SyscallFault({SCMP_SYS(openat)}, EMFILE).on(folder.path()),
        SyscallFault({SCMP_SYS(fsync)}, EIO).on(folder.path()),
        SyscallFault({SCMP_SYS(fsync)}, EINVAL).on(folder.path()), // some file systems cannot
    };
    const auto whyNot = withFaults(faults, [&] {
        std::string error;
        EXPECT_FALSE(Preallocation().create(path, mebibyte, error));
        EXPECT_EQ(error, folder.path() + ": " + strerror(EMFILE) + "; this user must be able to read and write this directory");
        expectFailure(EIO);
        expectSuccess();
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(PreallocateFaultsTest, anUnknownFileSizeLimitIsNone)
{
    const SyscallFault asking({SCMP_SYS(prlimit64), SCMP_SYS(getrlimit)}, EPERM);
    const auto whyNot = withFaults({asking}, [&] { expectSuccess(); });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST_F(PreallocateFaultsTest, filesAreNotMadeAmongDevices)
{
    std::string error;
    for (const std::string name: {"/dev/clusterfs-none", "/dev/./clusterfs-none"}) {
        EXPECT_FALSE(Preallocation().create(name, mebibyte, error));
        EXPECT_EQ(error, name + ": there is no such device, and files are not made among devices; check the name");
    }
    // refused for their sizes: both are places for files
    for (const std::string name: {"/clusterfs-none", "/dev/shm/clusterfs-none"}) {
        EXPECT_FALSE(Preallocation().create(name, uint64_t(1) << 60, error));
        EXPECT_NE(error.find(name + ": needs"), std::string::npos) << error;
    }
    EXPECT_NE(access("/dev/clusterfs-none", F_OK), 0);
}
