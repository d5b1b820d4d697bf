// SPDX-License-Identifier: GPL-2.0-or-later
/* What a start has learned so far, and what it makes of what it finds. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_INDEXREBUILDER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_INDEXREBUILDER_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/layout/IndexBlock.h"
#include "fs/cluster/layout/JournalBlock.h"
#include "fs/cluster/recovery/PlaceMap.h"
#include "fs/cluster/recovery/UseOrder.h"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ClusterFs {

/// Merges journal, index log and clusters into the catalog. The rules:
/// a higher sequence number wins; a removal ends all versions up to its number;
/// a cluster that the journal names is what its own directory says, not what
/// the log says; of the log, newer checkpoints come first and overrule older ones.
/// What the log says and is not so any more is noted as a change, since the
/// next checkpoint ends the journal that knows better. Of an object that was being relocated there may be two
/// copies: the newer one counts only when it is whole, since a power cut may have
/// left its directory and not its bytes.
class IndexRebuilder
{
public:
    IndexRebuilder(StoreContext &, RecoveryStats &);

    /// Asked now and then while there is much to do: false ends the turn. Who is asked to go on
    /// with something must be asked again, with the same arguments, until it says that that was all. Each call
    /// comes a piece further.
    using GoOn = std::function<bool()>;
    static bool Always() { return true; }

    void journal(const JournalRecord &);

    /// the caller deleted or replaced an object while the start goes on
    void removedNow(const Key &);

    /* the index log, from its newest block to its oldest */

    /// what the newest checkpoint says is about to be written
    void announced(const IndexRemoval &);
    /// \param serial of the checkpoint that says so
    void removal(const IndexRemoval &, uint64_t serial);
    void section(const IndexSection &, bool hasKeys, uint64_t serial);
    void use(const IndexUse &, uint64_t serial);
    /// what removed objects is lost: those of older checkpoints may have been deleted
    void doubtFromHere() { doubtful_ = true; }
    /// Large objects whose parts are known by now. \returns whether that was all
    bool endLog(const GoOn & = Always);

    /// a cluster's front that is whole
    /// \param doubtful found by a scan: deletes may be missing
    /// \returns whether that was all of it
    bool directory(ClusterNo, const Directory &, bool doubtful, const GoOn & = Always);

    /// large objects whose parts may have come after their heads
    void joinParts();

    /// Whether a directory that was read has a newer version of an object that is in a cluster by the index: a large
    /// one, whose parts are not known yet.
    bool awaitsNewer(SlotNo) const;

    static constexpr uint32_t stretch = 1 << 20; ///< bytes of a large cluster of which the copies are read together

    /// bytes of a cluster with newer copies that must be checked
    struct Contested {
        ClusterNo cluster = noCluster;
        uint32_t from = 0; ///< from the start of the cluster
        uint32_t to = 0;
    };
    /// Takes what is to be checked next; several may be under way.
    /// \returns false when there is no more, or not in this turn: see mayBeContested()
    bool contested(Contested &, const GoOn & = Always);
    bool mayBeContested() const { return !older_.empty() || !sorting_.empty(); }
    /// \param bytes those that were asked for, or nil when they can't be read.
    /// Copies that are not whole give way to older ones.
    /// \returns whether that was all
    bool check(const Contested &, const char *bytes, const GoOn & = Always);

    /// clusters whose front must be read, by the journal and the removals of the newest checkpoint
    std::vector<ClusterNo> announced() const;
    /// what an announced cluster's sequence number must exceed to count
    Sequence announcedAfter(ClusterNo) const;

    /// Ends, a slice at a time: gives back what nothing leads to, puts clusters in order of use.
    /// \returns whether that was all
    bool finish(const GoOn &);

    Sequence highest() const { return highest_; }
    ClusterNo newest() const { return newest_; } ///< written last of those that hold something, or noCluster; once finished

