// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the index log at a start. */

#include "fs/cluster/recovery/LogReader.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr unsigned readsInTurn = 2; ///< reads begun in a turn, besides those that follow taken pieces; the kernel takes 0.1 ms for each
} // namespace
} // namespace ClusterFs

void
ClusterFs::readAtStart(StoreContext &context, RecoveryStats &stats, const IoClass ioClass, const uint64_t offset, const uint32_t size, ReadDone done)
{
    const auto buffer = std::make_shared<Buffer>(size);
    Io io;
    io.op = IoOp::read;
    io.ioClass = ioClass;
    io.offset = offset;
    io.size = size;
    io.buffer = buffer->data();
    const auto alive = context.alive;
    ++stats.reads;
    stats.bytesRead += size;
    io.done = [alive, buffer, done = std::move(done)](const Status status) {
        if (*alive)
            done(status, buffer);
    };
    context.device.submit(std::move(io));
}

ClusterFs::LogReader::LogReader(StoreContext &context, IndexRebuilder &rebuilder, RecoveryStats &stats, const Superblock &superblock):
    context_(context),
    rebuilder_(rebuilder),
    stats_(stats),
    extent_(superblock.log),
    newest_(superblock.checkpointStart),
    newestRemovals_(superblock.removalBlocks),
    newestSerial_(superblock.serial),
    left_(extent_.used()),
    asked_(left_)
{
}

/// \returns the longest piece that ends in front of a block, blocksInPiece at most
ClusterFs::LogReader::Piece
ClusterFs::LogReader::pieceBelow(const uint32_t number) const
{
    Piece piece;
    piece.from = number;
    const auto &g = context_.geometry;
    while (piece.from > 0 && piece.blocks < blocksInPiece) {
        const auto offset = g.logOffset(extent_.at(piece.from - 1).block);
        if (piece.blocks && offset + indexBlockBytes != g.logOffset(extent_.at(piece.from).block))
            break;
        --piece.from;
        ++piece.blocks;
    }
    return piece;
}

void
ClusterFs::LogReader::read(const Piece &piece, ReadDone done)
{
    const auto offset = context_.geometry.logOffset(extent_.at(piece.from).block);
    readAtStart(context_, stats_, IoClass::urgent, offset, piece.blocks * indexBlockBytes, std::move(done));
}

void
ClusterFs::LogReader::start()
{
    announced_.assign(newestRemovals_, false);
    readRemovals(true);
}

/// reads the removals of the newest checkpoint
/// \param again the second copy, which is at its end; else the first one, at its beginning
void
ClusterFs::LogReader::readRemovals(const bool again)
{
    const auto used = extent_.used();
    uint32_t end = again ? used : 0;
    while (!again && end < used && extent_.at(end) != newest_)
        ++end;
    end = again ? used : std::min(used, end + newestRemovals_);
    const auto begin = end - std::min(end, newestRemovals_);
    ++inFlight_; // one for this function, so that finished() waits until all reads are begun
    const auto finished = [this, again] {
        if (--inFlight_)
            return;
        const bool all = std::all_of(announced_.begin(), announced_.end(), [](const bool read) { return read; });
        if (again && !all)
            readRemovals(false);
        else
            reading_ = Reading::contents;
    };
    for (auto at = end; at > begin;) {
        auto piece = pieceBelow(at);
        if (piece.from < begin) {
            piece.blocks -= begin - piece.from;
            piece.from = begin;
        }
        at = piece.from;
        ++inFlight_;
        read(piece, [this, piece, finished](const Status status, const BufferPointer &buffer) {
            for (uint32_t i = 0; status == Status::ok && i < piece.blocks; ++i) {
                IndexBlock block;
                const bool whole = block.decode(buffer->data() + size_t(i) * indexBlockBytes, context_.uuid) == Status::ok &&
                                   block.position == extent_.at(piece.from + i) && block.part != IndexBlock::Part::contents;
                if (!whole || block.number >= announced_.size())
                    continue;
                announced_[block.number] = true;
                for (const auto &removal: block.removals)
                    rebuilder_.announced(removal);
            }
            finished();
        });
    }
    finished();
}

