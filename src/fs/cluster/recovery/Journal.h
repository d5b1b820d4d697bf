// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing the journal. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_JOURNAL_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_JOURNAL_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/layout/JournalBlock.h"

namespace ClusterFs {

/// Deletes (Hummingbird's delete log, section 3.4), and clusters that are about
/// to be written or whose contents were forgotten, since the last checkpoint.
/// Records gather in memory and are written in blocks: after Config::deleteCount
/// deletes, after Config::deleteTime seconds, or in the next turn if somebody
/// waits for an announcement. Two regions take turns, one for each checkpoint.
class Journal final : public ReleaseListener
{
public:
    /// a record's position in the order of all records of this run, from 1
    using Ticket = uint64_t;

    explicit Journal(StoreContext &);

    /// \param run a number that is higher at each start, see JournalBlock::run
    void setRun(const uint64_t run) { run_ = static_cast<uint32_t>(run); }

    /// A checkpoint begins: goes on at the start of its region, or where it is
    /// when it follows that checkpoint already.
    void follow(uint64_t checkpoint);

    /// goes on behind the blocks that a recovery has read
    /// \param block the next one in the region of that checkpoint
    void resume(uint64_t checkpoint, uint32_t block);

    /// notes that versions of a key with at most this sequence number are gone
    void removal(const Key &, Sequence);
    /// Notes that the contents of a cluster are forgotten. The index does not have its objects any more, so
    /// that a delete of one is not noted. So a release must survive a power cut as soon as a removal must.
    void release(ClusterNo);
    void released(const ClusterNo c) override { release(c); }
    /// notes that a cluster is about to be written
    /// \param sequence its contents will have a higher number
    /// \returns the ticket that written() reaches once the record is on the device
    Ticket announce(ClusterNo, Sequence);

    Ticket written() const { return written_; } ///< all records up to this one are on the device, maybe in its volatile cache
    Ticket issued() const { return issued_; } ///< of the newest record

    /// writes when records are due, and flushes the disk when that is due; called each turn
    void poll();
    /// makes the next poll() write all pending records, unless writes have failed too often
    void hasWaiter();
    /// whether the region has no room until the next checkpoint
    bool full() const { return nextBlock_ == blocks(); }
    /// makes the next poll() write all pending records, and flush the disk
    void hurry() { hurry_ = true; }

    /// whether nothing is pending or under way
    bool idle() const { return pending_.empty() && !busy_ && !flushOwed_; }
    /// the share of the region that is used, 0 to 1
    double used() const;
    uint64_t pendingRemovals() const { return pendingRemovals_; } ///< removals that are not on the device
    std::vector<Key> removals() const; ///< the keys of these

    /// records that may wait in memory while they can't be written; more are lost, and that is logged
    static constexpr size_t maxPending = 1000000;
    bool overflowed() const { return overflowed_; } ///< whether records were lost since the last checkpoint

private:
    void add(const JournalRecord &);
    bool due() const;
    bool overdue(uint64_t since) const;
    void write();
    void flush();
    void takeWritten(size_t records);
    void wrote(Status, Ticket upTo, bool flushNow);
    uint32_t blocks() const;

    StoreContext &context_;
    std::deque<JournalRecord> pending_; ///< not on the device yet, the oldest first
    uint64_t pendingRemovals_ = 0; ///< how many of these
    uint64_t pendingReleases_ = 0; ///< how many of these
    uint64_t releasePending_ = 0; ///< Clock::micros() when the oldest pending release came, or before; 0 = none is pending
    uint64_t releaseAtRisk_ = 0; ///< the same of releases that are written, but not flushed
    uint64_t oldest_ = 0; ///< Clock::micros() when the oldest pending record came
    uint64_t checkpoint_ = ~uint64_t(0); ///< the one that this journal follows; this value = none yet
    uint32_t nextBlock_ = 0; ///< the next one to write in its region
    uint32_t run_ = 0; ///< see setRun()
    Ticket issued_ = 0; ///< see issued()
    Ticket written_ = 0; ///< see written()
    unsigned failures_ = 0; ///< writes that failed in a row
    uint64_t flushAgain_ = 0; ///< Clock::micros() from which on a flush that failed is repeated
    uint64_t writeAgain_ = 0; ///< the same of writes, on a device that takes none
    bool busy_ = false; ///< a write or a flush is under way
    bool flushOwed_ = false; ///< a flush has failed
    bool waited_ = false; ///< somebody waits for a record
    bool hurry_ = false; ///< see hurry()
    bool overflowed_ = false; ///< see overflowed()
};

} // namespace ClusterFs

#endif
