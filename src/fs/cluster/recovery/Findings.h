// SPDX-License-Identifier: GPL-2.0-or-later
/* What a start has learned so far, and what it makes of what it finds. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_FINDINGS_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_FINDINGS_H

#include "fs/cluster/index/Shared.h"
#include "fs/cluster/layout/Checkpoint.h"
#include "fs/cluster/layout/JournalBlock.h"
#include "fs/cluster/recovery/UseOrder.h"

#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

namespace ClusterFs {

/// Merges journal, checkpoint and clusters into the catalog. The rules:
/// a higher sequence number wins; a removal ends all versions up to its number;
/// a cluster that the journal names is what its own directory says, not what
/// the checkpoint says. Of an object that was being carried there may be two
/// copies: the newer one counts only when it is whole, since a power cut may have
/// left its directory and not its bytes.
class Findings
{
public:
    Findings(Shared &, RecoveryStats &);

    void journal(const JournalRecord &);

    /// the caller deleted or replaced an object while the start goes on
    void removedNow(const Key &);

    void checkpointed(const Checkpoint::ClusterRecord &);
    void checkpointed(const Checkpoint::ObjectRecord &, bool hasKey);
    void checkpointed(const std::vector<Checkpoint::ObjectRecord> &, bool hasKeys);

    /// a cluster's front that is whole
    /// \param doubtful found by a scan: deletes may be missing
    void directory(ClusterNo, Directory &, bool doubtful);

    /// large objects whose parts may have come after their heads
    void joinParts();

    /// bytes of a cluster with newer copies that must be checked
    struct Contested {
        ClusterNo cluster = noCluster;
        uint32_t from = 0; ///< from the start of the cluster
        uint32_t to = 0;
    };
    /// takes what is to be checked next; several may be under way. \returns false when there is no more
    bool contested(Contested &);
    /// \param bytes those that were asked for, or nil when they can't be read.
    /// Copies that are not whole give way to older ones.
    void check(const Contested &, const char *bytes);

    /// clusters whose front must be read, as known after the cluster table
    std::vector<ClusterNo> announced() const;
    /// what an announced cluster's sequence number must exceed to count
    Sequence announcedAfter(ClusterNo) const;

    /// Ends, a slice at a time: gives back what nothing leads to, puts clusters in order of use.
    /// \param goOn asked now and then: false ends this slice
    /// \returns whether that was all
    bool finish(const std::function<bool()> &goOn);

    Sequence highest() const { return highest_; }

private:
    struct Fate {
        bool announced = false;
        Sequence after = 0;
    };
    struct LargeObject {
        ClusterNo cluster;
        bool doubtful;
        DirectoryEntry entry;
        std::vector<PartReference> parts;
    };

    /// of a large object, what its first part's line in the table says; versions
    /// that differ in their heads only have the same parts
    struct Front {
        uint64_t total = 0;
        uint32_t headBytes = 0;
    };

    struct OlderCopy {
        uint32_t bucket;
        Sequence sequence; ///< of its cluster
        bool hasKey;
        Key key;
        Record record;
        Front front;
    };

    static uint64_t FilterKey(uint32_t bucket, uint32_t tag) { return (uint64_t(bucket) << 32) | tag; }
    bool removed(uint32_t bucket, uint32_t tag, Sequence) const;
    bool supersede(const Key &, Sequence, const Record &, const Front &);
    bool adopt(uint32_t bucket, const Key *, const Record &, uint32_t payload);
    void noteOlder(uint32_t bucket, const Key *, const Record &, const Front &);
    Front frontOf(const Record &) const;
    SlotNo newerThan(const OlderCopy &) const;
    bool isWhole(SlotNo, const char *bytes, const Contested &) const;
    void sortOut(ClusterNo);
    void revert(SlotNo, const OlderCopy &);
    bool chainIsWhole(ClusterNo first) const;
    bool partsAreHere(const LargeObject &) const;
    void join(const LargeObject &);
    void see(Sequence);
    void finish(ClusterNo);

    Shared &shared_;
    RecoveryStats &stats_;
    std::unordered_map<ClusterNo, Fate> fates_; ///< of clusters that the journal or the table says are in motion
    std::unordered_map<uint64_t, Sequence> removals_; ///< bounded by the journal's size
    /// Older copies by the cluster that has the newer one, or had it when this was noted. Bounded by
    /// the journal: it names no removal of them, and no release of their clusters.
    using Copies = std::map<ClusterNo, std::vector<OlderCopy>>;
    Copies older_;
    Copies checking_; ///< of these, those whose newer copies are being read
    std::unordered_map<ClusterNo, Front> fronts_; ///< by first part: before newer heads came; bounded like large_
    std::vector<LargeObject> large_; ///< bounded by what the clusters read hold
    Sequence highest_ = 0;
    UseOrder order_;
    ClusterNo nextToFinish_ = 0;
};

} // namespace ClusterFs

#endif
