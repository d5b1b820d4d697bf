// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides where on the device the next cluster is written. */

#include "fs/cluster/policies/LayoutPolicy.h"

#include <algorithm>
#include <cstdlib>

namespace ClusterFs {
namespace {

/// \returns twice the distance from the middle of the device, in clusters
uint32_t
fromMiddle(const ClusterNo c, const LayoutView &view)
{
    return static_cast<uint32_t>(std::abs(2 * int64_t(c.value()) - int64_t(view.clusters)));
}

/// whether less than half of the announced clusters are in the middle half of the device
bool
middleIsShort(const LayoutView &view)
{
    const auto inside = std::count_if(view.announced.begin(), view.announced.end(), [&view](const ClusterNo c) {
        return fromMiddle(c, view) < view.clusters / 2;
    });
    return size_t(inside) * 2 < view.announced.size() || view.announced.empty();
}

} // namespace
} // namespace ClusterFs

size_t
ClusterFs::LayoutPolicy::pick(const LayoutView &, bool) const
{
    return 0;
}

ClusterFs::ClusterNo
ClusterFs::MiddleLayout::next(const FreePlaces &free, const LayoutView &view) const
{
    // both ends are far from the middle; the first one is the faster part of a spinning disk
    return middleIsShort(view) ? free.closest(ClusterNo(view.clusters / 2)) : free.following(ClusterNo(0));
}

size_t
ClusterFs::MiddleLayout::pick(const LayoutView &view, const bool wanted) const
{
    const auto isNearer = [&view](const ClusterNo a, const ClusterNo b) { return fromMiddle(a, view) < fromMiddle(b, view); };
    const auto isFarther = [&view](const ClusterNo a, const ClusterNo b) { return fromMiddle(a, view) > fromMiddle(b, view); };
    const auto &all = view.announced;
    const auto best = wanted ? std::min_element(all.begin(), all.end(), isNearer) : std::min_element(all.begin(), all.end(), isFarther);
    return static_cast<size_t>(best - all.begin());
}
