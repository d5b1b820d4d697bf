// SPDX-License-Identifier: GPL-2.0-or-later
/* Moving objects from where they are to other clusters. */

#include "fs/cluster/replacement/Carrier.h"

#include <algorithm>
#include <cassert>

ClusterFs::Carrier::Carrier(Shared &shared, ReadCache &cache):
    shared_(shared),
    cache_(cache)
{
    shared_.catalog.onSettled = [this](const ClusterNo c) { settled(c); };
}

std::vector<ClusterFs::Carrier::Held>::iterator
ClusterFs::Carrier::find(const ClusterNo c)
{
    return std::find_if(held_.begin(), held_.end(), [c](const Held &h) { return h.cluster == c; });
}

void
ClusterFs::Carrier::hold(const ClusterNo c, const bool evict)
{
    assert(!holds(c));
    held_.push_back({c, evict, shared_.sequence});
}

bool
ClusterFs::Carrier::holds(const ClusterNo c) const
{
    return std::any_of(held_.begin(), held_.end(), [c](const Held &h) { return h.cluster == c; });
}

bool
ClusterFs::Carrier::copied(const ClusterNo c) const
{
    const auto sequence = shared_.catalog.clusters[c].sequence;
    return std::any_of(held_.begin(), held_.end(), [=](const Held &h) { return h.since < sequence; });
}

size_t
ClusterFs::Carrier::evicting() const
{
    return static_cast<size_t>(std::count_if(held_.begin(), held_.end(), [](const Held &h) { return h.evict; }));
}

bool
ClusterFs::Carrier::waitsForPacking() const
{
    // with none of its objects staged, a cluster is being read or waits for a flush
    return !held_.empty() && std::all_of(held_.begin(), held_.end(), [this](const Held &h) {
        return shared_.catalog.clusters[h.cluster].carried > 1;
    });
}

void
ClusterFs::Carrier::letGo(const ClusterNo c)
{
    held_.erase(find(c));
}

bool
ClusterFs::Carrier::begin(const ClusterNo c, const Sequence sequence)
{
    auto &entry = shared_.catalog.clusters[c];
    if (entry.state != ClusterState::packed || entry.sequence != sequence) {
        letGo(c); // deletes have emptied it meanwhile
        return false;
    }
    ++entry.carried; // ours: deletes must not empty it before flushed()
    return true;
}

uint64_t
ClusterFs::Carrier::carry(const ClusterNo c, const Sequence sequence, const std::vector<Wanted> &list, const bool asOld)
{
    if (!begin(c, sequence))
        return 0;
    uint64_t bytes = 0;
    for (const auto &w: list)
        bytes += carry(c, w, cache_.find(c, sequence, w.offset, Catalog::ExtentBytes(w.payload)).get(), asOld);
    cache_.forgetUnused(c);
    end(c);
    return bytes;
}

uint64_t
ClusterFs::Carrier::carry(const ClusterNo c, const Wanted &w, const Window *const window, const bool asOld)
{
    if (!window)
        return 0;
    const auto &r = shared_.catalog.index[w.slot];
    if (r.dead() || r.cluster != c || r.tag != w.tag || r.offset() != w.offset)
        return 0; // deleted while we read
    if (!carryOne(c, w, *window, asOld))
        return 0;
    ++shared_.counters.carriedObjects;
    shared_.counters.carriedBytes += w.payload;
    return w.payload;
}

bool
ClusterFs::Carrier::carryOne(const ClusterNo c, const Wanted &w, const Window &window, const bool asOld)
{
    auto &catalog = shared_.catalog;
    const char *const extent = window.at(w.offset);
    ExtentHeader header;
    header.size = w.payload;
    header.sequence = catalog.clusters[c].sequence;
    header.key = keyOfExtent(extent);
    // under another key, it would be in the index twice
    if (catalog.index.find(header.key) != w.slot ||
            checkExtent(extent, Catalog::ExtentBytes(w.payload), header, shared_.uuid, c, w.offset) != Status::ok) {
        ++shared_.counters.corrupt;
        return false;
    }
    if (Staging::MemoryOf(w.payload) > catalog.staging.bytesFree())
        return false; // promised to writers meanwhile
    if (catalog.index.full())
        return false; // the old record keeps its place until its cluster is free
    auto info = catalog.info(w.slot);
    info.flags &= static_cast<uint8_t>(~flagJoined); // the packer will see
    const auto stage = catalog.staging.open(header.key, info);
    if (stage == noStage)
        return false;
    if (!catalog.staging.append(stage, extent + ExtentHeader::encodedBytes, w.payload)) {
        catalog.staging.drop(stage);
        return false;
    }
    auto &staged = catalog.staging[stage];
    const auto heat = catalog.index[w.slot].heat();
    staged.heat = asOld ? heat : shared_.heatOf(Shared::usesOf(heat) / 2);
    if (catalog.index[w.slot].parted()) {
        staged.firstPart = catalog.index[w.slot].size;
        catalog.disownParts(w.slot);
    }
    catalog.eraseCarried(w.slot);
    const auto slot = catalog.addStaged(stage);
    assert(slot != noSlot);
    (void)slot; // only asserted on
    staged.origin = c;
    staged.originOffset = w.offset;
    ++catalog.clusters[c].carried;
    catalog.staging.complete(stage, shared_.clock.micros());
    onComplete(stage);
    return true;
}

/// Carried objects count as safe only where they are packed again, and the
/// device was flushed.
void
ClusterFs::Carrier::settled(const ClusterNo c)
{
    if (shared_.catalog.clusters[c].carried > 1)
        return; // not only ours
    assert(holds(c));
    settled_.push_back(c);
}

bool
ClusterFs::Carrier::wantsFlush(const bool urgent) const
{
    return settled_.size() >= evictingMost / 2 || (!settled_.empty() && urgent);
}

std::vector<ClusterFs::ClusterNo>
ClusterFs::Carrier::takeSettled()
{
    std::vector<ClusterNo> taken;
    taken.swap(settled_);
    return taken;
}

void
ClusterFs::Carrier::flushed(const std::vector<ClusterNo> &list)
{
    auto &catalog = shared_.catalog;
    for (const auto c: list) {
        const auto found = find(c);
        assert(found != held_.end());
        const bool evict = found->evict;
        if (!evict)
            shared_.leftBehind.note(found->since);
        held_.erase(found);
        auto &entry = catalog.clusters[c];
        --entry.carried;
        if (evict)
            onEmptied(c);
        else if (entry.state == ClusterState::packed && !entry.live && !entry.carried)
            catalog.freeCluster(c);
    }
}
