// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of policies. */

#include "fs/cluster/policies/Policies.h"

const std::vector<ClusterFs::PolicyRow<ClusterFs::EvictionPolicy>> &
ClusterFs::evictionPolicies()
{
    static const std::vector<PolicyRow<EvictionPolicy>> table = {
        {"gdsf", "keeps what was used often and lately, and small objects longer than large ones, as size-weight says", &gdsfEviction},
        {"gds", "keeps small objects longer than large ones, as size-weight says, and each until its time is over (GreedyDual-Size)", &gdsEviction},
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

const std::vector<ClusterFs::PolicyRow<ClusterFs::PackingPolicy>> &
ClusterFs::packingPolicies()
{
    static const std::vector<PolicyRow<PackingPolicy>> table = {
        {"lru", "begins with the object that was used least recently", &wholeGroups},
        {"gds", "begins with large objects, before small ones that were used earlier (GreedyDual-Size)", &wholeGroupsBySize},
    };
    return table;
}
