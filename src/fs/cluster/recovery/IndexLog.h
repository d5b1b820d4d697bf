// SPDX-License-Identifier: GPL-2.0-or-later
/* The writing end of the index log: where the next checkpoint goes, and which blocks count. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_INDEXLOG_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_INDEXLOG_H

#include "fs/cluster/layout/Superblock.h"

#include <deque>

namespace ClusterFs {

/// Keeps head and tail of the index log, and the turn. A checkpoint names the clusters that
/// changed, and in turn some that did not. Once checkpoints have named all clusters since a
/// block was written, nothing that it says counts any more, and the tail goes past it. It
/// does no I/O.
class IndexLog
{
public:
    /// where a checkpoint began in the log, and where the turn was then
    struct Mark {
        uint32_t turn = 0; ///< Superblock::turn
        ClusterNo cursor{0}; ///< the cluster that was next in the turn
        LogPosition position;
    };

    IndexLog(const Geometry &, const Superblock &);

    /// takes the marks that a start has found in the log
    /// \param marks in the order of their positions
    void restore(const std::vector<Mark> &marks);

    /// A checkpoint begins.
    /// \param clusters how many of the first ones belong to the log by now, bad ones counted
    /// \param anew whether the checkpoint names all clusters, so that nothing older counts
    void begin(uint32_t clusters, bool anew);
    /// how many blocks from next() on are free and lie in one piece on the device; 0 = the log has no room
    uint32_t contiguous();
    LogPosition next() const { return attempt_.head; } ///< the place of the next block
    uint64_t serial() const { return serial_; } ///< of the checkpoint that is being written, or was last
    uint64_t previousSerial() const { return previousSerial_; } ///< of the one before it in the log
    void take() { ++attempt_.head.block; } ///< a block goes there

    /// the turn has named all clusters in front of one
    void refreshed(ClusterNo behind) { cursor_ = behind; }
    /// the turn has named all clusters: the next one begins
    void nextTurn() {
        cursor_ = ClusterNo(0);
        ++turn_;
    }

    /// sets the members of a superblock that name the checkpoint, for when it is complete
    void describe(Superblock &, uint32_t removalBlocks) const;
    void done(); ///< the superblock is written
    /// The checkpoint was not completed.
    /// \param known whether the superblock on the device may name it all the same: then its blocks must stay
    void failed(bool known);
    /// There was no room: the next checkpoint writes over the blocks that count now.
    void giveUp();

    uint32_t turn() const { return turn_; }
    ClusterNo cursor() const { return cursor_; } ///< the cluster that is next in the turn
    uint32_t turnBefore() const { return turnBefore_; } ///< turn() when the checkpoint began
    ClusterNo cursorBefore() const { return cursorBefore_; } ///< cursor() when the checkpoint began
    uint32_t used() const { return extent_.used(); } ///< blocks that count
    uint32_t blocks() const { return geometry_.logBlocksWith(clusters_); } ///< blocks that the log has

private:
    LogPosition tail() const;
    LogExtent complete() const;

    const Geometry &geometry_;
    LogExtent extent_; ///< the blocks that count, as the superblock has them
    LogExtent attempt_; ///< the same with the checkpoint that is being written
    LogPosition start_; ///< where the running or the last checkpoint begins
    uint64_t serial_; ///< see serial()
    uint64_t previousSerial_; ///< see previousSerial()
    uint32_t clusters_; ///< how many of the first ones belong to the log, bad ones counted
    uint32_t turn_; ///< see turn()
    ClusterNo cursor_; ///< see cursor()
    uint32_t turnBefore_; ///< see turnBefore()
    ClusterNo cursorBefore_; ///< see cursorBefore()
    bool anew_ = false; ///< the running checkpoint names all clusters
    std::deque<Mark> marks_; ///< of this turn and the one before, the oldest first; fewer than the log has blocks
};

} // namespace ClusterFs

#endif
