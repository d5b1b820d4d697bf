// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing checkpoints, a chunk at a time. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINTER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINTER_H

#include "fs/cluster/layout/Checkpoint.h"
#include "fs/cluster/recovery/Journal.h"

namespace ClusterFs {

/// Writes the cluster table and the index to the older of the two checkpoint
/// regions while the engine works on. Records may be caught at different
/// moments: whatever changes after the start is in the journal too, which goes
/// on in its other region.
class Checkpointer
{
public:
    Checkpointer(Shared &, Journal &, const Superblock &);

    /// Appends what is known of groups, which is written behind the end as far as the region goes.
    /// Takes where to go on (0: at the beginning) and moves it.
    std::function<Checkpoint::Saved(uint32_t &at, std::vector<Checkpoint::GroupRecord> &)> saveGroups;

    /// starts one as soon as possible
    void request() { requested_ = true; }

    /// A scan is under way: the index is not whole, so no checkpoint may replace
    /// the knowledge that one is needed.
    void hold(const bool held) { held_ = held; }

    /// moves a checkpoint on, and starts one when it is time
    void poll();

    /// a checkpoint is due and waits for clusters to be written: start no more
    bool waiting() const { return waiting_; }

    bool running() const { return step_ != Step::idle; }

    /// Makes the next superblock say that all is on the device; only after a
    /// checkpoint that nothing followed. Waits for the device, at most that long.
    Status writeCleanSuperblock(uint64_t maxMicros);
    /// says that the device is in use. Waits for the device.
    Status writeDirtySuperblock();

    uint64_t completed() const { return completed_; } ///< since the start
    bool lastFailed() const { return lastFailed_; }
    /// Clock::micros() of the last completed one, 0 = none since the start
    uint64_t completedAt() const { return completedAt_; }
    const Superblock &superblock() const { return superblock_; }

private:
    /// what next() will do
    enum class Step : uint8_t { idle, clusters, objects, carried, end, groups, flush, superblock, flushSuperblock, finish };

    void begin();
    void next();
    void writeClusters();
    void writeObjects();
    void writeCarried();
    bool addBucket(Checkpoint::Chunk &, uint32_t bucket, size_t most);
    void addObject(Checkpoint::Chunk &, uint32_t bucket, SlotNo, const Record &where);
    void writeEnd();
    void writeGroups();
    bool hasRoom() const;
    void write(const Checkpoint::Chunk &);
    void writeSuperblock();
    void finish();
    void answer(Status);
    void failed(Status);
    void submit(IoOp, uint64_t offset, uint32_t size);
    Status superblockNow(bool clean, uint64_t maxMicros);
    Checkpoint::Chunk newChunk(Checkpoint::Kind) const;

    Shared &shared_;
    Journal &journal_;
    Superblock superblock_; ///< as it is on the device
    Superblock newer_; ///< on its way
    BufferPointer buffer_;
    Step step_ = Step::idle;
    bool busy_ = false;
    bool requested_ = false;
    bool waiting_ = false;
    bool held_ = false;
    bool lastFailed_ = false;
    uint64_t number_ = 0; ///< of the running checkpoint
    uint64_t forgotten_ = 0; ///< Shared::forgotten when it began
    Sequence from_ = 0; ///< first sequence number that it leaves to the journal
    uint32_t chunk_ = 0; ///< next to write
    ClusterNo nextCluster_ = 0;
    uint64_t nextBucket_ = 0;
    StageNo nextStage_ = 0;
    uint32_t nextGroup_ = 0;
    std::vector<Checkpoint::GroupRecord> groups_; ///< of the next chunk; bounded by what fits
    uint64_t written_ = 0; ///< objects
    uint64_t completed_ = 0;
    uint64_t completedAt_ = 0;
    uint64_t tried_ = 0; ///< Clock::micros() of the last start, or of opening
};

} // namespace ClusterFs

#endif
