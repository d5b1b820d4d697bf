// SPDX-License-Identifier: GPL-2.0-or-later
/* Rebuilding the index from journal, index log and directories. */

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

/// Merges journal, index log and directories into the catalog. The rules:
/// a higher sequence number wins; a removal ends all versions up to its number;
/// of a cluster that the journal names, its own directory counts and not the
/// log; newer checkpoints of the log come first and overrule older ones.
/// Entries of the log that do not hold any more are noted as changes, because
/// the next checkpoint ends the journal that overrules them. An object that was
/// being relocated may have two copies: the newer one counts only when it is
/// whole, because a power cut may have left its directory and not its bytes.
class IndexRebuilder
{
public:
    IndexRebuilder(StoreContext &, RecoveryStats &);

    /// Asked now and then while there is much to do: false ends the turn. A function that takes a
    /// GoOn does a piece of its work in each call. Its caller calls it again in the next turn, with
    /// the same arguments, until it returns that all is done.
    using GoOn = std::function<bool()>;
    static bool Always() { return true; }

    /// takes a record of the journal, in the order in which they were written
    void journal(const JournalRecord &);

    /// an object was deleted or replaced while the start goes on: no version that it finds counts
    void removedNow(const Key &);

    /* the index log, from its newest block to its oldest */
    /// takes a removal of the newest checkpoint: it may announce a cluster, which is to be read then

    void announced(const IndexRemoval &);
    /// \param serial of the checkpoint of the block
    void removal(const IndexRemoval &, uint64_t serial);
    void section(const IndexSection &, bool hasKeys, uint64_t serial);
    void use(const IndexUse &, uint64_t serial);
    /// removals are lost: objects that older checkpoints name may have been deleted
    void doubtFromHere() { doubtful_ = true; }
    /// The log was read: takes its large objects, whose parts are known by now.
    /// \returns whether all is done
    bool endLog(const GoOn & = Always);

    /// takes the directory of a cluster that was read
    /// \param doubtful whether a scan found it, so that deletes may be missing
    /// \returns whether all is done
    bool directory(ClusterNo, const Directory &, bool doubtful, const GoOn & = Always);

    /// takes the large objects of directories, whose parts are known by now
    void joinParts();

    /// Whether a directory that was read has a newer version of an object than the index: a large one, whose parts are not
    /// known yet.
    /// \param slot of an object that is not staged
    bool awaitsNewer(SlotNo) const;

    static constexpr uint32_t stretch = 1 << 20; ///< bytes of a cluster whose contested copies are read together

    /// a range of a cluster that has newer copies of contested objects
    struct Contested {
        ClusterNo cluster = noCluster;
        uint32_t from = 0; ///< bytes from the start of the cluster
        uint32_t to = 0; ///< bytes from the start of the cluster
    };
    /// Gives out the next range that must be read and checked; several may be under way.
    /// \returns false when there is none, or none in this turn: see mayBeContested()
    bool contested(Contested &, const GoOn & = Always);
    bool mayBeContested() const { return !older_.empty() || !sorting_.empty(); }
    /// Checks newer copies: those that are not whole give way to older ones.
    /// \param bytes of the range, or nil when they can't be read
    /// \returns whether all is done
    bool check(const Contested &, const char *bytes, const GoOn & = Always);

    /// the clusters whose directories must be read, because the journal or the newest checkpoint announced them
    std::vector<ClusterNo> announced() const;
    /// an announced cluster's contents count when their sequence number is higher than this
    Sequence announcedAfter(ClusterNo) const;

    /// Ends the start: frees clusters that hold nothing that counts, and puts the others in the order of their use.
    /// \returns whether all is done
    bool finish(const GoOn &);

    Sequence highest() const { return highest_; } ///< the highest number seen so far
    /// The highest number that a run gave to a cluster. Deletes have numbers, too, and those of a start that did not come to
    /// its end are not in step with the heat of objects.
    Sequence highestWritten() const { return highestWritten_; }
    void seeWritten(Sequence); ///< a run gave this number to a cluster
    ClusterNo newest() const { return newest_; } ///< the cluster with contents that was written last, or noCluster; after finish()

private:
    /// a cluster that the journal or the newest checkpoint names
    struct AnnouncedCluster {
        bool announced = false; ///< else it was released
        Sequence after{0}; ///< its new contents have a higher number
    };
    /// a large object in a directory
    struct LargeObject {
        ClusterNo cluster; ///< of its head
        bool doubtful;
        DirectoryEntry entry;
        std::vector<PartReference> parts;
    };

    /// The sizes of a large object, which the section of its first part has. Versions that
    /// differ only in their heads have the same parts, and so share that section.
    struct Front {
        uint64_t total = 0; ///< stored bytes
        uint32_t headBytes = 0; ///< payload in the extent of the head
    };

    /// an object that the log names, with its key if the log has it
    struct Logged {
        HashedKey hashed;
        bool hasKey;
        Key key;
        Record record;
    };
    /// a copy of an object of which a newer one was found
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
    std::unordered_map<ClusterNo, AnnouncedCluster> announcedClusters_; ///< those that the journal announces or releases, or the newest checkpoint announces
    /// The highest number that a removal names, by hashed key. The size of the journal bounds them. They are many maps,
    /// because a single one with millions would take long to grow.
    std::array<std::unordered_map<uint64_t, Sequence>, 1024> removals_;
    /// Older copies by the cluster that has the newer one, or had it when this was noted. They are objects that
    /// were relocated since the last checkpoint, and whose old cluster the journal does not release.
    using Copies = std::map<ClusterNo, std::vector<OlderCopy>>;
    Copies older_;
    ClusterNo sorted_ = noCluster; ///< the cluster whose copies sortOut() works on
    std::vector<OlderCopy> sorting_; ///< its copies that are not sorted out yet; the last one is the next
    std::vector<OlderCopy> stayed_; ///< its copies whose newer ones are in the cluster indeed, within span_
    Contested span_; ///< the range of those newer ones
    Copies checking_; ///< older copies, by the cluster whose newer ones are being read and checked
    ClusterNo checked_ = noCluster; ///< the cluster whose copies check() works on
    size_t nextEntry_ = 0; ///< of the directory that directory() works on
    size_t nextPart_ = 0; ///< part reference of that directory
    std::unordered_map<ClusterNo, Front> fronts_; ///< by first part: the sizes in the log, if a directory has a newer head; fewer than large_ had
    std::unordered_set<ClusterNo> linked_; ///< first parts whose chains directories named; fewer than large_ had
    std::vector<LargeObject> large_; ///< large objects of all directories that were read
    std::unordered_map<uint64_t, Sequence> awaited_; ///< the newest version in large_ that no removal ends, by hashed key; not those of a scan
    std::deque<Logged> largeLogged_; ///< large objects of the log, the newest first; each has a cluster that is a part
    Table<uint32_t, ClusterNo> overruled_; ///< by cluster: checkpoints with a smaller serial do not count
    PlaceMap places_; ///< objects that left a cluster, or were used, after the section of it that counts
    bool doubtful_ = false; ///< see doubtFromHere()
    Sequence highest_{0}; ///< see highest()
    Sequence highestWritten_{0}; ///< see highestWritten()
    UseOrder order_;
    ClusterNo nextToFinish_{0};
    size_t nextRemovals_ = 0; ///< the next map of removals_ that finish() frees
    ClusterNo newest_ = noCluster; ///< see newest()
};

} // namespace ClusterFs

#endif
