// SPDX-License-Identifier: GPL-2.0-or-later
/* The media format: clusters, their directories, extents and parts. */

#include "test-suite/unit/support/LayoutSupport.h"

#include "fs/cluster/layout/Cluster.h"

#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint32_t clusterBytes = 65536;
constexpr ClusterNo number{0x21};

/// three objects, the second of which goes on in two parts
Directory
sample()
{
    Directory d;
    d.header.number = number;
    d.header.uuid = uuidOf(0x10);
    d.header.sequence = 0x99_seq;
    d.header.written = 0x0102030405060708;
    d.header.end = 40000;
    for (uint32_t i = 0; i < 3; ++i) {
        DirectoryEntry e;
        e.key = keyOf(i);
        e.offset = 1024 + i * 8192;
        e.size = 5000 + i;
        e.info.size = i == 1 ? 100000 : e.size;
        e.info.timestamp = 1700000000 + i;
        e.info.expires = i ? 1800000000 : -1;
        e.info.lastModified = 1600000000;
        e.info.flags = static_cast<uint8_t>(i);
        e.heat = static_cast<uint16_t>(100 + i);
        e.parts = i == 1 ? 2 : 0;
        d.entries.push_back(e);
    }
    d.parts.push_back({0x31_c, 61440, 0x41_seq});
    d.parts.push_back({0x32_c, 1000, 0x42_seq});
    return d;
}

std::string
encoded(Directory d)
{
    std::string buffer(4096, '\0');
    d.encode(&buffer[0], buffer.size());
    return buffer;
}

Status
decode(const std::string &bytes, const ClusterNo n = number, const uint8_t uuid = 0x10)
{
    Directory d;
    return d.decode(bytes.data(), bytes.size(), n, uuidOf(uuid), clusterBytes);
}

} // namespace

TEST(ClusterFormat, comesBack) {
    auto d = sample();
    const auto bytes = encoded(d);
    Directory e;
    ASSERT_EQ(e.decode(bytes.data(), bytes.size(), number, uuidOf(0x10), clusterBytes), Status::ok);
    EXPECT_EQ(e.header.kind, ClusterKind::packed);
    EXPECT_EQ(e.header.sequence, 0x99_seq);
    EXPECT_EQ(e.header.written, 0x0102030405060708);
    EXPECT_EQ(e.header.end, 40000U);
    ASSERT_EQ(e.entries.size(), 3U);
    for (size_t i = 0; i < 3; ++i) {
        const auto &a = d.entries[i];
        const auto &b = e.entries[i];
        EXPECT_EQ(a.key, b.key);
        EXPECT_EQ(a.offset, b.offset);
        EXPECT_EQ(a.size, b.size);
        EXPECT_EQ(a.info.size, b.info.size);
        EXPECT_EQ(a.info.timestamp, b.info.timestamp);
        EXPECT_EQ(a.info.expires, b.info.expires);
        EXPECT_EQ(a.info.lastModified, b.info.lastModified);
        EXPECT_EQ(a.info.flags, b.info.flags);
        EXPECT_EQ(a.heat, b.heat);
        EXPECT_EQ(a.parts, b.parts);
    }
    ASSERT_EQ(e.parts.size(), 2U);
    EXPECT_EQ(e.parts[1].cluster, 0x32_c);
    EXPECT_EQ(e.parts[1].bytes, 1000U);
    EXPECT_EQ(e.parts[1].sequence, 0x42_seq);
    EXPECT_EQ(e.header.directoryBytes(), 96U + 3 * 64 + 2 * 16);

    ClusterHeader peeked;
    ASSERT_TRUE(Directory::Peek(bytes.data(), bytes.size(), peeked));
    EXPECT_EQ(peeked.directoryBytes(), e.header.directoryBytes());
}

