// SPDX-License-Identifier: GPL-2.0-or-later
/* The media format: geometry, superblock, journal blocks, checkpoint chunks. */

#include "LayoutSupport.h"

#include "fs/cluster/layout/Checkpoint.h"
#include "fs/cluster/layout/JournalBlock.h"

#include <algorithm>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(Geometry, dividesAnyDevice) {
    for (const uint64_t device: {16 * MB, 20 * MB + 4096, 100 * MB, 1024 * MB, 1048576 * MB, 20000000 * MB}) {
        for (uint32_t cluster = 16384; cluster <= 16 * MB; cluster *= 4) {
            for (const uint32_t object: {128U, 1024U, 13312U, 1048576U}) {
                Geometry g;
                std::string error;
                if (!g.plan(device, cluster, object, error)) {
                    EXPECT_TRUE(error.find("too small") != std::string::npos || error.find("2^28") != std::string::npos) << error;
                    continue;
                }
                // regions in order, aligned, within the device
                uint64_t at = 2 * superblockSpacing;
                for (const auto start: g.checkpointStart) {
                    EXPECT_GE(start, at);
                    at = start + g.checkpointBytes;
                }
                for (const auto start: g.journalStart) {
                    EXPECT_GE(start, at);
                    at = start + g.journalBytes;
                }
                EXPECT_GE(g.clusterStart, at);
                EXPECT_GE(g.clusterCount, 8U);
                EXPECT_EQ(g.clusterStart % cluster, 0U);
                for (const auto start: {g.checkpointStart[0], g.checkpointStart[1], g.journalStart[0], g.journalStart[1], g.clusterStart})
                    EXPECT_EQ(start % 4096, 0U);
                EXPECT_EQ(g.clusterOffset(0), g.clusterStart);
                EXPECT_LE(g.clusterOffset(g.clusterCount), device);
                EXPECT_GT(g.clusterOffset(g.clusterCount) + cluster, device) << "no cluster is given away";
                EXPECT_GE(g.indexCapacity, std::min<uint64_t>(device / object, uint64_t(1) << 30));
                EXPECT_LT(g.bucketCount, uint64_t(1) << 31);
                EXPECT_GE(g.checkpointBytes, Checkpoint::BytesNeeded(g.clusterCount, g.indexCapacity));
                Geometry again;
                ASSERT_TRUE(again.plan(device, cluster, object, error));
                EXPECT_EQ(again.clusterStart, g.clusterStart);
                EXPECT_EQ(again.clusterCount, g.clusterCount);
            }
        }
    }
}

TEST(Geometry, refusesNonsense) {
    const struct { uint64_t device; uint32_t cluster, object; const char *error; } cases[] = {
        {1024 * MB, 0, 1024, "cluster size of 0"}, {1024 * MB, 8192, 1024, "8192"}, {1024 * MB, 32 * MB, 1024, "power of two"},
        {1024 * MB, 65535, 1024, "65535"}, {1024 * MB, 65536, 127, "127"}, {1024 * MB, 65536, 17 * MB, "object size"},
        {0, 65536, 1024, "too small"}, {MB, 65536, 1024, "too small"}, {16 * MB, 16 * MB, 1024, "at least"},
        {~uint64_t(0), 65536, 1024, "2^28"},
    };
    for (const auto &c: cases) {
        Geometry g;
        std::string error;
        EXPECT_FALSE(g.plan(c.device, c.cluster, c.object, error)) << c.error;
        EXPECT_NE(error.find(c.error), std::string::npos) << error;
    }
}

/// as the design promises
TEST(Geometry, hasRoomForABillionObjects) {
    Geometry g;
    std::string error;
    ASSERT_TRUE(g.plan(uint64_t(16) << 40, MB, 13 * 1024, error)) << error;
    EXPECT_GE(g.indexCapacity, 1000000000U);
}

