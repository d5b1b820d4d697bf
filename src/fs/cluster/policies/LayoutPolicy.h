// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides where on the device the next cluster is written. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_LAYOUTPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_LAYOUTPOLICY_H

#include "fs/cluster/base/Types.h"

#include <vector>

namespace ClusterFs {

/// the free clusters of a device
class FreePlaces
{
public:
    /// the free cluster with the smallest distance to a place (the higher one of
    /// two at the same distance), or noCluster
    virtual ClusterNo closest(ClusterNo to) const = 0;

    /// the first free cluster at or after a place, going round at the end, or noCluster
    virtual ClusterNo following(ClusterNo from) const = 0;

protected:
    ~FreePlaces() = default;
};

/// a device, as a policy sees it
struct LayoutView {
    uint32_t clusters; ///< how many the device has
    ClusterNo lastUsed; ///< the cluster of the object that was used last, even if the object was in memory
    ClusterNo lastChosen; ///< the one that next() returned last
    std::vector<ClusterNo> announced; ///< chosen and not written yet, the first one first
};

/// Decides the order in which free clusters are written (the disk data layout policy of Hummingbird 3.5). It has no state:
/// the allocator announces the chosen clusters and hands them out.
class LayoutPolicy
{
public:
    /// \returns the free cluster that is to be announced next; there is one
    virtual ClusterNo next(const FreePlaces &, const LayoutView &) const = 0;

    /// which of the announced clusters is to be written now; there is one
    /// \param wanted whether its objects are likely to be read again
    /// \returns its position in LayoutView::announced
    virtual size_t pick(const LayoutView &, bool wanted) const;

    /// whether the next cluster on the disk makes room, whatever the eviction policy says
    virtual bool evictsInOrder() const { return false; }

protected:
    ~LayoutPolicy() = default; ///< nobody owns a policy
};

/// closest to the cluster that was used last (Hummingbird's closest cluster)
class ClosestLayout final : public LayoutPolicy
{
public:
    ClusterNo next(const FreePlaces &free, const LayoutView &view) const override { return free.closest(view.lastUsed); }
};

/// closest to the cluster that was chosen last (Hummingbird's closest cluster to previous write)
class ClosestWriteLayout final : public LayoutPolicy
{
public:
    ClusterNo next(const FreePlaces &free, const LayoutView &view) const override { return free.closest(view.lastChosen); }
};

/// round and round over the device (Hummingbird's overwrite)
class OverwriteLayout final : public LayoutPolicy
{
public:
    ClusterNo next(const FreePlaces &free, const LayoutView &view) const override { return free.following(view.lastChosen); }
    bool evictsInOrder() const override { return true; }
};

/// Objects that were used before go to the middle of the disk, the others to its ends. From Damelo, whose groups lie in
/// an order so that the disk head passes over the busiest more often.
class MiddleLayout final : public LayoutPolicy
{
public:
    ClusterNo next(const FreePlaces &, const LayoutView &) const override;
    size_t pick(const LayoutView &, bool wanted) const override;
};

inline constexpr ClosestLayout closestLayout;
inline constexpr ClosestWriteLayout closestWriteLayout;
inline constexpr OverwriteLayout overwriteLayout;
inline constexpr MiddleLayout middleLayout;

} // namespace ClusterFs

#endif
