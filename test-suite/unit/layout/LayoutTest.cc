// SPDX-License-Identifier: GPL-2.0-or-later
/* The media format: geometry, superblock, journal blocks, the index log, saved groups. */

#include "test-suite/unit/support/LayoutSupport.h"

#include "fs/cluster/catalog/Record.h"
#include "fs/cluster/layout/Cluster.h"
#include "fs/cluster/layout/IndexBlock.h"
#include "fs/cluster/layout/JournalBlock.h"
#include "fs/cluster/layout/SavedGroups.h"
#include "fs/cluster/layout/Tables.h"

#include <algorithm>
#include <map>
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
                EXPECT_EQ(g.logStart, at);
                at += uint64_t(g.logBlocks) * indexBlockBytes;
                for (const auto start: g.groupsStart) {
                    EXPECT_GE(start, at);
                    at = start + g.groupsBytes;
                }
                for (const auto start: g.journalStart) {
                    EXPECT_GE(start, at);
                    at = start + g.journalBytes;
                }
                EXPECT_GE(g.clusterStart, at);
                EXPECT_GE(g.clusterCount, 8U);
                EXPECT_EQ(g.clusterStart % cluster, 0U);
                for (const auto start: {g.groupsStart[0], g.groupsStart[1], g.journalStart[0], g.journalStart[1], g.clusterStart})
                    EXPECT_EQ(start % 4096, 0U);
                EXPECT_EQ(g.clusterOffset(0_c), g.clusterStart);
                EXPECT_LE(g.clusterOffset(ClusterNo(g.clusterCount)), device);
                EXPECT_GT(g.clusterOffset(ClusterNo(g.clusterCount)) + cluster, device) << "no cluster is given away";
                EXPECT_GE(g.objectsExpected, std::min<uint64_t>(device / object, uint64_t(1) << 30));
                EXPECT_GE(g.maxObjects, g.objectsExpected);
                EXPECT_LE(g.maxObjects, uint64_t(1) << 30);
                EXPECT_GE(g.baseBuckets, 512U);
                EXPECT_GE(g.groupsBytes, groupsChunkBytes);
                EXPECT_GE(g.logBlocks * uint64_t(indexBlockBytes), MB);
                EXPECT_EQ(g.logOffset(0), g.logStart);
                EXPECT_EQ(g.logOffset(g.logBlocks), g.clusterStart) << "it goes on in the first clusters";
                EXPECT_EQ(g.logOffset(g.logBlocksWith(1)), g.clusterOffset(1_c));
                Geometry again;
                ASSERT_TRUE(again.plan(device, cluster, object, error));
                EXPECT_EQ(again.clusterStart, g.clusterStart);
                EXPECT_EQ(again.clusterCount, g.clusterCount);
            }
        }
    }
}

TEST(Geometry, growsBehindItsClusters) {
    for (const uint64_t device: {16 * MB, 100 * MB, 1048576 * MB}) {
        for (const uint64_t bytes: {device, device + 4096, 2 * device + 12345, 16 * device}) {
            Geometry before, g;
            std::string error;
            ASSERT_TRUE(before.plan(device, 65536, 1024, error)) << error;
            ASSERT_TRUE(g.plan(device, 65536, 1024, error)) << error;
            ASSERT_TRUE(g.grow(bytes, error)) << error;
            EXPECT_EQ(g.formattedBytes, device);
            EXPECT_EQ(g.deviceBytes, bytes);
            EXPECT_EQ(g.logBlocks, before.logBlocks);
            EXPECT_EQ(g.journalStart[1], before.journalStart[1]);
            EXPECT_EQ(g.clusterStart, before.clusterStart);
            EXPECT_EQ(g.baseBuckets, before.baseBuckets) << "stored keys depend on it";
            EXPECT_LE(g.clusterOffset(ClusterNo(g.clusterCount)), bytes);
            EXPECT_GT(g.clusterOffset(ClusterNo(g.clusterCount)) + 65536, bytes) << "no cluster is given away";
            EXPECT_GE(g.maxObjects, std::min<uint64_t>(bytes / 1024, uint64_t(1) << 30));
        }
    }
}

