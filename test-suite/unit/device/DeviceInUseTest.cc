// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of who uses a device: with real loop devices, and with made-up /proc
 * and /sys where the real thing would disturb the machine. */

#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/device/DeviceInUse.h"

#include "test-suite/unit/support/DeviceSupport.h"

#include <gtest/gtest.h>

#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

class DeviceUsageTest : public testing::Test
{
protected:
    /// a file of the made-up system
    void fake(const std::string &path, const std::string &content) {
        const std::filesystem::path full(root + path);
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full) << content;
    }

    /// a made-up block device; findUsage() looks only at its number
    static struct stat disk(const unsigned major, const unsigned minor) {
        struct stat made;
        memset(&made, 0, sizeof(made));
        made.st_mode = S_IFBLK | 0600;
        made.st_rdev = makedev(major, minor);
        return made;
    }

    static struct stat describe(const std::string &path) {
        struct stat found;
        if (stat(path.c_str(), &found) != 0)
            throw std::runtime_error(path + ": " + strerror(errno));
        return found;
    }

    /// two partitions on disk 250:0
    void fakePartitions() {
        fake("/sys/dev/block/250:0/xd1/partition", "1\n");
        fake("/sys/dev/block/250:0/xd1/dev", "250:1\n");
        fake("/sys/dev/block/250:0/xd2/partition", "2\n");
        fake("/sys/dev/block/250:0/xd2/dev", "250:2\n");
        fake("/sys/dev/block/250:0/queue/rotational", "0\n"); // no partition
    }

    Folder folder;
    const std::string root = folder / "root";
};

} // namespace

TEST_F(DeviceUsageTest, nothingKnownIsUnused)
{
    EXPECT_EQ(findUsage(disk(250, 0), root), "");
    EXPECT_EQ(findUsage(describe(folder.file("image", 4096)), root), "");
    EXPECT_EQ(findUsage(describe(folder.file("image", 4096))), "");
}

TEST_F(DeviceUsageTest, whatCannotBeReadIsTold)
{
    std::string unknown;
    const auto image = describe(folder.file("image", 4096));
    EXPECT_EQ(findUsage(image, root, &unknown), "");
    EXPECT_EQ(unknown, root + "/proc/self/mountinfo: " + strerror(ENOENT));
    fake("/proc/self/mountinfo", "");
    EXPECT_EQ(findUsage(image, root, &unknown), "");
    EXPECT_EQ(unknown, ""); // a kernel without swap and loop devices
    EXPECT_EQ(findUsage(disk(250, 0), root, &unknown), "");
    EXPECT_EQ(unknown, root + "/sys/dev/block: " + strerror(ENOENT));
    fakePartitions();
    EXPECT_EQ(findUsage(disk(250, 0), root, &unknown), "has partitions: xd1, xd2");
    EXPECT_EQ(unknown, "");
    ASSERT_EQ(symlink("swaps", (root + "/proc/swaps").c_str()), 0);
    EXPECT_EQ(findUsage(image, root, &unknown), "");
    EXPECT_EQ(unknown, root + "/proc/swaps: " + strerror(ELOOP));
}

TEST_F(DeviceUsageTest, mountedByNumber)
{
    fake("/proc/self/mountinfo",
         "22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
         "36 35 250:0 /sub /srv/my\\040cache rw,noatime master:1 shared:2 - ext4 /dev/other rw,errors=continue\n");
    EXPECT_EQ(findUsage(disk(250, 0), root), "is mounted on /srv/my cache");
    EXPECT_EQ(findUsage(disk(250, 1), root), "");
    EXPECT_EQ(findUsage(disk(0, 20), root), "is mounted on /sys");
}

TEST_F(DeviceUsageTest, partitionsAreLookedAt)
{
    fakePartitions();
    EXPECT_EQ(findUsage(disk(250, 0), root), "has partitions: xd1, xd2");
    EXPECT_EQ(findUsage(disk(250, 1), root), ""); // a partition by itself
    fake("/proc/self/mountinfo", "36 35 250:2 / /mnt rw - xfs /dev/xd2 rw\n");
    EXPECT_EQ(findUsage(disk(250, 0), root), "has a partition xd2 that is mounted on /mnt");
    EXPECT_EQ(findUsage(disk(250, 2), root), "is mounted on /mnt");
    EXPECT_EQ(findUsage(disk(250, 1), root), "");
}

