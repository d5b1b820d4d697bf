// SPDX-License-Identifier: GPL-2.0-or-later
/* One checkpoint. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINT_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_CHECKPOINT_H

#include "fs/cluster/recovery/GroupSaver.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/LogWriter.h"
#include "fs/cluster/context/SingleIo.h"

namespace ClusterFs {

/* The states of a checkpoint; any other transition asserts (Checkpoint::MayFollow). docs/pictures/checkpoint.svg is
 * the picture of it.
 *
 *  changedClusters -> goneObjects        older checkpoints must not be believed of the clusters that have changed
 *  goneObjects -> removals               nor of objects that have left other clusters
 *  removals -> sections                  the log has all that, once
 *  sections -> updates                   it has the changed clusters with all that they hold
 *  updates -> uses                       it has objects with other times
 *  uses -> turn                          it has objects that were used
 *  turn -> removalsAgain                 it has about as many clusters that have not changed
 *  removalsAgain -> endOfLog             it has the removals twice
 *  endOfLog -> groups                    the last piece of the log is on its way
 *  groups -> journal                     groups are saved, or are not to be saved
 *  journal -> written                    the journal has what it must have
 *  written -> flushing                   a flush of the device begins
 *  flushing -> writingSuperblock         all survives a power cut: the superblock is to say so
 *  writingSuperblock -> flushingSuperblock    a flush of that begins
 *  flushingSuperblock -> done            the checkpoint counts
 *  changedClusters, goneObjects -> givenUp    there are too many removals
 *  removals, sections, updates, uses, turn, removalsAgain -> failed    a request failed, or the log has no room
 *  endOfLog, groups, journal, flushing, writingSuperblock, flushingSuperblock -> failed    a request failed
 */

/// A checkpoint from its beginning to its end. Writes what has changed to the index log while the engine works on, and
/// about as much of what has not, in turn, so that the log gets no longer. Clusters may be caught at different moments:
/// the journal, too, has all that changes after the beginning, and goes on in its other region.
/// \see Checkpointer, which has the one that is running
class Checkpoint
{
public:
    enum class State : uint8_t {
        changedClusters, goneObjects, removals, sections, updates, uses, turn, removalsAgain, endOfLog, groups, journal,
        written, flushing, writingSuperblock, flushingSuperblock,
        done, ///< complete: the superblock names it
        failed, ///< the superblock still names the older one
        givenUp ///< nothing is wrong, but the next one is to name everything, at once
    };

    /// Begins. All that is given must outlive this.
    /// \param io has LogWriter::blocksInPiece blocks of room, and room for a chunk of groups; used by nobody else meanwhile
    /// \param superblock as it is on the device
    /// \param done called when it is done or has failed, with the reason; full: the log has no room
    Checkpoint(StoreContext &, Journal &, IndexLog &, GroupSaver &, SingleIo &io, const Superblock &superblock,
               std::function<void(Status)> done);
    Checkpoint(const Checkpoint &) = delete;
    Checkpoint &operator =(const Checkpoint &) = delete;

    State state() const { return state_; }
    bool isOver() const { return state_ >= State::done; }

    /// from now on, no cluster is named that has not changed, and groups are saved
    void beBrief() { brief_ = true; }

    /// goes on as far as the device, the journal and the turn allow
    void poll();

    /// what the device has, once it is done
    const Superblock &superblock() const { return superblock_; }

    /// whether a state may follow another one
    static bool MayFollow(State from, State to);

    static constexpr size_t maxRemovals = 1000000; ///< with more, all there is is written anew

private:
    /// a packed cluster that is being named, object by object
    struct Section {
        ClusterNo cluster = noCluster; ///< noCluster: there is none
        Sequence sequence{0}; ///< of the cluster
        SlotNo next = noSlot; ///< object
        bool relocated = false; ///< its objects are done, but for those that are being relocated
        StageNo nextStaged{0}; ///< staged object that may have come from it
    };

    void enter(State);
    void next();
    bool waitsForJournal() const;
    bool look();
    ClusterNo nextChanged();
    void addChangedClusters();
    void addGoneObjects();
    bool addRemoval(const IndexRemoval &);
    void addRemovals();
    void addSections();
    void addUpdates();
    void addUses();
    void addTurn();
    void endLog();
    void addGroups();
    void writeSuperblock();
    IndexSection sectionOf(ClusterNo) const;
    IndexObject objectOf(SlotNo, const Record &where) const;
    bool openSection(ClusterNo);
    bool continueSection();
    bool addObject(SlotNo, const Record &where);
    void beginPart(IndexBlock::Part);
    bool makeRoom(size_t bytes);
    void closeBlock();
    void writePiece();
    void submit(IoOp, uint64_t offset, uint32_t size);
    void finish();
    void fail(Status);
    void giveUp();

    StoreContext &context_;
    Journal &journal_;
    IndexLog &log_;
    GroupSaver &groups_;
    SingleIo &io_;
    const std::function<void(Status)> done_;
    State state_ = State::changedClusters;
    Superblock superblock_; ///< as it is on the device, then as it is to be
    const Sequence from_; ///< the first sequence number that is left to the journal
    const uint64_t forgotten_; ///< StoreContext::forgotten when it began
    const uint64_t newHeads_; ///< StoreContext::newHeads when it began
    Journal::Ticket caught_ = 0; ///< what the journal must have on the device before it counts
    bool anew_ = false; ///< it names all there is
    bool brief_ = false;
    LogWriter writer_;

    std::vector<IndexRemoval> removals_; ///< maxRemovals at most
    uint32_t removalBlocks_ = 1; ///< that they take
    size_t removalBytes_ = 0; ///< in the last of these

    /* how far the present state is */
    unsigned looks_ = 0; ///< that it may still take before others have their turn
    ClusterNo nextCluster_{0};
    size_t nextItem_ = 0; ///< of what is noted in a list
    Section section_;
    uint32_t credit_ = 0; ///< blocks of this checkpoint after which its share of the turn is done
    ClusterNo turnEnd_{0}; ///< where that began
    bool turnDone_ = false; ///< it came round to there
};

} // namespace ClusterFs

#endif
