// SPDX-License-Identifier: GPL-2.0-or-later
/* An index as another process sees it. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_INDEXVIEW_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_INDEXVIEW_H

#include "fs/cluster/base/HashedKey.h"
#include "fs/cluster/catalog/ClusterTable.h"
#include "fs/cluster/catalog/IndexHead.h"
#include "fs/cluster/catalog/Record.h"

#include <cstdint>

namespace ClusterFs {

/// Looks objects up in memory that another process changes meanwhile. It waits for nothing and writes nothing, and
/// believes nothing: whatever the memory has, it looks within its bounds, and comes to an end.
class IndexView
{
public:
    /// the tables, which belong to the caller
    struct Tables {
        const IndexHead *head;
        const uint32_t *buckets; ///< slot + 1 of the first record of each
        uint64_t bucketsAtMost;
        const Record *records;
        uint64_t recordsAtMost;
        const Key *keys; ///< by slot
        uint64_t keysAtMost; ///< 0 = no keys are kept
        const ClusterEntry *clusters;
        uint32_t clusterCount;
        uint32_t baseBuckets; ///< of the smallest index; above 0
    };
    IndexView(const Tables &tables, const HashSecret &secret): tables_(tables), hasher_(secret, tables.baseBuckets) {}

    static constexpr unsigned maxTries = 8; ///< of a look-up, when the stripe changes meanwhile
    static constexpr unsigned maxSteps = 64; ///< records of a bucket that are looked at

    /// where an object is
    struct Place {
        SlotNo slot = noSlot;
        Record record;
        uint64_t size = 0; ///< stored bytes
        Sequence sequence{0}; ///< of the cluster that has its extent; of a staged object, anything
        HashedKey hashed;
        uint32_t counter = 0; ///< of its stripe, when all of this was so
    };

    /// \returns false when there is no such object, or its record changes all the time
    bool locate(const Key &, Place &) const;
    /// whether nothing in its stripe has changed since it was located: bytes that were copied from its place are its own
    bool stays(const Place &) const;

    /// \param info receives the object's properties
    /// \returns see locate()
    bool find(const Key &, ObjectInfo &info) const;
    static ObjectInfo InfoOf(const Place &); ///< the object's properties

    /// Walks the objects whose keys are kept.
    /// \see ObjectStore::next()
    bool next(uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const;

private:
    bool look(HashedKey, Place &) const;
    bool describe(Place &) const;

    const Tables tables_;
    const KeyHasher hasher_;
};

} // namespace ClusterFs

#endif
