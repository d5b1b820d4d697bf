// SPDX-License-Identifier: GPL-2.0-or-later
/* The read cache: pieces of clusters that were read or written lately and are in memory. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_READCACHE_H
#define SQUID_SRC_FS_CLUSTER_CACHE_READCACHE_H

#include "fs/cluster/cache/WindowLoader.h"
#include "fs/cluster/catalog/Replicas.h"

namespace ClusterFs {

/// The read cache of an open store: the windows in memory, the reads that bring more of
/// them, a measure of their use, and the replicas among which a reader may choose.
struct ReadCache {
    /// \param limit bytes of windows
    /// \param mostReplicas that may be known
    ReadCache(Device &device, Catalog &catalog, const Geometry &geometry, const ReadPolicy &policy, const uint64_t limit, const uint64_t mostReplicas = 0):
        windows(device.readCost(), use, limit),
        loader(device, catalog, geometry, windows, use, policy),
        replicas(mostReplicas)
    {
    }

    UseMeter use;
    WindowStore windows;
    WindowLoader loader;
    Replicas replicas;
};

} // namespace ClusterFs

#endif
