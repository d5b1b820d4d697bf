// SPDX-License-Identifier: GPL-2.0-or-later
/* Filling blocks of the index log. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_LOGWRITER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_LOGWRITER_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/layout/IndexBlock.h"
#include "fs/cluster/recovery/IndexLog.h"

namespace ClusterFs {

/// Fills the blocks of one checkpoint, and says where on the device they go. Blocks that lie beside each other there are
/// written in one request: a **piece**. Knows nothing of the device itself: who has it writes each piece, and opens no block
/// before it is written.
class LogWriter
{
public:
    /// blocks that are full, from the beginning of the buffer on
    struct Piece {
        uint64_t offset; ///< on the device, bytes
        uint32_t size; ///< bytes
    };

    static constexpr uint32_t blocksInPiece = 64; ///< at most

    /// \param log the checkpoint has begun there
    /// \param buffer room for blocksInPiece blocks, in which pieces are put together; must outlive this
    LogWriter(const StoreContext &, IndexLog &, char *buffer);

    /// The blocks that come belong to a part of the checkpoint. None may be open.
    /// \param removalBlocks that each copy of the removals takes
    void beginPart(IndexBlock::Part, uint32_t removalBlocks);

    bool isOpen() const { return open_; } ///< whether a block is being filled
    bool hasRoom(const size_t bytes) const { return open_ && bytes_ + bytes <= IndexBlock::capacity(); }

    /// begins a block
    /// \returns false when the log has no room
    bool openBlock();
    void closeBlock(); ///< the one that is open is complete

    /* records of the open block, which must have room for them */
    void add(const IndexRemoval &);
    void add(const IndexUse &);
    void add(const IndexSection &); ///< without objects
    void add(const IndexObject &); ///< belongs to the section that was added last

    /// of the section that was added last to the open block, or noCluster
    ClusterNo section() const { return block_.sections.empty() ? noCluster : block_.sections.back().cluster; }

    size_t objectBytes() const { return IndexObject::Bytes(block_.keys); } ///< that an object takes

    bool hasPiece() const { return filled_; } ///< some blocks are complete, and not taken yet
    bool pieceIsFull() const { return filled_ && filled_ == room_; } ///< it must be taken
    Piece takePiece();

    uint32_t blocks() const { return blocks_; } ///< that are complete, all in all

private:
    const StoreContext &context_;
    IndexLog &log_;
    char *const buffer_;
    uint32_t room_ = 0; ///< blocks of the piece at most
    uint32_t filled_ = 0; ///< blocks of it
    uint64_t pieceAt_ = 0; ///< where on the device it goes
    uint32_t blocks_ = 0;
    IndexBlock::Part part_ = IndexBlock::Part::removals;
    uint32_t removalBlocks_ = 0;
    uint32_t removalNumber_ = 0; ///< of the next block of removals
    bool open_ = false;
    IndexBlock block_; ///< the one that is open, or was last
    size_t bytes_ = 0; ///< of its records
};

} // namespace ClusterFs

#endif
