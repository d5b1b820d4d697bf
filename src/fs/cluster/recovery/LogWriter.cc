// SPDX-License-Identifier: GPL-2.0-or-later
/* Filling blocks of the index log. */

#include "fs/cluster/recovery/LogWriter.h"

#include <algorithm>
#include <cassert>

ClusterFs::LogWriter::LogWriter(const StoreContext &context, IndexLog &log, char *const buffer):
    context_(context),
    log_(log),
    buffer_(buffer)
{
    block_.keys = context.catalog.index().keepsKeys();
}

void
ClusterFs::LogWriter::beginPart(const IndexBlock::Part part, const uint32_t removalBlocks)
{
    assert(!open_);
    part_ = part;
    removalBlocks_ = removalBlocks;
    removalNumber_ = 0;
}

bool
ClusterFs::LogWriter::openBlock()
{
    assert(!open_);
    if (filled_ == room_) {
        filled_ = 0;
        room_ = std::min(blocksInPiece, log_.contiguous());
        if (!room_)
            return false;
        pieceAt_ = context_.geometry.logOffset(log_.next().block);
    }
    const auto keys = block_.keys;
    block_ = IndexBlock();
    block_.serial = log_.serial();
    block_.previous = log_.previousSerial();
    block_.part = part_;
    block_.keys = keys;
    block_.number = part_ == IndexBlock::Part::contents ? 0 : removalNumber_++;
    block_.removalBlocks = removalBlocks_;
    block_.turn = log_.turnBefore();
    block_.turnCursor = log_.cursorBefore();
    bytes_ = 0;
    open_ = true;
    return true;
}

void
ClusterFs::LogWriter::closeBlock()
{
    assert(open_);
    block_.position = log_.next();
    block_.encode(buffer_ + size_t(filled_) * indexBlockBytes, context_.uuid);
    log_.take();
    ++filled_;
    ++blocks_;
    open_ = false;
}

void
ClusterFs::LogWriter::add(const IndexRemoval &removal)
{
    assert(hasRoom(removal.encodedBytes()));
    block_.removals.push_back(removal);
    bytes_ += removal.encodedBytes();
}

void
ClusterFs::LogWriter::add(const IndexUse &use)
{
    assert(hasRoom(IndexUse::encodedBytes));
    block_.uses.push_back(use);
    bytes_ += IndexUse::encodedBytes;
}

void
ClusterFs::LogWriter::add(const IndexSection &section)
{
    assert(hasRoom(IndexSection::encodedBytes));
    block_.sections.push_back(section);
    bytes_ += IndexSection::encodedBytes;
}

void
ClusterFs::LogWriter::add(const IndexObject &object)
{
    assert(hasRoom(objectBytes()));
    block_.sections.back().objects.push_back(object);
    bytes_ += objectBytes();
}

ClusterFs::LogWriter::Piece
ClusterFs::LogWriter::takePiece()
{
    const Piece piece = {pieceAt_, filled_ * static_cast<uint32_t>(indexBlockBytes)};
    filled_ = room_ = 0;
    return piece;
}