namespace {

Superblock
sampleSuperblock()
{
    Superblock s;
    s.uuid = uuidOf(0x40);
    std::string error;
    EXPECT_TRUE(s.geometry.plan(64 * MB, 65536, 1024, error)) << error;
    s.update = 0x1122334455667788ULL;
    s.clean = true;
    s.lastSequence = 77;
    s.checkpoint = 5;
    return s;
}

} // namespace

TEST(Superblock, comesBack) {
    const auto s = sampleSuperblock();
    std::string buffer(superblockBytes, 'x');
    s.encode(&buffer[0]);
    Superblock t;
    std::string error;
    ASSERT_EQ(t.decode(buffer.data(), error), Status::ok) << error;
    EXPECT_EQ(t.version, formatVersion);
    EXPECT_EQ(t.uuid, s.uuid);
    EXPECT_EQ(t.update, s.update);
    EXPECT_TRUE(t.clean);
    EXPECT_EQ(t.lastSequence, 77U);
    EXPECT_EQ(t.checkpoint, 5U);
    EXPECT_EQ(t.geometry.deviceBytes, 64 * MB);
    EXPECT_EQ(t.geometry.clusterCount, s.geometry.clusterCount);
    EXPECT_EQ(t.geometry.clusterStart, s.geometry.clusterStart);
}

TEST(Superblock, hasItsFormat) {
    std::string buffer(superblockBytes, 'x');
    sampleSuperblock().encode(&buffer[0]);
    EXPECT_EQ(buffer.substr(0, 16), "clusterfs device");
    EXPECT_EQ(hexOf(buffer.substr(16, 68)),
              "03000000" "404142434445464748494a4b4c4d4e4f" "0000000400000000" "00000100" "00040000"
              "8877665544332211" "01" "4d00000000000000" "0500000000000000" + std::string(14, '0'));
    EXPECT_EQ(uuidText(uuidOf(0x40)), "40414243-4445-4647-4849-4a4b4c4d4e4f");
}

TEST(Superblock, noFlippedBitPasses) {
    std::string buffer(superblockBytes, 0);
    sampleSuperblock().encode(&buffer[0]);
    forEachFlip(buffer, 1, [](const std::string &flipped, const size_t bit) {
        Superblock t;
        std::string error;
        EXPECT_NE(t.decode(flipped.data(), error), Status::ok) << "bit " << bit;
        EXPECT_FALSE(error.empty());
    });
}

TEST(Superblock, refusesOtherVersionsAndImpossibleSizes) {
    std::string error;
    std::string buffer(superblockBytes, 0);
    auto s = sampleSuperblock();
    Superblock t;
    for (const uint32_t version: {oldestVersion - 1, formatVersion + 1}) {
        s.version = version;
        s.encode(&buffer[0]);
        EXPECT_EQ(t.decode(buffer.data(), error), Status::unsupported);
        EXPECT_NE(error.find("version " + std::to_string(version) + " is not"), std::string::npos) << error;
    }
    s.version = oldestVersion;
    s.encode(&buffer[0]);
    EXPECT_EQ(t.decode(buffer.data(), error), Status::ok) << error;
    s = sampleSuperblock();
    s.geometry.clusterBytes = 12345;
    s.encode(&buffer[0]);
    EXPECT_EQ(t.decode(buffer.data(), error), Status::corrupt);
    EXPECT_NE(error.find("12345"), std::string::npos) << error;
    EXPECT_EQ(t.decode(std::string(superblockBytes, 0).data(), error), Status::notOurs);
}

/* journal blocks */

namespace {

JournalBlock
sampleBlock()
{
    JournalBlock b;
    b.checkpoint = 9;
    b.index = 3;
    JournalRecord r;
    r.kind = JournalRecord::Kind::removal;
    r.key = keyFrom(0x0807060504030201ULL, 0x100f0e0d0c0b0a09ULL);
    r.sequence = 0x55;
    b.records.push_back(r);
    r = JournalRecord();
    r.kind = JournalRecord::Kind::announce;
    r.cluster = 0x66;
    r.sequence = 0x77;
    b.records.push_back(r);
    r = JournalRecord();
    r.kind = JournalRecord::Kind::release;
    r.cluster = 0x88;
    b.records.push_back(r);
    return b;
}

} // namespace

