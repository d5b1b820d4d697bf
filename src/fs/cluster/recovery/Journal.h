// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing down what changed since the last checkpoint. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_JOURNAL_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_JOURNAL_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/layout/JournalBlock.h"

namespace ClusterFs {

/// The delete log of Hummingbird 3.4, with the clusters that are about to be
/// written or were forgotten. Records gather in memory and go out in blocks:
/// after Config::deleteCount deletes, Config::deleteTime seconds, or at once
/// when somebody waits for an announcement.
class Journal final : public ReleaseListener
{
public:
    /// a record's position in the order of all records
    using Ticket = uint64_t;

    explicit Journal(StoreContext &);

    /// \param run a number that is higher at each start, see JournalBlock::run
    void setRun(const uint64_t run) { run_ = static_cast<uint32_t>(run); }

    /// Goes on in the region of that checkpoint: from its start, or where it is
    /// when it follows that checkpoint already.
    void follow(uint64_t checkpoint);

    /// goes on behind the blocks that a recovery has read
    void resume(uint64_t checkpoint, uint32_t block);

    void removal(const Key &, Sequence);
    /// Objects are gone with it that might be deleted then: we could not say of which
    /// cluster they were. So it must survive a power cut as soon as a removal must.
    void release(ClusterNo);
    void released(const ClusterNo c) override { release(c); }
    /// \returns what written() reaches once the announcement is on the device
    Ticket announce(ClusterNo, Sequence);

    Ticket written() const { return written_; } ///< all records up to here are on the device
    Ticket issued() const { return issued_; }

    /// writes when something is due
    void poll();
    /// Makes the next poll() write what there is, unless that has failed too often.
    void hasWaiter();
    /// whether the region has no room until the next checkpoint
    bool full() const { return nextBlock_ == blocks(); }
    /// makes the next poll() write whatever there is, and flush
    void hurry() { hurry_ = true; }

    /// nothing pending or under way
    bool idle() const { return pending_.empty() && !busy_ && !flushOwed_; }
    /// the share of the region that is used, 0 to 1
    double used() const;
    uint64_t pendingRemovals() const { return pendingRemovals_; }
    std::vector<Key> removals() const; ///< those that are pending

    /// records that may wait in memory while the region is full
    static constexpr size_t maxPending = 1000000;
    bool overflowed() const { return overflowed_; }

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
    std::deque<JournalRecord> pending_;
    uint64_t pendingRemovals_ = 0;
    uint64_t pendingReleases_ = 0;
    uint64_t releasePending_ = 0; ///< Clock::micros() of a release at least as old as any that is pending, 0 = none
    uint64_t releaseAtRisk_ = 0; ///< the same of those that are written, and not flushed
    uint64_t oldest_ = 0; ///< Clock::micros() when the oldest pending record came
    uint64_t checkpoint_ = ~uint64_t(0); ///< none yet
    uint32_t nextBlock_ = 0;
    uint32_t run_ = 0;
    Ticket issued_ = 0;
    Ticket written_ = 0;
    unsigned failures_ = 0; ///< writes in a row
    uint64_t flushAgain_ = 0; ///< Clock::micros() from which on a flush that failed is repeated
    uint64_t writeAgain_ = 0; ///< the same of writes, on a device that takes none
    bool busy_ = false;
    bool flushOwed_ = false; ///< one has failed
    bool waited_ = false; ///< somebody waits for a record
    bool hurry_ = false;
    bool overflowed_ = false;
};

} // namespace ClusterFs

#endif
