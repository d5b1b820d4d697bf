// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that several processes map: what is refused, and that its size stays. */

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/SharedMemory.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

using namespace ClusterFs;

namespace {

Descriptor
copyOf(const int fd)
{
    return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

} // namespace

TEST(SharedMemory, isTheSameForAll)
{
    std::string error;
    SharedMemory one;
    ASSERT_TRUE(one.make("test", 8192, error)) << error;
    EXPECT_EQ(one.size(), 8192U);
    EXPECT_EQ(std::string(one.data(), 4), std::string(4, '\0'));
    SharedMemory other;
    ASSERT_TRUE(other.map(copyOf(one.fd()), 8192, SharedMemory::Access::read, error)) << error;
    strcpy(one.data() + 5000, "hello");
    EXPECT_STREQ(other.data() + 5000, "hello");
}

TEST(SharedMemory, cannotBeTruncated)
{
    std::string error;
    SharedMemory one;
    ASSERT_TRUE(one.make("test", 8192, error)) << error;
    EXPECT_NE(ftruncate(one.fd(), 4096), 0);
    EXPECT_NE(ftruncate(one.fd(), 16384), 0);
    EXPECT_EQ(one.data()[8191], 0);
}

TEST(SharedMemory, ofAnotherSizeIsRefused)
{
    std::string error;
    SharedMemory one;
    ASSERT_TRUE(one.make("test", 8192, error)) << error;
    SharedMemory other;
    EXPECT_FALSE(other.map(copyOf(one.fd()), 4096, SharedMemory::Access::read, error));
    EXPECT_NE(error.find("8192 bytes instead of 4096"), std::string::npos) << error;
    EXPECT_EQ(other.data(), nullptr);
}

TEST(SharedMemory, thatSomebodyCouldTruncateIsRefused)
{
    Descriptor fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_TRUE(fd);
    ASSERT_EQ(ftruncate(fd.get(), 4096), 0);
    std::string error;
    SharedMemory other;
    EXPECT_FALSE(other.map(std::move(fd), 4096, SharedMemory::Access::read, error));
    EXPECT_NE(error.find("not sealed"), std::string::npos) << error;
}

TEST(SharedMemory, ofNothingIsRefused)
{
    std::string error;
    SharedMemory other;
    EXPECT_FALSE(other.map(Descriptor(), 4096, SharedMemory::Access::read, error));
    EXPECT_NE(error, "");
}

TEST(SharedMemory, mappedToReadCannotBeWritten)
{
    std::string error;
    SharedMemory one;
    ASSERT_TRUE(one.make("test", 4096, error)) << error;
    SharedMemory other;
    ASSERT_TRUE(other.map(copyOf(one.fd()), 4096, SharedMemory::Access::read, error)) << error;
    EXPECT_DEATH(memset(other.data(), 1, 1), "");
}

TEST(SharedMemory, moves)
{
    std::string error;
    SharedMemory one;
    ASSERT_TRUE(one.make("test", 4096, error)) << error;
    auto *const at = one.data();
    SharedMemory other(std::move(one));
    EXPECT_EQ(other.data(), at);
    EXPECT_EQ(one.data(), nullptr);
    one = std::move(other);
    EXPECT_EQ(one.data(), at);
    one.data()[0] = 1;
}

TEST(SharedMemory, canBeSealedAgainstWritesOfOthers)
{
    SharedMemory mine;
    std::string error;
    ASSERT_TRUE(mine.make("test", 8192, error)) << error;
    mine.sealWrites();
    mine.data()[5000] = 7; // this mapping goes on
    SharedMemory theirs;
    EXPECT_FALSE(theirs.map(copyOf(mine.fd()), 8192, SharedMemory::Access::write, error));
    ASSERT_TRUE(theirs.map(copyOf(mine.fd()), 8192, SharedMemory::Access::read, error)) << error;
    EXPECT_EQ(theirs.data()[5000], 7);
}

TEST(SharedMemory, aRegionWithANameIsForOthers)
{
    const Region alone(8192);
    EXPECT_EQ(alone.fd(), -1);
    const Region named(8192, "test");
    ASSERT_GE(named.fd(), 0);
    named.data()[1] = 3;
    SharedMemory theirs;
    std::string error;
    ASSERT_TRUE(theirs.map(copyOf(named.fd()), 8192, SharedMemory::Access::read, error)) << error;
    EXPECT_EQ(theirs.data()[1], 3);
}

/// that of a name and that of none
TEST(SharedMemory, aRegionGivesMemoryBackAndIsZerosThere)
{
    for (const char *const name: {"test", static_cast<const char *>(nullptr)}) {
        Region region(3 * 8192, name, Region::Use::comesAndGoes);
        memset(region.data(), 7, region.size());
        ASSERT_TRUE(region.release(8192, 8192));
        EXPECT_EQ(region.data()[8191], 7);
        EXPECT_EQ(region.data()[8192], 0);
        EXPECT_EQ(region.data()[2 * 8192 - 1], 0);
        EXPECT_EQ(region.data()[2 * 8192], 7);
        region.data()[8192] = 9;
        if (!name)
            continue;
        SharedMemory theirs;
        std::string error;
        EXPECT_FALSE(theirs.map(copyOf(region.fd()), region.size(), SharedMemory::Access::write, error));
        ASSERT_TRUE(theirs.map(copyOf(region.fd()), region.size(), SharedMemory::Access::read, error)) << error;
        EXPECT_EQ(theirs.data()[8192], 9);
        EXPECT_EQ(theirs.data()[8193], 0);
    }
}
