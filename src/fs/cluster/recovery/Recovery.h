// SPDX-License-Identifier: GPL-2.0-or-later
/* Getting the index back at start. See docs/recovery.md. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_RECOVERY_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_RECOVERY_H

#include "fs/cluster/recovery/IndexRebuilder.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/recovery/LogReader.h"

#include <deque>
#include <memory>

namespace ClusterFs {

/// Reads the journal, then the removals of the newest checkpoint, then the clusters
/// that were announced since, then the index log, then those clusters
/// again that hold second copies of objects. What has been read is served at
/// once. When there is no log, or much of it is damaged, all clusters of which
/// nothing is known are scanned, and what they hold counts as doubtful.
class Recovery
{
public:
    Recovery(StoreContext &, Journal &, const Superblock &);

    /// Sets the numbers of this run apart from those of all runs before, whose newest
    /// clusters may not be found. The superblock is written after that, so that the
    /// next start knows of our numbers even when it finds nothing that has one.
    void takeNumbers();
    void start();
    /// moves on; to be called after the device's answers were delivered
    void poll();
    bool done() const { return step_ == Step::done; }
    /// stores may go to the device: what is free is known
    bool storable() const { return step_ == Step::scan || step_ == Step::done; }
    /// the journal may be written: it is known where it goes on
    bool knowsJournal() const { return step_ != Step::journal; }
    bool scanning() const { return step_ == Step::scan; }

    /// whether the start may yet find a newer version of an object than the one in the index
    bool mayFindNewer(SlotNo) const;

    void removedNow(const Key &key) { if (!done()) rebuilder_.removedNow(key); }

    /// the cluster that was written last, or noCluster
    ClusterNo newestCluster() const { return rebuilder_.newest(); }

    /// where checkpoints of the log began
    std::vector<IndexLog::Mark> takeMarks() { return reader_.takeMarks(); }

    double progress() const; ///< 0 to 1
    const RecoveryStats &stats() const { return stats_; }

private:
    enum class Step : uint8_t { journal, removals, clusters, objects, copies, scan, finish, done };
    static constexpr unsigned depth = 16; ///< reads in flight
    static constexpr uint32_t frontBytes = 16 * 1024; ///< first read of a cluster

    void read(uint64_t offset, uint32_t size, ReadDone);

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
    unsigned frontsInFlight_ = 0; ///< or not taken yet
    /// What came from the device and takes more than a turn, each to be called until it is taken; no
    /// more than depth.
    std::deque<std::function<bool(const IndexRebuilder::GoOn &)>> arrived_;
    uint64_t startedAt_ = 0;

    uint64_t journalOf_ = 0; ///< checkpoint whose journal is being read
    uint32_t journalBlock_ = 0;
    uint32_t journalRun_ = 0; ///< of the last block
    uint64_t resumeAt_ = 0; ///< where the journal goes on
    uint32_t resumeBlock_ = 0;

    std::vector<ClusterNo> fronts_; ///< clusters to be read; empty in a scan
    size_t nextFront_ = 0;
    ClusterNo nextScan_{0};
    Sequence scanLimit_{0}; ///< higher ones were written while we scan
};

} // namespace ClusterFs

#endif