TEST(Geometry, refusesToShrinkAndToGrowTooMuch) {
    Geometry g;
    std::string error;
    ASSERT_TRUE(g.plan(16 * MB, 16384, 1024, error)) << error;
    const auto clusters = g.clusterCount;
    EXPECT_FALSE(g.grow(16 * MB - 1, error));
    EXPECT_NE(error.find("smaller"), std::string::npos) << error;
    EXPECT_FALSE(g.grow(257 * MB, error));
    EXPECT_NE(error.find("16 times"), std::string::npos) << error;
    EXPECT_EQ(g.deviceBytes, 16 * MB);
    EXPECT_EQ(g.clusterCount, clusters);
}

/// what was formatted before there was an index log can still be read
TEST(Geometry, leavesClustersWhereTheyWere) {
    const struct { uint64_t device; uint32_t cluster, object; uint64_t start; } cases[] = {
        {16 * MB, 65536, 13312, 6 * MB}, {1024 * MB, MB, 13312, 15 * MB}, {uint64_t(1) << 40, MB, 13312, 9626 * MB},
    };
    for (const auto &c: cases) {
        Geometry g;
        std::string error;
        ASSERT_TRUE(g.plan(c.device, c.cluster, c.object, error)) << error;
        EXPECT_EQ(g.clusterStart, c.start) << c.device;
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
    EXPECT_GE(g.maxObjects, 1000000000U);
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
    s.lastSequence = 77_seq;
    s.checkpoint = 5;
    s.startLog();
    s.log.tail = {2, 100};
    s.log.head = {3, 7};
    s.log.blocksBefore = 200;
    s.checkpointStart = {3, 1};
    s.removalBlocks = 2;
    s.turn = 8;
    s.turnCursor = 9_c;
    s.groups = 10;
    s.serial = 11;
    s.secret = {12, 13, 14, 15};
    s.written = 17;
    s.objects = 16;
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
    EXPECT_EQ(t.lastSequence, 77_seq);
    EXPECT_EQ(t.checkpoint, 5U);
    EXPECT_EQ(t.log.tail, s.log.tail);
    EXPECT_EQ(t.log.head, s.log.head);
    EXPECT_EQ(t.log.blocks, s.log.blocks);
    EXPECT_EQ(t.log.blocksBefore, 200U);
    EXPECT_EQ(t.log.used(), 107U);
    EXPECT_EQ(t.checkpointStart, s.checkpointStart);
    EXPECT_EQ(t.removalBlocks, 2U);
    EXPECT_EQ(t.turn, 8U);
    EXPECT_EQ(t.turnCursor, 9_c);
    EXPECT_EQ(t.groups, 10U);
    EXPECT_EQ(t.serial, 11U);
    EXPECT_EQ(t.secret, s.secret);
    EXPECT_EQ(t.written, 17U);
    EXPECT_EQ(t.objects, 16U);
    EXPECT_EQ(t.geometry.deviceBytes, 64 * MB);
    EXPECT_EQ(t.geometry.clusterCount, s.geometry.clusterCount);
    EXPECT_EQ(t.geometry.clusterStart, s.geometry.clusterStart);
}

TEST(Superblock, knowsThatTheDeviceHasGrown) {
    std::string buffer(superblockBytes, 'x');
    std::string error;
    auto s = sampleSuperblock();
    ASSERT_TRUE(s.geometry.grow(100 * MB, error)) << error;
    s.encode(&buffer[0]);
    Superblock t;
    ASSERT_EQ(t.decode(buffer.data(), error), Status::ok) << error;
    EXPECT_EQ(t.geometry.formattedBytes, 64 * MB);
    EXPECT_EQ(t.geometry.deviceBytes, 100 * MB);
    EXPECT_EQ(t.geometry.clusterCount, s.geometry.clusterCount);
    EXPECT_EQ(t.geometry.clusterStart, sampleSuperblock().geometry.clusterStart);
}

TEST(Superblock, namesTheClustersThatTheLogGoesPast) {
    std::string buffer(superblockBytes, 'x');
    std::string error;
    auto s = sampleSuperblock();
    const auto comesBack = [&](const std::vector<ClusterNo> &skips) {
        s.geometry.logSkips = skips;
        s.encode(&buffer[0]);
        Superblock t;
        const bool ok = t.decode(buffer.data(), error) == Status::ok;
        EXPECT_TRUE(!ok || t.geometry.logSkips == skips);
        return ok;
    };
    s.logClusters = 800;
    EXPECT_TRUE(comesBack({}));
    EXPECT_TRUE(comesBack({0_c}));
    std::vector<ClusterNo> many;
    for (ClusterNo n{0}; n.value() < maxLogSkips; ++n)
        many.push_back(n + n.value() / 4);
    EXPECT_TRUE(comesBack(many)) << error;
    EXPECT_FALSE(comesBack({0_c, 0_c}));
    EXPECT_FALSE(comesBack({2_c, 1_c}));
    EXPECT_FALSE(comesBack({800_c})) << "behind the log";
    EXPECT_NE(error.find("impossible index log"), std::string::npos) << error;
    comesBack({1_c});
    const auto number = superblockBytes - 4;
    buffer[173] = '\1', buffer[174] = '\2'; // 513
    const auto crc = crc32c(buffer.data(), number);
    for (unsigned i = 0; i < 4; ++i)
        buffer[number + i] = static_cast<char>(crc >> (8 * i));
    Superblock t;
    EXPECT_EQ(t.decode(buffer.data(), error), Status::corrupt);
}

TEST(Geometry, theLogGoesPastBadClusters) {
    Geometry g;
    std::string error;
    ASSERT_TRUE(g.plan(64 * MB, 65536, 13 * 1024, error));
    g.logSkips = {0_c, 3_c, 4_c, 7_c};
    constexpr uint32_t each = 65536 / indexBlockBytes;
    EXPECT_EQ(g.logSkipsIn(0), 0U);
    EXPECT_EQ(g.logSkipsIn(4), 2U);
    EXPECT_EQ(g.logSkipsIn(9), 4U);
    EXPECT_EQ(g.logBlocksWith(1), g.logBlocks);
    EXPECT_EQ(g.logBlocksWith(9), g.logBlocks + 5 * each);
    const ClusterNo has[] = {1_c, 2_c, 5_c, 6_c, 8_c, 9_c};
    for (uint32_t i = 0; i < 6; ++i) {
        EXPECT_EQ(g.logOffset(g.logBlocks + i * each), g.clusterOffset(has[i]));
        EXPECT_EQ(g.logOffset(g.logBlocks + i * each + each - 1), g.clusterOffset(has[i] + 1) - indexBlockBytes);
        EXPECT_TRUE(g.inLog(has[i], 10));
    }
    for (const auto skip: g.logSkips)
        EXPECT_FALSE(g.inLog(skip, 10));
    EXPECT_FALSE(g.inLog(10_c, 10));
    uint32_t block = 0; // each run ends where the next block lies elsewhere
    for (const uint32_t end: {g.logBlocks, g.logBlocks + 2 * each, g.logBlocks + 4 * each, ~0U}) {
        EXPECT_EQ(g.logRunEnd(block), end);
        EXPECT_EQ(g.logRunEnd(end - 1), end);
        block = end;
    }
}

TEST(Superblock, hasItsFormat) {
    std::string buffer(superblockBytes, 'x');
    auto s = sampleSuperblock();
    s.version = 6;
    s.encode(&buffer[0]);
    EXPECT_EQ(buffer.substr(0, 16), "clusterfs device");
    EXPECT_EQ(hexOf(buffer.substr(16, 61)),
              "06000000" "404142434445464748494a4b4c4d4e4f" "0000000400000000" "00000100" "00040000"
              "8877665544332211" "01" "4d00000000000000" "0500000000000000");
    EXPECT_EQ(hexOf(buffer.substr(77, 96)), "02000000" "64000000" "03000000" "07000000" "03000000" "01000000"
              "80040000" "c8000000" "00000000" "02000000" "08000000" "09000000" "0a00000000000000" "0b00000000000000"
              "0c00000000000000" "0d00000000000000" "0e00000000000000" "0f00000000000000");
    EXPECT_EQ(hexOf(buffer.substr(4084, 8)), "1000000000000000");
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
    EXPECT_EQ(t.log.used(), 0U) << "there was no log";
    s = sampleSuperblock();
    s.log.tail.lap = 0; // more than a lap behind
    s.encode(&buffer[0]);
    EXPECT_EQ(t.decode(buffer.data(), error), Status::corrupt);
    EXPECT_NE(error.find("index log"), std::string::npos) << error;
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
    r.sequence = 0x55_seq;
    b.records.push_back(r);
    r = JournalRecord();
    r.kind = JournalRecord::Kind::announce;
    r.cluster = 0x66_c;
    r.sequence = 0x77_seq;
    b.records.push_back(r);
    r = JournalRecord();
    r.kind = JournalRecord::Kind::release;
    r.cluster = 0x88_c;
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
    EXPECT_EQ(d.records[0].sequence, 0x55_seq);
    EXPECT_EQ(d.records[1].cluster, 0x66_c);
    EXPECT_EQ(d.records[1].sequence, 0x77_seq);
    EXPECT_EQ(d.records[2].kind, JournalRecord::Kind::release);
    EXPECT_EQ(d.records[2].cluster, 0x88_c);
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
        r.sequence = Sequence(bytes);
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

/* the index log */

namespace {

IndexBlock
sampleIndexBlock(const bool keys)
{
    IndexBlock b;
    b.position = {0x11, 0x22};
    b.serial = 0x33;
    b.previous = 0x44;
    b.part = IndexBlock::Part::removals;
    b.keys = keys;
    b.number = 0x55;
    b.removalBlocks = 0x66;
    b.turn = 0x77;
    b.turnCursor = 0x88_c;
    b.removals = {{IndexRemoval::Kind::cluster, 1_c, 0_seq, 0}, {IndexRemoval::Kind::announced, 2_c, 3_seq, 0}, {IndexRemoval::Kind::object, 4_c, 0_seq, 5}};
    IndexSection s;
    s.cluster = 6_c;
    s.state = 4;
    s.whole = true;
    s.sequence = 7_seq;
    s.end = 8;
    s.nextPart = 9_c;
    s.total = 10;
    s.headBytes = 11;
    s.written = 12;
    s.heat = 13;
    s.objects.push_back({{14, 15}, 16, 17, 18, 19, keyFrom(20, 21)});
    b.sections.push_back(s);
    s.objects.clear();
    b.sections.push_back(s);
    b.uses = {{22_c, 23}};
    return b;
}

} // namespace

TEST(IndexBlock, hasItsFormat) {
    std::string buffer(indexBlockBytes, 'x');
    sampleIndexBlock(true).encode(&buffer[0], uuidOf(1));
    EXPECT_EQ(buffer.substr(0, 8), "CLINDEX\n");
    EXPECT_EQ(hexOf(buffer.substr(24, 52)), "11000000" "22000000" "3300000000000000" "4400000000000000" "01" "01" "01" "00"
              "55000000" "66000000" "77000000" "88000000" "b0000000" "00000000");
    EXPECT_EQ(hexOf(buffer.substr(80, 27)), "01" "01000000" "02" "02000000" "0300000000000000" "03" "04000000" "05000000");
    const std::string section = "10" "04" "01" "00" "06000000" "0700000000000000" "08000000" "09000000" "0a00000000000000"
                                "0b000000" "0c000000" "0d000000";
    EXPECT_EQ(hexOf(buffer.substr(107, 92)), section + "01000000" "0e000000" "0f000000" "10000000" "11000000" "12000000"
              "1300000000000000" "1400000000000000" "1500000000000000");
    EXPECT_EQ(hexOf(buffer.substr(199, 57)), section + "00000000" "11" "16000000" "17000000");
}

TEST(IndexBlock, comesBack) {
    for (const bool keys: {false, true}) {
        const auto b = sampleIndexBlock(keys);
        std::string buffer(indexBlockBytes, 'x');
        b.encode(&buffer[0], uuidOf(1));
        IndexBlock d = sampleIndexBlock(true); // used before
        ASSERT_EQ(d.decode(buffer.data(), uuidOf(1)), Status::ok);
        EXPECT_EQ(d.position, b.position);
        EXPECT_TRUE(d.serial == b.serial && d.previous == b.previous && d.part == b.part && d.keys == keys && d.number == b.number &&
                    d.removalBlocks == b.removalBlocks && d.turn == b.turn && d.turnCursor == b.turnCursor);
        ASSERT_EQ(d.removals.size(), 3U);
        EXPECT_EQ(d.removals[1].after, 3_seq);
        EXPECT_EQ(d.removals[2].offset, 5U);
        ASSERT_EQ(d.sections.size(), 2U);
        ASSERT_EQ(d.sections[0].objects.size(), 1U);
        EXPECT_TRUE(d.sections[0].whole);
        EXPECT_EQ(d.sections[0].objects[0].hashed, b.sections[0].objects[0].hashed);
        EXPECT_EQ(d.sections[0].objects[0].packed, 19U);
        EXPECT_EQ(d.sections[0].objects[0].key, keys ? b.sections[0].objects[0].key : Key());
        ASSERT_EQ(d.uses.size(), 1U);
        EXPECT_EQ(d.uses[0].place, 23U);
        EXPECT_EQ(d.decode(buffer.data(), uuidOf(2)), Status::notFound);
    }
}

/// a store of version 4 has blocks with times that are packed otherwise, until they are written over
TEST(IndexBlock, ofVersion4ComesBackWithItsTimes) {
    const int64_t stamp = 1700000000;
    struct Case {
        uint64_t expires; ///< as version 4 had them
        uint64_t modified;
        int64_t isExpires;
        int64_t isModified;
    };
    const Case cases[] = {
        {0, 0, -1, -1},
        {1, 1, stamp - 1, stamp},
        {2, 86401, stamp, stamp - 86400},
        {2 + 31536000, 1 + 1000000000, stamp + 31536000, stamp - 1000000000},
        {(1 << 25) - 1, (1 << 30) - 2, stamp + (1 << 25) - 3, stamp - (1 << 30) + 3},
        {(1 << 26) - 1, (1 << 30) - 1, stamp + (1 << 25) - 3, -1}, // who knows when
    };
    for (const auto &c: cases) {
        auto b = sampleIndexBlock(false);
        b.sections[0].objects[0].packed = c.expires << 38 | c.modified << 8 | 5;
        std::string buffer(indexBlockBytes, 0);
        b.encode(&buffer[0], uuidOf(1));
        buffer[50] = 0;
        repairIndexBlock(&buffer[0]);
        IndexBlock d;
        ASSERT_EQ(d.decode(buffer.data(), uuidOf(1)), Status::ok);
        Record r = Record();
        r.timestamp = static_cast<uint32_t>(stamp);
        r.setPacked(d.sections[0].objects[0].packed);
        EXPECT_EQ(r.info().expires, c.isExpires) << c.expires;
        EXPECT_EQ(r.info().lastModified, c.isModified) << c.modified;
        EXPECT_EQ(r.flags(), 5U);
    }
}

TEST(IndexBlock, noFlippedBitPasses) {
    std::string buffer(indexBlockBytes, 0);
    sampleIndexBlock(true).encode(&buffer[0], uuidOf(1));
    forEachFlip(buffer, 7, [](const std::string &flipped, const size_t bit) {
        IndexBlock d;
        EXPECT_NE(d.decode(flipped.data(), uuidOf(1)), Status::ok) << "bit " << bit;
    });
}

TEST(IndexBlock, survivesHostileContents) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 3000; ++i) {
        std::string buffer(indexBlockBytes, 0);
        sampleIndexBlock(i % 2).encode(&buffer[0], uuidOf(1));
        for (int n = 0; n < 6; ++n)
            buffer[24 + random() % 260] = static_cast<char>(random());
        repairIndexBlock(&buffer[0]);
        IndexBlock d;
        const auto status = d.decode(buffer.data(), uuidOf(1));
        EXPECT_TRUE(status == Status::ok || status == Status::corrupt);
        size_t objects = 0;
        for (const auto &section: d.sections)
            objects += section.objects.size();
        EXPECT_LE(objects, IndexBlock::capacity() / IndexObject::encodedBytes);
    }
}

