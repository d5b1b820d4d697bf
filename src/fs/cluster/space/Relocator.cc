// SPDX-License-Identifier: GPL-2.0-or-later
/* All relocations of an engine. */

#include "fs/cluster/space/Relocator.h"

#include <algorithm>
#include <cassert>

ClusterFs::Relocator::Relocator(StoreContext &aContext, ReadCache &aCache, Journal &aJournal, PackingQueue &aQueue):
    context(aContext),
    cache(aCache),
    journal(aJournal),
    packing(aQueue)
{
    context.catalog.tellSettled(*this);
}

/// On a device of a few clusters, all of them could be evicted at once, and none would be left to pack the copies into.
size_t
ClusterFs::Relocator::mostEvicting() const
{
    return std::min(maxEvicting, std::max(2U, context.geometry.clusterCount / 8));
}

bool
ClusterFs::Relocator::holds(const ClusterNo c) const
{
    return std::any_of(all_.begin(), all_.end(), [c](const auto &r) { return r->cluster() == c; });
}

void
ClusterFs::Relocator::begin(const ClusterNo c, const Relocation::Purpose purpose)
{
    assert(!holds(c));
    all_.push_back(std::make_shared<Relocation>(*this, c, purpose));
    queue(all_.back());
    work();
}

uint64_t
ClusterFs::Relocator::regroup(const ClusterNo c, const Sequence sequence, const Relocation::Candidates &list)
{
    assert(!holds(c));
    if (entry(c).state != ClusterState::packed || entry(c).sequence != sequence)
        return 0; // deletes emptied it meanwhile
    const auto r = std::make_shared<Relocation>(*this, c, Relocation::Purpose::regroup);
    all_.push_back(r);
    return r->regroup(list);
}

void
ClusterFs::Relocator::work()
{
    const auto waiting = std::count_if(all_.begin(), all_.end(), [](const auto &r) { return r->evicts() && r->state() == Relocation::State::packing; });
    if (static_cast<size_t>(waiting) * 4 > mostEvicting() * 3)
        packing.hurryMoved();
    while (!queue_.empty() && records) {
        const auto r = queue_.front();
        if (r->goOn())
            queue_.pop_front();
    }
}

void
ClusterFs::Relocator::remove(const Relocation &r)
{
    all_.erase(std::find_if(all_.begin(), all_.end(), [&r](const auto &one) { return one.get() == &r; }));
}

size_t
ClusterFs::Relocator::evicting() const
{
    return static_cast<size_t>(std::count_if(all_.begin(), all_.end(), [](const auto &r) { return r->evicts(); }));
}

size_t
ClusterFs::Relocator::emptying() const
{
    const auto isEmptying = [](const auto &r) { return r->state() == Relocation::State::emptying; };
    return static_cast<size_t>(std::count_if(all_.begin(), all_.end(), isEmptying));
}

bool
ClusterFs::Relocator::waitsForPacking() const
{
    // a cluster of whose objects none is staged is being read, or waits for a disk flush
    return !all_.empty() && std::all_of(all_.begin(), all_.end(), [this](const auto &r) { return entry(r->cluster()).relocated > 1; });
}

bool
ClusterFs::Relocator::copied(const ClusterNo c) const
{
    return std::any_of(all_.begin(), all_.end(), [s = entry(c).sequence](const auto &r) { return r->since() < s; });
}

/// Relocated objects count as safe only when they are packed again and a disk
/// flush covers that.
void
ClusterFs::Relocator::copySettled(const ClusterNo origin)
{
    const auto r = std::find_if(all_.begin(), all_.end(), [origin](const auto &one) { return one->cluster() == origin; });
    assert(r != all_.end());
    if ((*r)->settle())
        settled_.push_back(*r);
}

bool
ClusterFs::Relocator::wantsFlush(const bool urgent) const
{
    return settled_.size() >= mostEvicting() / 2 || (!settled_.empty() && urgent);
}

std::vector<ClusterFs::RelocationPointer>
ClusterFs::Relocator::beginFlush()
{
    std::vector<RelocationPointer> begun;
    begun.swap(settled_);
    for (const auto &r: begun)
        r->beginFlush();
    return begun;
}

void
ClusterFs::Relocator::flushed(const std::vector<RelocationPointer> &list)
{
    for (const auto &r: list) {
        r->flushed();
        work();
    }
}

bool
ClusterFs::Relocator::hasRoomFor(const uint64_t bytes) const
{
    return bytes + bytes / 4 < context.catalog.staging().bytesFree() / 2;
}

bool
ClusterFs::Relocator::fits(const ClusterNo c) const
{
    const uint64_t bytes = entry(c).liveBytes;
    return bytes + bytes / 4 < context.catalog.staging().bytesLimit() / 2;
}
