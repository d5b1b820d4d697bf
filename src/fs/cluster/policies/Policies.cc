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
