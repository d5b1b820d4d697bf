// SPDX-License-Identifier: GPL-2.0-or-later
/* Index, cluster table, free map and staging, kept in step. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_CATALOG_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_CATALOG_H

#include "fs/cluster/catalog/Changes.h"
#include "fs/cluster/catalog/ClusterTable.h"
#include "fs/cluster/catalog/FreeMap.h"
#include "fs/cluster/catalog/Index.h"
#include "fs/cluster/catalog/Listeners.h"
#include "fs/cluster/catalog/Staging.h"
#include "fs/cluster/layout/Geometry.h"
#include "fs/cluster/layout/IndexBlock.h"

#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ClusterFs {

/* The states of a cluster, and the verbs of Catalog by which one follows another; any other transition asserts
 * (ClusterTable::MayFollow). docs/pictures/states.svg is the picture of it.
 *
 *  unknown -> free, packed, part, bad, log  a start finds the contents of a cluster: addEmpty, addLogged, addRead, giveToLog
 *  free -> announced                        the journal names it: announce
 *  free -> log                              the index log needs room: giveToLog
 *  announced -> writing                     packing takes it: beginWrite
 *  announced -> part                        a piece of a large object is written: addPart
 *  announced -> free                        the index log needs its place: withdraw
 *  writing -> packed                        its small objects are written: finishWrite
 *  writing -> announced                     all its objects were deleted meanwhile: abandonWrite
 *  writing -> bad                           the write fails: failWrite
 *  packed -> draining                       it is evicted, or its last object is deleted: freeCluster
 *  part -> draining                         the object is deleted or evicted: freeParts; a start gives it up while somebody reads it: endAdding
 *  part -> free                             a start finds no object that it belongs to: freeOrphan
 *  draining -> free                         nobody reads it: freeCluster or freeParts, else the last unpin
 *  draining -> bad                          the same, after retire
 */

/// The places of all objects and the states of all clusters. Only the catalog changes them: its callers say what
/// happened, so that counts, lists, the free map and the changes for the next checkpoint never disagree. One thread.
class Catalog
{
public:
    /// \param keepKeys see Index
    /// \throws std::bad_alloc when the process may not have the memory
    Catalog(const Geometry &, const HashSecret &, uint64_t stagingBytes, bool keepKeys);

    /* to look at */

    const Index &index() const { return index_; }
    const ClusterTable &clusters() const { return clusters_; }
    const FreeMap &free() const { return free_; }
    const Staging &staging() const { return staging_; }
    const Changes &changes() const { return changes_; }

    /// Writers and readers bring and copy the bytes of staged objects without the catalog. This door does not change the
    /// members of Staged that belong to the catalog: record, firstPart, origin, originOffset.
    Staging &staging() { return staging_; }

    /// \returns times and flags of an object, with its size
    ObjectInfo info(SlotNo) const;
    /// stored bytes
    uint64_t objectSize(SlotNo) const;
    /// bytes of the payload in the object's extent (or staging)
    uint32_t payloadBytes(SlotNo) const;
    /// see StoreContext::heatOf()
    uint32_t heat(SlotNo) const;
    /// bytes that an extent takes in its cluster
    static uint32_t ExtentBytes(const uint32_t payload) {
        return static_cast<uint32_t>(roundUp(ExtentHeader::encodedBytes + uint64_t(payload), extentAlignment));
    }

    uint64_t objects() const { return index_.linked(); } ///< how many there are
    uint64_t liveBytes() const { return liveBytes_; } ///< stored bytes of all objects

    /* listeners, which live as long as the catalog */

    void tellReleases(ReleaseListener &l) { releaseListeners_.push_back(&l); } ///< in the order of these calls
    void tellSettled(RelocationListener &l) { relocationListener_ = &l; }

    /* objects */

    /// gives a closed staged object its record; the caller has erased an older version
    /// \returns noSlot when the index is full
    SlotNo addStaged(StageNo);

    /// A staged object is on the device now: moves its record to a cluster in state writing, and drops
    /// its staging slot.
    /// \param offset of the extent, bytes from the cluster's start
    /// \param payload bytes
    /// \param joined whether it belongs to the group of the extent in front of it
    void place(SlotNo, ClusterNo, uint32_t offset, uint32_t payload, bool joined = false);

    /// An object of a cluster was staged again and gets a new record, which leads to the staged copy; the index must have a
    /// free one. A start finds the object in the old cluster until place(). \see beginRelocating()
    void relocate(SlotNo, StageNo);

