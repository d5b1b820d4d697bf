// SPDX-License-Identifier: GPL-2.0-or-later
/* The free clusters, with the question that layout policies ask. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_FREEMAP_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_FREEMAP_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// A set of cluster numbers as a bit map.
class FreeMap
{
public:
    explicit FreeMap(uint32_t count);

    void add(ClusterNo);
    void remove(ClusterNo);
    bool contains(ClusterNo) const;
    uint32_t size() const { return size_; }

    /// the member with the smallest distance to a place (the higher one of two
    /// at the same distance), or noCluster
    ClusterNo closest(ClusterNo to) const;

    /// the first member at or after a place, going round at the end, or noCluster
    ClusterNo following(ClusterNo from) const;

private:
    ClusterNo firstFrom(uint32_t from) const;
    ClusterNo lastBefore(uint32_t before) const;

    Table<uint64_t> words_;
    uint32_t count_;
    uint32_t size_ = 0;
};

} // namespace ClusterFs

#endif
