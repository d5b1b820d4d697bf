// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs of pages that other processes map to read. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SyscallFaults.h"

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/SharedPages.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr auto page = PagePool::pageBytes;

struct Pages: testing::Test {
    void SetUp() override { ASSERT_TRUE(pages.make(bytes, error)) << error; }

    /// bytes of memory that the mapping takes
    uint64_t inUse() const {
        struct stat status;
        EXPECT_EQ(fstat(pages.fd(), &status), 0);
        return static_cast<uint64_t>(status.st_blocks) * 512;
    }

    static constexpr uint64_t bytes = 32 * MB;
    SharedPages pages;
    std::string error;
};

} // namespace

TEST_F(Pages, othersSeeWhatIsWrittenAndWriteNothing)
{
    const auto at = pages.take(20);
    ASSERT_TRUE(at);
    memcpy(at, "hello", 6);
    SharedMemory theirs;
    ASSERT_TRUE(theirs.map(Descriptor(dup(pages.fd())), bytes, SharedMemory::Access::read, error)) << error;
    EXPECT_STREQ(theirs.data() + (at - pages.data()), "hello");
    memcpy(at, "later", 6);
    EXPECT_STREQ(theirs.data() + (at - pages.data()), "later");
    SharedMemory writable;
    EXPECT_FALSE(writable.map(Descriptor(dup(pages.fd())), bytes, SharedMemory::Access::write, error));
    pages.giveBack(at, 20);
}

/// runs of all sizes come and go in any order, each filled with a number of its own
TEST_F(Pages, runsBelongToOneAlone)
{
    struct Run {
        char *at;
        size_t pages;
        char mark;
    };
    std::vector<Run> held;
    std::minstd_rand random(5);
    for (unsigned n = 0; n < 20000; ++n) {
        const size_t count = 1 + random() % (random() % 4 ? 16 : 200);
        if (held.size() < 60) {
            const auto at = pages.take(count);
            ASSERT_TRUE(at) << "a fifth of all is in use";
            ASSERT_GE(at, pages.data());
            ASSERT_LE(at + count * page, pages.data() + bytes);
            ASSERT_EQ((at - pages.data()) % static_cast<std::ptrdiff_t>(page), 0);
            held.push_back({at, count, static_cast<char>(random())});
            memset(at, held.back().mark, count * page);
            continue;
        }
        std::swap(held[random() % held.size()], held.back());
        const auto run = held.back();
        held.pop_back();
        ASSERT_EQ(*run.at, run.mark);
        ASSERT_EQ(memcmp(run.at, run.at + 1, run.pages * page - 1), 0) << "each byte is like the one before";
        pages.giveBack(run.at, run.pages);
    }
    for (const auto &run: held)
        pages.giveBack(run.at, run.pages);
    EXPECT_LE(inUse(), 2 * PagePool::chunkPages * page) << "all memory goes back, but for a chunk";
    EXPECT_TRUE(pages.take((bytes / page - PagePool::chunkPages) / 2)) << "the gaps are joined, on both sides of that chunk";
}

TEST_F(Pages, takeMemoryAsTheyAreUsed)
{
    EXPECT_EQ(inUse(), 0U);
    const auto at = pages.take(1000);
    memset(at, 1, 1000 * page);
    EXPECT_GE(inUse(), 1000 * page);
    pages.giveBack(at, 1000);
    EXPECT_EQ(inUse(), 0U);
}

TEST_F(Pages, theBestFitIsTaken)
{
    std::vector<char *> at;
    for (const auto count: {100, 20, 300, 20, 50, 20})
        at.push_back(pages.take(static_cast<size_t>(count)));
    pages.giveBack(at[0], 100);
    pages.giveBack(at[2], 300);
    pages.giveBack(at[4], 50);
    EXPECT_EQ(pages.take(50), at[4]);
    EXPECT_EQ(pages.take(101), at[2]);
    EXPECT_EQ(pages.take(100), at[0]);
}

TEST_F(Pages, haveAnEnd)
{
    EXPECT_FALSE(pages.take(bytes / page + 1));
    const auto all = pages.take(bytes / page);
    ASSERT_TRUE(all);
    EXPECT_FALSE(pages.take(1));
    EXPECT_FALSE(pages.take(17));
    pages.giveBack(all, bytes / page);
    EXPECT_TRUE(pages.take(17));
}

/// in a chroot: others get the same file then, which they map to read
TEST(SharedPagesFaults, withoutProcOthersSeeThemAllTheSame)
{
    const auto noProc = SyscallFault({SCMP_SYS(openat)}, ENOENT).always();
    const auto whyNot = withFaults({noProc}, [] {
        SharedPages pages;
        std::string error;
        ASSERT_TRUE(pages.make(MB, error)) << error;
        SharedMemory theirs;
        ASSERT_TRUE(theirs.map(Descriptor(dup(pages.fd())), MB, SharedMemory::Access::read, error)) << error;
        memcpy(pages.take(20), "hello", 6);
        EXPECT_STREQ(theirs.data(), "hello");
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST(SharedPagesFaults, aDescriptorForOthersMayBeMissing)
{
    const auto noProc = SyscallFault({SCMP_SYS(openat)}, ENOENT).always();
    const auto noCopy = SyscallFault({SCMP_SYS(fcntl)}, EMFILE).with(1, F_DUPFD_CLOEXEC);
    const auto whyNot = withFaults({noProc, noCopy}, [] {
        SharedPages pages;
        std::string error;
        EXPECT_FALSE(pages.make(MB, error));
        EXPECT_NE(error.find("no file descriptor for shared memory"), std::string::npos) << error;
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST(SharedPagesFaults, whatIsMissingIsTold)
{
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(memfd_create)}, EMFILE)}, [] {
        SharedPages pages;
        std::string error;
        EXPECT_FALSE(pages.make(MB, error));
        EXPECT_NE(error.find("no shared memory"), std::string::npos) << error;
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

/// a buffer finds memory of its own where the shared pages have none, and keeps these as long as it lives
TEST(SharedBuffer, comesFromPages)
{
    auto pages = std::make_shared<SharedPages>();
    std::string error;
    ASSERT_TRUE(pages->make(2 * MB, error)) << error;
    const auto first = std::make_unique<Buffer>(MB, pages);
    EXPECT_GE(first->sharedAt(), 0);
    memset(first->data(), 7, first->size());
    const auto second = std::make_unique<Buffer>(2 * MB, pages);
    EXPECT_EQ(second->sharedAt(), -1);
    memset(second->data(), 8, second->size());
    EXPECT_EQ(first->data()[MB - 1], 7);
    EXPECT_EQ(Buffer(10, nullptr).sharedAt(), -1);
    const std::weak_ptr<SharedPages> watch = pages;
    pages = nullptr;
    EXPECT_FALSE(watch.expired());
}
