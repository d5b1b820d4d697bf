// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups, as packing asks for them. */

#ifndef SQUID_SRC_FS_CLUSTER_PACKING_GROUPADVISOR_H
#define SQUID_SRC_FS_CLUSTER_PACKING_GROUPADVISOR_H

#include "fs/cluster/base/Types.h"

#include <vector>

namespace ClusterFs {

/// knows which staged objects belong together, and how long they may wait
class GroupAdvisor
{
public:
    virtual ~GroupAdvisor() = default;

    /// Names the complete staged objects of a group in the order in which they
    /// are wanted, the given one among them; or none.
    virtual void stagedGroup(StageNo, std::vector<StageNo> &) = 0;

    /// \returns seconds within which an object must survive a power cut
    virtual uint32_t persistOf(const Key &) const = 0;
};

} // namespace ClusterFs

#endif
