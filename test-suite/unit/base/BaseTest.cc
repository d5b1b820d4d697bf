// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine's small common parts: fields, checksums, memory, clocks, words. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SyscallFaults.h"

#include "fs/cluster/base/Bytes.h"
#include "fs/cluster/base/Clock.h"
#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/base/Memory.h"
#include "tools/models/ManualClock.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(Bytes, areLittleEndianOnTheMedia) {
    char buffer[32];
    ByteWriter w(buffer, sizeof(buffer));
    w.u8(0x01);
    w.u16(0x0302);
    w.u32(0x07060504U);
    w.u64(0x0f0e0d0c0b0a0908ULL);
    w.zeros(1);
    w.key(keyFrom(0x1716151413121110ULL, 0x1f1e1d1c1b1a1918ULL));
    EXPECT_EQ(w.used(), 32U);
    EXPECT_EQ(w.left(), 0U);
    for (unsigned i = 0; i < 15; ++i)
        EXPECT_EQ(buffer[i], static_cast<char>(i + 1));
    EXPECT_EQ(buffer[15], 0);
    for (unsigned i = 16; i < 32; ++i)
        EXPECT_EQ(buffer[i], static_cast<char>(i));

    ByteReader r(buffer, sizeof(buffer));
    EXPECT_EQ(r.u8(), 0x01);
    EXPECT_EQ(r.u16(), 0x0302);
    EXPECT_EQ(r.u32(), 0x07060504U);
    EXPECT_EQ(r.u64(), 0x0f0e0d0c0b0a0908ULL);
    r.skip(1);
    EXPECT_EQ(r.key(), keyFrom(0x1716151413121110ULL, 0x1f1e1d1c1b1a1918ULL));
    EXPECT_TRUE(r.good());
    EXPECT_EQ(r.left(), 0U);
}

TEST(Bytes, keepTheLargestNumbers) {
    char buffer[15];
    ByteWriter w(buffer, sizeof(buffer));
    w.u8(0xff);
    w.u16(0xffff);
    w.u32(0xffffffffU);
    w.u64(~uint64_t(0));
    ByteReader r(buffer, sizeof(buffer));
    EXPECT_EQ(r.u8(), 0xff);
    EXPECT_EQ(r.u16(), 0xffff);
    EXPECT_EQ(r.u32(), 0xffffffffU);
    EXPECT_EQ(r.u64(), ~uint64_t(0));
}

TEST(Bytes, areZeroBehindTheEnd) {
    const char buffer[6] = {1, 1, 1, 1, 1, 1};
    for (size_t size = 0; size < 6; ++size) {
        ByteReader r(buffer, size);
        r.skip(size);
        EXPECT_TRUE(r.good());
        char bytes[3] = {9, 9, 9};
        r.bytes(bytes, 3);
        EXPECT_FALSE(r.good());
        EXPECT_EQ(std::string(bytes, 3), std::string(3, '\0'));
        EXPECT_EQ(r.u8(), 0);
        EXPECT_EQ(r.u64(), 0U);
        EXPECT_EQ(r.key(), Key());
        EXPECT_FALSE(r.good()) << "the flag stays";
    }
    ByteReader r(buffer, 6);
    r.skip(~size_t(0));
    EXPECT_FALSE(r.good());
    EXPECT_EQ(r.u8(), 0) << "nothing follows a failure";
    ByteReader half(buffer, 3);
    EXPECT_EQ(half.u32(), 0U) << "no half numbers";
}

/* RFC 3720, appendix B.4 */

TEST(Crc32c, isThatOfTheStandard) {
    std::string bytes(32, '\0');
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x8a9136aaU);
    bytes.assign(32, '\xff');
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x62a8ab43U);
    for (unsigned i = 0; i < 32; ++i)
        bytes[i] = static_cast<char>(i);
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x46dd794eU);
    for (unsigned i = 0; i < 32; ++i)
        bytes[i] = static_cast<char>(31 - i);
    EXPECT_EQ(crc32c(bytes.data(), 32), 0x113fdb5cU);
    const unsigned char command[48] = {
        0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0,
        0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0
    };
    EXPECT_EQ(crc32c(command, sizeof(command)), 0xd9963a56U);
    EXPECT_EQ(crc32c("123456789", 9), 0xe3069283U);
    EXPECT_EQ(crc32c("", 0), 0U);
}

TEST(Crc32c, goesOnWhereItEnded) {
    const auto bytes = bytesOf(1, 3000);
    const auto whole = crc32c(bytes.data(), bytes.size());
    for (size_t cut = 0; cut <= bytes.size(); cut += 7)
        EXPECT_EQ(crc32c(bytes.data() + cut, bytes.size() - cut, crc32c(bytes.data(), cut)), whole);
}

TEST(Crc32c, takesMoreThanTheLibraryCounts) {
    constexpr size_t size = (size_t(1) << 32) + 4096; // as an int: 4096
    // pages that nobody wrote are one and the same page of zeros
    const auto memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        GTEST_SKIP() << "not enough address space";
    const auto bytes = static_cast<char *>(memory);
    bytes[size - 1] = 7;
    uint32_t inPieces = 0;
    for (size_t at = 0; at < size; at += size / 5)
        inPieces = crc32c(bytes + at, std::min(size / 5, size - at), inPieces);
    EXPECT_EQ(crc32c(bytes, size), inPieces);
    munmap(memory, size);
}