TEST(JournalBlock, comesBackInItsFormat) {
    const auto b = sampleBlock();
    std::string buffer(journalBlockBytes, 'x');
    b.encode(&buffer[0], uuidOf(1));
    EXPECT_EQ(buffer.substr(0, 8), "JOURNAL\n");
    EXPECT_EQ(hexOf(buffer.substr(24, 16)), "0900000000000000" "03000000" "03000000");
    EXPECT_EQ(hexOf(buffer.substr(48, 43)), "01" "0102030405060708090a0b0c0d0e0f10" "5500000000000000"
              "02" "66000000" "7700000000000000" "03" "88000000");
    JournalBlock d;
    ASSERT_EQ(d.decode(buffer.data(), uuidOf(1)), Status::ok);
    EXPECT_EQ(d.checkpoint, 9U);
    EXPECT_EQ(d.index, 3U);
    ASSERT_EQ(d.records.size(), 3U);
    EXPECT_EQ(d.records[0].key, b.records[0].key);
    EXPECT_EQ(d.records[0].sequence, 0x55U);
    EXPECT_EQ(d.records[1].cluster, 0x66U);
    EXPECT_EQ(d.records[1].sequence, 0x77U);
    EXPECT_EQ(d.records[2].kind, JournalRecord::Kind::release);
    EXPECT_EQ(d.records[2].cluster, 0x88U);
    EXPECT_EQ(d.decode(buffer.data(), uuidOf(2)), Status::notFound) << "another device's";
    EXPECT_EQ(d.decode(std::string(journalBlockBytes, 0).data(), uuidOf(1)), Status::notFound);
}

TEST(JournalBlock, noFlippedBitPasses) {
    std::string buffer(journalBlockBytes, 0);
    sampleBlock().encode(&buffer[0], uuidOf(1));
    forEachFlip(buffer, 1, [](const std::string &flipped, const size_t bit) {
        JournalBlock d;
        EXPECT_NE(d.decode(flipped.data(), uuidOf(1)), Status::ok) << "bit " << bit;
    });
}

TEST(JournalBlock, holdsWhatItsCapacitySays) {
    JournalBlock b;
    JournalRecord r;
    size_t bytes = 0;
    while (bytes + r.encodedBytes() <= JournalBlock::Capacity()) {
        bytes += r.encodedBytes();
        r.sequence = bytes;
        b.records.push_back(r);
    }
    std::string buffer(journalBlockBytes, 0);
    b.encode(&buffer[0], uuidOf(1));
    JournalBlock d;
    ASSERT_EQ(d.decode(buffer.data(), uuidOf(1)), Status::ok);
    ASSERT_EQ(d.records.size(), b.records.size());
    EXPECT_EQ(d.records.back().sequence, b.records.back().sequence);
}

/// contents that no checksum stops, because it was made for them
TEST(JournalBlock, survivesHostileContents) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 2000; ++i) {
        std::string buffer(journalBlockBytes, 0);
        sampleBlock().encode(&buffer[0], uuidOf(1));
        for (int n = 0; n < 8; ++n)
            buffer[24 + random() % 100] = static_cast<char>(random());
        repairJournalBlock(&buffer[0]);
        JournalBlock d;
        const auto status = d.decode(buffer.data(), uuidOf(1));
        EXPECT_TRUE(status == Status::ok || status == Status::corrupt);
        EXPECT_LE(d.records.size(), JournalBlock::Capacity());
    }
}

/* checkpoint chunks */

