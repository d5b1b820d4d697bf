// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of clusters that were read or just written and are still in memory. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_READCACHE_H
#define SQUID_SRC_FS_CLUSTER_CACHE_READCACHE_H

#include "fs/cluster/cache/WindowLoader.h"

namespace ClusterFs {

/// The read cache of an open store: the windows in memory, the reads that bring more of
/// them, and what is known of their use.
struct ReadCache {
    /// \param limit bytes of windows
    ReadCache(Device &device, Catalog &catalog, const Geometry &geometry, const ReadPolicy &policy, const uint64_t limit):
        windows(device.readCost(), use, limit),
        loader(device, catalog, geometry, windows, use, policy)
    {
    }

    UseMeter use;
    WindowStore windows;
    WindowLoader loader;
};

} // namespace ClusterFs

#endif
