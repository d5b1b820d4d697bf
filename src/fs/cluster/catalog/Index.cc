// SPDX-License-Identifier: GPL-2.0-or-later
/* The hash index. */

#include "fs/cluster/catalog/Index.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace ClusterFs {
namespace {

/// Halves the number of records until twice their bytes find room in the address space, which may be
/// limited (ulimit -v): the process needs the other half for everything else.
/// \param capacity records that are wanted
/// \returns records that may be had
uint64_t
affordable(uint64_t capacity, const size_t bytesPerRecord)
{
    constexpr uint64_t least = 1 << 20;
    for (;;) {
        try {
            const Region twice(2 * capacity * bytesPerRecord);
            return capacity;
        } catch (const std::bad_alloc &) {
            if (capacity <= least)
                throw;
            capacity /= 2;
        }
    }
}

} // namespace
} // namespace ClusterFs

ClusterFs::Index::Index(const uint64_t capacity, const uint32_t baseBuckets, const HashSecret &secret, const bool keepKeys):
    hasher_(secret, baseBuckets),
    baseBuckets_(baseBuckets),
    bucketCount_(baseBuckets),
    head_(1, "clusterfs-index-head"),
    records_(affordable(capacity, sizeof(Record) + sizeof(uint32_t) + (keepKeys ? sizeof(Key) : 0)), "clusterfs-records"),
    // enough buckets for all records, with recordsInBucket in each
    buckets_(std::max<uint64_t>(baseBuckets, records_.count() / recordsInBucket + 1), "clusterfs-buckets")
{
    setBucketCount(baseBuckets);
    assert(capacity > 0 && capacity < Record::lastFlag);
    assert(baseBuckets > 0 && baseBuckets < Record::lastFlag);
    if (keepKeys)
        keys_ = std::make_unique<Table<Key, SlotNo>>(records_.count(), "clusterfs-keys");
}

void
ClusterFs::Index::expect(const uint64_t records)
{
    assert(!used_);
    setBucketCount(std::max<uint64_t>(baseBuckets_, std::min<uint64_t>(records / recordsInBucket, buckets_.count())));
    for (level_ = 0; bucketCount_ >= uint64_t(baseBuckets_) << (level_ + 1); ++level_)
        continue;
}

void
ClusterFs::Index::setBucketCount(const uint64_t count)
{
    bucketCount_ = count;
    head_[0].buckets.store(count, std::memory_order_relaxed);
}

/// splits the next bucket: its records whose tags have the next bit set move to a new bucket
void
ClusterFs::Index::split()
{
    const auto before = uint64_t(baseBuckets_) << level_;
    const auto from = static_cast<uint32_t>(bucketCount_ - before);
    const auto to = static_cast<uint32_t>(bucketCount_);
    const auto changing = change(HashedKey{from % baseBuckets_, 0});
    constexpr uint32_t ahead = 8; // splits; the processor fetches a record in that time
    if (buckets_[from + ahead]) // which exists: behind from are at least as many buckets as the smallest index has
        __builtin_prefetch(&records_[SlotNo(buckets_[from + ahead] - 1)]);
    auto at = buckets_[from] ? SlotNo(buckets_[from] - 1) : noSlot;
    buckets_[from] = 0;
    while (at != noSlot) {
        const auto next = records_[at].next;
        push((records_[at].tag >> level_) & 1 ? to : from, at);
        at = (next & Record::lastFlag) ? noSlot : SlotNo(next);
    }
    setBucketCount(bucketCount_ + 1);
    if (bucketCount_ == 2 * before)
        ++level_;
}

void
ClusterFs::Index::push(const uint32_t bucket, const SlotNo slot)
{
    records_[slot].next = buckets_[bucket] ? buckets_[bucket] - 1 : (Record::lastFlag | bucket);
    buckets_[bucket] = slot.value() + 1;
}

ClusterFs::SlotNo
ClusterFs::Index::find(const HashedKey k) const
{
    if (k.bucket >= baseBuckets_)
        return noSlot;
    const auto first = buckets_[bucketOf(k)];
    if (!first)
        return noSlot;
    // comparing tags is enough: all records of a bucket have the same HashedKey::bucket
    for (uint32_t at = first - 1; !(at & Record::lastFlag); at = records_[SlotNo(at)].next) {
        if (records_[SlotNo(at)].tag == k.tag)
            return SlotNo(at);
    }
    return noSlot;
}

ClusterFs::SlotNo
ClusterFs::Index::insert(const HashedKey k, const Key *const key)
{
    assert(k.bucket < baseBuckets_);
    const auto slot = allocate();
    if (slot == noSlot)
        return noSlot;
    if (linked_ >= recordsInBucket * bucketCount_ && bucketCount_ < buckets_.count())
        split();
    const auto changing = change(k);
    auto &r = records_[slot];
    r = Record();
    r.tag = k.tag;
    r.sibling = noSlot;
    r.cluster = noCluster;
    push(bucketOf(k), slot);
    if (keys_)
        (*keys_)[slot] = key ? *key : Key();
    ++linked_;
    return slot;
}

uint32_t
ClusterFs::Index::bucketOfSlot(const SlotNo slot) const
{
    uint32_t at = records_[slot].next;
    while (!(at & Record::lastFlag))
        at = records_[SlotNo(at)].next;
    return at & ~Record::lastFlag;
}

ClusterFs::HashedKey
ClusterFs::Index::hashedOf(const SlotNo slot) const
{
    return {bucketOfSlot(slot) % baseBuckets_, records_[slot].tag};
}

void
ClusterFs::Index::unlink(const SlotNo slot)
{
    auto &r = records_[slot];
    assert(!r.dead());
    const auto bucket = bucketOfSlot(slot);
    const auto changing = change(HashedKey{bucket % baseBuckets_, 0});
    const SlotNo first(buckets_[bucket] - 1);
    if (first == slot) {
        buckets_[bucket] = (r.next & Record::lastFlag) ? 0 : r.next + 1;
    } else {
        auto before = first;
        while (records_[before].next != slot.value())
            before = SlotNo(records_[before].next);
        records_[before].next = r.next;
    }
    r.setFlags(r.flags() | Record::flagDead);
    assert(linked_ > 0);
    --linked_;
}

void
ClusterFs::Index::release(const SlotNo slot)
{
    auto &r = records_[slot];
    assert(r.dead());
    r.cluster = noCluster;
    r.next = free_.value();
    free_ = slot;
    assert(used_ > 0);
    --used_;
}

ClusterFs::SlotNo
ClusterFs::Index::allocate()
{
    if (free_ != noSlot) {
        const auto slot = free_;
        free_ = SlotNo(records_[slot].next);
        ++used_;
        return slot;
    }
    if (fresh_ >= records_.count())
        return noSlot;
    ++used_;
    const auto slot = SlotNo(static_cast<uint32_t>(fresh_++));
    head_[0].slots.store(fresh_, std::memory_order_relaxed);
    return slot;
}

uint64_t
ClusterFs::Index::bytesInUse() const
{
    return bucketCount_ * sizeof(uint32_t) + fresh_ * (sizeof(Record) + (keys_ ? sizeof(Key) : 0));
}