TEST(LogExtent, goesRoundAndRound) {
    LogExtent e;
    e.blocks = 10;
    e.head = {0, 10};
    EXPECT_EQ(e.used(), 10U);
    EXPECT_TRUE(e.sane());
    e.tail = {0, 4};
    e.head = {1, 3};
    e.blocks = 20; // it has grown since
    e.blocksBefore = 10;
    EXPECT_TRUE(e.sane());
    EXPECT_EQ(e.used(), 9U);
    EXPECT_EQ(e.at(0), (LogPosition{0, 4}));
    EXPECT_EQ(e.at(5), (LogPosition{0, 9}));
    EXPECT_EQ(e.at(6), (LogPosition{1, 0}));
    EXPECT_EQ(e.at(8), (LogPosition{1, 2}));
    e.head.block = 5;
    EXPECT_FALSE(e.sane()) << "it would be written over itself";
    e.head = {2, 0};
    EXPECT_FALSE(e.sane());
    e.head = {0, 3};
    EXPECT_FALSE(e.sane());
}

/* what was learned */

namespace {

SavedGroups::GroupRecord
sampleGroup(const uint64_t n, const size_t members)
{
    SavedGroups::GroupRecord g;
    g.name = n;
    g.site = n + 1;
    g.leader = keyOf(n);
    g.kind = 2;
    g.sheet = n % 2;
    for (size_t i = 0; i < members; ++i)
        g.members.push_back({keyOf(100 + i), static_cast<uint8_t>(i), 5, i % 2 == 1, i % 3 == 1, i % 5 == 1, i % 7 == 1});
    return g;
}

SavedGroups::Chunk
sampleChunk()
{
    SavedGroups::Chunk c;
    c.generation = 4;
    c.index = 17;
    return c;
}

} // namespace

