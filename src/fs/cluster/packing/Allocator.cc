// SPDX-License-Identifier: GPL-2.0-or-later
/* Announcing and handing out clusters. */

#include "fs/cluster/packing/Allocator.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

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

/// \returns twice the distance, in clusters
uint32_t
ClusterFs::Allocator::fromMiddle(const ClusterNo c) const
{
    return static_cast<uint32_t>(std::abs(2 * int64_t(c.value()) - int64_t(context_.geometry.clusterCount)));
}

/// whether less than half of what is announced is in the middle half of the device
bool
ClusterFs::Allocator::middleIsShort() const
{
    const auto inside = std::count_if(announced_.begin(), announced_.end(), [this](const Taken &t) {
        return fromMiddle(t.cluster) < context_.geometry.clusterCount / 2;
    });
    return size_t(inside) * 2 < announced_.size() || announced_.empty();
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

ClusterFs::ClusterNo
ClusterFs::Allocator::choose() const
{
    const auto &free = context_.catalog.free();
    switch (context_.config.layout) {
    case LayoutPolicy::closest:
        return free.closest(lastAccess_);
    case LayoutPolicy::closestWrite:
        return free.closest(lastChosen_);
    case LayoutPolicy::middle:
        // both ends are far away: the first one is the faster part of a spinning disk
        return middleIsShort() ? free.closest(ClusterNo(context_.geometry.clusterCount / 2)) : free.following(ClusterNo(0));
    case LayoutPolicy::overwrite:
        break;
    }
    return free.following(lastChosen_);
}

void
ClusterFs::Allocator::poll()
{
    auto &catalog = context_.catalog;
    if (announced_.size() > reserve() / 2)
        return; // many at a time: each journal write takes a block
    while (announced_.size() < reserve() && catalog.free().size() > 0) {
        const auto c = choose();
        assert(c != noCluster);
        lastChosen_ = c;
        catalog.announce(c, context_.sequence);
        announced_.push_back({c, journal_.announce(c, context_.sequence)});
    }
}

/// takes one of the first that are announced, of which there are enough
ClusterFs::Allocator::Taken
ClusterFs::Allocator::takeOf(const size_t first, const bool wanted)
{
    auto best = announced_.begin();
    if (context_.config.layout == LayoutPolicy::middle) {
        for (auto a = best; a != announced_.begin() + static_cast<ptrdiff_t>(first); ++a) {
            if (wanted ? fromMiddle(a->cluster) < fromMiddle(best->cluster) : fromMiddle(a->cluster) > fromMiddle(best->cluster))
                best = a;
        }
    }
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