TEST_F(DeviceUsageTest, holdersAreNamed)
{
    fake("/sys/dev/block/250:0/holders/md127", "");
    EXPECT_EQ(findUsage(disk(250, 0), root), "is part of md127 (RAID, LVM, encryption or multipath)");
    fakePartitions();
    std::filesystem::remove_all(root + "/sys/dev/block/250:0/holders");
    fake("/sys/dev/block/250:2/holders/dm-3", "");
    EXPECT_EQ(findUsage(disk(250, 0), root), "has a partition xd2 that is part of dm-3 (RAID, LVM, encryption or multipath)");
}

TEST_F(DeviceUsageTest, nonsenseIsSkipped)
{
    fake("/proc/self/mountinfo", "\n \n36 35\n36 35 abc:def / /mnt rw - xfs\n36 35 250 / /mnt\n - - -\n\\04\\0999\\");
    fake("/proc/swaps", "\n\n\\\nno/absolute/path partition\n");
    fake("/sys/dev/block/250:0/strange/partition", "1\n");
    fake("/sys/dev/block/250:0/strange/dev", "nonsense\n");
    fake("/sys/block/loop0/loop/backing_file", "\n");
    fake("/sys/block/loop1/loop/backing_file", "/no/such/file (deleted)\n");
    EXPECT_EQ(findUsage(disk(250, 0), root), "");
}

TEST_F(DeviceUsageTest, onlyWholeEscapesAreUndone)
{
    const struct { const char *written, *read; } cases[] = {
        {"/a\\134b", "/a\\b"}, {"/a\\040", "/a "}, {"/a\\04", "/a\\04"}, {"/a\\\\040", "/a\\ "}, {"/a\\/00", "/a\\/00"},
        {"/a\\0/0", "/a\\0/0"}, {"/a\\00/", "/a\\00/"}, {"/a\\800", "/a\\800"}, {"/a\\080", "/a\\080"}, {"/a\\008", "/a\\008"},
    };
    for (const auto &c: cases) {
        fake("/proc/self/mountinfo", std::string("36 35 250:0 / ") + c.written + " rw - ext4 /dev/other rw\n");
        EXPECT_EQ(findUsage(disk(250, 0), root), std::string("is mounted on ") + c.read);
    }
}

TEST_F(DeviceUsageTest, numbersOfDevicesHaveAColon)
{
    for (const char *number: {"250;0", "250:", "250", ":0", "x:0"}) {
        fake("/proc/self/mountinfo", std::string("36 35 ") + number + " / /mnt rw - ext4 none rw\n");
        EXPECT_EQ(findUsage(disk(250, 0), root), "") << number;
    }
}

TEST_F(DeviceUsageTest, otherFilesAreNotMeant)
{
    const auto path = folder.file("image", 4096);
    fake("/proc/swaps", "Filename\n" + folder.file("other", 4096) + " file 4 0 -2\n/proc/self/status file 4 0 -3\n");
    fake("/sys/block/loop0/loop/backing_file", folder / "other");
    EXPECT_EQ(findUsage(describe(path), root), "");
}

TEST_F(DeviceUsageTest, loopDeviceOnADisk)
{
    const LoopDevice loop(folder.file("image", 8 << 20));
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    fake("/sys/block/loop99/loop/backing_file", loop.path() + "\n");
    EXPECT_EQ(findUsage(describe(loop.path()), root), "is attached as loop device /dev/loop99");
    EXPECT_EQ(findUsage(disk(250, 0), root), "");
}

