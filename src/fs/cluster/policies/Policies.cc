// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of policies. */

#include "fs/cluster/policies/Policies.h"

const std::vector<ClusterFs::PolicyRow<ClusterFs::EvictionPolicy>> &
ClusterFs::evictionPolicies()
{
    static const std::vector<PolicyRow<EvictionPolicy>> table = {
        {"lru", "evicts the cluster whose bytes were used longest ago", &lruEviction},
        {"fifo", "evicts the oldest one", &fifoEviction},
        {"gds", "is like lru, but counts objects instead of bytes (more hits, fewer bytes from the cache)", &gdsEviction},
    };
    return table;
}

const std::vector<ClusterFs::PolicyRow<ClusterFs::LayoutPolicy>> &
ClusterFs::layoutPolicies()
{
    static const std::vector<PolicyRow<LayoutPolicy>> table = {
        {"closest", "takes the one closest to the last one used", &closestLayout},
        {"closest-write", "takes the one closest to the last one written", &closestWriteLayout},
        {"overwrite", "takes the next one on the disk, which is also the next to be evicted", &overwriteLayout},
        {"middle", "takes the middle of the disk for objects that were used before, and its ends for new ones", &middleLayout},
    };
    return table;
}
