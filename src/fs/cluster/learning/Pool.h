// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table of fixed capacity whose least useful entries make room. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_POOL_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_POOL_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// numbers of pool entries start at 1, so that zero-filled memory means "none"
constexpr uint32_t nothing = 0;

/// what the hash of a pool is made of
inline uint64_t nameNumber(const uint64_t name) { return name; }
inline uint64_t nameNumber(const Key &name) { return name.high() ^ name.low(); }

/// Entries are found by name and referred to by number. T is a plain record
/// with the fields name, next (both the pool's), used (the pool's) and marked
/// (set by whoever uses the entry: it is spared by the next search for a victim).
template <class T, class Name>
class Pool
{
public:
    /// \param seed makes the buckets unpredictable, so that nobody can choose
    /// names that fall into the same one
    Pool(const uint32_t capacity, const uint64_t seed):
        buckets_(capacity), entries_(uint64_t(capacity) + 1), seed_(seed), capacity_(capacity) {}

    /// memory of an entry, its share of the buckets included
    static constexpr uint64_t bytesEach = sizeof(T) + sizeof(uint32_t);

    T &operator [](const uint32_t n) { return entries_[n]; }
    const T &operator [](const uint32_t n) const { return entries_[n]; }

    uint32_t find(const Name &name) const {
        auto n = buckets_[bucketOf(name)];
        while (n && !(entries_[n].name == name))
            n = entries_[n].next;
        return n;
    }

    /// Adds an entry; does not look for an older one of that name.
    /// \returns nothing when the pool is full: remove victim() first
    uint32_t add(const Name &name) {
        uint32_t n = free_;
        if (n)
            free_ = entries_[n].next;
        else if (fresh_ < capacity_)
            n = ++fresh_;
        else
            return nothing;
        entries_[n] = T();
        entries_[n].used = true;
        link(n, name);
        ++used_;
        return n;
    }

    void remove(const uint32_t n) {
        unlink(n);
        entries_[n].used = false;
        entries_[n].next = free_;
        free_ = n;
        --used_;
    }

    /// gives an entry another name, which no other entry may have
    void rename(const uint32_t n, const Name &name) {
        unlink(n);
        link(n, name);
    }

    /// \returns an entry that was not used lately (the clock algorithm), other
    /// than keep; nothing when there is none. Looks at a limited number.
    uint32_t victim(const uint32_t keep = nothing) {
        uint32_t last = nothing;
        for (unsigned steps = 0; steps < patience && fresh_; ++steps) {
            hand_ = hand_ < fresh_ ? hand_ + 1 : 1;
            auto &entry = entries_[hand_];
            if (!entry.used || hand_ == keep)
                continue;
            last = hand_;
            if (!entry.marked)
                break;
            entry.marked = false;
        }
        return last;
    }

    uint32_t used() const { return used_; }
    uint32_t touched() const { return fresh_; } ///< entries above this one were never used
    uint32_t capacity() const { return capacity_; }
    uint64_t bytes() const { return buckets_.count() * sizeof(uint32_t) + entries_.count() * sizeof(T); }

private:
    static constexpr unsigned patience = 64; ///< entries looked at for a victim

    uint32_t bucketOf(const Name &name) const {
        auto h = nameNumber(name) ^ seed_;
        h = (h ^ h >> 32) * 0x9fb21c651e98df25ULL;
        h = (h ^ h >> 29) * 0xd6e8feb86659fd93ULL;
        return static_cast<uint32_t>((h >> 32) * capacity_ >> 32);
    }

    void link(const uint32_t n, const Name &name) {
        auto &bucket = buckets_[bucketOf(name)];
        entries_[n].name = name;
        entries_[n].next = bucket;
        bucket = n;
    }

    void unlink(const uint32_t n) {
        auto *at = &buckets_[bucketOf(entries_[n].name)];
        while (*at != n)
            at = &entries_[*at].next;
        *at = entries_[n].next;
    }

    Table<uint32_t> buckets_; ///< the first entry of each
    Table<T> entries_; ///< the one with number 0 is not used
    uint64_t seed_;
    uint32_t capacity_;
    uint32_t free_ = nothing; ///< removed entries, linked by next
    uint32_t fresh_ = 0; ///< entries above this one were never used
    uint32_t used_ = 0;
    uint32_t hand_ = 0; ///< of the clock
};

} // namespace ClusterFs

#endif
