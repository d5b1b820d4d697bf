// SPDX-License-Identifier: GPL-2.0-or-later
/* What workers write for all to read: the removals that they want, and their figures. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_WORKERROWS_H
#define SQUID_SRC_FS_CLUSTER_SHARING_WORKERROWS_H

#include "fs/cluster/base/Types.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/* A removal holds for all workers before the owner has heard of it: the worker first writes the key into its row, where each
 * look-up of all others sees it, and then sends the message. The owner does removals in the order in which they were
 * written, and counts them in the row. Nothing is locked. A worker that is killed between the two has nobody who was told that
 * the object is gone; its row is emptied at the end of its session. */

/// what one worker wants removed, and its figures
struct WorkerRow {
    /// Removals that are listed. When more than that are pending, nobody knows which, and all look-ups miss.
    static constexpr size_t length = 1024;

    alignas(64) std::atomic<uint64_t> added; ///< so many so far; the worker counts
    alignas(64) std::atomic<uint64_t> done; ///< so many of these; the owner counts
    std::atomic<uint64_t> keys[length]; ///< the newest ones, each at its number modulo the length

    /* figures of the worker, which the owner reads */
    std::atomic<uint64_t> lookups; ///< calls of ObjectStore::find() since the row is in use
    std::atomic<uint64_t> found; ///< those that found the object

    /// the worker's, before it tells the owner
    void add(const Key &key) {
        const auto number = added.load(std::memory_order_relaxed);
        keys[number % length].store(Mark(key), std::memory_order_relaxed);
        added.store(number + 1, std::memory_order_release);
    }
    /// the worker's
    void count(const bool hit) {
        lookups.store(lookups.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (hit)
            found.store(found.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    /// the owner's, when it has done the oldest one
    void noteDone() { done.store(done.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    /// the owner's, when the worker is gone
    void reset() { done.store(added.load(std::memory_order_relaxed), std::memory_order_release); }

    /// whether an object may be among those that are not done yet
    bool mayHave(const Key &key) const {
        const auto first = done.load(std::memory_order_acquire);
        const auto end = added.load(std::memory_order_acquire);
        if (end - first > length)
            return true;
        for (auto i = first; i != end; ++i) {
            if (keys[i % length].load(std::memory_order_relaxed) == Mark(key))
                return true;
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        return added.load(std::memory_order_relaxed) - first > length; // some were overwritten before they were compared
    }

private:
    static uint64_t Mark(const Key &key) { return KeyHash()(key); }
};

/// the rows of all workers, in memory that is zero at first
struct WorkerRows {
    static constexpr uint32_t maxRows = 256;

    std::atomic<uint32_t> rowsUsed; ///< the first ones; the owner counts
    std::atomic<uint64_t> removals; ///< of all workers so far: it numbers them, see RecentRemovals
    WorkerRow rows[maxRows];

    /// Whether some worker wants an object removed. Who has to know that an object is there asks this before he looks it up:
    /// what was done since then is seen by the look-up.
    bool mayHave(const Key &key) const {
        const auto used = std::min(rowsUsed.load(std::memory_order_acquire), maxRows);
        for (uint32_t i = 0; i < used; ++i) {
            if (rows[i].mayHave(key))
                return true;
        }
        return false;
    }
};

} // namespace ClusterFs

#endif
