// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the index log at a start. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_LOGREADER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_LOGREADER_H

#include "fs/cluster/recovery/IndexRebuilder.h"
#include "fs/cluster/recovery/IndexLog.h"

#include <map>

namespace ClusterFs {

using ReadDone = std::function<void(Status, const BufferPointer &)>;

/// reads from the device for a start, and counts the read in its figures
/// \param size bytes
/// \param done is told the status, and the bytes if that is ok; never once the engine is closed
void readAtStart(StoreContext &, RecoveryStats &, IoClass, uint64_t offset, uint32_t size, ReadDone);

/// Reads the log from its newest block to its oldest, so that an object that is found counts
/// and can be served at once. A damaged block costs the objects that it described, and
/// nothing else, because removals are there twice.
class LogReader
{
public:
    LogReader(StoreContext &, IndexRebuilder &, RecoveryStats &, const Superblock &);

    /// Begins with the removals of the newest checkpoint: they say which clusters to read.
    void start();
    bool knowsRemovals() const { return reading_ == Reading::contents; } ///< whether these were read

    /// goes on with the contents, after knowsRemovals()
    void poll(const IndexRebuilder::GoOn &);
    bool done() const { return left_ == 0; }

    /// whether so many blocks are damaged that a scan of all clusters finds more
    bool beyondRepair() const {
        const auto lost = stats_.blocksLost;
        return lost > 16 + extent_.used() / 64 || (lost > 2 && lost * 8 > extent_.used());
    }
    /// 0 to 1
    double progress() const { return extent_.used() ? 1 - static_cast<double>(left_) / extent_.used() : 1; }

    /// where checkpoints began, in the order of their positions
    std::vector<IndexLog::Mark> takeMarks();

private:
    enum class Reading : uint8_t { removals, contents };
    static constexpr uint32_t blocksInPiece = 256; ///< most blocks of one read
    static constexpr size_t piecesAhead = 8; ///< most pieces that are in flight or wait to be taken

    /// blocks beside each other on the device
    struct Piece {
        uint32_t from = 0; ///< number in the extent
        uint32_t blocks = 0;
        bool here = false; ///< the read is answered
        BufferPointer buffer; ///< nil when it can't be read
    };

    Piece pieceBelow(uint32_t number) const;
    void read(const Piece &, ReadDone);
    void readRemovals(bool again);
    void beginReads(unsigned most);
    void take(uint32_t number, const char *bytes);
    void enter(const IndexBlock &);
    void leave(uint64_t older);

    StoreContext &context_;
    IndexRebuilder &rebuilder_;
    RecoveryStats &stats_;
    const LogExtent extent_;
    const LogPosition newest_; ///< where the newest checkpoint begins
    const uint32_t newestRemovals_; ///< blocks of removals that it has, in each copy
    const uint64_t newestSerial_; ///< its serial
    Reading reading_ = Reading::removals;
    unsigned inFlight_ = 0; ///< reads of removals
    std::vector<bool> announced_; ///< by number of the newest checkpoint's removal blocks: whether it was read

    uint32_t left_; ///< blocks that are not taken yet
    uint32_t asked_; ///< blocks whose read is not begun yet
    std::map<uint32_t, Piece> pieces_; ///< by number of their first block; bounded by piecesAhead

    /* the checkpoint of the last block that was taken */
    uint64_t serial_ = 0; ///< 0 = none yet
    uint64_t previous_ = 0; ///< serial of the one before it
    std::vector<bool> removals_; ///< by number of its removal blocks: whether it was taken
    std::vector<IndexLog::Mark> marks_; ///< the newest first; fewer than the log has blocks
};

} // namespace ClusterFs

#endif
