// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of policies. */

#include "fs/cluster/policies/Policies.h"

const std::vector<ClusterFs::PolicyRow<ClusterFs::EvictionPolicy>> &
ClusterFs::evictionPolicies()
{
    static const std::vector<PolicyRow<EvictionPolicy>> table = {
        {"gdsf", "keeps what was used often and lately, and small objects longer than large ones, as size-weight says", &gdsfEviction},
        {"lfuda", "keeps what was used often and lately, whatever its size", &lfudaEviction},
        {"lru", "keeps what was used lately", &lruEviction},
        {"s3fifo", "gives new objects a tenth of the disk until they are used once more, and the others a further round when they were used in the last one", &s3FifoEviction},
        {"fifo", "evicts the cluster written longest ago, and keeps nothing of it", &fifoEviction},
    };
    return table;
}

const std::vector<ClusterFs::PolicyRow<ClusterFs::LayoutPolicy>> &
ClusterFs::layoutPolicies()
{
    static const std::vector<PolicyRow<LayoutPolicy>> table = {
        {"closest", "takes the free cluster closest to the last one read", &closestLayout},
        {"closest-write", "takes the free cluster closest to the last one written", &closestWriteLayout},
        {"overwrite", "takes the next free cluster on the disk, and evicts clusters in the same order", &overwriteLayout},
        {"middle", "puts objects that were used before into the middle of the disk, and new ones to its ends", &middleLayout},
    };
    return table;
}
