// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of what examine() sees on a device, and of Preallocation. Who uses a
 * device is tested in DeviceUsageTest.cc. */

#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/device/Preallocation.h"
#include "fs/cluster/layout/Superblock.h"

#include "test-suite/unit/support/DeviceSupport.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/resource.h>

#include <deque>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t mebibyte = 1 << 20;
constexpr uint64_t imageSize = 64 * mebibyte;

/// errno values that the next calls of posix_fallocate() fail with
std::deque<int> fallocateErrors;

/// an unsigned number as disks have it
void
putNumber(std::string &bytes, const size_t at, const uint64_t value, const unsigned length)
{
    for (unsigned i = 0; i < length; ++i)
        bytes[at + i] = static_cast<char>(value >> (8 * i));
}

/// the usual CRC, neither inverted before nor after
uint32_t
crc32(uint32_t crc, const std::string &bytes)
{
    for (const char byte: bytes) {
        crc ^= static_cast<uint8_t>(byte);
        for (unsigned bit = 0; bit < 8; ++bit)
            crc = crc & 1 ? (crc >> 1) ^ 0xedb88320U : crc >> 1;
    }
    return crc;
}

/// a first sector with one partition of that type
std::string
partitionSector(const uint8_t type)
{
    std::string sector(512, '\0');
    putNumber(sector, 446 + 4, type, 1);
    putNumber(sector, 446 + 8, type == 0xee ? 1 : 2048, 4); // first sector
    putNumber(sector, 446 + 12, imageSize / 512 - 2048, 4); // how many
    putNumber(sector, 510, 0xaa55, 2);
    return sector;
}

class OwnershipTest : public testing::Test
{
protected:
    std::string magic() const { return std::string(Superblock::magic, 16); }

    /// that the path is refused, and that the reason has the path and these words
    void expectRefused(const std::string &path, const std::vector<std::string> &words, const bool forceable) {
        const auto verdict = examine(path);
        EXPECT_FALSE(verdict.usable) << verdict.reason;
        EXPECT_FALSE(verdict.blank) << verdict.reason;
        EXPECT_EQ(verdict.forceable, forceable) << verdict.reason;
        EXPECT_NE(verdict.reason.find(path), std::string::npos) << verdict.reason;
        for (const auto &word: words)
            EXPECT_NE(verdict.reason.find(word), std::string::npos) << "got: " << verdict.reason << "\nwanted: " << word;
        EXPECT_EQ(verdict.reason.find("--force") != std::string::npos, forceable) << verdict.reason;
    }

    void expectForeign(const std::vector<std::string> &words) {
        expectRefused(image, words, true);
        EXPECT_FALSE(examine(image).ours);
    }

    /// runs a program on the image; false when it is not installed
    bool make(const std::string &command) const {
        return system(("PATH=$PATH:/sbin:/usr/sbin; " + command + " " + image + " >/dev/null 2>&1").c_str()) == 0;
    }

    Folder folder;
    std::string image = folder.file("image", imageSize);
};

} // namespace

// stands in front of the one of the C library
extern "C" int
posix_fallocate(const int fd, const off_t offset, const off_t size)
{
    if (!fallocateErrors.empty()) {
        const int errnum = fallocateErrors.front();
        fallocateErrors.pop_front();
        return errnum;
    }
    return reinterpret_cast<int (*)(int, off_t, off_t)>(dlsym(RTLD_NEXT, "posix_fallocate"))(fd, offset, size);
}

TEST_F(OwnershipTest, blankIsUsable)
{
    const auto verdict = examine(image);
    EXPECT_TRUE(verdict.blank);
    EXPECT_TRUE(verdict.usable);
    EXPECT_TRUE(verdict.forceable);
    EXPECT_FALSE(verdict.ours);
    EXPECT_EQ(verdict.reason, image + " is blank");
}

TEST_F(OwnershipTest, ourFirstCopyIsEnough)
{
    poke(image, 0, magic());
    const auto verdict = examine(image);
    EXPECT_TRUE(verdict.ours);
    EXPECT_TRUE(verdict.usable);
    EXPECT_FALSE(verdict.blank);
    EXPECT_EQ(verdict.reason, image + " is a clusterfs device");
}

