// SPDX-License-Identifier: GPL-2.0-or-later
/* Announcing and handing out clusters. */

#include "fs/cluster/packing/Allocator.h"

#include <algorithm>
#include <cassert>

ClusterFs::Allocator::Allocator(StoreContext &context, Journal &journal):
    context_(context),
    journal_(journal)
{
}

uint32_t
ClusterFs::Allocator::reserve() const
{
    const auto count = context_.geometry.clusterCount;
    return std::min<uint32_t>(64, std::max({2U, std::min(8U, count / 24), count / 128}));
}

uint32_t
ClusterFs::Allocator::ready() const
{
    uint32_t n = 0;
    for (const auto &a: announced_) {
        if (a.ticket > journal_.written())
            break;
        ++n;
    }
    return n;
}

/// \param count the view has the first so many of the announced clusters
ClusterFs::LayoutView
ClusterFs::Allocator::view(const size_t count) const
{
    LayoutView v = {context_.geometry.clusterCount, lastAccess_, lastChosen_, {}};
    v.announced.reserve(count);
    for (size_t i = 0; i < count; ++i)
        v.announced.push_back(announced_[i].cluster);
    return v;
}

void
ClusterFs::Allocator::poll()
{
    auto &catalog = context_.catalog;
    if (announced_.size() > reserve() / 2)
        return; // later, many at a time: each write of the journal takes a block
    while (announced_.size() < reserve() && catalog.free().size() > 0) {
        const auto c = context_.config.layout->next(catalog.free(), view(announced_.size()));
        assert(c != noCluster);
        lastChosen_ = c;
        catalog.announce(c, context_.sequence);
        announced_.push_back({c, journal_.announce(c, context_.sequence)});
    }
}

/// takes one of the first announced clusters
/// \param first how many of them may be taken, at least one
ClusterFs::Allocator::Taken
ClusterFs::Allocator::takeOf(const size_t first, const bool wanted)
{
    const auto best = announced_.begin() + static_cast<ptrdiff_t>(context_.config.layout->pick(view(first), wanted));
    const auto taken = *best;
    announced_.erase(best);
    assert(context_.catalog.clusters()[taken.cluster].state == ClusterState::announced);
    assert(!context_.catalog.clusters()[taken.cluster].pins);
    return taken;
}

ClusterFs::ClusterNo
ClusterFs::Allocator::take(const bool wanted)
{
    const auto first = ready();
    return first ? takeOf(first, wanted).cluster : noCluster;
}

ClusterFs::Allocator::Taken
ClusterFs::Allocator::takeSoon()
{
    if (announced_.empty())
        poll();
    if (announced_.empty())
        return {noCluster, 0};
    return takeOf(announced_.size(), false);
}

void
ClusterFs::Allocator::takeBack(const ClusterNo c)
{
    const auto found = std::find_if(announced_.begin(), announced_.end(), [c](const Taken &t) { return t.cluster == c; });
    if (found == announced_.end())
        return;
    announced_.erase(found);
    context_.catalog.withdraw(c);
}

void
ClusterFs::Allocator::giveBack(const ClusterNo c)
{
    assert(context_.catalog.clusters()[c].state == ClusterState::announced);
    announced_.push_front({c, 0});
}
