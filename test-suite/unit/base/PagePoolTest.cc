// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs of pages: theirs alone, reused, and given back to the system. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SyscallFaults.h"

#include "fs/cluster/base/PagePool.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr auto page = PagePool::pageBytes;
constexpr auto chunk = PagePool::chunkPages * page;

/// buffers that come and go in any order, each filled with a number of its own
class Load
{
public:
    Load(PagePool &pool, const unsigned seed): pool_(pool), random_(seed) {}

    void grow() {
        const auto pages = 1 + random_() % PagePool::maxPages;
        const auto p = pool_.take(pages);
        ASSERT_NE(p, nullptr);
        ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % page, 0U);
        const auto mark = static_cast<char>(random_());
        memset(p, mark, pages * page);
        held_.push_back({p, pages, mark});
        bytes_ += pages * page;
    }

    void shrink() {
        std::swap(held_[random_() % held_.size()], held_.back());
        const auto run = held_.back();
        held_.pop_back();
        ASSERT_EQ(std::count(run.at, run.at + run.pages * page, run.mark), static_cast<ptrdiff_t>(run.pages * page));
        pool_.giveBack(run.at, run.pages);
        bytes_ -= run.pages * page;
    }

    /// holds about so many bytes, exchanged so many times
    void churn(const size_t bytes, const unsigned times) {
        for (unsigned i = 0; i < times; ++i) {
            grow();
            while (bytes_ > bytes)
                shrink();
        }
    }

    void end() {
        while (!held_.empty())
            shrink();
    }

    size_t bytes() const { return bytes_; }

private:
    struct Run {
        char *at;
        size_t pages;
        char mark;
    };

    PagePool &pool_;
    std::mt19937 random_;
    std::vector<Run> held_;
    size_t bytes_ = 0;
};

/// pages of these runs, of 4 each, that have memory
size_t
residentOf(const std::vector<char *> &runs)
{
    size_t n = 0;
    for (const auto at: runs) {
        unsigned char in[4] = {};
        EXPECT_EQ(mincore(at, 4 * page, in), 0);
        n += static_cast<size_t>(std::count_if(in, in + 4, [](const unsigned char c) { return c & 1; }));
    }
    return n;
}

} // namespace

TEST(PagePool, runsOverlapNoneAndWasteLittle) {
    PagePool pool;
    Load load(pool, 1);
    load.churn(20 * chunk, 20000);
    EXPECT_LE(pool.mappedBytes(), load.bytes() + load.bytes() / 4);
    load.churn(2 * chunk, 2000);
    load.end();
    EXPECT_EQ(pool.mappedBytes(), chunk) << "one is kept for the next";
}

/// the system's own count of memory, since the pool's may be wrong
TEST(PagePool, gapsThatNothingFitsIntoTakeLittleMemory) {
    PagePool pool;
    std::vector<char *> runs;
    for (size_t i = 0; i < 40 * PagePool::chunkPages / 4; ++i) {
        runs.push_back(pool.take(4));
        memset(runs.back(), 'x', 4 * page);
    }
    const auto before = residentOf(runs);
    ASSERT_EQ(before, 40 * PagePool::chunkPages);
    for (size_t i = 0; i < runs.size(); i += 2)
        pool.giveBack(runs[i], 4);
    const auto used = before / 2;
    EXPECT_EQ(pool.mappedBytes(), 40 * chunk);
    EXPECT_LE(residentOf(runs), used + used / 8 + PagePool::chunkPages);
    EXPECT_EQ(pool.residentBytes(), residentOf(runs) * page);
    for (size_t i = 1; i < runs.size(); i += 2)
        ASSERT_EQ(std::count(runs[i], runs[i] + 4 * page, 'x'), static_cast<ptrdiff_t>(4 * page)) << "a run in use";
    for (size_t i = 0; i < runs.size(); i += 2) { // the addresses are used again
        runs[i] = pool.take(4);
        memset(runs[i], 'y', 4 * page);
    }
    EXPECT_EQ(pool.mappedBytes(), 40 * chunk);
    EXPECT_EQ(residentOf(runs), before);
    EXPECT_EQ(pool.residentBytes(), before * page);
}