TEST_F(OwnershipTest, ourSecondCopyIsEnough)
{
    poke(image, 0, "damaged");
    poke(image, mebibyte, magic());
    const auto verdict = examine(image);
    EXPECT_TRUE(verdict.ours);
    EXPECT_TRUE(verdict.usable);
}

TEST_F(OwnershipTest, magicElsewhereIsNotOurs)
{
    poke(image, 512, magic());
    expectForeign({"data that is not a clusterfs cache"});
}

TEST_F(OwnershipTest, almostOurMagicIsNotOurs)
{
    poke(image, 0, "clusterfs devicX");
    expectForeign({"data that is not a clusterfs cache"});
}

TEST_F(OwnershipTest, dataAtEitherEndIsForeign)
{
    for (const uint64_t at: {uint64_t(0), mebibyte - 1, imageSize - mebibyte, imageSize - 1}) {
        poke(image, at, "x");
        expectForeign({"data that is not a clusterfs cache"});
        poke(image, at, std::string(1, '\0'));
        ASSERT_TRUE(examine(image).blank);
    }
}

TEST_F(OwnershipTest, dataBetweenIsForeign)
{
    poke(image, imageSize / 2, std::string(4096, 'm'));
    expectForeign({"data that is not a clusterfs cache"});
}

TEST_F(OwnershipTest, rockDatabaseIsForeign)
{
    // a header of zeros, then a cell: key, sizes, slots, and what was stored
    poke(image, 16384, std::string("\x11\x22\x33\x44\x55\x66\x77\x88", 8) + std::string(4000, 'r'));
    expectForeign({"data that is not a clusterfs cache"});
}

TEST_F(OwnershipTest, tooSmall)
{
    for (const auto size: {uint64_t(0), uint64_t(1), 3 * mebibyte, smallestDevice - 1}) {
        const auto path = folder.file("small", size);
        auto verdict = examine(path);
        EXPECT_FALSE(verdict.usable || verdict.forceable || verdict.ours) << verdict.reason;
        EXPECT_EQ(verdict.reason, path + " has " + std::to_string(size) + " bytes; at least " + std::to_string(smallestDevice) + " are needed");
        EXPECT_TRUE(verdict.blank && verdict.file);
        EXPECT_EQ(verdict.bytes, size);
        if (!size)
            continue;
        poke(path, size - 1, "x");
        expectRefused(path, {std::to_string(size), std::to_string(smallestDevice)}, false);
    }
    EXPECT_TRUE(examine(folder.file("enough", smallestDevice)).usable);
}

TEST_F(OwnershipTest, smallestDeviceIsSeenWhole)
{
    const auto path = folder.file("small", smallestDevice);
    poke(path, smallestDevice - 1, "x");
    expectRefused(path, {"data that is not"}, true);
}

TEST_F(OwnershipTest, otherKindsAreNamed)
{
    expectRefused(folder.path(), {"is a directory"}, false);
    expectRefused("/dev/null", {"is a character device"}, false);
    expectRefused(folder / "missing", {strerror(ENOENT)}, false);
    const auto link = folder / "link";
    ASSERT_EQ(symlink(image.c_str(), link.c_str()), 0);
    expectRefused(link, {"symbolic link to a regular file"}, false);
}

TEST_F(OwnershipTest, ufsCacheIsRecognized)
{
    const auto cache = folder / "cache";
    ASSERT_EQ(mkdir(cache.c_str(), 0700), 0);
    EXPECT_EQ(examine(cache).reason.find("ufs"), std::string::npos);
    poke(folder.file("cache/swap.state", 1), 0, "s");
    expectRefused(cache, {"looks like a ufs cache (it has swap.state)"}, false);
    ASSERT_EQ(mkdir((cache + "/00").c_str(), 0700), 0);
    expectRefused(cache, {"looks like a ufs cache (it has 00 and swap.state)"}, false);
}

