// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks of the index log, and where they go. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/recovery/LogWriter.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint32_t logBlocks = LogWriter::blocksInPiece + 6;

class LogWriting : public ::testing::Test
{
protected:
    LogWriting() {
        log.begin(0, true);
        writer.beginPart(IndexBlock::Part::removals, 2);
    }

    static PartsDevice &Small(PartsDevice &d) {
        d.superblock.geometry.logBlocks = d.superblock.log.blocks = logBlocks;
        return d;
    }

    static IndexRemoval RemovalOf(const uint32_t n) {
        IndexRemoval r;
        r.cluster = ClusterNo(n);
        return r;
    }

    /// a block with one removal
    void fill(const uint32_t n) {
        ASSERT_TRUE(writer.openBlock());
        writer.add(RemovalOf(n));
        writer.closeBlock();
    }

    /// a block of the piece that was taken last
    IndexBlock blockAt(const uint32_t number) {
        IndexBlock block;
        EXPECT_EQ(block.decode(buffer.data() + number * size_t(indexBlockBytes), p.context.uuid), Status::ok) << number;
        return block;
    }

    PartsDevice device;
    Parts p{Small(device)};
    IndexLog log{p.context.geometry, device.superblock};
    std::vector<char> buffer = std::vector<char>(LogWriter::blocksInPiece * size_t(indexBlockBytes));
    LogWriter writer{p.context, log, buffer.data()};
};

} // namespace

TEST_F(LogWriting, blocksSayWhereTheyAre) {
    EXPECT_FALSE(writer.hasPiece());
    ASSERT_NO_FATAL_FAILURE(fill(7));
    ASSERT_NO_FATAL_FAILURE(fill(8));
    writer.beginPart(IndexBlock::Part::contents, 2);
    ASSERT_TRUE(writer.openBlock());
    EXPECT_EQ(writer.section(), noCluster);
    IndexSection section;
    section.cluster = 9_c;
    writer.add(section);
    EXPECT_EQ(writer.section(), 9_c);
    IndexObject object;
    object.size = 77;
    writer.add(object);
    writer.add(IndexUse{5_c, 6});
    writer.closeBlock();
    writer.beginPart(IndexBlock::Part::removalsAgain, 2);
    ASSERT_NO_FATAL_FAILURE(fill(7));
    EXPECT_EQ(writer.blocks(), 4U);
    EXPECT_TRUE(writer.hasPiece());
    EXPECT_FALSE(writer.pieceIsFull());
    const auto piece = writer.takePiece();
    EXPECT_EQ(piece.offset, device.superblock.geometry.logStart);
    EXPECT_EQ(piece.size, 4 * indexBlockBytes);
    EXPECT_FALSE(writer.hasPiece());
    const IndexBlock::Part parts[] = {IndexBlock::Part::removals, IndexBlock::Part::removals, IndexBlock::Part::contents,
                                      IndexBlock::Part::removalsAgain};
    const uint32_t numbers[] = {0, 1, 0, 0};
    for (uint32_t n = 0; n < 4; ++n) {
        const auto block = blockAt(n);
        EXPECT_EQ(block.position, (LogPosition{0, n}));
        EXPECT_EQ(block.serial, 1U);
        EXPECT_EQ(block.previous, 0U);
        EXPECT_EQ(block.part, parts[n]);
        EXPECT_EQ(block.number, numbers[n]);
        EXPECT_EQ(block.removalBlocks, 2U);
    }
    EXPECT_EQ(blockAt(1).removals.at(0).cluster, 8_c);
    EXPECT_EQ(blockAt(2).sections.at(0).cluster, 9_c);
    EXPECT_EQ(blockAt(2).sections.at(0).objects.at(0).size, 77U);
    EXPECT_EQ(blockAt(2).uses.at(0).cluster, 5_c);
}

/// a request is as long as a piece at most, and the log has an end
TEST_F(LogWriting, piecesEnd) {
    for (uint32_t n = 0; n < LogWriter::blocksInPiece; ++n) {
        EXPECT_FALSE(writer.pieceIsFull());
        ASSERT_NO_FATAL_FAILURE(fill(n));
    }
    EXPECT_TRUE(writer.pieceIsFull());
    auto piece = writer.takePiece();
    EXPECT_EQ(piece.offset, device.superblock.geometry.logStart);
    EXPECT_EQ(piece.size, buffer.size());
    for (uint32_t n = 0; n < logBlocks - LogWriter::blocksInPiece; ++n) {
        EXPECT_FALSE(writer.pieceIsFull());
        ASSERT_NO_FATAL_FAILURE(fill(n));
    }
    EXPECT_TRUE(writer.pieceIsFull()) << "the log ends here";
    piece = writer.takePiece();
    EXPECT_EQ(piece.offset, device.superblock.geometry.logStart + buffer.size());
    EXPECT_EQ(piece.size, (logBlocks - LogWriter::blocksInPiece) * indexBlockBytes);
    EXPECT_EQ(blockAt(0).position, (LogPosition{0, LogWriter::blocksInPiece}));
    EXPECT_FALSE(writer.openBlock()) << "there is no room";
    EXPECT_FALSE(writer.isOpen());
    EXPECT_EQ(writer.blocks(), logBlocks);
}

TEST_F(LogWriting, aBlockHasRoomForItsRecordsAlone) {
    EXPECT_FALSE(writer.hasRoom(0)) << "none is open";
    ASSERT_TRUE(writer.openBlock());
    EXPECT_TRUE(writer.hasRoom(IndexBlock::capacity()));
    EXPECT_FALSE(writer.hasRoom(IndexBlock::capacity() + 1));
    const auto bytes = RemovalOf(1).encodedBytes();
    uint32_t count = 0;
    for (; writer.hasRoom(bytes); ++count)
        writer.add(RemovalOf(count));
    EXPECT_EQ(count, IndexBlock::capacity() / bytes);
    EXPECT_DEATH(writer.add(RemovalOf(1)), "hasRoom");
    writer.closeBlock();
    EXPECT_EQ(blockAt(0).removals.size(), count);
}

TEST_F(LogWriting, aNewBlockHasNothingOfTheOneBefore) {
    ASSERT_NO_FATAL_FAILURE(fill(1));
    ASSERT_TRUE(writer.openBlock());
    EXPECT_TRUE(writer.hasRoom(IndexBlock::capacity()));
    writer.closeBlock();
    EXPECT_TRUE(blockAt(1).removals.empty());
}
