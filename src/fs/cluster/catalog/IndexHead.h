// SPDX-License-Identifier: GPL-2.0-or-later
/* What other processes need beside buckets and records, to look objects up while the index changes. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_INDEXHEAD_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_INDEXHEAD_H

#include "fs/cluster/base/HashedKey.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// Sequence locks (Lameter, Effective Synchronization on Linux/NUMA Systems, 2005) of an index that one process changes, and others
/// read without stopping it. Each counter is for all buckets that come from some buckets of the smallest index. It is odd
/// while records in them change, and another one afterwards: who has seen it change takes nothing of what he has read.
struct IndexHead {
    static constexpr size_t stripes = 1 << 16;

    std::atomic<uint64_t> buckets; ///< how many there are now
    std::atomic<uint64_t> slots; ///< those from here on were never used
    std::atomic<uint32_t> counters[stripes];

    std::atomic<uint32_t> &counterOf(const HashedKey k) { return counters[k.bucket % stripes]; }
    const std::atomic<uint32_t> &counterOf(const HashedKey k) const { return counters[k.bucket % stripes]; }

    /// The bucket of a key, by linear hashing: the lower bits of its tag choose among those that come from its bucket of
    /// the smallest index.
    /// \param base buckets of the smallest index
    /// \param level how often all of these were split
    /// \param now how many buckets there are
    static uint32_t BucketOf(const HashedKey k, const uint32_t base, const unsigned level, const uint64_t now) {
        const auto before = uint64_t(base) << level; // buckets when this level began; now - before of them are split
        auto bucket = k.bucket + uint64_t(base) * (k.tag & ((uint64_t(1) << level) - 1));
        if (bucket < now - before)
            bucket += before * ((k.tag >> level) & 1);
        return static_cast<uint32_t>(bucket);
    }

    /// Says that records of a key's stripe change, as long as it lives. One in another one of the same stripe does nothing.
    class Change
    {
    public:
        Change(IndexHead &head, const HashedKey k): counter_(head.counterOf(k)), before_(counter_.load(std::memory_order_relaxed)) {
            if (outermost())
                counter_.store(before_ + 1, std::memory_order_relaxed);
            std::atomic_thread_fence(std::memory_order_release); // what changes is seen after that
        }
        ~Change() {
            if (outermost())
                counter_.store(before_ + 2, std::memory_order_release);
        }
        Change(const Change &) = delete;
        Change &operator =(const Change &) = delete;

    private:
        bool outermost() const { return before_ % 2 == 0; }

        std::atomic<uint32_t> &counter_;
        const uint32_t before_;
    };
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free, "several processes share them");

} // namespace ClusterFs

#endif
