// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the next cluster is written. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_LAYOUTPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_LAYOUTPOLICY_H

#include "fs/cluster/base/Types.h"

#include <vector>

namespace ClusterFs {

/// the free clusters of a device
class FreePlaces
{
public:
    /// the member with the smallest distance to a place (the higher one of two
    /// at the same distance), or noCluster
    virtual ClusterNo closest(ClusterNo to) const = 0;

    /// the first member at or after a place, going round at the end, or noCluster
    virtual ClusterNo following(ClusterNo from) const = 0;

protected:
    ~FreePlaces() = default;
};

/// a device, as it looks to who chooses a place
struct LayoutView {
    uint32_t clusters; ///< of the device
    ClusterNo lastRead; ///< the one that was used last
    ClusterNo lastChosen; ///< the one that next() returned last
    std::vector<ClusterNo> announced; ///< chosen and not written yet, the first one first
};

/// Decides the order in which free clusters are written (Hummingbird 3.5: disk data layout policy). It remembers nothing:
/// the allocator announces and hands out what is chosen.
class LayoutPolicy
{
public:
    /// \returns the free cluster that is to be announced next; there is one
    virtual ClusterNo next(const FreePlaces &, const LayoutView &) const = 0;

    /// which of the announced clusters is to be written now; there is one
    /// \param wanted whether it is for what is likely to be read again
    /// \returns its position in LayoutView::announced
    virtual size_t pick(const LayoutView &, bool wanted) const;

    /// whether the next cluster on the disk makes room, whatever the eviction policy says
    virtual bool evictsInOrder() const { return false; }

protected:
    ~LayoutPolicy() = default; ///< nobody owns a policy
};

/// to the last read
class ClosestLayout final : public LayoutPolicy
{
public:
    ClusterNo next(const FreePlaces &free, const LayoutView &view) const override { return free.closest(view.lastRead); }
};

/// to the last write
class ClosestWriteLayout final : public LayoutPolicy
{
public:
    ClusterNo next(const FreePlaces &free, const LayoutView &view) const override { return free.closest(view.lastChosen); }
};

/// round and round
class OverwriteLayout final : public LayoutPolicy
{
public:
    ClusterNo next(const FreePlaces &free, const LayoutView &view) const override { return free.following(view.lastChosen); }
    bool evictsInOrder() const override { return true; }
};

/// what was used before goes to the middle, the rest to the ends (Damelo)
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
