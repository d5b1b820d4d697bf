// SPDX-License-Identifier: GPL-2.0-or-later
/* The memory cache that a proxy has in front of its files. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_MEMORYCACHE_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_MEMORYCACHE_H

#include "Recency.h"

#include <mutex>
#include <vector>

namespace Papers {

/// Knows which objects a memory cache of that size would hold. It keeps no
/// bytes: whoever limits our memory leaves them out of the limit.
class MemoryCache
{
public:
    MemoryCache(const uint32_t ids, const uint64_t limit): recency_(ids), bytes_(ids), limit_(limit) {}

    /// \returns whether the object is here; if so, it was used
    bool find(const uint32_t id) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!bytes_[id])
            return false;
        recency_.remove(id);
        recency_.add(id);
        return true;
    }

    void add(const uint32_t id, const uint32_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (bytes_[id] || bytes > limit_)
            return;
        while (used_ + bytes > limit_)
            drop(recency_.oldest());
        recency_.add(id);
        bytes_[id] = bytes;
        used_ += bytes;
    }

    void remove(const uint32_t id) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (bytes_[id])
            drop(id);
    }

private:
    void drop(const uint32_t id) {
        recency_.remove(id);
        used_ -= bytes_[id];
        bytes_[id] = 0;
    }

    std::mutex mutex_;
    Recency recency_;
    std::vector<uint32_t> bytes_; ///< 0 = not here
    uint64_t limit_;
    uint64_t used_ = 0;
};

} // namespace Papers

#endif