TEST(ClusterFormat, hasItsFormat) {
    const auto bytes = encoded(sample());
    EXPECT_EQ(bytes.substr(0, 8), "CLUSTER\n");
    EXPECT_EQ(hexOf(bytes.substr(8, 64)), "01000000" "21000000" "101112131415161718191a1b1c1d1e1f" "9900000000000000"
              "0807060504030201" "03000000" "02000000" "409c0000" "00000000" "00000000" "00000000");
    EXPECT_EQ(hexOf(bytes.substr(96 + 16, 48)), "00040000" "88130000" "8813000000000000" "00f1536500000000"
              "ffffffffffffffff" "00105e5f00000000" "00" "00" "6400" "00000000");
    EXPECT_EQ(hexOf(bytes.substr(96 + 3 * 64, 32)), "31000000" "00f00000" "4100000000000000"
              "32000000" "e8030000" "4200000000000000");
}

TEST(ClusterFormat, noFlippedBitPasses) {
    const auto bytes = encoded(sample());
    const auto used = sample().entries.size() * 64 + 2 * 16 + 96;
    forEachFlip(bytes.substr(0, used), 1, [](const std::string &flipped, const size_t bit) {
        EXPECT_NE(decode(flipped), Status::ok) << "bit " << bit;
    });
}

TEST(ClusterFormat, noTruncatedOnePasses) {
    const auto bytes = encoded(sample());
    for (size_t size = 0; size < 96 + 3 * 64 + 2 * 16; ++size)
        EXPECT_NE(decode(bytes.substr(0, size)), Status::ok) << size;
    EXPECT_EQ(decode(bytes.substr(0, 96 + 3 * 64 + 2 * 16)), Status::ok);
}

TEST(ClusterFormat, knowsWhereItBelongs) {
    const auto bytes = encoded(sample());
    EXPECT_EQ(decode(bytes, number + 1), Status::corrupt) << "misdirected";
    EXPECT_EQ(decode(bytes, number, 0x11), Status::notFound) << "another device's";
    EXPECT_EQ(decode(std::string(4096, '\0')), Status::notFound) << "never written";
}

/// whoever makes a fitting checksum still cannot lead us astray
TEST(ClusterFormat, refusesImplausibleDirectories) {
    const struct { const char *what; std::function<void(Directory &)> change; } cases[] = {
        {"extent behind the end", [](Directory &d) { d.entries[2].size = 30000; }},
        {"extent at the very end", [](Directory &d) { d.entries[2].offset = 40000 - 24; d.entries[2].size = 0; d.entries[2].info.size = 0; }},
        {"sizes that wrap around", [](Directory &d) { d.entries[0].size = 0xfffffff0U; d.entries[0].info.size = ~uint64_t(0); }},
        {"offset that wraps around", [](Directory &d) { d.entries[0].offset = 0xfffffff8U; }},
        {"extent over the directory", [](Directory &d) { d.entries[0].offset = 256; }},
        {"unaligned extent", [](Directory &d) { d.entries[0].offset += 4; }},
        {"object smaller than its extent", [](Directory &d) { d.entries[0].info.size = 4999; }},
        {"object larger than its extent, without parts", [](Directory &d) { d.entries[0].info.size = 5001; }},
        {"end behind the cluster", [](Directory &d) { d.header.end = clusterBytes + 8; }},
        {"end within the directory", [](Directory &d) { d.header.end = 300; }},
        {"too few references", [](Directory &d) { d.parts.pop_back(); }},
        {"too many references", [](Directory &d) { d.parts.push_back({1_c, 2, 3_seq}); }},
        {"counts that wrap around", [](Directory &d) { d.entries[0].parts = 0xffffffffU; d.entries[1].parts = 3; }},
    };
    for (const auto &c: cases) {
        auto d = sample();
        c.change(d);
        EXPECT_EQ(decode(encoded(d)), Status::corrupt) << c.what;
    }
}

/// a reader may have more bytes in hand than a cluster has
TEST(ClusterFormat, refusesADirectoryLargerThanItsCluster) {
    auto d = sample();
    const auto bytes = encoded(d);
    Directory read;
    EXPECT_EQ(read.decode(bytes.data(), bytes.size(), number, uuidOf(0x10), d.header.end), Status::ok);
    EXPECT_EQ(read.decode(bytes.data(), bytes.size(), number, uuidOf(0x10), 128), Status::corrupt);
}

