// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of fixed capacity whose entries refer to each other by number. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_POOL_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_POOL_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// numbers of pool entries start at 1, so that zero-filled memory means "none"
constexpr uint32_t nothing = 0;

/// An array of plain records and its free list, which is linked by one of their own fields.
template <class T, uint32_t T::*next>
class NumberedTable
{
public:
    explicit NumberedTable(const uint32_t capacity): table_(uint64_t(capacity) + 1), capacity_(capacity) {}

    T &operator [](const uint32_t n) { return table_[n]; }
    const T &operator [](const uint32_t n) const { return table_[n]; }

    /// \returns a zeroed entry, or nothing when all are in use
    uint32_t add() {
        auto n = free_;
        if (n)
            free_ = table_[n].*next;
        else if (fresh_ < capacity_)
            n = ++fresh_;
        else
            return nothing;
        table_[n] = T();
        ++used_;
        return n;
    }

    void remove(const uint32_t n) {
        table_[n].*next = free_;
        free_ = n;
        --used_;
    }

    bool full() const { return used_ == capacity_; }
    uint32_t used() const { return used_; }
    uint32_t touched() const { return fresh_; } ///< entries above this one were never used
    uint32_t capacity() const { return capacity_; }
    uint64_t bytes() const { return (uint64_t(fresh_) + 1) * sizeof(T); } ///< of memory: entries that were never used take none

private:
    Table<T> table_; ///< the entry with number 0 is not used
    uint32_t capacity_;
    uint32_t free_ = nothing; ///< the first removed entry
    uint32_t fresh_ = 0; ///< the last entry that was ever used
    uint32_t used_ = 0;
};

/// the number that a pool hashes
inline uint64_t nameNumber(const uint64_t name) { return name; }
inline uint64_t nameNumber(const Key &name) { return name.high() ^ name.low(); }

/// A hash table of fixed capacity. Entries are found by name and referred to by number. T is a plain record
/// with the fields name, next and used, which only the pool sets, and marked, which users of an entry set:
/// the next search for a victim spares it.
template <class T, class Name>
class Pool
{
public:
    /// \param seed makes the buckets unpredictable, so that nobody can choose
    /// names that fall into the same one
    Pool(const uint32_t capacity, const uint64_t seed):
        buckets_(capacity), entries_(capacity), seed_(seed) {}

    /// bytes of an entry, its share of the buckets included
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
        const auto n = entries_.add();
        if (n) {
            entries_[n].used = true;
            link(n, name);
        }
        return n;
    }

    void remove(const uint32_t n) {
        unlink(n);
        entries_[n].used = false;
        entries_.remove(n);
    }

    /// gives an entry another name, which no other entry may have
    void rename(const uint32_t n, const Name &name) {
        unlink(n);
        link(n, name);
    }

    /// Looks at a limited number of entries, by the clock algorithm.
    /// \returns an entry that was not used lately, if there is one among them, but not keep; or nothing
    uint32_t victim(const uint32_t keep = nothing) {
        uint32_t last = nothing;
        for (unsigned steps = 0; steps < patience && touched(); ++steps) {
            hand_ = hand_ < touched() ? hand_ + 1 : 1;
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

    bool full() const { return entries_.full(); }
    uint32_t used() const { return entries_.used(); }
    uint32_t touched() const { return entries_.touched(); } ///< entries above this one were never used
    uint64_t bytes() const { return buckets_.count() * sizeof(uint32_t) + entries_.bytes(); } ///< of memory, about

private:
    static constexpr unsigned patience = 64; ///< entries looked at for a victim

    uint32_t bucketOf(const Name &name) const {
        auto h = nameNumber(name) ^ seed_;
        h = (h ^ h >> 32) * 0x9fb21c651e98df25ULL;
        h = (h ^ h >> 29) * 0xd6e8feb86659fd93ULL;
        return static_cast<uint32_t>((h >> 32) * buckets_.count() >> 32);
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
    NumberedTable<T, &T::next> entries_;
    uint64_t seed_;
    uint32_t hand_ = 0; ///< of the clock: the entry that was looked at last
};

} // namespace ClusterFs

#endif