namespace {

Checkpoint::Chunk
sampleChunk(const Checkpoint::Kind kind, const bool keys, const size_t records)
{
    Checkpoint::Chunk c;
    c.checkpoint = 4;
    c.index = 17;
    c.kind = kind;
    c.keys = keys;
    c.from = 0x1234;
    c.total = 0x5678;
    for (uint32_t i = 0; i < records; ++i) {
        if (kind == Checkpoint::clusters) {
            c.clusterRecords.push_back({i + 1, uint8_t(i % 8), i + 2ULL, i + 3, i + 4, i + 5ULL, i + 6, i + 7, i + 8});
        } else {
            c.objectRecords.push_back({i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7ULL, keyOf(i)});
        }
    }
    return c;
}

} // namespace

TEST(Checkpoint, chunksComeBack) {
    std::string buffer(checkpointChunkBytes, 'x');
    for (const bool keys: {false, true}) {
        for (const auto kind: {Checkpoint::clusters, Checkpoint::objects, Checkpoint::end}) {
            const auto most = kind == Checkpoint::clusters ? Checkpoint::ClustersInChunk() : Checkpoint::ObjectsInChunk(keys);
            for (const size_t records: {size_t(0), size_t(1), most}) {
                const auto c = sampleChunk(kind, keys, kind == Checkpoint::end ? 0 : records);
                Checkpoint::Encode(&buffer[0], c, uuidOf(1));
                Checkpoint::Chunk d;
                ASSERT_EQ(Checkpoint::Decode(buffer.data(), d, uuidOf(1)), Status::ok);
                EXPECT_EQ(d.checkpoint, 4U);
                EXPECT_EQ(d.index, 17U);
                EXPECT_EQ(d.kind, kind);
                EXPECT_EQ(d.keys, keys);
                EXPECT_EQ(d.from, 0x1234U);
                EXPECT_EQ(d.total, 0x5678U);
                ASSERT_EQ(d.clusterRecords.size(), c.clusterRecords.size());
                ASSERT_EQ(d.objectRecords.size(), c.objectRecords.size());
                for (size_t i = 0; i < c.clusterRecords.size(); ++i) {
                    const auto &a = c.clusterRecords[i];
                    const auto &b = d.clusterRecords[i];
                    ASSERT_TRUE(a.number == b.number && a.state == b.state && a.sequence == b.sequence && a.end == b.end &&
                                a.nextPart == b.nextPart && a.total == b.total && a.headBytes == b.headBytes &&
                                a.written == b.written && a.heat == b.heat) << i;
                }
                for (size_t i = 0; i < c.objectRecords.size(); ++i) {
                    const auto &a = c.objectRecords[i];
                    const auto &b = d.objectRecords[i];
                    ASSERT_TRUE(a.bucket == b.bucket && a.tag == b.tag && a.cluster == b.cluster && a.place == b.place &&
                                a.size == b.size && a.timestamp == b.timestamp && a.packed == b.packed) << i;
                    ASSERT_EQ(b.key, keys ? a.key : Key());
                }
                EXPECT_EQ(Checkpoint::Decode(buffer.data(), d, uuidOf(2)), Status::notFound);
            }
        }
    }
}

TEST(Checkpoint, hasItsFormat) {
    std::string buffer(checkpointChunkBytes, 'x');
    Checkpoint::Encode(&buffer[0], sampleChunk(Checkpoint::objects, true, 1), uuidOf(1));
    EXPECT_EQ(buffer.substr(0, 8), "CHECKPNT");
    EXPECT_EQ(hexOf(buffer.substr(24, 40)), "0400000000000000" "11000000" "02000000" "01000000" "01000000"
              "3412000000000000" "7856000000000000");
    EXPECT_EQ(hexOf(buffer.substr(80, 32)), "01000000" "02000000" "03000000" "04000000" "05000000" "06000000" "0700000000000000");
    Checkpoint::Encode(&buffer[0], sampleChunk(Checkpoint::clusters, false, 1), uuidOf(1));
    EXPECT_EQ(hexOf(buffer.substr(80, 48)), "01000000" "00000000" "0200000000000000" "03000000" "04000000" "0500000000000000"
              "06000000" "07000000" "08000000" "00000000");
}