TEST_F(OwnershipTest, fileSystemIsNamed)
{
    if (!make("mkfs.ext4 -q -F -L precious"))
        GTEST_SKIP() << "mkfs.ext4 does not work here";
    expectForeign({"a file system (ext4)", "'precious'", "wipefs -a"});
}

TEST_F(OwnershipTest, swapIsNamed)
{
    if (!make("mkswap -L paging"))
        GTEST_SKIP() << "mkswap does not work here";
    expectForeign({"swap space", "'paging'", "wipefs -a"});
}

TEST_F(OwnershipTest, dosPartitionTableIsNamed)
{
    poke(image, 0, partitionSector(0x83));
    expectForeign({"a partition table (dos)", "wipefs -a"});
}

TEST_F(OwnershipTest, gptPartitionTableIsNamed)
{
    const uint64_t last = imageSize / 512 - 1;
    std::string entries(128 * 128, '\0');
    std::string header(512, '\0');
    header.replace(0, 8, "EFI PART");
    putNumber(header, 8, 0x10000, 4); // version
    putNumber(header, 12, 92, 4); // size of the header
    putNumber(header, 24, 1, 8); // where this header is
    putNumber(header, 32, last, 8); // where the other one is
    putNumber(header, 40, 34, 8); // first usable sector
    putNumber(header, 48, last - 33, 8); // last usable sector
    header.replace(56, 16, "0123456789abcdef"); // identity of the disk
    putNumber(header, 72, 2, 8); // where the entries are
    putNumber(header, 80, 128, 4); // how many
    putNumber(header, 84, 128, 4); // size of each
    putNumber(header, 88, ~crc32(0xffffffff, entries), 4);
    putNumber(header, 16, ~crc32(0xffffffff, header.substr(0, 92)), 4);
    poke(image, 0, partitionSector(0xee));
    poke(image, 512, header);
    expectForeign({"a partition table (gpt)", "wipefs -a"});
}

TEST_F(OwnershipTest, lvmIsNamed)
{
    // an LVM2 label in the second sector
    std::string label(512, '\0');
    label.replace(0, 8, "LABELONE");
    putNumber(label, 8, 1, 8); // its sector
    putNumber(label, 20, 32, 4); // offset of what follows
    label.replace(24, 8, "LVM2 001");
    label.replace(32, 32, "abcdefghijklmnopqrstuvwxyz012345");
    putNumber(label, 16, crc32(0xf597a6cf, label.substr(20)), 4);
    poke(image, 512, label);
    expectForeign({"a part of a RAID or LVM volume (LVM2_member)"});
}

TEST_F(OwnershipTest, raidIsNamed)
{
    // a superblock of Linux RAID, version 1.2, 4 KB behind the start
    std::string block(256, '\0');
    putNumber(block, 0, 0xa92b4efc, 4);
    putNumber(block, 4, 1, 4); // major version
    block.replace(16, 16, "0123456789abcdef");
    block.replace(32, 5, "array");
    putNumber(block, 72, 1, 4); // level
    putNumber(block, 144, 8, 8); // its sector
    uint64_t sum = 0;
    for (size_t i = 0; i < block.size(); i += 4) {
        for (unsigned k = 0; k < 4; ++k)
            sum += static_cast<uint64_t>(static_cast<uint8_t>(block[i + k])) << (8 * k);
    }
    putNumber(block, 216, (sum & 0xffffffff) + (sum >> 32), 4);
    poke(image, 4096, block);
    expectForeign({"a part of a RAID or LVM volume (linux_raid_member)"});
}

TEST_F(OwnershipTest, encryptionIsNamed)
{
    // a LUKS version 1 header
    poke(image, 0, std::string("LUKS\xba\xbe\0\1aes", 11));
    poke(image, 168, "01234567-89ab-cdef-0123-456789abcdef");
    expectForeign({"an encrypted volume (crypto_LUKS)"});
}

