// SPDX-License-Identifier: GPL-2.0-or-later
/* Listeners of the catalog. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_LISTENERS_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_LISTENERS_H

#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// hears of each cluster whose contents are forgotten
class ReleaseListener
{
public:
    virtual ~ReleaseListener() = default;
    virtual void released(ClusterNo) = 0;
};

/// hears of the copies of relocated objects
class RelocationListener
{
public:
    virtual ~RelocationListener() = default;

    /// A relocated object was packed elsewhere (which no disk flush covers yet), or it is gone: the cluster that it comes
    /// from is needed for one object less.
    virtual void copySettled(ClusterNo origin) = 0;
};

} // namespace ClusterFs

#endif
