// SPDX-License-Identifier: GPL-2.0-or-later
/* A listener to reads of the device. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_READWATCHER_H
#define SQUID_SRC_FS_CLUSTER_CACHE_READWATCHER_H

#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// Hears of reads of the device, such as prefetches, because they show which objects of a group lie apart.
class ReadWatcher
{
public:
    virtual ~ReadWatcher() = default;

    /// \param key one of the objects that a read brings
    virtual void noteRead(const Key &key) = 0;
};

} // namespace ClusterFs

#endif