TEST_F(OwnershipTest, foreignOverOursIsForeign)
{
    poke(image, mebibyte, magic());
    if (!make("mkswap"))
        GTEST_SKIP() << "mkswap does not work here";
    expectForeign({"swap space", "besides an older clusterfs superblock"});
}

TEST_F(OwnershipTest, severalAtOnceAreForeign)
{
    if (!make("mkfs.ext4 -q -F"))
        GTEST_SKIP() << "mkfs.ext4 does not work here";
    poke(image, 0, std::string("LUKS\xba\xbe\0\1aes", 11));
    poke(image, 168, "01234567-89ab-cdef-0123-456789abcdef");
    expectForeign({"wipefs -a"});
}

TEST_F(OwnershipTest, changesNothing)
{
    poke(image, 12345, "some data");
    const auto before = peek(image, 0, imageSize);
    struct stat first, second;
    ASSERT_EQ(stat(image.c_str(), &first), 0);
    (void)examine(image);
    ASSERT_EQ(stat(image.c_str(), &second), 0);
    EXPECT_TRUE(peek(image, 0, imageSize) == before);
    EXPECT_EQ(first.st_mtim.tv_nsec, second.st_mtim.tv_nsec);
    EXPECT_EQ(first.st_size, second.st_size);
}

TEST_F(OwnershipTest, blockDevices)
{
    const LoopDevice loop(image);
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    auto verdict = examine(loop.path());
    EXPECT_TRUE(verdict.blank && verdict.usable) << verdict.reason;
    poke(loop.path(), mebibyte, magic());
    verdict = examine(loop.path());
    EXPECT_TRUE(verdict.ours && verdict.usable) << verdict.reason;
    poke(loop.path(), mebibyte, "something else..");
    expectRefused(loop.path(), {"data that is not a clusterfs cache"}, true);
}

TEST_F(OwnershipTest, preallocateReservesSpace)
{
    const auto path = folder / "new";
    const auto mask = umask(0);
    std::string error;
    EXPECT_TRUE(Preallocation().create(path, 8 * mebibyte + 4096, error)) << error;
    umask(mask);
    struct stat made;
    ASSERT_EQ(stat(path.c_str(), &made), 0);
    EXPECT_TRUE(S_ISREG(made.st_mode));
    EXPECT_EQ(made.st_mode & 07777, 0600U);
    EXPECT_EQ(made.st_size, static_cast<off_t>(8 * mebibyte + 4096));
    EXPECT_GE(made.st_blocks * 512, made.st_size);
    EXPECT_TRUE(examine(path).blank);
}

TEST_F(OwnershipTest, preallocateKeepsExistingFiles)
{
    poke(image, 0, "keep me");
    std::string error;
    EXPECT_FALSE(Preallocation().create(image, mebibyte, error));
    EXPECT_NE(error.find(image), std::string::npos) << error;
    EXPECT_NE(error.find(strerror(EEXIST)), std::string::npos) << error;
    EXPECT_EQ(peek(image, 0, 7), "keep me");

    const auto link = folder / "link";
    ASSERT_EQ(symlink((folder / "target").c_str(), link.c_str()), 0);
    EXPECT_FALSE(Preallocation().create(link, mebibyte, error));
    EXPECT_NE(access((folder / "target").c_str(), F_OK), 0);
}

TEST_F(OwnershipTest, preallocateExtendsWhatWasExamined)
{
    const auto path = folder.file("short", 3 * mebibyte);
    const auto known = examine(path).id;
    std::string error;
    {
        Preallocation file;
        EXPECT_TRUE(file.extend(path, known, 8 * mebibyte, error)) << error;
        EXPECT_TRUE(file.id() == known);
        struct stat found;
        ASSERT_EQ(stat(path.c_str(), &found), 0);
        EXPECT_GE(found.st_blocks * 512, found.st_size);
        EXPECT_EQ(found.st_size, static_cast<off_t>(8 * mebibyte));
        EXPECT_EQ(peek(path, 0, 8 * mebibyte), std::string(8 * mebibyte, '\0'));
        EXPECT_TRUE(file.undo());
        EXPECT_EQ(examine(path).bytes, 3 * mebibyte);
    }
    const auto other = folder.file("other", mebibyte);
    EXPECT_FALSE(Preallocation().extend(other, known, 8 * mebibyte, error));
    EXPECT_NE(error.find("replaced by something else"), std::string::npos) << error;
    EXPECT_FALSE(Preallocation().extend(path, known, 2 * mebibyte, error)); // it has grown meanwhile
    EXPECT_EQ(examine(other).bytes, mebibyte);
    EXPECT_EQ(examine(path).bytes, 3 * mebibyte);
}

