// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the index log at start. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_LOGREADER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_LOGREADER_H

#include "fs/cluster/recovery/IndexRebuilder.h"
#include "fs/cluster/recovery/IndexLog.h"

#include <map>

namespace ClusterFs {

using ReadDone = std::function<void(Status, const BufferPointer &)>;

/// a read of a start, counted
void readAtStart(StoreContext &, RecoveryStats &, IoClass, uint64_t offset, uint32_t size, ReadDone);

/// Reads the log from its newest block to its oldest, so that whatever is found is what
/// counts and can be served at once. A block that is damaged takes with it what it
/// described, and nothing else: removals are there twice.
class LogReader
{
public:
    LogReader(StoreContext &, IndexRebuilder &, RecoveryStats &, const Superblock &);

    /// Begins with the removals of the newest checkpoint: they say which clusters to read.
    void start();
    bool knowsRemovals() const { return reading_ == Reading::contents; }

    /// Goes on, after knowsRemovals(), and as long as a turn may last.
    void poll(const IndexRebuilder::GoOn &);
    bool done() const { return left_ == 0; }

    /// whether so much is damaged that reading all clusters would find more
    bool beyondRepair() const {
        const auto lost = stats_.blocksLost;
        return lost > 16 + extent_.used() / 64 || (lost > 2 && lost * 8 > extent_.used());
    }
    double progress() const { return extent_.used() ? 1 - static_cast<double>(left_) / extent_.used() : 1; }

    /// where checkpoints began, in the order of their positions
    std::vector<IndexLog::Mark> takeMarks();

private:
    enum class Reading : uint8_t { removals, contents };
    static constexpr uint32_t blocksInPiece = 256;
    static constexpr size_t piecesAhead = 8; ///< in flight, or waiting for their turn

    /// blocks beside each other on the device
    struct Piece {
        uint32_t from = 0; ///< number in the extent
        uint32_t blocks = 0;
        bool here = false;
        BufferPointer buffer; ///< nil when it can't be read
    };

    Piece pieceBelow(uint32_t number) const;
    void read(const Piece &, ReadDone);
    void readRemovals(bool again);
    void readAhead(unsigned most);
    void take(uint32_t number, const char *bytes);
    void enter(const IndexBlock &);
    void leave(uint64_t older);

    StoreContext &context_;
    IndexRebuilder &rebuilder_;
    RecoveryStats &stats_;
    const LogExtent extent_;
    const LogPosition newest_; ///< where the newest checkpoint begins
    const uint32_t newestRemovals_;
    const uint64_t newestSerial_;
    Reading reading_ = Reading::removals;
    unsigned inFlight_ = 0;
    std::vector<bool> announced_; ///< by number of the newest checkpoint's removal blocks: read

    uint32_t left_; ///< blocks to be taken
    uint32_t asked_; ///< blocks to be read
    std::map<uint32_t, Piece> pieces_; ///< by number of their first block; bounded by piecesAhead

    /* the checkpoint of the last block that was taken */
    uint64_t serial_ = 0; ///< 0 = none yet
    uint64_t previous_ = 0;
    std::vector<bool> removals_; ///< by number: taken
    std::vector<IndexLog::Mark> marks_; ///< the newest first; fewer than blocks
};

} // namespace ClusterFs

#endif
