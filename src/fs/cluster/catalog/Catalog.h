// SPDX-License-Identifier: GPL-2.0-or-later
/* Index, cluster table, free map and staging table, kept in step. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_CATALOG_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_CATALOG_H

#include "fs/cluster/catalog/Changes.h"
#include "fs/cluster/catalog/ClusterTable.h"
#include "fs/cluster/catalog/FreeMap.h"
#include "fs/cluster/catalog/Index.h"
#include "fs/cluster/catalog/Staging.h"
#include "fs/cluster/layout/Geometry.h"

#include <functional>

namespace ClusterFs {

/// What is where. Every change of an object's place goes through here, so that
/// counts, lists and the free map never disagree.
class Catalog
{
public:
    Catalog(const Geometry &, const HashSecret &, uint64_t stagingBytes, bool keepKeys);

    Changes changes;
    Index index;
    ClusterTable clusters;
    FreeMap free;
    Staging staging;

    /// called when a cluster's contents are forgotten (for the journal)
    std::function<void(ClusterNo)> onRelease;

    /// While a start adds records, a cluster without any may get more: erase()
    /// must not free it.
    bool holdEmpty = false;

    /// A relocated object is safe elsewhere, or gone: its origin is needed once
    /// less. Called with the origin.
    std::function<void(ClusterNo)> onSettled;

    /// index record of a completed staged object; the caller has erased older ones
    /// \returns noSlot when the index is full
    SlotNo addStaged(StageNo);

    /// A staged object is on the device now: moves its record to the cluster.
    /// The staging slot is dropped.
    /// \param joined whether it belongs to the group of the extent in front of it
    void place(SlotNo, ClusterNo, uint32_t offset, uint32_t payload, bool joined = false);

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

    /// Adds a record found on the device at start; see Index::insert for the key.
    SlotNo addFound(HashedKey, const Key *, const Record &like, uint32_t payload);

    /// forgets an object wherever it is, its parts included
    void erase(SlotNo);

    /// The same for one that was staged again: it still is where it was, until it is placed elsewhere.
    void eraseRelocated(SlotNo);

    /// times or flags of an object have changed
    void noteUpdate(SlotNo);
    /// an object was used in a way that the next start should know of
    void noteUse(const SlotNo s) { changes.used(index.hashedOf(s)); }

    /// separates an object from its parts, so that erase() leaves them alone
    void disownParts(SlotNo);

    /// gives parts to an object, whose record or staging slot then leads to them
    void adoptParts(SlotNo owner, ClusterNo first);

    /// forgets all that a cluster holds, and makes it free (when nobody reads it)
    void freeCluster(ClusterNo);

    /// Forgets objects of a packed cluster.
    /// \param records that may be gone over, each part of a large object counting as one; receives how many are left of those
    /// \returns whether no object is left; it is up to the caller then to free the cluster
    bool forgetSome(ClusterNo, unsigned &records);

    /// forgets a chain of parts that has no owner
    void freeParts(ClusterNo first);

    /// says that a cluster that is in no list holds nothing
    void makeFree(ClusterNo);

    /// takes a cluster out of use for good
    void quarantine(ClusterNo);

    void pin(const ClusterNo c) { ++clusters[c].pins; }
    void unpin(ClusterNo);

    /// \returns all of an object, with its size
    ObjectInfo info(SlotNo) const;
    /// stored bytes
    uint64_t objectSize(SlotNo) const;
    /// bytes of the payload in the object's extent (or staging)
    uint32_t payloadBytes(SlotNo) const;
    /// bytes that an extent takes in its cluster
    static uint32_t ExtentBytes(const uint32_t payload) {
        return static_cast<uint32_t>(roundUp(ExtentHeader::encodedBytes + uint64_t(payload), extentAlignment));
    }

    uint64_t objects() const { return index.linked(); }
    uint64_t liveBytes() const { return liveBytes_; } ///< stored bytes of all objects

private:
    Run runBehind(SlotNo) const;
    void dropStaged(StageNo);
    void forget(SlotNo);
    void finishDraining(ClusterNo first);

    uint64_t liveBytes_ = 0;
};

} // namespace ClusterFs

#endif