TEST(SavedGroups, comeBack) {
    std::string buffer(groupsChunkBytes, 'x');
    auto c = sampleChunk();
    size_t left = SavedGroups::BytesInChunk();
    for (uint64_t n = 0; left >= SavedGroups::GroupRecord::encodedBytes; ++n) {
        const auto most = (left - SavedGroups::GroupRecord::encodedBytes) / SavedGroups::MemberRecord::encodedBytes;
        c.groups.push_back(sampleGroup(n, std::min<size_t>(most, n * 7 % 513)));
        left -= c.groups.back().bytes();
    }
    ASSERT_GT(c.groups.size(), 30U);
    SavedGroups::Encode(&buffer[0], c, uuidOf(1));
    SavedGroups::Chunk d;
    d.groups.resize(3); // used before
    ASSERT_EQ(SavedGroups::Decode(buffer.data(), d, uuidOf(1)), Status::ok);
    EXPECT_EQ(d.generation, 4U);
    EXPECT_EQ(d.index, 17U);
    ASSERT_EQ(d.groups.size(), c.groups.size());
    for (size_t i = 0; i < d.groups.size(); ++i) {
        const auto &a = c.groups[i];
        const auto &b = d.groups[i];
        ASSERT_TRUE(a.name == b.name && a.site == b.site && a.leader == b.leader && a.kind == b.kind && a.sheet == b.sheet) << i;
        ASSERT_EQ(a.members.size(), b.members.size()) << i;
        for (size_t m = 0; m < a.members.size(); ++m) {
            const auto &x = a.members[m];
            const auto &y = b.members[m];
            ASSERT_TRUE(x.key == y.key && x.weight == y.weight && x.evidence == y.evidence && x.home == y.home &&
                        x.candidate == y.candidate && x.confirmed == y.confirmed && x.guest == y.guest) << i << " " << m;
        }
    }
    EXPECT_EQ(SavedGroups::Decode(buffer.data(), d, uuidOf(2)), Status::notFound);
}

