// SPDX-License-Identifier: GPL-2.0-or-later
/* Free memory, as the kernel's files tell it. */

#include "test-suite/unit/support/DeviceSupport.h"

#include "fs/cluster/base/SystemMemory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t kb = 1024;
constexpr uint64_t mb = 1024 * kb;

/// files where a kernel has them, below a folder
class Files
{
public:
    Files() {
        write("/proc/meminfo", "MemTotal:        8000000 kB\nMemFree:          100000 kB\nMemAvailable:    3000000 kB\nBuffers: 1 kB\n");
    }

    void write(const std::string &path, const std::string &text) const {
        const auto file = folder_.path() + path;
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << text;
    }
    /// a control group of version 2
    void group(const std::string &path, const std::string &max, const uint64_t current, const uint64_t files) const {
        const auto folder = "/sys/fs/cgroup" + path;
        write(folder + "/memory.max", max + "\n");
        write(folder + "/memory.current", std::to_string(current) + "\n");
        write(folder + "/memory.stat", "anon 1\nfile 99\ninactive_file " + std::to_string(files) + "\nactive_file 1000\nslab_reclaimable 24\n");
    }
    MemoryRoom room() const {
        SystemMemory memory(folder_.path());
        MemoryRoom found;
        const auto known = memory.look(1, found);
        EXPECT_EQ(known, found.all > 0);
        return found;
    }

private:
    Folder folder_;
};

} // namespace

TEST(SystemMemory, asksThisMachine)
{
    SystemMemory memory;
    MemoryRoom room;
    ASSERT_TRUE(memory.look(1000000, room));
    EXPECT_GT(room.free, 0U);
    EXPECT_LE(room.free, room.all);
    EXPECT_FALSE(memory.look(1099999, room)) << "too soon";
    EXPECT_TRUE(memory.look(1100000, room));
}

TEST(SystemMemory, withoutAnyLimitTheMachineCounts)
{
    const Files f;
    EXPECT_EQ(f.room().all, 8000000 * kb);
    EXPECT_EQ(f.room().free, 3000000 * kb);
    f.write("/proc/self/cgroup", "0::/a.slice\n");
    f.group("/a.slice", "max", mb, 0);
    EXPECT_EQ(f.room().all, 8000000 * kb);
}

TEST(SystemMemory, theScarcestGroupCounts)
{
    const Files f;
    f.write("/proc/self/cgroup", "0::/a.slice/squid.service\n");
    f.group("/a.slice/squid.service", std::to_string(800 * mb), 700 * mb, 300 * mb);
    EXPECT_EQ(f.room().all, 800 * mb);
    EXPECT_EQ(f.room().free, 400 * mb + 1024) << "pages of files can be dropped";
    f.group("/a.slice", std::to_string(1000 * mb), 900 * mb, 0);
    EXPECT_EQ(f.room().all, 1000 * mb) << "of all services together";
    EXPECT_EQ(f.room().free, 100 * mb + 1024);
    f.group("/a.slice", std::to_string(100 * mb), 200 * mb, 0);
    EXPECT_EQ(f.room().free, 0U) << "a limit that was lowered";
}

TEST(SystemMemory, versionOneOfGroups)
{
    const Files f;
    f.write("/proc/self/cgroup", "12:cpu,cpuacct:/c\n4:hugetlb,memory:/squid\n0::/user.slice\n");
    const std::string folder = "/sys/fs/cgroup/memory/squid/";
    f.write(folder + "memory.limit_in_bytes", std::to_string(100 * mb));
    f.write(folder + "memory.usage_in_bytes", std::to_string(99 * mb));
    f.write(folder + "memory.stat", "inactive_file 7\nactive_file 7\ntotal_inactive_file " + std::to_string(mb) + "\ntotal_active_file 24\n");
    f.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    f.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
    f.group("/user.slice", std::to_string(10 * mb), 10 * mb, 0);
    EXPECT_EQ(f.room().all, 100 * mb);
    EXPECT_EQ(f.room().free, 2 * mb + 24);
}

/// a container sees its own group where the root should be, but may be told another name
TEST(SystemMemory, aGroupWhoseFolderIsNotThere)
{
    const Files f;
    f.write("/proc/self/cgroup", "0::/../host/name\n");
    f.group("", std::to_string(500 * mb), 499 * mb, 0);
    EXPECT_EQ(f.room().all, 500 * mb);
}

TEST(SystemMemory, filesThatSayNothing)
{
    const Files f;
    for (const auto *const text: {"", "what\n", "0:\n::\n", "0::\n", "4:memory:\n", "0::/\n:::::\n"}) {
        f.write("/proc/self/cgroup", text);
        EXPECT_EQ(f.room().all, 8000000 * kb) << text;
    }
    f.write("/proc/meminfo", "MemTotal: many\n");
    EXPECT_EQ(f.room().all, 0U);
    f.write("/proc/meminfo", "MemTotal: 5 kB\nNothing else\n");
    EXPECT_EQ(f.room().all, 0U) << "a kernel before 3.14";
}

TEST(MemoryRoom, whatShouldStayFree)
{
    EXPECT_EQ((MemoryRoom{0, mb}).spare(), mb);
    EXPECT_EQ((MemoryRoom{0, 64 * mb}).spare(), 4 * mb) << "a few MB come between two looks";
    EXPECT_EQ((MemoryRoom{0, 111 * mb}).spare(), 6 * mb);
    EXPECT_EQ((MemoryRoom{0, 3200 * mb}).spare(), 100 * mb);
    EXPECT_EQ((MemoryRoom{0, 1000000 * mb}).spare(), 256 * mb);
    EXPECT_TRUE((MemoryRoom{10 * mb, 100 * mb}).scarcerThan({20 * mb, 320 * mb})) << "4 MB above the spare, beside 10";
    EXPECT_FALSE((MemoryRoom{20 * mb, 320 * mb}).scarcerThan({10 * mb, 100 * mb}));
}