TEST(ClusterFormat, survivesHostileContents) {
    std::mt19937_64 random(3);
    const auto good = encoded(sample());
    for (int i = 0; i < 5000; ++i) {
        auto bytes = good;
        for (uint64_t n = 1 + random() % 6; n > 0; --n)
            bytes[8 + random() % 300] = static_cast<char>(random());
        repairFront(&bytes[0], bytes.size());
        Directory d;
        const auto status = d.decode(bytes.data(), bytes.size(), number, uuidOf(0x10), clusterBytes);
        if (status != Status::ok)
            continue;
        for (const auto &e: d.entries)
            EXPECT_LE(uint64_t(e.offset) + e.size + ExtentHeader::encodedBytes, d.header.end);
    }
}

TEST(ClusterFormat, checksExtentsAlone) {
    ExtentHeader h;
    h.size = 500;
    h.sequence = 7_seq;
    h.key = keyOf(1);
    std::string extent(ExtentHeader::encodedBytes, '\0');
    extent += bytesOf(1, 500);
    sealExtent(&extent[0], h, uuidOf(1), 5_c, 4096);
    const auto check = [&](const std::string &bytes, const ExtentHeader &wanted, const uint8_t uuid, const ClusterNo n, const uint32_t at) {
        return checkExtent(bytes.data(), bytes.size(), wanted, uuidOf(uuid), n, at);
    };
    EXPECT_EQ(check(extent, h, 1, 5_c, 4096), Status::ok);
    EXPECT_EQ(check(extent, h, 2, 5_c, 4096), Status::corrupt) << "another device";
    EXPECT_EQ(check(extent, h, 1, 6_c, 4096), Status::corrupt) << "another cluster";
    EXPECT_EQ(check(extent, h, 1, 5_c, 4104), Status::corrupt) << "another place";
    EXPECT_EQ(check(extent.substr(0, 531), h, 1, 5_c, 4096), Status::corrupt) << "cut off";
    EXPECT_EQ(check(extent.substr(0, 10), h, 1, 5_c, 4096), Status::corrupt);
    auto other = h;
    other.key = keyOf(2);
    EXPECT_EQ(check(extent, other, 1, 5_c, 4096), Status::corrupt) << "another object";
    other = h;
    other.sequence = 8_seq;
    EXPECT_EQ(check(extent, other, 1, 5_c, 4096), Status::corrupt) << "an older write";
    for (const uint32_t size: {0U, 499U, 0xffffffffU}) {
        other = h;
        other.size = size;
        EXPECT_EQ(check(extent, other, 1, 5_c, 4096), Status::corrupt) << size;
    }
    forEachFlip(extent, 1, [&](const std::string &flipped, const size_t bit) {
        EXPECT_EQ(check(flipped, h, 1, 5_c, 4096), Status::corrupt) << "bit " << bit;
    });
}

TEST(ClusterFormat, checksPartsByContentAndPlace) {
    const auto bytes = bytesOf(1, 1000);
    const auto crc = partCrc(bytes.data(), bytes.size(), uuidOf(1), 2_c, 3_seq);
    EXPECT_EQ(partCrc(bytes.data(), bytes.size(), uuidOf(1), 2_c, 3_seq), crc);
    EXPECT_NE(partCrc(bytes.data(), bytes.size(), uuidOf(2), 2_c, 3_seq), crc);
    EXPECT_NE(partCrc(bytes.data(), bytes.size(), uuidOf(1), 3_c, 3_seq), crc);
    EXPECT_NE(partCrc(bytes.data(), bytes.size(), uuidOf(1), 2_c, 4_seq), crc);
    EXPECT_NE(partCrc(bytes.data(), bytes.size() - 1, uuidOf(1), 2_c, 3_seq), crc);
    forEachFlip(bytes, 13, [&](const std::string &flipped, size_t) {
        EXPECT_NE(partCrc(flipped.data(), flipped.size(), uuidOf(1), 2_c, 3_seq), crc);
    });
}
