// SPDX-License-Identifier: GPL-2.0-or-later
/* Announcing and handing out clusters. */

#include "fs/cluster/packing/Allocator.h"

#include <algorithm>
#include <cassert>

namespace ClusterFs {
namespace {
constexpr uint32_t logShare = 32; ///< the index log may claim one part of so many of all clusters; runs keep off
} // namespace
} // namespace ClusterFs

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
        announced_.push_back(announce(c));
    }
}

ClusterFs::Allocator::Taken
ClusterFs::Allocator::announce(const ClusterNo c)
{
    context_.catalog.announce(c, context_.sequence);
    return {c, journal_.announce(c, context_.sequence)};
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

/// the first cluster that the index log will not want: whoever has a run may keep it for long
ClusterFs::ClusterNo
ClusterFs::Allocator::firstForRuns() const
{
    return ClusterNo(context_.logClusters + context_.geometry.clusterCount / logShare);
}

bool
ClusterFs::Allocator::mayBeInRun(const ClusterNo c) const
{
    return context_.geometry.has(c) && c >= firstForRuns() && context_.catalog.free().contains(c);
}

/// the free cluster where a new run begins
ClusterFs::ClusterNo
ClusterFs::Allocator::beginOfRun() const
{
    const auto &free = context_.catalog.free();
    const auto c = context_.config.layout->next(free, view(announced_.size()));
    return c < firstForRuns() ? free.following(firstForRuns()) : c;
}

std::deque<ClusterFs::Allocator::Taken>
ClusterFs::Allocator::takeRun(const ClusterNo behind, const uint32_t most)
{
    const auto &free = context_.catalog.free();
    const auto spare = free.size() - std::min(free.size(), reserve());
    std::deque<Taken> run;
    if (spare && most > 1) {
        const bool goesOn = behind != noCluster && mayBeInRun(behind + 1);
        const auto first = goesOn ? behind + 1 : beginOfRun();
        for (auto c = first; run.size() < std::min(most, spare) && mayBeInRun(c); ++c)
            run.push_back(announce(c));
        if (!run.empty() && !goesOn)
            lastChosen_ = run.back().cluster; // what is chosen next comes behind it
    }
    if (run.empty()) {
        const auto one = takeSoon();
        if (one.cluster != noCluster)
            run.push_back(one);
    }
    return run;
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
ClusterFs::Allocator::giveBack(const Taken &taken)
{
    assert(context_.catalog.clusters()[taken.cluster].state == ClusterState::announced);
    const auto isSooner = [](const Taken &a, const Taken &b) { return a.ticket < b.ticket; };
    announced_.insert(std::lower_bound(announced_.begin(), announced_.end(), taken, isSooner), taken);
}
