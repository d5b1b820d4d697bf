// SPDX-License-Identifier: GPL-2.0-or-later
/* The queue in which staged objects wait for packing. */

#ifndef SQUID_SRC_FS_CLUSTER_PACKING_PACKINGQUEUE_H
#define SQUID_SRC_FS_CLUSTER_PACKING_PACKINGQUEUE_H

#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// Hears of each staged object that is complete. Writers and relocations tell it.
class PackingQueue
{
public:
    virtual ~PackingQueue() = default;

    /// an object was completed and may be packed
    virtual void noteComplete(StageNo) = 0;

    /// clusters that make room wait for the objects that were moved out of them, which do not fill a cluster yet: they are to be packed all the same
    virtual void hurryMoved() = 0;
};

} // namespace ClusterFs

#endif