TEST(Memory, regionsAreZeroAndLarge) {
    Region none(0);
    EXPECT_EQ(none.size(), 0U);
    Region large(size_t(1) << 36); // pages that nobody touches cost nothing
    large.data()[size_t(1) << 35] = 7;
    EXPECT_EQ(large.data()[(size_t(1) << 36) - 1], 0);
    EXPECT_THROW(Region(size_t(1) << 60), std::bad_alloc);

    Table<uint32_t> table(1000);
    EXPECT_EQ(table.count(), 1000U);
    for (size_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(table[i], 0U);
        table[i] = static_cast<uint32_t>(i);
    }
    const auto &same = table;
    EXPECT_EQ(same[999], 999U);
}

TEST(Memory, buffersSuitTheDevice) {
    for (const size_t size: {0, 1, 4095, 4096, 4097, 1000000}) {
        Buffer b(size);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data()) % 4096, 0U);
        EXPECT_EQ(b.size() % 4096, 0U);
        EXPECT_GE(b.size(), std::max<size_t>(size, 1));
        EXPECT_LT(b.size(), size + 4097);
        memset(b.data(), 1, b.size());
    }
}

/// the kernel allows a process only so many mappings
TEST(Memory, buffersNeedNoMappings) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer's own memory is mappings";
#endif
    constexpr size_t pages = 400000;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto all = static_cast<char *>(mmap(nullptr, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(all, MAP_FAILED);
    size_t n = 0;
    // pages of other rights than their neighbours' are mappings of their own
    while (n < pages && mprotect(all + n * page, page, PROT_NONE) == 0)
        n += 2;
    if (n < pages) {
        Buffer large(300000);
        memset(large.data(), 7, large.size());
        EXPECT_EQ(large.data()[299999], 7);
    }
    munmap(all, pages * page);
    if (n >= pages)
        GTEST_SKIP() << "this system allows more mappings than that";
}

TEST(Memory, buffersThatNobodyMapsComeFromTheHeap) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "they all come from the heap";
#endif
    constexpr size_t size = 256 * 1024;
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(mmap)}, ENOMEM).with(1, size)}, [] {
        Buffer b(size);
        ASSERT_NE(b.data(), nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data()) % 4096, 0U);
        memset(b.data(), 7, size);
        EXPECT_EQ(b.data()[size - 1], 7);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

/// with as many mappings as there may be, the kernel can't part those that it has joined
TEST(Memory, buffersThatCannotBeUnmappedTakeNoMemory) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "they all come from the heap";
#endif
    constexpr size_t size = 2 << 20;
    const auto whyNot = withFaults({SyscallFault({SCMP_SYS(munmap)}, ENOMEM).with(1, size)}, [size] {
        auto buffer = std::make_unique<Buffer>(size);
        const volatile char *const at = buffer->data();
        memset(buffer->data(), 'x', size);
        buffer.reset();
        EXPECT_EQ(at[0], 0) << "the address is there, without a page";
        EXPECT_EQ(at[size - 1], 0);
    });
    if (!whyNot.empty())
        GTEST_SKIP() << whyNot;
}

TEST(Memory, buffersWithoutMemoryThrow) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer ends the process instead";
#endif
    EXPECT_THROW(Buffer(size_t(1) << 60), std::bad_alloc);
}

TEST(Memory, roundsUpAndDown) {
    const struct { uint64_t value, unit, up, down; } cases[] = {
        {0, 8, 0, 0}, {1, 8, 8, 0}, {7, 8, 8, 0}, {8, 8, 8, 8}, {9, 8, 16, 8}, {4097, 4096, 8192, 4096}, {10, 3, 12, 9},
    };
    for (const auto &c: cases) {
        EXPECT_EQ(roundUp(c.value, c.unit), c.up);
        EXPECT_EQ(roundDown(c.value, c.unit), c.down);
    }
}

TEST(Clock, movesAsTold) {
    ManualClock clock;
    const auto start = clock.micros();
    const auto wall = clock.wallSeconds();
    EXPECT_EQ(clock.micros(), start);
    clock.advance(2500000);
    EXPECT_EQ(clock.micros(), start + 2500000);
    EXPECT_EQ(clock.wallSeconds(), wall + 2);
    clock.advance(500000);
    EXPECT_EQ(clock.wallSeconds(), wall + 3);
}

TEST(Clock, ofTheMachineGoesOn) {
    SystemClock clock;
    const auto before = clock.micros();
    EXPECT_GE(clock.micros(), before);
    EXPECT_GT(clock.wallSeconds(), 1600000000);
}

TEST(Types, haveNames) {
    std::set<std::string> names;
    for (int s = 0; s <= static_cast<int>(Status::aborted); ++s)
        names.insert(statusText(static_cast<Status>(s)));
    EXPECT_EQ(names.size(), static_cast<size_t>(Status::aborted) + 1) << "each has its own";
    EXPECT_EQ(names.count("unknown"), 0U);
    EXPECT_STREQ(statusText(static_cast<Status>(200)), "unknown");
}

TEST(Types, keysAreNumbersAndText) {
    const auto k = keyFrom(0x0706050403020100ULL, 0x0f0e0d0c0b0aff08ULL);
    EXPECT_EQ(k.high(), 0x0706050403020100ULL);
    EXPECT_EQ(k.low(), 0x0f0e0d0c0b0aff08ULL);
    EXPECT_EQ(k.hex(), "000102030405060708FF0A0B0C0D0E0F");
    EXPECT_EQ(k, keyFrom(k.high(), k.low()));
    EXPECT_NE(k, keyFrom(k.high(), k.low() + 1));
    EXPECT_NE(k, Key());
}