TEST_F(DeviceUsageTest, swapFile)
{
    const auto path = folder.file("a swap file", 4 << 20);
    fake("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
         "/dev/none                               partition\t1048572\t\t0\t\t-2\n" +
         folder.path() + "/a\\040swap\\040file                       file\t\t4092\t\t0\t\t-3\n");
    EXPECT_EQ(findUsage(describe(path), root), "is in use as swap");
    const auto verdict = examine(path, root);
    EXPECT_FALSE(verdict.usable);
    EXPECT_FALSE(verdict.forceable);
    EXPECT_NE(verdict.reason.find(path + " is in use as swap"), std::string::npos) << verdict.reason;
    EXPECT_TRUE(examine(path).usable); // the true kernel knows better
}

TEST_F(DeviceUsageTest, swapDevice)
{
    const LoopDevice loop(folder.file("image", 8 << 20));
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    fake("/proc/swaps", "Filename Type Size Used Priority\n" + loop.path() + "\tpartition 1 0 -2\n");
    EXPECT_EQ(findUsage(describe(loop.path()), root), "is in use as swap");
}

TEST_F(DeviceUsageTest, mountedBySourceName)
{
    // btrfs shows device numbers of its own
    const LoopDevice loop(folder.file("image", 8 << 20));
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    fake("/proc/self/mountinfo", "36 35 0:55 / /data rw - btrfs " + loop.path() + " rw\n");
    EXPECT_EQ(findUsage(describe(loop.path()), root), "is mounted on /data");
}

TEST_F(DeviceUsageTest, attachedAsLoop)
{
    const auto image = folder.file("image", 8 << 20);
    {
        const LoopDevice loop(image);
        if (!loop.works())
            GTEST_SKIP() << loop.whyNot();
        EXPECT_EQ(findUsage(describe(image)), "is attached as loop device " + loop.path());
        EXPECT_EQ(findUsage(describe(loop.path())), "");
        EXPECT_FALSE(examine(image).usable);
        EXPECT_TRUE(examine(loop.path()).usable) << examine(loop.path()).reason;
    }
    EXPECT_TRUE(examine(image).usable) << examine(image).reason;
}

TEST_F(DeviceUsageTest, reallyMounted)
{
    const LoopDevice loop(folder.file("image", 8 << 20));
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    if (system(("PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -F " + loop.path() + " >/dev/null 2>&1").c_str()) != 0)
        GTEST_SKIP() << "mkfs.ext4 does not work here";
    const auto target = folder / "mount point";
    ASSERT_EQ(mkdir(target.c_str(), 0700), 0);
    {
        const Mount mounted(loop.path().c_str(), target, "ext4");
        if (!mounted.works())
            GTEST_SKIP() << "cannot mount: " << mounted.whyNot();
        const auto verdict = examine(loop.path());
        EXPECT_FALSE(verdict.usable);
        EXPECT_FALSE(verdict.forceable);
        EXPECT_NE(verdict.reason.find("is mounted on " + target), std::string::npos) << verdict.reason;
    }
    const auto verdict = examine(loop.path());
    EXPECT_TRUE(verdict.forceable) << verdict.reason;
    EXPECT_NE(verdict.reason.find("(ext4)"), std::string::npos) << verdict.reason;
}

TEST_F(DeviceUsageTest, reallyPartitioned)
{
    const auto image = folder.file("image", 32 << 20);
    std::string sector(512, '\0');
    const unsigned char entry[16] = {0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0x80, 0, 0};
    sector.replace(446, 16, reinterpret_cast<const char *>(entry), 16);
    sector[510] = 0x55;
    sector[511] = static_cast<char>(0xaa);
    poke(image, 0, sector);
    const LoopDevice loop(image, true);
    if (!loop.works())
        GTEST_SKIP() << loop.whyNot();
    const auto name = loop.path().substr(5) + "p1";
    if (access(("/sys/class/block/" + name).c_str(), F_OK) != 0)
        GTEST_SKIP() << "no partitions on loop devices here";
    EXPECT_EQ(findUsage(describe(loop.path())), "has partitions: " + name);
    EXPECT_FALSE(examine(loop.path()).forceable);
    if (access(("/dev/" + name).c_str(), F_OK) == 0) {
        EXPECT_TRUE(examine("/dev/" + name).usable) << examine("/dev/" + name).reason;
    }
}
