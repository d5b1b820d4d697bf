// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of an object's place. */

#include "fs/cluster/catalog/Catalog.h"

#include <algorithm>
#include <cassert>

ClusterFs::Catalog::Catalog(const Geometry &geometry, const HashSecret &secret, const uint64_t stagingBytes, const bool keepKeys):
    changes(geometry.clusterCount),
    index(geometry.maxObjects, geometry.baseBuckets, secret, keepKeys),
    clusters(geometry.clusterCount, changes),
    free(geometry.clusterCount),
    staging(stagingBytes)
{
}

ClusterFs::SlotNo
ClusterFs::Catalog::addStaged(const StageNo stage)
{
    auto &o = staging[stage];
    const auto slot = index.insert(o.key);
    if (slot == noSlot)
        return noSlot;
    auto &r = index[slot];
    r.setInfo(o.info);
    r.setFlags(r.flags() & static_cast<uint8_t>(~flagParted));
    r.cluster = stagedCluster;
    r.place = stage;
    r.size = o.size;
    o.record = slot;
    if (o.firstPart != noCluster)
        adoptParts(slot, o.firstPart);
    liveBytes_ += objectSize(slot);
    return slot;
}

void
ClusterFs::Catalog::adoptParts(const SlotNo slot, const ClusterNo first)
{
    auto &r = index[slot];
    assert(!r.parted());
    r.setFlags(r.flags() | flagParted);
    r.size = first;
    for (auto c = first; c != noCluster; c = clusters[c].nextPart)
        clusters[c].first = slot;
}

void
ClusterFs::Catalog::disownParts(const SlotNo slot)
{
    auto &r = index[slot];
    if (!r.parted())
        return;
    const auto first = r.size;
    const auto payload = payloadBytes(slot);
    liveBytes_ -= objectSize(slot) - payload;
    r.setFlags(r.flags() & static_cast<uint8_t>(~flagParted));
    r.size = payload;
    for (auto c = first; c != noCluster; c = clusters[c].nextPart)
        clusters[c].first = noSlot;
}

void
ClusterFs::Catalog::place(const SlotNo slot, const ClusterNo cluster, const uint32_t offset, const uint32_t payload, const bool joined)
{
    auto &r = index[slot];
    if (joined)
        r.setFlags(r.flags() | flagJoined);
    assert(r.staged());
    const auto stage = static_cast<StageNo>(r.place);
    const auto heat = staging[stage].heat;
    auto &c = clusters[cluster];
    r.cluster = cluster;
    r.setPlace(offset, heat);
    r.sibling = c.first;
    c.first = slot;
    ++c.live;
    c.liveBytes += ExtentBytes(payload);
    dropStaged(stage);
}

bool
ClusterFs::Catalog::offsetsIn(const ClusterNo cluster, std::vector<uint32_t> &offsets) const
{
    offsets.clear();
    unsigned looks = 0;
    for (auto s = clusters[cluster].first; s != noSlot; s = index[s].sibling) {
        if (++looks > maxWalk)
            return false;
        if (!index[s].dead())
            offsets.push_back(index[s].offset());
    }
    std::sort(offsets.begin(), offsets.end());
    return true;
}

ClusterFs::Catalog::Run
ClusterFs::Catalog::runAround(const SlotNo slot) const
{
    const auto &entry = clusters[index[slot].cluster];
    const auto offset = index[slot].offset();
    // two walks instead of a sorted list: the records may be in any order
    uint32_t end = 0xffffffffU;
    Run run;
    run.first = entry.first;
    for (auto s = entry.first; s != noSlot; s = index[s].sibling) {
        const auto &r = index[s];
        if (++run.records > maxWalk)
            return runBehind(slot);
        if (r.dead() || (r.flags() & flagJoined))
            continue;
        if (r.offset() <= offset)
            run.from = std::max(run.from, r.offset());
        else
            end = std::min(end, r.offset());
    }
    for (auto s = entry.first; s != noSlot; s = index[s].sibling) {
        const auto &r = index[s];
        if (r.dead() || r.offset() < run.from || r.offset() >= end)
            continue;
        ++run.objects;
        run.to = std::max(run.to, r.offset() + ExtentBytes(payloadBytes(s)));
    }
    return run;
}

