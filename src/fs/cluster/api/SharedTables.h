// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of an engine that other processes may map. */

#ifndef SQUID_SRC_FS_CLUSTER_API_SHAREDTABLES_H
#define SQUID_SRC_FS_CLUSTER_API_SHAREDTABLES_H

#include "fs/cluster/base/HashedKey.h"
#include "fs/cluster/base/Types.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// What EngineView needs. The descriptors belong to the engine.
struct SharedTables {
    enum Which {
        head, buckets, records, clusters, ///< of the index
        keys, ///< of the index, or nothing: it has no bytes then, and a descriptor of something else
        staging, chunks, staged, ///< of staging: bytes, chains of chunks, objects
        windowTable, windows, ///< of the read cache: which bytes it has, and the bytes
        count
    };

    struct Memory {
        int fd = -1; ///< -1 = other processes can't have it
        uint64_t bytes = 0;
    };
    std::array<Memory, count> memories;

    uint32_t baseBuckets = 0; ///< of the smallest index
    HashSecret secret{};
    Uuid uuid{}; ///< of the store
};

} // namespace ClusterFs

#endif