namespace {

Checkpoint::GroupRecord
sampleGroup(const uint64_t n, const size_t members)
{
    Checkpoint::GroupRecord g;
    g.name = n;
    g.site = n + 1;
    g.leader = keyOf(n);
    g.kind = 2;
    g.sheet = n % 2;
    for (size_t i = 0; i < members; ++i)
        g.members.push_back({keyOf(100 + i), static_cast<uint8_t>(i), 5, i % 2 == 1, i % 3 == 1, i % 5 == 1, i % 7 == 1});
    return g;
}

} // namespace

TEST(Checkpoint, groupsComeBack) {
    std::string buffer(checkpointChunkBytes, 'x');
    auto c = sampleChunk(Checkpoint::groups, false, 0);
    size_t left = Checkpoint::GroupBytesInChunk();
    for (uint64_t n = 0; left >= Checkpoint::GroupRecord::encodedBytes; ++n) {
        const auto most = (left - Checkpoint::GroupRecord::encodedBytes) / Checkpoint::MemberRecord::encodedBytes;
        c.groupRecords.push_back(sampleGroup(n, std::min<size_t>(most, n * 7 % 513)));
        left -= c.groupRecords.back().bytes();
    }
    ASSERT_GT(c.groupRecords.size(), 30U);
    Checkpoint::Encode(&buffer[0], c, uuidOf(1));
    Checkpoint::Chunk d = sampleChunk(Checkpoint::objects, true, 3); // used before
    ASSERT_EQ(Checkpoint::Decode(buffer.data(), d, uuidOf(1)), Status::ok);
    EXPECT_EQ(d.kind, Checkpoint::groups);
    EXPECT_TRUE(d.objectRecords.empty());
    ASSERT_EQ(d.groupRecords.size(), c.groupRecords.size());
    for (size_t i = 0; i < d.groupRecords.size(); ++i) {
        const auto &a = c.groupRecords[i];
        const auto &b = d.groupRecords[i];
        ASSERT_TRUE(a.name == b.name && a.site == b.site && a.leader == b.leader && a.kind == b.kind && a.sheet == b.sheet) << i;
        ASSERT_EQ(a.members.size(), b.members.size()) << i;
        for (size_t m = 0; m < a.members.size(); ++m) {
            const auto &x = a.members[m];
            const auto &y = b.members[m];
            ASSERT_TRUE(x.key == y.key && x.weight == y.weight && x.evidence == y.evidence && x.home == y.home &&
                        x.candidate == y.candidate && x.confirmed == y.confirmed && x.guest == y.guest) << i << " " << m;
        }
    }
}

TEST(Checkpoint, groupsHaveTheirFormat) {
    std::string buffer(checkpointChunkBytes, 'x');
    auto c = sampleChunk(Checkpoint::groups, false, 0);
    c.groupRecords.push_back(sampleGroup(1, 2));
    c.groupRecords.back().leader = Key();
    Checkpoint::Encode(&buffer[0], c, uuidOf(1));
    EXPECT_EQ(hexOf(buffer.substr(36, 8)), "04000000" "01000000");
    const auto keyText = [](const uint64_t n) {
        const auto k = keyOf(n);
        return hexOf(std::string(reinterpret_cast<const char *>(k.bytes.data()), k.bytes.size()));
    };
    EXPECT_EQ(hexOf(buffer.substr(80, 36 + 2 * 18)), "0100000000000000" "0200000000000000" + std::string(32, '0') + "02" "01" "0200" +
              keyText(100) + "00" "50" + keyText(101) + "01" "5f");
}

