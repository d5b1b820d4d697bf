// SPDX-License-Identifier: GPL-2.0-or-later
/* Index, cluster table, free map and staging table, kept in step. */

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
#include <utility>
#include <vector>

namespace ClusterFs {

/* The states of a cluster, and the verbs of Catalog by which one follows another; any other transition asserts
 * (ClusterTable::MayFollow). docs/pictures/states.svg is the picture of it.
 *
 *  unknown -> free, packed, part, bad, log  a start finds what a cluster holds: addEmpty, addLogged, addRead, giveToLog
 *  free -> announced                        the journal names it: announce
 *  free -> log                              the index log needs room: giveToLog
 *  announced -> writing                     packing takes it: beginWrite
 *  announced -> part                        a piece of a large object is written: addPart
 *  announced -> free                        the index log needs its place: withdraw
 *  writing -> packed                        its small objects are written: finishWrite
 *  writing -> announced                     all its objects were deleted meanwhile: abandonWrite
 *  writing -> bad                           the write fails: failWrite
 *  packed -> draining                       it is evicted, or its last object is deleted: freeCluster
 *  part -> draining                         the object is deleted or evicted: freeParts
 *  part -> free                             a start finds no object that it belongs to: freeOrphan
 *  draining -> free                         nobody reads it any more: unpin
 *  draining -> bad                          the same, of one that gave errors: retire
 */

/// What is where. Whoever changes the place of an object or the state of a cluster says here what happened, so
/// that counts, lists, the free map, and what the next checkpoint must say never disagree. All others look.
class Catalog
{
public:
    Catalog(const Geometry &, const HashSecret &, uint64_t stagingBytes, bool keepKeys);

    /* to look at */

    const Index &index() const { return index_; }
    const ClusterTable &clusters() const { return clusters_; }
    const FreeMap &free() const { return free_; }
    const Staging &staging() const { return staging_; }
    const Changes &changes() const { return changes_; }

    /// The bytes of an object come and go without the catalog: writers and readers use this door of staging's own.
    /// What an object there is to the catalog (its record, its parts, where it comes from) it does not change.
    Staging &staging() { return staging_; }

    /// \returns all of an object, with its size
    ObjectInfo info(SlotNo) const;
    /// stored bytes
    uint64_t objectSize(SlotNo) const;
    /// bytes of the payload in the object's extent (or staging)
    uint32_t payloadBytes(SlotNo) const;
    /// replacement bits, see StoreContext::heatOf()
    uint32_t heat(SlotNo) const;
    /// bytes that an extent takes in its cluster
    static uint32_t ExtentBytes(const uint32_t payload) {
        return static_cast<uint32_t>(roundUp(ExtentHeader::encodedBytes + uint64_t(payload), extentAlignment));
    }

    uint64_t objects() const { return index_.linked(); }
    uint64_t liveBytes() const { return liveBytes_; } ///< stored bytes of all objects

    /* listeners, which live as long as the catalog */

    void tellReleases(ReleaseListener &l) { releaseListeners_.push_back(&l); } ///< in the order of these calls
    void tellSettled(RelocationListener &l) { relocationListener_ = &l; }

    /* objects */

    /// index record of a closed staged object; the caller has erased older ones
    /// \returns noSlot when the index is full
    SlotNo addStaged(StageNo);

    /// A staged object is on the device now: moves its record to a cluster that is being written.
    /// The staging slot is dropped.
    /// \param joined whether it belongs to the group of the extent in front of it
    void place(SlotNo, ClusterNo, uint32_t offset, uint32_t payload, bool joined = false);

    /// An object of a cluster was staged again: its record, which must not be the index's last free one, leads there from
    /// now on. A start still finds it where it was, until place(). \see beginRelocating()
    void relocate(SlotNo, StageNo);

    /// forgets an object wherever it is, its parts included
    void erase(SlotNo);

    /// separates an object from its parts, so that erase() leaves them alone
    void disownParts(SlotNo);

    /// Puts a staged head in front of parts that have no owner, which get the owner with addStaged().
    void putHead(StageNo, ClusterNo firstPart);

    /// An object was used.
    /// \param heat its new replacement bits
    /// \param now the newest sequence number, which is the clock of uses
    /// \param reorder whether its cluster is to go later than all others
    void touch(SlotNo, uint32_t heat, Sequence now, bool reorder);

    /// gives an object new times, and those flags that are the caller's; it is not doubtful any more
    void updateInfo(SlotNo, const ObjectInfo &);

    /* clusters */

    /// \param after what is written to it has a higher number
    void announce(ClusterNo, Sequence after);
    void withdraw(ClusterNo);
    void beginWrite(ClusterNo, Sequence);
    void abandonWrite(ClusterNo);
    void failWrite(ClusterNo);
    /// The device has all of it. Frees it when none of its objects are left.
    /// \param end bytes written
    /// \param written seconds since 1970, low 32 bits
    /// \param now the newest sequence number
    void finishWrite(ClusterNo, uint32_t end, uint32_t written, Sequence now);

