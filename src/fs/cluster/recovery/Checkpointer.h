// SPDX-License-Identifier: GPL-2.0-or-later
/* When checkpoints are written. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINTER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINTER_H

#include "fs/cluster/recovery/Checkpoint.h"

#include <optional>

namespace ClusterFs {

/// Begins a checkpoint when one is due, and has what checkpoints leave to the next one: the log, and the superblock.
class Checkpointer
{
public:
    Checkpointer(StoreContext &, Journal &, LearnedGroups &, const Superblock &);

    /// starts one as soon as possible
    void request() { requested_ = true; }
    /// The store is about to be closed: from now on only what has changed, and what is known of groups.
    void beBrief();

    /// A scan is under way: the index is not whole, so no checkpoint may replace
    /// the knowledge that one is needed.
    void hold(const bool held) { held_ = held; }

    /// the start has read the log
    void restore(const std::vector<IndexLog::Mark> &marks) { log_.restore(marks); }

    /// moves a checkpoint on, and starts one when it is time
    void poll();

    /// a checkpoint is due and waits for clusters to be written: start no more
    bool waiting() const { return waiting_; }

    bool running() const { return checkpoint_ && !checkpoint_->isOver(); }

    /// Makes the next superblock say that all is on the device; only after a
    /// checkpoint that nothing followed. Waits for the device, at most that long.
    Status writeCleanSuperblock(uint64_t maxMicros);
    /// says that the device is in use. Waits for the device.
    Status writeDirtySuperblock();

    uint64_t runs() const { return runs_; } ///< how many were begun since the start, those that failed included
    uint64_t completed() const { return completed_; } ///< since the start
    bool lastFailed() const { return lastFailed_; }
    /// Clock::micros() of the last completed one, 0 = none since the start
    uint64_t completedAt() const { return completedAt_; }
    const Superblock &superblock() const { return superblock_; }
    const IndexLog &log() const { return log_; }

private:
    bool due();
    void askForRoom() const;
    void begin();
    void ended(Status);
    Status superblockNow(bool clean, uint64_t maxMicros);

    StoreContext &context_;
    Journal &journal_;
    Superblock superblock_; ///< as it is on the device
    IndexLog log_;
    GroupSaver groups_;
    SingleIo io_; ///< of the running checkpoint
    std::optional<Checkpoint> checkpoint_; ///< the running one, or the last one until the next poll()
    bool requested_ = false;
    bool waiting_ = false;
    bool held_ = false;
    bool brief_ = false;
    bool lastFailed_ = false;
    uint64_t runs_ = 0;
    uint64_t completed_ = 0;
    uint64_t completedAt_ = 0;
    uint64_t tried_; ///< Clock::micros() of the last start, or of opening
};

} // namespace ClusterFs

#endif
