// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the next checkpoint goes in the index log, and what of the log still counts. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_INDEXLOG_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_INDEXLOG_H

#include "fs/cluster/layout/Superblock.h"

#include <deque>

namespace ClusterFs {

/// The writing end of the index log. A checkpoint names what has changed, and, in turn, some
/// clusters that have not: once it has come round to a cluster, all that older
/// checkpoints said of it is of no use, and so the log's tail can follow its head.
class IndexLog
{
public:
    /// where a checkpoint began, and which cluster was the next in turn then
    struct Mark {
        uint32_t turn = 0;
        ClusterNo cursor{0};
        LogPosition position;
    };

    IndexLog(const Geometry &, const Superblock &);

    /// what a start has found in the log
    /// \param marks in the order of their positions
    void restore(const std::vector<Mark> &marks);

    /// A checkpoint begins.
    /// \param clusters that belong to the log by now
    /// \param anew whether it names all there is, so that nothing older counts
    void begin(uint32_t clusters, bool anew);
    /// how many blocks may be written behind each other now, as far as there is room; 0 = none
    uint32_t contiguous();
    LogPosition next() const { return attempt_.head; } ///< of the next block
    uint64_t serial() const { return serial_; } ///< of the checkpoint that is being written, or was last
    uint64_t previousSerial() const { return previousSerial_; } ///< of the one before it in the log
    void take() { ++attempt_.head.block; } ///< a block was put there

    /// all clusters up to one have been named, in turn
    void refreshed(ClusterNo behind) { cursor_ = behind; }
    void nextTurn() {
        cursor_ = ClusterNo(0);
        ++turn_;
    }

    /// what the superblock is to say when the checkpoint is complete
    void describe(Superblock &, uint32_t removalBlocks) const;
    void done(); ///< it says so
    /// The checkpoint was not completed.
    /// \param known whether the superblock may say that it was: then its blocks must stay
    void failed(bool known);
    /// There was no room: what is in the log must be written over.
    void giveUp();

    uint32_t turn() const { return turn_; }
    ClusterNo cursor() const { return cursor_; }
    uint32_t turnBefore() const { return turnBefore_; } ///< when the checkpoint began
    ClusterNo cursorBefore() const { return cursorBefore_; } ///< the same
    uint32_t used() const { return extent_.used(); } ///< blocks
    uint32_t blocks() const { return geometry_.logBlocksWith(clusters_); } ///< that there are

private:
    LogPosition tail() const;
    LogExtent complete() const;

    const Geometry &geometry_;
    LogExtent extent_; ///< as the superblock has it
    LogExtent attempt_; ///< with the checkpoint that is being written
    LogPosition start_; ///< of the checkpoint that is being written, or was last
    uint64_t serial_;
    uint64_t previousSerial_;
    uint32_t clusters_;
    uint32_t turn_;
    ClusterNo cursor_;
    uint32_t turnBefore_; ///< when the checkpoint began
    ClusterNo cursorBefore_; ///< the same
    bool anew_ = false;
    std::deque<Mark> marks_; ///< of this turn and the one before; fewer than blocks
};

} // namespace ClusterFs

#endif
