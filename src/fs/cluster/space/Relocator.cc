// SPDX-License-Identifier: GPL-2.0-or-later
/* Moving objects from where they are to other clusters. */

#include "fs/cluster/space/Relocator.h"

#include <algorithm>
#include <cassert>

ClusterFs::Relocator::Relocator(StoreContext &context, WindowStore &windows):
    context_(context),
    windows_(windows)
{
    context_.catalog.onSettled([this](const ClusterNo c) { settled(c); });
}

/// On a device of a few clusters all of them could be on their way out at once, and none would be there to write to.
size_t
ClusterFs::Relocator::mostEvicting() const
{
    return std::min(maxEvicting, std::max(2U, context_.geometry.clusterCount / 8));
}

std::vector<ClusterFs::Relocator::Held>::iterator
ClusterFs::Relocator::find(const ClusterNo c)
{
    return std::find_if(held_.begin(), held_.end(), [c](const Held &h) { return h.cluster == c; });
}

void
ClusterFs::Relocator::hold(const ClusterNo c, const bool evict)
{
    assert(!holds(c));
    held_.push_back({c, evict, context_.sequence});
}

bool
ClusterFs::Relocator::holds(const ClusterNo c) const
{
    return std::any_of(held_.begin(), held_.end(), [c](const Held &h) { return h.cluster == c; });
}

bool
ClusterFs::Relocator::copied(const ClusterNo c) const
{
    const auto sequence = context_.catalog.clusters()[c].sequence;
    return std::any_of(held_.begin(), held_.end(), [=](const Held &h) { return h.since < sequence; });
}

size_t
ClusterFs::Relocator::evicting() const
{
    return static_cast<size_t>(std::count_if(held_.begin(), held_.end(), [](const Held &h) { return h.evict; }));
}

bool
ClusterFs::Relocator::waitsForPacking() const
{
    // with none of its objects staged, a cluster is being read or waits for a flush
    return !held_.empty() && std::all_of(held_.begin(), held_.end(), [this](const Held &h) {
        return context_.catalog.clusters()[h.cluster].relocated > 1;
    });
}

void
ClusterFs::Relocator::letGo(const ClusterNo c)
{
    held_.erase(find(c));
}

bool
ClusterFs::Relocator::begin(const ClusterNo c, const Sequence sequence)
{
    const auto &entry = context_.catalog.clusters()[c];
    if (entry.state != ClusterState::packed || entry.sequence != sequence) {
        letGo(c); // deletes have emptied it meanwhile
        return false;
    }
    context_.catalog.beginRelocating(c); // until flushed()
    return true;
}

uint64_t
ClusterFs::Relocator::relocate(const ClusterNo c, const Sequence sequence, const std::vector<Wanted> &list, const bool asOld)
{
    if (!begin(c, sequence))
        return 0;
    uint64_t bytes = 0;
    for (const auto &w: list)
        bytes += relocate(c, w, windows_.peek({c, sequence, w.offset, Catalog::ExtentBytes(w.payload)}).get(), asOld);
    if (context_.catalog.offsetsIn(c, offsets_)) // else the windows leave memory when their time has come
        windows_.forgetUnused(c, sequence, offsets_);
    end(c);
    return bytes;
}

uint64_t
ClusterFs::Relocator::relocate(const ClusterNo c, const Wanted &w, const Window *const window, const bool asOld)
{
    if (!window)
        return 0;
    const auto &r = context_.catalog.index()[w.slot];
    if (r.dead() || r.cluster != c || r.tag != w.tag || r.offset() != w.offset)
        return 0; // deleted while we read
    if (!relocateOne(c, w, *window, asOld))
        return 0;
    ++context_.counters.relocatedObjects;
    context_.counters.relocatedBytes += w.payload;
    return w.payload;
}

bool
ClusterFs::Relocator::relocateOne(const ClusterNo c, const Wanted &w, const Window &window, const bool asOld)
{
    auto &catalog = context_.catalog;
    const char *const extent = window.at(w.offset);
    ExtentHeader header;
    header.size = w.payload;
    header.sequence = catalog.clusters()[c].sequence;
    header.key = keyOfExtent(extent);
    // under another key, it would be in the index twice
    if (catalog.index().find(header.key) != w.slot ||
            checkExtent(extent, Catalog::ExtentBytes(w.payload), header, context_.uuid, c, w.offset) != Status::ok) {
        ++context_.counters.corrupt;
        return false;
    }
    if (Staging::MemoryOf(w.payload) > catalog.staging().bytesFree())
        return false; // promised to writers meanwhile
    if (catalog.index().full())
        return false; // the old record keeps its place until its cluster is free
    auto info = catalog.info(w.slot);
    info.flags &= static_cast<uint8_t>(~flagJoined); // the packer will see
    const auto stage = catalog.staging().open(header.key, info);
    if (stage == noStage)
        return false;
    if (!catalog.staging().append(stage, extent + ExtentHeader::encodedBytes, w.payload)) {
        catalog.staging().drop(stage);
        return false;
    }
    const auto heat = catalog.heat(w.slot);
    catalog.staging().close(stage, info.size, asOld ? heat : context_.heatOf(StoreContext::usesOf(heat) / 2));
    catalog.relocate(w.slot, stage);
    catalog.staging().complete(stage, context_.clock.micros());
    onComplete(stage);
    return true;
}

/// Relocated objects count as safe only where they are packed again, and the
/// device was flushed.
void
ClusterFs::Relocator::settled(const ClusterNo c)
{
    if (context_.catalog.clusters()[c].relocated > 1)
        return; // not only ours
    assert(holds(c));
    settled_.push_back(c);
}

bool
ClusterFs::Relocator::wantsFlush(const bool urgent) const
{
    return settled_.size() >= mostEvicting() / 2 || (!settled_.empty() && urgent);
}

std::vector<ClusterFs::ClusterNo>
ClusterFs::Relocator::takeSettled()
{
    std::vector<ClusterNo> taken;
    taken.swap(settled_);
    return taken;
}

void
ClusterFs::Relocator::flushed(const std::vector<ClusterNo> &list)
{
    auto &catalog = context_.catalog;
    for (const auto c: list) {
        const auto found = find(c);
        assert(found != held_.end());
        const bool evict = found->evict;
        if (!evict)
            context_.leftBehind.note(found->since);
        held_.erase(found);
        catalog.endRelocating(c);
        if (evict)
            onEmptied(c);
        else
            catalog.freeIfEmpty(c);
    }
}
