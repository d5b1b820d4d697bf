// SPDX-License-Identifier: GPL-2.0-or-later
/* The hash index over all objects. */

#ifndef SQUID_SRC_FS_CLUSTER_INDEX_INDEX_H
#define SQUID_SRC_FS_CLUSTER_INDEX_INDEX_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/index/Record.h"

#include <memory>

namespace ClusterFs {

/// A chained hash table of fixed capacity in flat memory. A key is found by
/// its bucket and a 32-bit tag: two keys that agree in both are taken for one,
/// so that whoever reads the media must compare the whole key.
///
/// The last record of a bucket points back at the bucket, so that a record can
/// be unlinked without its key.
class Index
{
public:
    /// \param keepKeys whether to keep full keys for keyOf(), 16 bytes an object
    Index(uint64_t capacity, uint64_t buckets, bool keepKeys);

    static uint32_t TagOf(const Key &k) { return static_cast<uint32_t>(k.low()); }
    uint32_t bucketOf(const Key &) const;

    /// \returns the slot of the key's record, or noSlot
    SlotNo find(const Key &k) const { return find(bucketOf(k), TagOf(k)); }
    SlotNo find(uint32_t bucket, uint32_t tag) const;

    /// \returns the first record of a bucket, or noSlot
    SlotNo firstOf(const uint32_t bucket) const { return buckets_[bucket] - 1; }
    /// \returns the next record of the same bucket, or noSlot
    SlotNo nextOf(const SlotNo s) const { return (records_[s].next & Record::lastFlag) ? noSlot : records_[s].next; }

    /// bring a bucket, and a moment later its first record, closer to the processor
    void prefetchBucket(const uint32_t bucket) const { __builtin_prefetch(&buckets_[bucket]); }
    void prefetchRecord(const uint32_t bucket) const {
        if (const auto first = buckets_[bucket])
            __builtin_prefetch(&records_[first - 1]);
    }

    /// Adds a zeroed record; does not look for an older one.
    /// \returns noSlot when the index is full
    SlotNo insert(const Key &);
    SlotNo insert(uint32_t bucket, uint32_t tag, const Key *);

    /// Takes a record out of its bucket; the slot stays in use until release().
    void unlink(SlotNo);

    /// gives an unlinked slot back
    void release(SlotNo);

    Record &operator [](const SlotNo s) { return records_[s]; }
    const Record &operator [](const SlotNo s) const { return records_[s]; }

    /// the number of the bucket that a linked record is in
    uint32_t bucketOfSlot(SlotNo) const;

    bool keepsKeys() const { return keys_ != nullptr; }
    /// the key of a linked record; nil key when it is not known
    const Key &keyOf(const SlotNo s) const { return (*keys_)[s]; }

    uint64_t linked() const { return linked_; } ///< records that find() can find
    uint64_t used() const { return used_; } ///< slots not released
    uint64_t capacity() const { return records_.count(); }
    bool full() const { return used() >= capacity(); }
    uint64_t slotsTouched() const { return fresh_; } ///< slots that were ever used
    uint64_t bucketCount() const { return buckets_.count(); }
    uint64_t bytesInUse() const; ///< memory of buckets and touched records

private:
    SlotNo allocate();

    Table<uint32_t> buckets_; ///< slot + 1 of the first record, 0 = empty
    Table<Record> records_;
    std::unique_ptr<Table<Key>> keys_;
    SlotNo free_ = noSlot; ///< released slots, linked by next
    uint64_t fresh_ = 0; ///< slots from here on were never used
    uint64_t linked_ = 0;
    uint64_t used_ = 0;
};

} // namespace ClusterFs

#endif
