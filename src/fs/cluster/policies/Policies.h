// SPDX-License-Identifier: GPL-2.0-or-later
/* The policies that an option chooses. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_POLICIES_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_POLICIES_H

#include "fs/cluster/policies/EvictionPolicy.h"
#include "fs/cluster/policies/LayoutPolicy.h"
#include "fs/cluster/policies/PackingPolicy.h"

#include <vector>

namespace ClusterFs {

/// a policy, its name and its text for users
template <class Policy>
struct PolicyRow {
    const char *name; ///< in squid.conf
    const char *text; ///< a sentence whose subject is the name, without it and without the full stop
    const Policy *policy; ///< lives as long as the process
};

/* A new policy is a file with its class, a row in one of these tables, and a test. */

const std::vector<PolicyRow<EvictionPolicy>> &evictionPolicies(); ///< option replacement
const std::vector<PolicyRow<LayoutPolicy>> &layoutPolicies(); ///< option layout
const std::vector<PolicyRow<PackingPolicy>> &packingPolicies(); ///< option packing

} // namespace ClusterFs

#endif