TEST(PagePool, aRunIsTakenAgainWhereOneBecameFree) {
    PagePool pool;
    std::vector<char *> runs;
    for (size_t i = 0; i < 3 * PagePool::chunkPages / 4; ++i)
        runs.push_back(pool.take(4));
    ASSERT_EQ(pool.mappedBytes(), 3 * chunk);
    for (const size_t i: {10, 100, 150})
        pool.giveBack(runs[i], 4);
    std::vector<char *> again {pool.take(4), pool.take(2), pool.take(2), pool.take(3)};
    std::vector<char *> freed {runs[10], runs[100], runs[150], runs[100] + 2 * page, runs[10] + 2 * page, runs[150] + 2 * page};
    for (const auto p: again)
        EXPECT_NE(std::find(freed.begin(), freed.end(), p), freed.end());
    EXPECT_EQ(pool.mappedBytes(), 3 * chunk);
}

TEST(PagePool, neighboursThatBecomeFreeAreOneRun) {
    PagePool pool;
    std::vector<char *> runs;
    for (unsigned i = 0; i < PagePool::chunkPages; ++i)
        runs.push_back(pool.take(1));
    std::sort(runs.begin(), runs.end());
    ASSERT_EQ(pool.mappedBytes(), chunk);
    for (unsigned i = 60; i < 60 + PagePool::maxPages; ++i)
        pool.giveBack(runs[i], 1);
    EXPECT_EQ(pool.take(PagePool::maxPages), runs[60]);
    EXPECT_EQ(pool.mappedBytes(), chunk);
}

TEST(PagePool, servesSeveralThreads) {
    PagePool pool;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) {
        threads.emplace_back([&pool, i] {
            Load load(pool, i);
            load.churn(3 * chunk, 3000);
            load.end();
        });
    }
    for (auto &thread: threads)
        thread.join();
    EXPECT_EQ(pool.mappedBytes(), chunk);
}

/// with as many mappings as there may be, the kernel can't part two that it has joined
TEST(PagePool, whatCannotBeUnmappedIsUsedAgain) {
    const auto noParting = SyscallFault({SCMP_SYS(munmap)}, ENOMEM).with(1, chunk);
    const auto whyNot = withFaults({noParting}, [] {
        PagePool pool;
        std::vector<char *> runs;
        for (size_t i = 0; i < 2 * PagePool::chunkPages; ++i)
            runs.push_back(pool.take(1));
        EXPECT_EQ(pool.mappedBytes(), 2 * chunk);
        for (const auto p: runs) {
            *p = 'x';
            pool.giveBack(p, 1);
        }
        EXPECT_EQ(pool.mappedBytes(), 2 * chunk);
        unsigned empty = 0; // without memory
        for (auto &p: runs) {
            p = pool.take(1);
            empty += !*p;
        }
        EXPECT_EQ(empty, PagePool::chunkPages);
        EXPECT_EQ(pool.mappedBytes(), 2 * chunk);
        for (const auto p: runs)
            pool.giveBack(p, 1);
        EXPECT_EQ(pool.mappedBytes(), chunk) << "it can be, later";
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST(PagePool, withoutMappingsThereIsNoRunButThoseThatAreFree) {
    const auto noMemory = SyscallFault({SCMP_SYS(mmap)}, ENOMEM).with(1, chunk);
    const auto whyNot = withFaults({noMemory, SyscallFault(noMemory).nth(2)}, [] {
        PagePool pool;
        EXPECT_EQ(pool.take(1), nullptr);
        EXPECT_EQ(pool.mappedBytes(), 0U);
        std::vector<char *> runs;
        for (size_t i = 0; i < PagePool::chunkPages; ++i)
            runs.push_back(pool.take(1));
        EXPECT_EQ(std::count(runs.begin(), runs.end(), nullptr), 0);
        EXPECT_EQ(pool.take(1), nullptr); // a second chunk
        pool.giveBack(runs[9], 1);
        EXPECT_EQ(pool.take(1), runs[9]);
        EXPECT_EQ(pool.mappedBytes(), chunk);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}
