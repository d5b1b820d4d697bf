// SPDX-License-Identifier: GPL-2.0-or-later
/* The questions that packing asks about groups. */

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

    /// Appends the complete staged objects of a staged object's group in the order
    /// in which they are fetched, this object among them; nothing if it has no group.
    virtual void stagedGroup(StageNo, std::vector<StageNo> &) = 0;

    /// Appends the keys of objects that a staged object's group wants, and other groups, too.
    virtual void sharedOf(StageNo, std::vector<Key> &) const = 0;

    /// \returns seconds after which an object must survive a power cut; neverPersist when it need not
    virtual uint32_t persistOf(const Key &) const = 0;

    /// whether an object is to leave memory as soon as it is on the device
    virtual bool leavesFirst(const Key &) const = 0;
};

} // namespace ClusterFs

#endif
