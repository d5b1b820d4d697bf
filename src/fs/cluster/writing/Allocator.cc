// SPDX-License-Identifier: GPL-2.0-or-later
/* Announcing and handing out clusters. */

#include "fs/cluster/writing/Allocator.h"

#include <algorithm>
#include <cassert>

ClusterFs::Allocator::Allocator(Shared &shared, Journal &journal):
    shared_(shared),
    journal_(journal)
{
}

uint32_t
ClusterFs::Allocator::reserve() const
{
    const auto count = shared_.geometry.clusterCount;
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

ClusterFs::ClusterNo
ClusterFs::Allocator::choose() const
{
    const auto &free = shared_.catalog.free;
    switch (shared_.config.layout) {
    case LayoutPolicy::closest:
        return free.closest(lastAccess_);
    case LayoutPolicy::closestWrite:
        return free.closest(lastChosen_);
    case LayoutPolicy::overwrite:
        break;
    }
    return free.following(lastChosen_);
}

void
ClusterFs::Allocator::poll()
{
    auto &catalog = shared_.catalog;
    if (announced_.size() > reserve() / 2)
        return; // many at a time: each journal write takes a block
    while (announced_.size() < reserve() && catalog.free.size() > 0) {
        const auto c = choose();
        assert(c != noCluster);
        lastChosen_ = c;
        catalog.free.remove(c);
        catalog.clusters.setState(c, ClusterState::announced);
        catalog.clusters[c].sequence = shared_.sequence;
        announced_.push_back({c, journal_.announce(c, shared_.sequence)});
    }
}

ClusterFs::ClusterNo
ClusterFs::Allocator::take()
{
    if (announced_.empty() || announced_.front().ticket > journal_.written())
        return noCluster;
    return takeSoon().cluster;
}

ClusterFs::Allocator::Taken
ClusterFs::Allocator::takeSoon()
{
    if (announced_.empty())
        poll();
    if (announced_.empty())
        return {noCluster, 0};
    const auto taken = announced_.front();
    announced_.pop_front();
    assert(shared_.catalog.clusters[taken.cluster].state == ClusterState::announced);
    assert(!shared_.catalog.clusters[taken.cluster].pins);
    return taken;
}

void
ClusterFs::Allocator::giveBack(const ClusterNo c)
{
    assert(shared_.catalog.clusters[c].state == ClusterState::announced);
    announced_.push_front({c, 0});
}
