// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of prefetching, for reports. */

#ifndef SQUID_SRC_FS_CLUSTER_API_PREFETCHSTATS_H
#define SQUID_SRC_FS_CLUSTER_API_PREFETCHSTATS_H

#include <cstdint>

namespace ClusterFs {

/// counters of prefetches, since the engine was opened
struct PrefetchStats {
    uint64_t reads = 0; ///< of the device
    uint64_t objects = 0; ///< objects that these were for
    uint64_t wanted = 0; ///< objects that were used before they left memory
    uint64_t unused = 0; ///< objects that left memory unused
};

} // namespace ClusterFs

#endif