/// begins to read the next pieces
/// \param most reads
void
ClusterFs::LogReader::beginReads(const unsigned most)
{
    for (unsigned begun = 0; asked_ && pieces_.size() < piecesAhead && begun < most; ++begun) {
        const auto piece = pieceBelow(asked_);
        asked_ = piece.from;
        pieces_[piece.from] = piece;
        read(piece, [this, from = piece.from](const Status status, const BufferPointer &buffer) {
            auto &waiting = pieces_[from];
            waiting.here = true;
            if (status == Status::ok)
                waiting.buffer = buffer;
        });
    }
}

void
ClusterFs::LogReader::poll(const IndexRebuilder::GoOn &goOn)
{
    beginReads(readsInTurn);
    while (left_) {
        const auto found = std::prev(pieces_.end());
        const auto &piece = found->second;
        if (!piece.here)
            return;
        --left_;
        take(left_, piece.buffer ? piece.buffer->data() + size_t(left_ - piece.from) * indexBlockBytes : nullptr);
        if (left_ == piece.from) {
            pieces_.erase(found);
            beginReads(1);
        }
        if (left_ && !goOn())
            return;
    }
    if (serial_)
        leave(previous_);
}

/// takes a block
/// \param bytes of it, or nil when it can't be read
void
ClusterFs::LogReader::take(const uint32_t number, const char *const bytes)
{
    IndexBlock block;
    const bool whole = bytes && block.decode(bytes, context_.uuid) == Status::ok && block.position == extent_.at(number) &&
                       (!serial_ || block.serial <= serial_);
    if (!whole) {
        ++stats_.blocksLost;
        return;
    }
    if (block.serial != serial_)
        enter(block);
    const IndexLog::Mark mark{block.turn, block.turnCursor, block.position};
    if (!marks_.empty() && marks_.back().turn == mark.turn && marks_.back().cursor == mark.cursor)
        marks_.back() = mark; // the same checkpoint, which began here or in an older block
    else
        marks_.push_back(mark);
    if (block.part != IndexBlock::Part::contents && block.number < removals_.size() && !removals_[block.number]) {
        removals_[block.number] = true;
        for (const auto &removal: block.removals)
            rebuilder_.removal(removal, block.serial);
    }
    for (const auto &use: block.uses)
        rebuilder_.use(use, block.serial);
    // from the last section to the first: those behind are newer
    for (auto section = block.sections.rbegin(); section != block.sections.rend(); ++section)
        rebuilder_.section(*section, block.keys, block.serial);
}

/// a block of the next older checkpoint comes
void
ClusterFs::LogReader::enter(const IndexBlock &block)
{
    if (serial_)
        leave(block.serial);
    else if (block.serial != newestSerial_)
        rebuilder_.doubtFromHere(); // all blocks of the newest checkpoint are lost, and its removals with them
    serial_ = block.serial;
    previous_ = block.previous;
    removals_.assign(std::min(block.removalBlocks, extent_.used()), false);
}

/// The blocks of a checkpoint end. If a block of its removals was read in neither copy, older checkpoints are in doubt.
/// \param older serial of the checkpoint that comes next
void
ClusterFs::LogReader::leave(const uint64_t older)
{
    const bool all = std::all_of(removals_.begin(), removals_.end(), [](const bool read) { return read; });
    if (!all || older != previous_)
        rebuilder_.doubtFromHere();
}

std::vector<ClusterFs::IndexLog::Mark>
ClusterFs::LogReader::takeMarks()
{
    std::vector<IndexLog::Mark> marks(marks_.rbegin(), marks_.rend());
    marks_.clear();
    return marks;
}
