// SPDX-License-Identifier: GPL-2.0-or-later
/* What the owner shows to all workers. */

#ifndef SQUID_SRC_FS_CLUSTER_SHARING_CONTROL_H
#define SQUID_SRC_FS_CLUSTER_SHARING_CONTROL_H

#include "fs/cluster/api/Engine.h"

#include <atomic>
#include <cstdint>

namespace ClusterFs {

/// Figures of the engine, each right by itself. Only the owner writes them, after each of its turns; workers map them to read.
struct Control {
    /* these stay, as long as the owner lives */
    SharedTables tables; ///< without descriptors
    uint64_t deviceBytes; ///< see ObjectStore
    uint32_t clusterBytes; ///< see ObjectStore

    /// Whether workers may look objects up. Just after its start the owner waits for workers of an earlier one, who may want
    /// objects removed that the device still has.
    std::atomic<bool> open;
    std::atomic<EngineState> state;
    std::atomic<bool> indexLoaded;
    /// Objects whose Date is not later may have been deleted or replaced while no engine was there, see MissedDeletes. Seconds
    /// since 1970; 0 = none
    std::atomic<int64_t> doubtedUntil;
    std::atomic<uint32_t> load; ///< see Engine::canCreate(), of an object whose size nobody knows; above maxLoad = it takes none
    std::atomic<uint32_t> progress; ///< of a start, in thousandths
    std::atomic<uint32_t> closings; ///< how often the owner was shut: see Owner::shut()
    std::atomic<uint64_t> objects;
    std::atomic<uint64_t> liveBytes;
    std::atomic<uint64_t> capacityBytes;
    std::atomic<uint64_t> maxObjectSize;
    std::atomic<uint64_t> turns; ///< of the owner: it hangs while this stays the same

    /// the owner's, at its start
    void begin(const Engine &, const SharedTables &);
    /// the owner's, after each turn
    void show(const Engine &);
};
static_assert(std::atomic<EngineState>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
    std::atomic<uint64_t>::is_always_lock_free, "several processes share them");

} // namespace ClusterFs

#endif
