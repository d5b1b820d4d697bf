// SPDX-License-Identifier: GPL-2.0-or-later
/* The policies that a program brings along. */

#include "lib/Policies.h"

#include <algorithm>

namespace ClusterFs::Library {

Policies::Policies(const clusterfs_policies &functions):
    functions_(functions),
    eviction_(functions_),
    packing_(functions_),
    layout_(functions_)
{
}

void
Policies::apply(Config &config) const
{
    if (functions_.worth)
        config.replacement = &eviction_;
    if (functions_.joins)
        config.packing = &packing_;
    if (functions_.place)
        config.layout = &layout_;
}

float
Policies::Eviction::worth(const ObjectView &object, float) const
{
    const clusterfs_candidate candidate{object.bytes, object.age, object.uses};
    const auto worth = functions_.worth(functions_.opaque, &candidate);
    // what is no number is worth nothing
    return worth > worthless ? static_cast<float>(std::min(worth, 4.0)) : worthless;
}

bool
Policies::Packing::takes(const GroupView &group, const PackView &pack) const
{
    return functions_.joins(functions_.opaque, group.objects, group.bytes, pack.bytesLeft) != 0;
}

ClusterNo
Policies::Layout::next(const FreePlaces &free, const LayoutView &view) const
{
    const auto place = functions_.place(functions_.opaque, view.clusters, view.lastUsed.value(), view.lastChosen.value());
    return free.closest(ClusterNo(std::min(place, view.clusters - 1)));
}

} // namespace ClusterFs::Library