    /// A piece of a large object is being written.
    /// \param before the object's last part so far, or noCluster
    void addPart(ClusterNo, ClusterNo before, Sequence, uint32_t end, uint32_t written);

    /// counts an error of reading
    void noteReadError(ClusterNo);
    /// A cluster that gave errors is bad as soon as nothing is left of it, and nobody reads it.
    void retire(ClusterNo);
    /// the first clusters of the device are the index log's
    void giveToLog(ClusterNo);

    void pin(const ClusterNo c) { ++clusters_[c].pins; }
    void unpin(ClusterNo);

    /// Deletes must leave a cluster as it is, though nothing may be left in it, since objects are being relocated from it;
    /// and the end of that.
    void beginRelocating(ClusterNo);
    void endRelocating(ClusterNo);

    /// frees a packed cluster that has no objects, unless some of it is being relocated
    void freeIfEmpty(ClusterNo);

    /// forgets all that a packed cluster holds, and makes it free (when nobody reads it)
    void freeCluster(ClusterNo);

    /// Forgets objects of a packed cluster.
    /// \param records that may be gone over, each part of a large object counting as one; receives how many are left of those
    /// \returns whether no object is left; it is up to the caller then to free the cluster
    bool forgetSome(ClusterNo, unsigned &records);

    /// forgets a chain of parts that has no owner
    void freeParts(ClusterNo first);

    /* a start */

    /// Until endAdding(), a cluster without any record may get more: erase() does not free it.
    /// \param records as many as are expected
    void beginAdding(uint64_t records);
    void endAdding() { adding_ = false; }
    bool adding() const { return adding_; }

    /// a cluster as the index log has it: packed, part or bad
    void addLogged(const IndexSection &);
    /// a cluster as itself says, which the next checkpoint must, too
    void addRead(ClusterNo, const ClusterHeader &);
    /// a cluster that holds nothing
    /// \param logged whether a checkpoint may say something else
    void addEmpty(ClusterNo, bool logged);
    /// parts in their order, as the directory says that has their head
    void linkParts(const std::vector<PartReference> &);
    /// the same, with that head in front of them, which the next checkpoint must say, too
    void joinParts(const std::vector<PartReference> &, uint64_t total, uint32_t headBytes);
    /// Parts that have no owner get back the head that an older version has.
    /// \param total stored bytes of that version
    /// \param headBytes payload of the head
    void putHead(ClusterNo firstPart, uint64_t total, uint32_t headBytes);
    /// Adds a record of an object that was found on the device; see Index::insert for the key.
    /// \returns noSlot when the index is full
    SlotNo addFound(HashedKey, const Key *, const Record &like, uint32_t payload);
    /// Forgets an object in favour of a newer version, which may have the same parts. It may have to come back.
    void supersede(SlotNo);
    /// the index log has an object where there is none
    void noteGone(const ClusterNo c, const uint32_t offset) { changes_.gone(c, offset); }
    void freeOrphan(ClusterNo);
    /// makes a packed cluster the next to go
    void moveToTail(const ClusterNo c) { clusters_.toTail(c); }

    /* checkpoints */

    /// From now on, changes are noted for the next one.
    void beginCheckpoint() { changes_.begin(); }
    void checkpointDone() { changes_.done(); }
    void checkpointFailed() { changes_.failed(); }
    /// nothing that checkpoints have said is of use: the next one names all anew
    void nameAll() { changes_.all(); }
    /// the next one names a cluster, too
    void nameAgain(const ClusterNo c) { changes_.again(c); }

    /* groups */

    /// extents beside each other that were packed as one group
    struct Run {
        uint32_t from = 0; ///< bytes from the start of the cluster
        uint32_t to = 0; ///< end of the last extent
        uint32_t objects = 0; ///< live ones
        SlotNo first = noSlot; ///< all of its records are behind this one, by Record::sibling,
        uint32_t records = 0; ///< so many at most, this one counted
    };
    /// Records of a cluster that are gone over in one turn, to know what is where: in a large
    /// cluster of small objects are many more.
    static constexpr unsigned maxWalk = 4096;

    /// Where in a cluster objects begin, in bytes from its start and in order.
    /// \returns false when there are too many to look at
    bool offsetsIn(ClusterNo, std::vector<uint32_t> &) const;

    /// The group around an object in a packed cluster, as far as it is there. Where all records are too
    /// many to look at, what was packed behind the object has to do, and that is not known after a start.
    Run runAround(SlotNo) const;
    /// What of a run spans an extent and those of the objects that are in the run.
    /// \param bytes of the extent
    Run narrowed(const Run &, ClusterNo, uint32_t offset, uint32_t bytes, const std::vector<Key> &objects) const;

    /// What of a run spans an extent and those that are not excluded.
    /// \param offset of the extent
    /// \param excluded whether an extent is, by its offset and its bytes
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
    bool adding_ = false;
    uint64_t liveBytes_ = 0;
};

} // namespace ClusterFs

#endif
