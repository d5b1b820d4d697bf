// SPDX-License-Identifier: GPL-2.0-or-later
/* Small chunks: which ones are given out, and that memory goes back. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SyscallFaults.h"

#include "fs/cluster/catalog/ChunkMemory.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint32_t chunkBytes = ChunkMemory::chunkBytes;

/// bytes that the system has given for the memory
uint64_t
inUse(const ChunkMemory &chunks)
{
    struct stat status;
    EXPECT_EQ(fstat(chunks.memory().fd(), &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
}

void
fill(const ChunkMemory &chunks, const uint32_t chunk)
{
    memset(chunks.at(chunk), static_cast<int>(chunk % 251), chunkBytes);
}

bool
hasIts(const ChunkMemory &chunks, const uint32_t chunk)
{
    return std::string(chunks.at(chunk), chunkBytes) == std::string(chunkBytes, static_cast<char>(chunk % 251));
}

} // namespace

TEST(ChunkMemory, givesOutTheLowestFreeChunk)
{
    ChunkMemory chunks(200, "test");
    for (uint32_t n = 0; n < 200; ++n)
        ASSERT_EQ(chunks.take(), n);
    EXPECT_EQ(chunks.take(), ChunkMemory::none);
    for (const uint32_t n: {150, 7, 199, 70})
        chunks.giveBack(n);
    EXPECT_EQ(chunks.used(), 196U);
    for (const uint32_t n: {7, 70, 150, 199})
        EXPECT_EQ(chunks.take(), n);
    EXPECT_EQ(chunks.take(), ChunkMemory::none);
}

/// what is in use keeps its bytes, whatever comes and goes beside it, and never has more memory than it says
TEST(ChunkMemory, keepsTheBytesOfChunksInUse)
{
    constexpr uint32_t count = 2000;
    ChunkMemory chunks(count, "test");
    std::minstd_rand random(7);
    std::vector<uint32_t> used;
    for (unsigned step = 0; step < 40000; ++step) {
        const bool more = random() % 1000 < (step / 10000 % 2 ? 450U : 550U);
        if (more) {
            const auto chunk = chunks.take();
            ASSERT_EQ(chunk == ChunkMemory::none, used.size() == count);
            if (chunk == ChunkMemory::none)
                continue;
            fill(chunks, chunk);
            used.push_back(chunk);
        } else if (!used.empty()) {
            std::swap(used[random() % used.size()], used.back());
            ASSERT_TRUE(hasIts(chunks, used.back())) << used.back();
            chunks.giveBack(used.back());
            used.pop_back();
        }
        ASSERT_EQ(chunks.used(), used.size());
        if (step % 500 == 0) {
            ASSERT_LE(inUse(chunks), chunks.residentBytes());
        }
    }
    for (const auto chunk: used)
        EXPECT_TRUE(hasIts(chunks, chunk)) << chunk;
}

TEST(ChunkMemory, givesMemoryBackThatNobodyUses)
{
    constexpr uint32_t count = 4096 + 10; // the last block has only ten chunks
    ChunkMemory chunks(count, "test");
    EXPECT_EQ(chunks.residentBytes(), 0U);
    for (uint32_t n = 0; n < count; ++n)
        fill(chunks, chunks.take());
    EXPECT_GE(chunks.residentBytes(), uint64_t(count) * chunkBytes);
    EXPECT_GE(inUse(chunks), uint64_t(count) * chunkBytes);
    for (uint32_t n = 100; n < count; ++n)
        chunks.giveBack(n);
    EXPECT_LE(chunks.residentBytes(), uint64_t(count) * chunkBytes / 8) << "a sixteenth is kept, and what is in use";
    EXPECT_LE(inUse(chunks), chunks.residentBytes());
    for (uint32_t n = 0; n < 100; ++n)
        EXPECT_TRUE(hasIts(chunks, n)) << n;
    for (uint32_t n = 100; n < count; ++n)
        fill(chunks, chunks.take());
    for (uint32_t n = 0; n < count; ++n)
        ASSERT_TRUE(hasIts(chunks, n)) << n;
}

/// a block that was idle, and is used again, above others that nobody uses
TEST(ChunkMemory, givesBackOnlyWhatNobodyUses)
{
    constexpr uint32_t block = 64, count = 16 * block;
    ChunkMemory chunks(count, "test");
    for (uint32_t n = 0; n < count; ++n)
        fill(chunks, chunks.take());
    for (uint32_t n = 10 * block; n < 12 * block; ++n)
        chunks.giveBack(n);
    for (uint32_t n = 10 * block; n < 12 * block; ++n)
        fill(chunks, chunks.take());
    for (uint32_t n = 0; n < 4 * block; ++n)
        chunks.giveBack(n);
    for (uint32_t n = 4 * block; n < count; ++n)
        ASSERT_TRUE(hasIts(chunks, n)) << n;
}

TEST(ChunkMemory, whereTheSystemTakesNothingBackItStaysCounted)
{
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(madvise)}, EPERM).with(2, MADV_REMOVE).always()}, [] {
        constexpr uint32_t count = 1024;
        ChunkMemory chunks(count, "test");
        for (unsigned round = 0; round < 3; ++round) {
            for (uint32_t n = 0; n < count; ++n)
                fill(chunks, chunks.take());
            for (uint32_t n = 0; n < count; ++n)
                chunks.giveBack(n);
            EXPECT_EQ(chunks.residentBytes(), uint64_t(count) * chunkBytes);
        }
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}