/// an object and what of its group lies right behind it, in memory as on the device
ClusterFs::Catalog::Run
ClusterFs::Catalog::runBehind(const SlotNo slot) const
{
    Run run;
    run.first = slot;
    run.from = index[slot].offset();
    run.to = run.from + ExtentBytes(payloadBytes(slot));
    run.objects = run.records = 1;
    for (auto s = index[slot].sibling; s != noSlot && run.records < maxWalk; s = index[s].sibling) {
        const auto &r = index[s];
        if (r.dead() || !(r.flags() & flagJoined) || r.offset() != run.to)
            break;
        ++run.objects;
        ++run.records;
        run.to += ExtentBytes(payloadBytes(s));
    }
    return run;
}

ClusterFs::Catalog::Run
ClusterFs::Catalog::narrowed(const Run &run, const ClusterNo cluster, const uint32_t offset, const uint32_t bytes, const std::vector<Key> &objects) const
{
    auto result = run;
    result.from = offset;
    result.to = offset + bytes;
    result.objects = 1;
    for (const auto &key: objects) {
        const auto slot = index.find(key);
        if (slot == noSlot)
            continue;
        const auto &r = index[slot];
        if (r.cluster != cluster || r.offset() < run.from || r.offset() >= run.to || r.offset() == offset)
            continue;
        ++result.objects;
        result.from = std::min(result.from, r.offset());
        result.to = std::max(result.to, r.offset() + ExtentBytes(payloadBytes(slot)));
    }
    return result;
}

ClusterFs::Catalog::Run
ClusterFs::Catalog::without(const Run &run, const uint32_t offset, const std::function<bool(uint32_t, uint32_t)> &excluded) const
{
    auto result = run;
    result.objects = 0;
    result.from = result.to = offset;
    auto left = run.records;
    for (auto s = run.first; s != noSlot && left; s = index[s].sibling, --left) {
        const auto &r = index[s];
        if (r.dead() || r.offset() < run.from || r.offset() >= run.to)
            continue;
        const auto bytes = ExtentBytes(payloadBytes(s));
        if (r.offset() != offset && excluded(r.offset(), bytes))
            continue;
        ++result.objects;
        result.from = std::min(result.from, r.offset());
        result.to = std::max(result.to, r.offset() + bytes);
    }
    return result;
}

/// An object leaves staging, for the device or for good. Where it was relocated from, it is no
/// more: the checkpoint that says so flushes what was written before it.
void
ClusterFs::Catalog::dropStaged(const StageNo stage)
{
    const auto origin = staging[stage].origin;
    const auto originOffset = staging[stage].originOffset;
    staging.drop(stage);
    if (origin == noCluster)
        return;
    changes.gone(origin, originOffset);
    assert(clusters[origin].relocated > 0);
    --clusters[origin].relocated;
    if (onSettled)
        onSettled(origin);
}

ClusterFs::SlotNo
ClusterFs::Catalog::addFound(const HashedKey hashed, const Key *key, const Record &like, const uint32_t payload)
{
    const auto slot = index.insert(hashed, key);
    if (slot == noSlot)
        return noSlot;
    auto &r = index[slot];
    r.cluster = like.cluster;
    r.place = like.place;
    r.size = like.size;
    r.timestamp = like.timestamp;
    r.setPacked(like.packed());
    auto &c = clusters[r.cluster];
    r.sibling = c.first;
    c.first = slot;
    ++c.live;
    c.liveBytes += ExtentBytes(payload);
    if (r.parted()) {
        for (auto p = r.size; p != noCluster; p = clusters[p].nextPart)
            clusters[p].first = slot;
    }
    liveBytes_ += objectSize(slot);
    return slot;
}

void
ClusterFs::Catalog::erase(const SlotNo slot)
{
    const auto &r = index[slot];
    if (!r.staged() && clusters[r.cluster].state != ClusterState::draining)
        changes.gone(r.cluster, r.offset());
    forget(slot);
}

void
ClusterFs::Catalog::eraseRelocated(const SlotNo slot)
{
    forget(slot);
}

void
ClusterFs::Catalog::noteUpdate(const SlotNo slot)
{
    if (!index[slot].staged())
        changes.updated(index.hashedOf(slot), index[slot].cluster);
}