TEST(SavedGroups, haveTheirFormat) {
    std::string buffer(groupsChunkBytes, 'x');
    auto c = sampleChunk();
    c.groups.push_back(sampleGroup(1, 2));
    c.groups.back().leader = Key();
    SavedGroups::Encode(&buffer[0], c, uuidOf(1));
    EXPECT_EQ(buffer.substr(0, 8), "CLGROUPS");
    EXPECT_EQ(hexOf(buffer.substr(24, 16)), "0400000000000000" "11000000" "01000000");
    const auto keyText = [](const uint64_t n) {
        const auto k = keyOf(n);
        return hexOf(std::string(reinterpret_cast<const char *>(k.bytes.data()), k.bytes.size()));
    };
    EXPECT_EQ(hexOf(buffer.substr(64, 36 + 2 * 18)), "0100000000000000" "0200000000000000" + std::string(32, '0') + "02" "01" "0200" +
              keyText(100) + "00" "50" + keyText(101) + "01" "5f");
}

/// a group with more members than there are bytes left
TEST(SavedGroups, thatAreCutOffAreRefused) {
    std::string buffer(groupsChunkBytes, 0);
    auto c = sampleChunk();
    const auto most = (SavedGroups::BytesInChunk() - SavedGroups::GroupRecord::encodedBytes) / SavedGroups::MemberRecord::encodedBytes;
    c.groups.push_back(sampleGroup(1, most));
    SavedGroups::Encode(&buffer[0], c, uuidOf(1));
    SavedGroups::Chunk d;
    ASSERT_EQ(SavedGroups::Decode(buffer.data(), d, uuidOf(1)), Status::ok);
    ByteWriter(&buffer[64 + 34], 2).u16(static_cast<uint16_t>(most + 1));
    repairGroups(&buffer[0]);
    EXPECT_EQ(SavedGroups::Decode(buffer.data(), d, uuidOf(1)), Status::corrupt);
    ByteWriter(&buffer[64 + 34], 2).u16(static_cast<uint16_t>(most));
    ByteWriter(&buffer[36], 4).u32(0xffffffffU); // groups
    repairGroups(&buffer[0]);
    EXPECT_EQ(SavedGroups::Decode(buffer.data(), d, uuidOf(1)), Status::corrupt);
}

