// SPDX-License-Identifier: GPL-2.0-or-later
/* The hash index over all objects. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_INDEX_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_INDEX_H

#include "fs/cluster/base/HashedKey.h"
#include "fs/cluster/base/Memory.h"
#include "fs/cluster/catalog/IndexHead.h"
#include "fs/cluster/catalog/Record.h"

#include <memory>

namespace ClusterFs {

/// A chained hash table in flat memory that grows a bucket at a time, by linear hashing
/// (Litwin, VLDB 1980): with about each second record, the next bucket is split by one more
/// bit of its records' tags. Memory is taken as it is touched. One insertion splits at most
/// one bucket.
///
/// A key is found by its HashedKey: two keys that agree in that are taken for one,
/// so whoever reads an object from the media must compare the whole key.
///
/// The last record of a bucket points back at the bucket, so that a record can
/// be unlinked without its key.
class Index
{
public:
    /// \param capacity most records; fewer when the process may not have so much memory
    /// \param baseBuckets buckets of the smallest index, see HashedKey
    /// \param keepKeys whether to keep whole keys for keyOf(), 16 bytes an object
    /// \throws std::bad_alloc when there is no memory for a million records either
    Index(uint64_t capacity, uint32_t baseBuckets, const HashSecret &secret, bool keepKeys);

    /// Makes an empty index as large as so many records need, or as large as it can be. A start then adds them
    /// without splitting buckets.
    void expect(uint64_t records);

    HashedKey hashOf(const Key &k) const { return hasher_(k); }

    /// \returns the slot of the key's record, or noSlot
    SlotNo find(const Key &k) const { return find(hashOf(k)); }
    SlotNo find(HashedKey) const;

    /* These fetch memory for a find() or insert() that comes soon: first the bucket, a moment later its first record, and
     * then its second one. */
    void prefetchBucket(const HashedKey k) const { __builtin_prefetch(&buckets_[bucketOf(k)]); }
    void prefetchRecord(const HashedKey k) const {
        if (const auto first = buckets_[bucketOf(k)])
            __builtin_prefetch(&records_[SlotNo(first - 1)]);
    }
    void prefetchSecond(const HashedKey k) const {
        const auto first = buckets_[bucketOf(k)];
        if (!first)
            return;
        const auto second = records_[SlotNo(first - 1)].next;
        if (!(second & Record::lastFlag))
            __builtin_prefetch(&records_[SlotNo(second)]);
    }

    /// Adds an empty record; does not look for an older one of the key.
    /// \returns noSlot when the index is full
    SlotNo insert(const Key &k) { return insert(hashOf(k), &k); }
    SlotNo insert(HashedKey, const Key *); ///< the key may be nil when it is not known

    /// Takes a record out of its bucket; the slot stays in use until release().
    void unlink(SlotNo);

    /// gives an unlinked slot back
    void release(SlotNo);

    Record &operator [](const SlotNo s) { return records_[s]; }
    const Record &operator [](const SlotNo s) const { return records_[s]; }

    /// Whoever changes a record outside of this class says so for as long as it changes: other processes look records up.
    IndexHead::Change change(const Key &k) { return change(hashOf(k)); }
    IndexHead::Change change(const HashedKey k) { return {head_[0], k}; }
    IndexHead::Change change(const SlotNo linked) { return change(hashedOf(linked)); }

    /// the hashed key of a linked record
    HashedKey hashedOf(SlotNo) const;

    bool keepsKeys() const { return keys_ != nullptr; }
    /// the key of a linked record, all zeros when it is not known; only when keepsKeys()
    const Key &keyOf(const SlotNo s) const { return (*keys_)[s]; }

    uint64_t linked() const { return linked_; } ///< records that find() finds
    uint64_t used() const { return used_; } ///< slots not released
    uint64_t capacity() const { return records_.count(); }
    bool full() const { return used() >= capacity(); }
    uint64_t slotsTouched() const { return fresh_; } ///< slots that were ever used
    uint64_t bucketCount() const { return bucketCount_; }
    uint64_t bytesInUse() const; ///< bytes of buckets, touched records and keys

    /* for IndexView in another process */
    const Region &headMemory() const { return head_.region(); }
    const Region &bucketMemory() const { return buckets_.region(); }
    const Region &recordMemory() const { return records_.region(); }
    const Region *keyMemory() const { return keys_ ? &keys_->region() : nullptr; } ///< nil unless keepsKeys()

private:
    static constexpr uint32_t recordsInBucket = 2; ///< the mean from which on buckets are split

    uint32_t bucketOf(const HashedKey k) const { return IndexHead::BucketOf(k, baseBuckets_, level_, bucketCount_); }
    void setBucketCount(uint64_t);
    uint32_t bucketOfSlot(SlotNo) const;
    SlotNo allocate();
    void split();
    void push(uint32_t bucket, SlotNo);

    const KeyHasher hasher_;
    const uint32_t baseBuckets_;
    unsigned level_ = 0; ///< bits of the tag that choose a bucket; one more for buckets that this level has split
    uint64_t bucketCount_;
    Table<IndexHead> head_;
    Table<Record, SlotNo> records_;
    Table<uint32_t> buckets_; ///< slot + 1 of the first record, 0 = empty
    std::unique_ptr<Table<Key, SlotNo>> keys_;
    SlotNo free_ = noSlot; ///< released slots, linked by next
    uint64_t fresh_ = 0; ///< slots from here on were never used
    uint64_t linked_ = 0;
    uint64_t used_ = 0;
};

} // namespace ClusterFs

#endif
