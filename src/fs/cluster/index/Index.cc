// SPDX-License-Identifier: GPL-2.0-or-later
/* The hash index. */

#include "fs/cluster/index/Index.h"

#include <cassert>

ClusterFs::Index::Index(const uint64_t capacity, const uint64_t buckets, const bool keepKeys):
    buckets_(buckets),
    records_(capacity)
{
    assert(capacity > 0 && capacity < Record::lastFlag);
    assert(buckets > 0 && buckets < Record::lastFlag);
    if (keepKeys)
        keys_ = std::make_unique<Table<Key>>(capacity);
}

uint32_t
ClusterFs::Index::bucketOf(const Key &k) const
{
    // multiplying spreads the key over any number of buckets without a division
    return static_cast<uint32_t>((k.high() >> 32) * buckets_.count() >> 32);
}

ClusterFs::SlotNo
ClusterFs::Index::find(const uint32_t bucket, const uint32_t tag) const
{
    const auto first = buckets_[bucket];
    if (!first)
        return noSlot;
    for (uint32_t at = first - 1; !(at & Record::lastFlag); at = records_[at].next) {
        if (records_[at].tag == tag)
            return at;
    }
    return noSlot;
}

ClusterFs::SlotNo
ClusterFs::Index::insert(const Key &k)
{
    return insert(bucketOf(k), TagOf(k), &k);
}

ClusterFs::SlotNo
ClusterFs::Index::insert(const uint32_t bucket, const uint32_t tag, const Key *key)
{
    assert(bucket < buckets_.count());
    const auto slot = allocate();
    if (slot == noSlot)
        return noSlot;
    auto &r = records_[slot];
    r = Record();
    r.tag = tag;
    r.sibling = noSlot;
    r.cluster = noCluster;
    r.next = buckets_[bucket] ? buckets_[bucket] - 1 : (Record::lastFlag | bucket);
    buckets_[bucket] = slot + 1;
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
        at = records_[at].next;
    return at & ~Record::lastFlag;
}

void
ClusterFs::Index::unlink(const SlotNo slot)
{
    auto &r = records_[slot];
    assert(!r.dead());
    const auto bucket = bucketOfSlot(slot);
    const auto first = buckets_[bucket] - 1;
    if (first == slot) {
        buckets_[bucket] = (r.next & Record::lastFlag) ? 0 : r.next + 1;
    } else {
        auto before = first;
        while (records_[before].next != slot)
            before = records_[before].next;
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
    r.next = free_;
    free_ = slot;
    assert(used_ > 0);
    --used_;
}

ClusterFs::SlotNo
ClusterFs::Index::allocate()
{
    if (free_ != noSlot) {
        const auto slot = free_;
        free_ = records_[slot].next;
        ++used_;
        return slot;
    }
    if (fresh_ >= records_.count())
        return noSlot;
    ++used_;
    return static_cast<SlotNo>(fresh_++);
}

uint64_t
ClusterFs::Index::bytesInUse() const
{
    return buckets_.count() * sizeof(uint32_t) + fresh_ * (sizeof(Record) + (keys_ ? sizeof(Key) : 0));
}