    /// forgets an object wherever it is, its parts included
    void erase(SlotNo);

    /// separates an object from its parts, so that erase() leaves them alone
    void disownParts(SlotNo);

    /// Puts a staged head in front of parts that have no owner; addStaged() makes its record their owner.
    void putHead(StageNo, ClusterNo firstPart);

    /// An object was used.
    /// \param heat its new heat
    /// \param now the newest sequence number, which is the clock of uses
    /// \param reorder whether its cluster is to go later than all others
    void touch(SlotNo, uint32_t heat, Sequence now, bool reorder);
    void moveToHead(const ClusterNo n) { clusters_.toHead(n); } ///< a packed cluster becomes the last one of the list to go

    /// gives an object new times and the caller's flags, and makes it not doubtful; ignores the size
    void updateInfo(SlotNo, const ObjectInfo &);

    /* clusters */

    /* see the table of states above */
    /// \param after the contents that will be written have a higher sequence number
    void announce(ClusterNo, Sequence after);
    void withdraw(ClusterNo);
    void beginWrite(ClusterNo, Sequence);
    void abandonWrite(ClusterNo);
    void failWrite(ClusterNo);
    /// The device has the whole cluster. Frees it when none of its objects is left.
    /// \param end bytes written, from the cluster's start
    /// \param written seconds since 1970, low 32 bits
    /// \param now the newest sequence number
    void finishWrite(ClusterNo, uint32_t end, uint32_t written, Sequence now);

    /// A part of a large object is being written.
    /// \param before the object's last part so far, or noCluster
    /// \param end bytes written, from the cluster's start
    /// \param written seconds since 1970, low 32 bits
    void addPart(ClusterNo, ClusterNo before, Sequence, uint32_t end, uint32_t written);

    /// counts an error of reading in ClusterEntry::errors
    void noteReadError(ClusterNo);
    /// puts a cluster out of use: it will be bad instead of free once its contents are forgotten and nobody reads it
    void retire(ClusterNo);
    /// gives a cluster to the index log, for good
    void giveToLog(ClusterNo);

    /// Somebody needs the bytes of a cluster to stay, until unpin(). The pin of an object's first part is for all parts.
    void pin(const ClusterNo c) { ++clusters_[c].pins; }
    void unpin(ClusterNo);

    /// Objects are being relocated from a packed cluster: it must not become free, even if its last object is deleted. And
    /// the end of that, after which the caller has to free it if it is empty.
    void beginRelocating(ClusterNo);
    void endRelocating(ClusterNo);

    /// frees a packed cluster that has no objects, unless some of it is being relocated
    void freeIfEmpty(ClusterNo);

    /// forgets all objects of a packed cluster, and makes it free once nobody reads it
    void freeCluster(ClusterNo);

    /// Forgets objects of a packed cluster, as many as a turn may.
    /// \param records how many may be gone over, each part of a large object counting as one; receives how many are left
    /// \returns whether no object is left; it is up to the caller then to free the cluster
    bool forgetSome(ClusterNo, unsigned &records);

    /// forgets all parts of an object that is forgotten, or was never published
    void freeParts(ClusterNo first);

    /* a start */

    /// Until endAdding(), a cluster without any record may still get some: erase() does not free it.
    /// \param records how many are expected, see Index::expect()
    void beginAdding(uint64_t records);
    void endAdding(); ///< from now on, orphans may be freed: those that somebody reads are draining
    /// Whether a part is of no object that the start has found. One that was written since beginAdding() is of an object that comes in.
    bool isOrphan(const ClusterNo n) const {
        return clusters_[n].state == ClusterState::part && clusters_[n].first == noSlot && !incoming_.count(n);
    }
    void endStart(); ///< all orphans are free
    bool adding() const { return adding_; }