void
ClusterFs::Catalog::forget(const SlotNo slot)
{
    auto &r = index[slot];
    const auto payload = payloadBytes(slot);
    const auto size = objectSize(slot);
    assert(liveBytes_ >= size);
    liveBytes_ -= size;
    const auto parts = r.parted() ? r.size : noCluster;
    index.unlink(slot);
    if (r.staged()) {
        const auto stage = static_cast<StageNo>(r.place);
        index.release(slot);
        dropStaged(stage);
    } else {
        auto &c = clusters[r.cluster];
        assert(c.live > 0 && c.liveBytes >= ExtentBytes(payload));
        --c.live;
        c.liveBytes -= ExtentBytes(payload);
        if (!c.live && c.state == ClusterState::packed && !c.relocated && !holdEmpty)
            freeCluster(r.cluster);
    }
    if (parts != noCluster)
        freeParts(parts);
}

void
ClusterFs::Catalog::freeCluster(const ClusterNo n)
{
    auto &c = clusters[n];
    assert(c.state == ClusterState::packed);
    clusters.unlink(n);
    clusters.setState(n, ClusterState::draining); // erase() below must not come back here
    auto slot = c.first;
    while (slot != noSlot) {
        const auto next = index[slot].sibling;
        if (!index[slot].dead())
            erase(slot);
        index.release(slot);
        slot = next;
    }
    c.first = noSlot;
    assert(c.live == 0 && c.liveBytes == 0);
    if (onRelease)
        onRelease(n);
    if (!c.pins)
        makeFree(n);
}

bool
ClusterFs::Catalog::forgetSome(const ClusterNo n, unsigned &records)
{
    auto &c = clusters[n];
    assert(c.state == ClusterState::packed);
    ++c.relocated; // erase() must leave the cluster to the caller
    while (c.first != noSlot && records) {
        const auto slot = c.first;
        const auto parts = clusters.inState(ClusterState::part);
        if (!index[slot].dead())
            erase(slot);
        c.first = index[slot].sibling;
        index.release(slot);
        records -= std::min(records, 1 + parts - clusters.inState(ClusterState::part));
    }
    --c.relocated;
    return c.first == noSlot;
}

void
ClusterFs::Catalog::freeParts(const ClusterNo first)
{
    for (auto n = first; n != noCluster; n = clusters[n].nextPart) {
        assert(clusters[n].state == ClusterState::part);
        clusters.setState(n, ClusterState::draining);
        clusters[n].first = noSlot;
        if (onRelease)
            onRelease(n);
    }
    if (!clusters[first].pins)
        finishDraining(first);
}

void
ClusterFs::Catalog::finishDraining(const ClusterNo first)
{
    // only the first cluster of a chain is ever pinned, on behalf of all
    for (auto n = first; n != noCluster;) {
        const auto next = clusters[n].nextPart;
        assert(!clusters[n].pins);
        makeFree(n);
        n = next;
    }
}

void
ClusterFs::Catalog::unpin(const ClusterNo n)
{
    auto &c = clusters[n];
    assert(c.pins > 0);
    if (--c.pins == 0 && c.state == ClusterState::draining)
        finishDraining(n);
}

void
ClusterFs::Catalog::makeFree(const ClusterNo n)
{
    auto &c = clusters[n];
    c.nextPart = noCluster;
    c.total = 0;
    c.headBytes = 0;
    c.end = 0;
    if (c.errors == ClusterEntry::unwritable) {
        clusters.setState(n, ClusterState::bad);
        return;
    }
    clusters.setState(n, ClusterState::free);
    free.add(n);
}

void
ClusterFs::Catalog::quarantine(const ClusterNo n)
{
    if (clusters[n].state == ClusterState::packed)
        freeCluster(n);
    if (clusters[n].state == ClusterState::free)
        free.remove(n);
    clusters.setState(n, ClusterState::bad);
}

ClusterFs::ObjectInfo
ClusterFs::Catalog::info(const SlotNo slot) const
{
    auto info = index[slot].info();
    info.size = objectSize(slot);
    return info;
}

uint64_t
ClusterFs::Catalog::objectSize(const SlotNo slot) const
{
    const auto &r = index[slot];
    return r.parted() ? clusters[r.size].total : r.size;
}

uint32_t
ClusterFs::Catalog::payloadBytes(const SlotNo slot) const
{
    const auto &r = index[slot];
    return r.parted() ? clusters[r.size].headBytes : r.size;
}
