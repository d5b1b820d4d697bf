// SPDX-License-Identifier: GPL-2.0-or-later
/* Who hears what the catalog does. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_LISTENERS_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_LISTENERS_H

#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// hears of clusters whose contents are forgotten
class ReleaseListener
{
public:
    virtual ~ReleaseListener() = default;
    virtual void released(ClusterNo) = 0;
};

/// hears of copies of relocated objects
class RelocationListener
{
public:
    virtual ~RelocationListener() = default;

    /// A relocated object is safe elsewhere, or gone: the cluster that it comes from is needed once less.
    virtual void copySettled(ClusterNo origin) = 0;
};

} // namespace ClusterFs

#endif