    /// a cluster as the index log has it: packed, part or bad
    void addLogged(const IndexSection &);
    /// a cluster as its own header has it; the next checkpoint must name it
    void addRead(ClusterNo, const ClusterHeader &);
    /// a cluster that holds nothing
    /// \param logged whether an older checkpoint may say something else, so that the next one must name it
    void addEmpty(ClusterNo, bool logged);
    /// chains an object's parts in the order of the references in a directory
    void linkParts(const std::vector<PartReference> &);
    /// The same, and puts the object's head in front of them; the next checkpoint must name all of them.
    /// \param total stored bytes of the object
    /// \param headBytes payload of the head
    void joinParts(const std::vector<PartReference> &, uint64_t total, uint32_t headBytes);
    /// Puts a head on the device in front of parts that have no owner, such as that of an older version.
    /// \param total stored bytes of that version
    /// \param headBytes payload of the head
    void putHead(ClusterNo firstPart, uint64_t total, uint32_t headBytes);
    /// Adds a record of an object that was found on the device.
    /// \param key nil when it is not known
    /// \param like has its place, size, times and flags
    /// \param payload bytes in its extent
    /// \returns noSlot when the index is full
    SlotNo addFound(HashedKey, const Key *, const Record &like, uint32_t payload);
    /// Forgets an object in favour of a newer version, which may have the same parts: these stay. The older version may
    /// have to come back if the newer one is not whole.
    void supersede(SlotNo);
    /// the index log has an object at a place where there is none; the next checkpoint must say so
    void noteGone(const ClusterNo c, const uint32_t offset) { changes_.gone(c, offset); }
    void freeOrphan(ClusterNo); ///< makes an orphan's cluster free
    /// makes a packed cluster the next to go
    void moveToTail(const ClusterNo c) { clusters_.toTail(c); }

    /* checkpoints */

    /// A checkpoint begins: changes from now on are noted for the next one.
    void beginCheckpoint() { changes_.begin(); }
    void checkpointDone() { changes_.done(); }
    void checkpointFailed() { changes_.failed(); }
    /// the next checkpoint names all clusters, since nothing that older ones said counts any more
    void nameAll() { changes_.all(); }
    /// the next checkpoint names a cluster, too
    void nameAgain(const ClusterNo c) { changes_.again(c); }

    /* groups */

    /// extents beside each other that were packed as one group
    struct Run {
        uint32_t from = 0; ///< bytes from the start of the cluster
        uint32_t to = 0; ///< end of the last extent, bytes from the start of the cluster
        uint32_t objects = 0; ///< how many it has that are not deleted
        SlotNo first = noSlot; ///< its records are among those from this one on, by Record::sibling,
        uint32_t records = 0; ///< so many at most, this one counted
    };
    /// Records of a cluster that are gone over at a time, to find its objects: a large cluster of
    /// small objects has many more.
    static constexpr unsigned maxWalk = 4096;

    /// Where in a cluster objects begin, in bytes from its start and in order.
    /// \returns false when there are too many to look at
    bool offsetsIn(ClusterNo, std::vector<uint32_t> &) const;

    /// The objects of a group that lie around an object in a packed cluster. If the cluster has more than
    /// maxWalk records, only objects that were packed right behind it, and only before the next start.
    Run runAround(SlotNo) const;
    /// The smallest part of a run that has an extent and those of some objects that are in the run.
    /// \param offset of the extent, bytes from the start of the cluster
    /// \param bytes of the extent
    Run narrowed(const Run &, ClusterNo, uint32_t offset, uint32_t bytes, const std::vector<Key> &objects) const;

    /// The smallest part of a run that has an extent and all that are not excluded.
    /// \param offset of the extent, bytes from the start of the cluster
    /// \param excluded is told the offset and the bytes of another extent
    Run without(const Run &, uint32_t offset, const std::function<bool(uint32_t, uint32_t)> &excluded) const;

private:
    Run runBehind(SlotNo) const;
    void enter(ClusterNo, ClusterState);
    void adoptParts(SlotNo, ClusterNo first);
    void dropStaged(StageNo);
    void forget(SlotNo);
    void release(ClusterNo);
    void makeFree(ClusterNo);
    void finishDraining(ClusterNo first);

    Changes changes_;
    Index index_;
    ClusterTable clusters_;
    FreeMap free_;
    Staging staging_;
    std::vector<ReleaseListener *> releaseListeners_;
    RelocationListener *relocationListener_ = nullptr;
    bool adding_ = false; ///< between beginAdding() and endAdding()
    bool starting_ = false; ///< between beginAdding() and endStart()
    std::unordered_set<ClusterNo> inUse_; ///< first parts that somebody read when their object gave way, while starting_
    std::unordered_set<ClusterNo> incoming_; ///< parts that were written meanwhile, even if they are something else by now
    uint64_t liveBytes_ = 0;
};

} // namespace ClusterFs

#endif
