// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing checkpoints, a piece at a time. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINTER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINTER_H

#include "fs/cluster/layout/IndexBlock.h"
#include "fs/cluster/recovery/IndexLog.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/LearnedGroups.h"

namespace ClusterFs {

/// Writes what has changed to the index log while the engine works on, and about as much
/// of what has not, in turn, so that the log gets no longer. Clusters may be caught at
/// different moments: whatever changes after the start is in the journal too, which goes
/// on in its other region.
class Checkpointer
{
public:
    Checkpointer(StoreContext &, Journal &, LearnedGroups &, const Superblock &);

    /// starts one as soon as possible
    void request() { requested_ = true; }
    /// The store is about to be closed: from now on only what has changed, and what is known of groups.
    void beBrief() { brief_ = true; }

    /// A scan is under way: the index is not whole, so no checkpoint may replace
    /// the knowledge that one is needed.
    void hold(const bool held) { held_ = held; }

    /// the start has read the log
    void restore(const std::vector<IndexLog::Mark> &marks) { log_.restore(marks); }

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
    const IndexLog &log() const { return log_; }

    static constexpr size_t maxRemovals = 1000000; ///< with more, all there is is written anew

private:
    /// what next() will do
    enum class Step : uint8_t {
        idle, changedClusters, goneObjects, removals, sections, updates, uses, turn, removalsAgain, endOfLog,
        groups, journal, flush, superblock, flushSuperblock, finish
    };

    bool waitsForJournal() const;
    bool look();
    bool due();
    void askForRoom();
    void begin();
    void next();
    void addChangedClusters();
    void addRemoval(const IndexRemoval &);
    void addGoneObjects();
    void addRemovals(bool again);
    void addSections();
    void addUpdates();
    void addUses();
    void addTurn();
    bool openSection(ClusterNo);
    bool continueSection();
    bool addObject(SlotNo, const Record &where);
    bool makeRoom(size_t bytes);
    void openBlock();
    void closeBlock();
    void closePart(IndexBlock::Part following);
    void writePiece();
    void addGroups();
    void writeSuperblock();
    void finish();
    void answer(Status);
    void failed(Status);
    void submit(IoOp, uint64_t offset, uint32_t size);
    Status superblockNow(bool clean, uint64_t maxMicros);
    size_t objectBytes() const;

    StoreContext &context_;
    Journal &journal_;
    LearnedGroups &learned_;
    Superblock superblock_; ///< as it is on the device
    Superblock newer_; ///< on its way
    IndexLog log_;
    BufferPointer buffer_;
    Step step_ = Step::idle;
    bool busy_ = false;
    bool requested_ = false;
    bool waiting_ = false;
    bool held_ = false;
    bool brief_ = false;
    bool lastFailed_ = false;
    uint64_t number_ = 0; ///< of the running checkpoint
    uint64_t serial_; ///< the same, in the log
    uint64_t previous_; ///< of the one before, in the log
    uint64_t forgotten_ = 0; ///< StoreContext::forgotten when it began
    uint64_t newHeads_ = 0; ///< StoreContext::newHeads when it began
    Journal::Ticket caught_ = 0; ///< what the journal must have on the device before it counts
    Sequence from_{0}; ///< first sequence number that it leaves to the journal
    bool anew_ = false; ///< names all there is

    std::vector<IndexRemoval> removals_; ///< of the running checkpoint; maxRemovals at most
    uint32_t removalBlocks_ = 1; ///< that they take
    size_t removalBytes_ = 0; ///< in the last of these

    /* the piece that is being filled: blocks beside each other on the device */
    uint32_t room_ = 0; ///< blocks that go there
    uint32_t filled_ = 0; ///< blocks
    uint64_t pieceAt_ = 0; ///< where on the device
    IndexBlock::Part part_ = IndexBlock::Part::removals; ///< of the blocks that come now
    uint32_t removalNumber_ = 0; ///< of the next block of removals
    bool open_ = false; ///< whether block_ is being filled
    IndexBlock block_;
    size_t blockBytes_ = 0; ///< of its records

    /* how far the steps are */
    unsigned looks_ = 0; ///< that the present one may still take
    ClusterNo nextCluster_{0};
    size_t nextItem_ = 0; ///< of what is noted in a list
    ClusterNo section_ = noCluster; ///< being written
    Sequence sectionSequence_{0};
    SlotNo sectionSlot_ = noSlot; ///< its next object
    StageNo sectionStage_{0}; ///< the next staged object that may have come from it
    bool sectionRelocated_ = false; ///< its objects are done, but for those that are being relocated
    uint32_t written_ = 0; ///< blocks of this checkpoint
    uint32_t credit_ = 0; ///< blocks of this checkpoint after which its share of the turn is done
    ClusterNo turnEnd_{0}; ///< where that began
    bool turnDone_ = false; ///< it came round to there

    uint32_t nextGroup_ = 0;
    std::vector<SavedGroups::GroupRecord> groups_; ///< of the next chunk; bounded by what fits
    uint32_t groupsChunk_ = 0;
    uint64_t groupsBytes_ = 0; ///< when they were saved last
    uint64_t bytesSince_ = 0; ///< of the log, written since then
    uint64_t completed_ = 0;
    uint64_t completedAt_ = 0;
    uint64_t tried_ = 0; ///< Clock::micros() of the last start, or of opening
};

} // namespace ClusterFs

#endif