TEST_F(OwnershipTest, preallocateSaysHowMuchIsMissing)
{
    const auto path = folder / "huge";
    const uint64_t wanted = uint64_t(1) << 60;
    std::string error;
    EXPECT_FALSE(Preallocation().create(path, wanted, error));
    EXPECT_NE(error.find(path), std::string::npos) << error;
    EXPECT_NE(error.find(std::to_string(wanted)), std::string::npos) << error;
    EXPECT_NE(error.find("has only"), std::string::npos) << error;
    EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(OwnershipTest, preallocateRefusesNonsense)
{
    std::string error;
    for (const uint64_t bytes: {uint64_t(0), UINT64_MAX, uint64_t(1) << 63}) {
        EXPECT_FALSE(Preallocation().create(folder / "odd", bytes, error));
        EXPECT_NE(error.find(std::to_string(bytes)), std::string::npos) << error;
    }
    EXPECT_FALSE(Preallocation().create(folder / "missing/file", mebibyte, error));
    EXPECT_NE(error.find("missing"), std::string::npos) << error;
    EXPECT_NE(access((folder / "odd").c_str(), F_OK), 0);
}

TEST_F(OwnershipTest, preallocateObeysTheFileSizeLimit)
{
    struct rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    auto limit = before;
    limit.rlim_cur = mebibyte;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    std::string error;
    const bool made = Preallocation().create(folder / "large", mebibyte + 1, error);
    std::string noError;
    EXPECT_TRUE(Preallocation().create(folder / "small", mebibyte, noError)) << noError;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_FALSE(made);
    EXPECT_NE(error.find("ulimit -f"), std::string::npos) << error;
    EXPECT_NE(access((folder / "large").c_str(), F_OK), 0);
}

TEST_F(OwnershipTest, preallocateRemovesTheHalfMadeFile)
{
    const auto path = folder / "half";
    fallocateErrors = {ENOSPC};
    std::string error;
    EXPECT_FALSE(Preallocation().create(path, mebibyte, error));
    EXPECT_NE(error.find(path), std::string::npos) << error;
    EXPECT_NE(error.find(strerror(ENOSPC)), std::string::npos) << error;
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    EXPECT_TRUE(fallocateErrors.empty());
}

TEST_F(OwnershipTest, preallocateGoesOnAfterSignals)
{
    const auto path = folder / "new";
    fallocateErrors = {EINTR, EINTR, EINTR};
    std::string error;
    EXPECT_TRUE(Preallocation().create(path, mebibyte, error)) << error;
    EXPECT_EQ(peek(path, 0, mebibyte), std::string(mebibyte, '\0'));

    fallocateErrors.assign(10000, EINTR); // but not for ever
    EXPECT_FALSE(Preallocation().create(folder / "other", mebibyte, error));
    fallocateErrors.clear();
    EXPECT_NE(access((folder / "other").c_str(), F_OK), 0);
}

TEST_F(OwnershipTest, preallocateOnAReadOnlyFileSystem)
{
    const auto target = folder / "mnt";
    ASSERT_EQ(mkdir(target.c_str(), 0700), 0);
    const Mount mounted("none", target, "tmpfs", "ro");
    if (!mounted.works())
        GTEST_SKIP() << "cannot mount: " << mounted.whyNot();
    std::string error;
    EXPECT_FALSE(Preallocation().create(target + "/file", 4096, error));
    EXPECT_NE(error.find(target + "/file"), std::string::npos) << error;
}
