// SPDX-License-Identifier: GPL-2.0-or-later
/* Rebuilding the catalog at a start. See docs/recovery.md. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_RECOVERY_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_RECOVERY_H

#include "fs/cluster/recovery/IndexRebuilder.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/LogReader.h"

#include <deque>
#include <memory>

namespace ClusterFs {

/// Reads the journal, then the removals of the newest checkpoint, then the
/// directories of clusters that were announced, then the index log, then the newer
/// copies of contested objects. An object is served as soon as it is found. When
/// there is no log, or much of it is damaged, all clusters are scanned that are not
/// known to be parts, bad or free, and objects that the scan finds are doubtful.
/// (Hummingbird 3.4 reads its hot clusters first; here the whole index comes first.)
class Recovery
{
public:
    Recovery(StoreContext &, Journal &, const Superblock &);

    /// Sets the sequence numbers of this run apart from those of all runs before, whose newest
    /// clusters may not be found. The superblock is written after that, so that the next start
    /// knows of our numbers even if it finds no cluster that has one.
    void takeNumbers();
    void start(); ///< begins; poll() goes on
    /// goes on for a millisecond; called each turn, after the device's answers were delivered. It asks the device for
    /// another turn where no answer will bring one.
    void poll();
    bool done() const { return step_ == Step::done; }
    /// whether clusters may be written: the free ones are known
    bool storable() const { return step_ == Step::scan || step_ == Step::done; }
    /// whether the journal may be written: its end was found
    bool knowsJournal() const { return step_ != Step::journal; }
    bool scanning() const { return step_ == Step::scan; }

    /// whether the start may yet find a newer version of an object than the one in the index
    bool mayFindNewer(SlotNo) const;

    /// an object was deleted or replaced while the start goes on
    void removedNow(const Key &key) { if (!done()) rebuilder_.removedNow(key); }

    /// the cluster that was written last, or noCluster; once done()
    ClusterNo newestCluster() const { return rebuilder_.newest(); }

    /// where checkpoints of the log began, in the order of their positions; once done()
    std::vector<IndexLog::Mark> takeMarks() { return reader_.takeMarks(); }

    double progress() const; ///< 0 to 1
    const RecoveryStats &stats() const { return stats_; }

private:
    enum class Step : uint8_t { journal, removals, clusters, objects, copies, scan, finish, done };
    static constexpr unsigned depth = 16; ///< reads in flight
    static constexpr uint32_t frontBytes = 16 * 1024; ///< bytes of the first read of a cluster; a longer directory takes a second one

    void read(uint64_t offset, uint32_t size, ReadDone);
    void advance(const IndexRebuilder::GoOn &);

    Sequence nextSequence() const;
    void takeArrived(const IndexRebuilder::GoOn &);

    void readJournal();
    bool takeJournal(const BufferPointer &, uint32_t count, uint32_t &next, const IndexRebuilder::GoOn &);
    void nextJournal();
    uint32_t blocksBehindHole(const char *blocks, uint32_t count) const;

    bool hasLog() const { return superblock_.log.used() > 0; }
    void takeLog(const IndexRebuilder::GoOn &);

    void readFronts();
    void frontArrived(ClusterNo, Status, const BufferPointer &, uint32_t size);
    struct Front;
    bool takeFront(Front &, const IndexRebuilder::GoOn &);
    void countAnnounced(ClusterNo, Status, bool isWhole, const BufferPointer &, uint32_t size);
    void beginClusters();
    void beginScan();
    void checkCopies(const IndexRebuilder::Contested &);
    void end(const IndexRebuilder::GoOn &);
    void finish(const IndexRebuilder::GoOn &);

    StoreContext &context_;
    Journal &journal_;
    const Superblock superblock_;
    RecoveryStats stats_;
    IndexRebuilder rebuilder_;
    LogReader reader_;
    Step step_ = Step::journal;
    unsigned frontsInFlight_ = 0; ///< reads of clusters that are under way, or whose bytes are not taken yet
    /// Work on bytes that came from the device, each to be called until it returns true; depth of them
    /// at most.
    std::deque<std::function<bool(const IndexRebuilder::GoOn &)>> arrived_;
    uint64_t startedAt_ = 0; ///< Clock::micros()

    uint64_t journalOf_ = 0; ///< checkpoint whose journal is being read
    uint32_t journalBlock_ = 0; ///< the next block of it
    uint32_t journalRun_ = 0; ///< JournalBlock::run of the last block
    uint64_t resumeAt_ = 0; ///< checkpoint in whose journal the new run goes on
    uint32_t resumeBlock_ = 0; ///< the block of it where the new run goes on

    std::vector<ClusterNo> fronts_; ///< clusters whose directories are to be read; empty in a scan
    size_t nextFront_ = 0; ///< the next one of these
    ClusterNo nextScan_{0}; ///< the next cluster of a scan
    Sequence scanLimit_{0}; ///< clusters with higher numbers were written while the scan goes on
};

} // namespace ClusterFs

#endif
