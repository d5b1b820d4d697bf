// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of what examine() calls the things of others that are on a device, from their bytes alone. */

#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/layout/Superblock.h"

#include "test-suite/unit/support/DeviceSupport.h"

#include <gtest/gtest.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t mebibyte = 1 << 20;

class SignatureTest : public testing::Test
{
protected:
    /// that only force may overwrite the image, and that the reason has these words
    void expectForeign(const std::string &words) {
        const auto verdict = examine(image);
        EXPECT_FALSE(verdict.usable || verdict.ours || verdict.blank) << verdict.reason;
        EXPECT_TRUE(verdict.forceable) << verdict.reason;
        EXPECT_EQ(verdict.reason.find(image + " holds " + words), 0U) << "got: " << verdict.reason << "\nwanted: " << words;
    }

    /// swap space, or the memory of a sleeping machine in it
    void pokeSwap(const std::string &signature) const {
        poke(image, 1024, std::string("\1\0\0\0\xff\x0f\0\0", 8)); // version 1, 4095 pages
        poke(image, 4096 - 10, signature);
    }

    Folder folder;
    const std::string image = folder.file("image", 64 * mebibyte);
};

} // namespace

TEST_F(SignatureTest, swapAndSleepingMemory)
{
    pokeSwap("SWAPSPACE2");
    expectForeign("swap space;");
    pokeSwap(std::string("S1SUSPEND\0", 10));
    expectForeign("swap space;");
}

TEST_F(SignatureTest, severalFileSystemsAtOnce)
{
    pokeSwap("SWAPSPACE2");
    poke(image, 0, "hsqs");
    poke(image, 28, std::string("\4\0\0\0", 4)); // squashfs, version 4.0
    expectForeign("several file systems or partition tables at once;");
}

TEST_F(SignatureTest, aDiskOfACacheInFrontOfAnother)
{
    // bcache: offset of the superblock, version, magic
    poke(image, 4096 + 8, std::string("\x08\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16));
    poke(image, 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81");
    expectForeign("data of the kind bcache;");
}

TEST_F(SignatureTest, aDiskImageWithAPartitionTable)
{
    // as installation images are: a CD and a disk in one
    poke(image, 32768, std::string("\1CD001\1\0", 8) + std::string(32, ' ') + "INSTALLER" + std::string(23, ' '));
    std::string entry(16, '\0');
    entry[0] = static_cast<char>(0x80);
    entry[4] = 0x17;
    entry[9] = 8; // from sector 2048
    entry[13] = 16; // 4096 sectors
    poke(image, 446, entry + std::string(48, '\0') + "\x55\xaa");
    expectForeign("a file system (iso9660) labelled 'INSTALLER' and a partition table (dos);");
}

TEST_F(SignatureTest, ourSecondCopyAloneIsOursWhereNoSampleLies)
{
    // samples are a 64th of the device apart: on this one, none is at 1 MB
    const auto large = folder.file("large", 96 * mebibyte);
    poke(large, mebibyte, std::string(Superblock::magic, 16));
    const auto verdict = examine(large);
    EXPECT_TRUE(verdict.ours && verdict.usable) << verdict.reason;
    EXPECT_FALSE(verdict.blank);
    EXPECT_EQ(verdict.reason, large + " is a clusterfs device");
}