/// a group with more members than there are bytes left
TEST(Checkpoint, refusesGroupsThatAreCutOff) {
    std::string buffer(checkpointChunkBytes, 0);
    auto c = sampleChunk(Checkpoint::groups, false, 0);
    const auto most = (Checkpoint::GroupBytesInChunk() - Checkpoint::GroupRecord::encodedBytes) / Checkpoint::MemberRecord::encodedBytes;
    c.groupRecords.push_back(sampleGroup(1, most));
    Checkpoint::Encode(&buffer[0], c, uuidOf(1));
    Checkpoint::Chunk d;
    ASSERT_EQ(Checkpoint::Decode(buffer.data(), d, uuidOf(1)), Status::ok);
    ByteWriter(&buffer[80 + 34], 2).u16(static_cast<uint16_t>(most + 1));
    repairChunk(&buffer[0]);
    EXPECT_EQ(Checkpoint::Decode(buffer.data(), d, uuidOf(1)), Status::corrupt);
}

TEST(Checkpoint, noFlippedBitPasses) {
    std::string buffer(checkpointChunkBytes, 0);
    Checkpoint::Encode(&buffer[0], sampleChunk(Checkpoint::objects, true, 10), uuidOf(1));
    forEachFlip(buffer.substr(0, 1000), 3, [&](const std::string &front, const size_t bit) {
        memcpy(&buffer[0], front.data(), front.size());
        Checkpoint::Chunk d;
        EXPECT_NE(Checkpoint::Decode(buffer.data(), d, uuidOf(1)), Status::ok) << "bit " << bit;
    });
}

TEST(Checkpoint, refusesKindsAndCountsThatCannotBe) {
    const auto clusters = static_cast<uint32_t>(Checkpoint::ClustersInChunk());
    const auto objects = static_cast<uint32_t>(Checkpoint::ObjectsInChunk(false));
    const auto groups = static_cast<uint32_t>(Checkpoint::GroupBytesInChunk() / Checkpoint::GroupRecord::encodedBytes);
    const auto withKeys = static_cast<uint32_t>(Checkpoint::ObjectsInChunk(true));
    const struct { const char *what; uint32_t kind, count, keys; bool good; } cases[] = {
        {"kind 0", 0, 0, 0, false}, {"kind 5", 5, 0, 0, false},
        {"clusters", 1, clusters, 0, true}, {"too many clusters", 1, clusters + 1, 0, false},
        {"objects", 2, objects, 0, true}, {"too many objects", 2, objects + 1, 0, false},
        {"objects with keys", 2, withKeys, 1, true}, {"too many with keys", 2, withKeys + 1, 1, false},
        {"groups without members", 4, groups, 0, true}, {"too many groups", 4, groups + 1, 0, false},
    };
    for (const auto &c: cases) {
        std::string buffer(checkpointChunkBytes, 0);
        Checkpoint::Encode(&buffer[0], sampleChunk(Checkpoint::end, false, 0), uuidOf(1));
        ByteWriter w(&buffer[36], 12);
        w.u32(c.kind);
        w.u32(c.count);
        w.u32(c.keys);
        repairChunk(&buffer[0]);
        Checkpoint::Chunk d;
        EXPECT_EQ(Checkpoint::Decode(buffer.data(), d, uuidOf(1)), c.good ? Status::ok : Status::corrupt) << c.what;
    }
}

TEST(Checkpoint, survivesHostileContents) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 300; ++i) {
        std::string buffer(checkpointChunkBytes, 0);
        Checkpoint::Encode(&buffer[0], sampleChunk(i % 2 ? Checkpoint::objects : Checkpoint::clusters, i % 3 == 0, 5), uuidOf(1));
        for (int n = 0; n < 4; ++n)
            buffer[24 + random() % 52] = static_cast<char>(random());
        repairChunk(&buffer[0]);
        Checkpoint::Chunk d;
        const auto status = Checkpoint::Decode(buffer.data(), d, uuidOf(1));
        EXPECT_TRUE(status == Status::ok || status == Status::corrupt);
        EXPECT_LE(d.clusterRecords.size(), Checkpoint::ClustersInChunk());
        EXPECT_LE(d.objectRecords.size(), Checkpoint::ObjectsInChunk(false));
    }
}
