// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of reading ahead, for reports. */

#ifndef SQUID_SRC_FS_CLUSTER_API_AHEADSTATS_H
#define SQUID_SRC_FS_CLUSTER_API_AHEADSTATS_H

#include <cstdint>

namespace ClusterFs {

/// what became of reads of what a page was expected to want
struct AheadStats {
    uint64_t reads = 0;
    uint64_t objects = 0; ///< that were expected to be wanted of these
    uint64_t wanted = 0; ///< of those that have left memory again: how many were used
    uint64_t unused = 0; ///< and were not
};

} // namespace ClusterFs

#endif