TEST(SavedGroups, noFlippedBitPasses) {
    std::string buffer(groupsChunkBytes, 0);
    auto c = sampleChunk();
    c.groups.push_back(sampleGroup(1, 10));
    SavedGroups::Encode(&buffer[0], c, uuidOf(1));
    forEachFlip(buffer.substr(0, 400), 3, [&](const std::string &front, const size_t bit) {
        memcpy(&buffer[0], front.data(), front.size());
        SavedGroups::Chunk d;
        EXPECT_NE(SavedGroups::Decode(buffer.data(), d, uuidOf(1)), Status::ok) << "bit " << bit;
    });
}

/// docs/format.md has them: each field where it is, without gaps, and as many bytes as the structure has
TEST(LayoutTables, areThoseOfTheStructures) {
    std::map<std::string, size_t> sizes = {
        {"superblock", superblockBytes}, {"cluster header", ClusterHeader::encodedBytes}, {"directory entry", DirectoryEntry::encodedBytes},
        {"part reference", PartReference::encodedBytes}, {"extent header", ExtentHeader::encodedBytes},
        {"index block", IndexBlock::headerBytes}, {"section", IndexSection::encodedBytes},
        {"object in a section", IndexObject::encodedBytes + 16}, {"use", IndexUse::encodedBytes},
        {"groups chunk", groupsChunkBytes - SavedGroups::BytesInChunk()}, {"group record", SavedGroups::GroupRecord::encodedBytes},
        {"member", SavedGroups::MemberRecord::encodedBytes}, {"journal block", journalBlockBytes - JournalBlock::Capacity()},
    };
    for (const auto &table: layoutTables()) {
        auto size = sizes[table.name];
        if (table.name == std::string("index removal")) {
            IndexRemoval removal;
            removal.kind = static_cast<IndexRemoval::Kind>(table.kind);
            size = removal.encodedBytes();
        } else if (table.name == std::string("journal record")) {
            JournalRecord record;
            record.kind = static_cast<JournalRecord::Kind>(table.kind);
            size = record.encodedBytes();
        }
        size_t at = 0;
        for (const auto &field: table.rows) {
            const bool behindZeros = table.name == std::string("superblock") && at == 181;
            EXPECT_TRUE(field.at == at || behindZeros) << table.name << ": " << field.meaning;
            EXPECT_FALSE(field.meaning.empty() || field.meaning.back() == '.' || field.meaning.find('|') != std::string::npos) << field.meaning;
            at = field.at + field.bytes;
        }
        EXPECT_EQ(at, size) << table.name;
    }
}
