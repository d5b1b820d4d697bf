// SPDX-License-Identifier: GPL-2.0-or-later
/* The free clusters, with the look-ups that layout policies need. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_FREEMAP_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_FREEMAP_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/policies/LayoutPolicy.h"

namespace ClusterFs {

/// A set of cluster numbers as a bit map.
class FreeMap final : public FreePlaces
{
public:
    explicit FreeMap(uint32_t count);

    void add(ClusterNo);
    void remove(ClusterNo);
    bool contains(ClusterNo) const;
    uint32_t size() const { return size_; } ///< how many are free

    /* FreePlaces API */
    ClusterNo closest(ClusterNo to) const override;
    ClusterNo following(ClusterNo from) const override;

private:
    ClusterNo firstFrom(uint32_t from) const;
    ClusterNo lastBefore(uint32_t before) const;

    Table<uint64_t> words_;
    uint32_t count_;
    uint32_t size_ = 0;
};

} // namespace ClusterFs

#endif