private:
    struct AnnouncedCluster {
        bool announced = false;
        Sequence after{0};
    };
    struct LargeObject {
        ClusterNo cluster;
        bool doubtful;
        DirectoryEntry entry;
        std::vector<PartReference> parts;
    };

    /// of a large object, what the section of its first part says; versions
    /// that differ in their heads only have the same parts
    struct Front {
        uint64_t total = 0;
        uint32_t headBytes = 0;
    };

    /// an object that the log names, with its key if that has it
    struct Logged {
        HashedKey hashed;
        bool hasKey;
        Key key;
        Record record;
    };
    struct OlderCopy: Logged {
        Sequence sequence; ///< of its cluster
        Front front;
    };

    Sequence &removedUntil(HashedKey);
    bool removed(HashedKey, Sequence) const;
    bool supersede(const Key &, Sequence, const Record &, const Front &);
    bool adopt(HashedKey, const Key *, const Record &, uint32_t payload);
    void reject(const Record &);
    bool adoptCluster(const IndexSection &);
    void log(const Logged &);
    void noteOlder(HashedKey, const Key *, const Record &, const Front &);
    Front frontOf(const Record &) const;
    SlotNo newerThan(const OlderCopy &) const;
    bool isWhole(SlotNo, const char *bytes, const Contested &) const;
    bool isNear(SlotNo) const;
    bool sortOut(const GoOn &);
    void dismiss(const OlderCopy &);
    void revert(SlotNo, const OlderCopy &);
    bool bringBack(const OlderCopy &, ClusterNo parts);
    bool chainIsWhole(ClusterNo first, const Front &) const;
    void link(const LargeObject &);
    bool partsAreHere(const LargeObject &) const;
    bool wasGivenUp(const LargeObject &) const;
    void join(const LargeObject &);
    void see(Sequence);
    void finish(ClusterNo);

    StoreContext &context_;
    RecoveryStats &stats_;
    std::unordered_map<ClusterNo, AnnouncedCluster> announcedClusters_; ///< of clusters that the journal or the newest checkpoint says are in motion
    /// Bounded by the journal's size; several, since one with millions would take long to grow.
    std::array<std::unordered_map<uint64_t, Sequence>, 1024> removals_;
    /// Older copies by the cluster that has the newer one, or had it when this was noted. Bounded by
    /// the journal: it names no removal of them, and no release of their clusters.
    using Copies = std::map<ClusterNo, std::vector<OlderCopy>>;
    Copies older_;
    ClusterNo sorted_ = noCluster; ///< whose copies are being sorted out
    std::vector<OlderCopy> sorting_; ///< of these, those that are not yet; the last one is the next
    std::vector<OlderCopy> stayed_; ///< of these, those whose newer ones are there
    Contested span_; ///< of these newer ones
    Copies checking_; ///< of those in older_, whose newer copies are being read
    ClusterNo checked_ = noCluster; ///< whose copies are being looked at, in order
    size_t nextEntry_ = 0; ///< of the directory that is being taken
    size_t nextPart_ = 0; ///< the same
    std::unordered_map<ClusterNo, Front> fronts_; ///< by first part: before newer heads came; bounded like large_
    std::unordered_set<ClusterNo> linked_; ///< first parts whose chains directories named; bounded like large_
    std::vector<LargeObject> large_; ///< bounded by what the clusters read hold
    std::unordered_map<uint64_t, Sequence> awaited_; ///< of these, by hashed key, the newest that no removal ends; not of those that a scan finds
    std::deque<Logged> largeLogged_; ///< of the log, the newest first; bounded by the clusters that are parts
    Table<uint32_t, ClusterNo> overruled_; ///< by cluster: what checkpoints with a smaller serial said of it does not hold
    PlaceMap places_; ///< of objects that left a cluster, or were used, since it was last named
    bool doubtful_ = false;
    Sequence highest_{0};
    UseOrder order_;
    ClusterNo nextToFinish_{0};
    size_t nextRemovals_ = 0; ///< of removals_, to be given back
    ClusterNo newest_ = noCluster;
};

} // namespace ClusterFs

#endif
