// SPDX-License-Identifier: GPL-2.0-or-later
/* Index, cluster table, free map and staging, kept in step. */

#include "fs/cluster/catalog/Catalog.h"

#include <algorithm>
#include <cassert>

ClusterFs::Catalog::Catalog(const Geometry &geometry, const HashSecret &secret, const uint64_t stagingBytes, const bool keepKeys):
    changes_(geometry.clusterCount),
    index_(geometry.maxObjects, geometry.baseBuckets, secret, keepKeys),
    clusters_(geometry.clusterCount, changes_),
    free_(geometry.clusterCount),
    staging_(stagingBytes)
{
}

ClusterFs::SlotNo
ClusterFs::Catalog::addStaged(const StageNo stage)
{
    auto &o = staging_.entry(stage);
    const auto changing = index_.change(o.key);
    const auto slot = index_.insert(o.key);
    if (slot == noSlot)
        return noSlot;
    auto &r = index_[slot];
    r.setInfo(o.info);
    r.setFlags(r.flags() & static_cast<uint8_t>(~flagParted));
    r.setStage(stage);
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
    auto &r = index_[slot];
    assert(!r.parted());
    r.setFirstPart(first);
    for (auto c = first; c != noCluster; c = clusters_[c].nextPart)
        clusters_[c].first = slot;
}

void
ClusterFs::Catalog::disownParts(const SlotNo slot)
{
    auto &r = index_[slot];
    if (!r.parted())
        return;
    const auto changing = index_.change(slot);
    const auto first = r.firstPart();
    const auto payload = payloadBytes(slot);
    liveBytes_ -= objectSize(slot) - payload;
    r.setFlags(r.flags() & static_cast<uint8_t>(~flagParted));
    r.size = payload;
    for (auto c = first; c != noCluster; c = clusters_[c].nextPart)
        clusters_[c].first = noSlot;
    if (starting_ && clusters_[first].pins)
        inUse_.insert(first);
}

void
ClusterFs::Catalog::place(const SlotNo slot, const ClusterNo cluster, const uint32_t offset, const uint32_t payload, const bool joined)
{
    auto &r = index_[slot];
    const auto changing = index_.change(slot);
    if (joined)
        r.setFlags(r.flags() | flagJoined);
    assert(r.staged());
    const auto stage = r.stage();
    const auto heat = staging_[stage].heat;
    auto &c = clusters_[cluster];
    assert(c.state == ClusterState::writing);
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
    for (auto s = clusters_[cluster].first; s != noSlot; s = index_[s].sibling) {
        if (++looks > maxWalk)
            return false;
        if (!index_[s].dead())
            offsets.push_back(index_[s].offset());
    }
    std::sort(offsets.begin(), offsets.end());
    return true;
}

ClusterFs::Catalog::Run
ClusterFs::Catalog::runAround(const SlotNo slot) const
{
    const auto &entry = clusters_[index_[slot].cluster];
    const auto offset = index_[slot].offset();
    // two walks instead of a sorted list: the records may be in any order
    uint32_t end = 0xffffffffU;
    Run run;
    run.first = entry.first;
    for (auto s = entry.first; s != noSlot; s = index_[s].sibling) {
        const auto &r = index_[s];
        if (++run.records > maxWalk)
            return runBehind(slot);
        if (r.dead() || (r.flags() & flagJoined))
            continue;
        if (r.offset() <= offset)
            run.from = std::max(run.from, r.offset());
        else
            end = std::min(end, r.offset());
    }
    for (auto s = entry.first; s != noSlot; s = index_[s].sibling) {
        const auto &r = index_[s];
        if (r.dead() || r.offset() < run.from || r.offset() >= end)
            continue;
        ++run.objects;
        run.to = std::max(run.to, r.offset() + ExtentBytes(payloadBytes(s)));
    }
    return run;
}

/// an object and those of its group that follow it both in the list of records and on the device, without a gap
ClusterFs::Catalog::Run
ClusterFs::Catalog::runBehind(const SlotNo slot) const
{
    Run run;
    run.first = slot;
    run.from = index_[slot].offset();
    run.to = run.from + ExtentBytes(payloadBytes(slot));
    run.objects = run.records = 1;
    for (auto s = index_[slot].sibling; s != noSlot && run.records < maxWalk; s = index_[s].sibling) {
        const auto &r = index_[s];
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
        const auto slot = index_.find(key);
        if (slot == noSlot)
            continue;
        const auto &r = index_[slot];
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
    for (auto s = run.first; s != noSlot && left; s = index_[s].sibling, --left) {
        const auto &r = index_[s];
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

/// An object leaves staging, for the device or for good. The next checkpoint says that it is not
/// any more where it was relocated from. That is safe, because a checkpoint flushes the disk, and
/// with it the object's new cluster, before it counts.
void
ClusterFs::Catalog::dropStaged(const StageNo stage)
{
    const auto origin = staging_[stage].origin;
    const auto originOffset = staging_[stage].originOffset;
    staging_.forget(stage);
    if (origin == noCluster)
        return;
    changes_.gone(origin, originOffset);
    assert(clusters_[origin].relocated > 0);
    --clusters_[origin].relocated;
    if (relocationListener_)
        relocationListener_->copySettled(origin);
}

ClusterFs::SlotNo
ClusterFs::Catalog::addFound(const HashedKey hashed, const Key *key, const Record &like, const uint32_t payload)
{
    const auto changing = index_.change(hashed);
    const auto slot = index_.insert(hashed, key);
    if (slot == noSlot)
        return noSlot;
    auto &r = index_[slot];
    r.cluster = like.cluster;
    r.place = like.place;
    r.size = like.size;
    r.timestamp = like.timestamp;
    r.setPacked(like.packed());
    auto &c = clusters_[r.cluster];
    r.sibling = c.first;
    c.first = slot;
    ++c.live;
    c.liveBytes += ExtentBytes(payload);
    if (r.parted()) {
        for (auto p = r.firstPart(); p != noCluster; p = clusters_[p].nextPart)
            clusters_[p].first = slot;
    }
    liveBytes_ += objectSize(slot);
    return slot;
}

void
ClusterFs::Catalog::erase(const SlotNo slot)
{
    const auto &r = index_[slot];
    if (!r.staged() && clusters_[r.cluster].state != ClusterState::draining)
        changes_.gone(r.cluster, r.offset());
    forget(slot);
}

void
ClusterFs::Catalog::supersede(const SlotNo slot)
{
    disownParts(slot);
    forget(slot);
}

void
ClusterFs::Catalog::relocate(const SlotNo slot, const StageNo stage)
{
    const auto changing = index_.change(slot); // nobody may see it gone
    const auto origin = index_[slot].cluster;
    const auto offset = index_[slot].offset();
    assert(clusters_[origin].relocated > 0);
    auto &staged = staging_.entry(stage);
    if (index_[slot].parted()) {
        staged.firstPart = index_[slot].firstPart();
        disownParts(slot);
    }
    forget(slot);
    const auto moved = addStaged(stage);
    assert(moved != noSlot);
    (void)moved; // only asserted on
    staged.origin = origin;
    staged.originOffset = offset;
    ++clusters_[origin].relocated;
}

void
ClusterFs::Catalog::putHead(const StageNo stage, const ClusterNo firstPart)
{
    auto &staged = staging_.entry(stage);
    staged.firstPart = firstPart;
    putHead(firstPart, staged.info.size, staged.size);
}

void
ClusterFs::Catalog::putHead(const ClusterNo firstPart, const uint64_t total, const uint32_t headBytes)
{
    auto &c = clusters_[firstPart];
    assert(c.state == ClusterState::part && c.first == noSlot);
    c.total = total;
    c.headBytes = headBytes;
    clusters_.noteChange(firstPart);
}

void
ClusterFs::Catalog::linkParts(const std::vector<PartReference> &parts)
{
    for (size_t i = 0; i < parts.size(); ++i)
        clusters_[parts[i].cluster].nextPart = i + 1 < parts.size() ? parts[i + 1].cluster : noCluster;
}

void
ClusterFs::Catalog::joinParts(const std::vector<PartReference> &parts, const uint64_t total, const uint32_t headBytes)
{
    linkParts(parts);
    putHead(parts.front().cluster, total, headBytes);
    for (const auto &p: parts)
        clusters_.noteChange(p.cluster);
}

void
ClusterFs::Catalog::touch(const SlotNo slot, const uint32_t heat, const Sequence now, const bool reorder)
{
    auto &r = index_[slot];
    if (r.staged()) {
        staging_.entry(r.stage()).heat = heat;
        staging_.touch(r.stage());
        return;
    }
    if (heat != r.heat())
        changes_.used(index_.hashedOf(slot));
    r.setHeat(heat);
    auto &c = clusters_[r.cluster];
    c.heat = static_cast<uint32_t>(now.value());
    if (reorder && c.state == ClusterState::packed)
        clusters_.toHead(r.cluster);
}

void
ClusterFs::Catalog::updateInfo(const SlotNo slot, const ObjectInfo &info)
{
    auto &r = index_[slot];
    const auto changing = index_.change(slot);
    auto own = info;
    own.flags = static_cast<uint8_t>((info.flags & flagsOfCaller) | (r.flags() & ~flagsOfCaller & ~flagDoubtful));
    r.setInfo(own);
    if (!r.staged()) {
        changes_.updated(index_.hashedOf(slot), r.cluster);
        return;
    }
    auto &staged = staging_.entry(r.stage());
    own.size = staged.info.size;
    staged.info = own;
}

void
ClusterFs::Catalog::forget(const SlotNo slot)
{
    auto &r = index_[slot];
    const auto payload = payloadBytes(slot);
    const auto size = objectSize(slot);
    assert(liveBytes_ >= size);
    liveBytes_ -= size;
    const auto parts = r.parted() ? r.firstPart() : noCluster;
    index_.unlink(slot);
    if (r.staged()) {
        const auto stage = r.stage();
        index_.release(slot);
        dropStaged(stage);
    } else {
        auto &c = clusters_[r.cluster];
        assert(c.live > 0 && c.liveBytes >= ExtentBytes(payload));
        --c.live;
        c.liveBytes -= ExtentBytes(payload);
        if (!adding_)
            freeIfEmpty(r.cluster);
    }
    if (parts != noCluster)
        freeParts(parts);
}

/// tells listeners that a cluster's contents are forgotten
void
ClusterFs::Catalog::release(const ClusterNo n)
{
    for (auto *const l: releaseListeners_)
        l->released(n);
}

void
ClusterFs::Catalog::freeCluster(const ClusterNo n)
{
    auto &c = clusters_[n];
    enter(n, ClusterState::draining); // erase() below must not come back here
    auto slot = c.first;
    while (slot != noSlot) {
        const auto next = index_[slot].sibling;
        if (!index_[slot].dead())
            erase(slot);
        index_.release(slot);
        slot = next;
    }
    c.first = noSlot;
    assert(c.live == 0 && c.liveBytes == 0);
    release(n);
    if (!c.pins)
        makeFree(n);
}

bool
ClusterFs::Catalog::forgetSome(const ClusterNo n, unsigned &records)
{
    auto &c = clusters_[n];
    assert(c.state == ClusterState::packed);
    clusters_.noteChange(n); // instead of each of its objects
    ++c.relocated; // erase() must leave the cluster to the caller
    while (c.first != noSlot && records) {
        const auto slot = c.first;
        const auto parts = clusters_.inState(ClusterState::part);
        if (!index_[slot].dead())
            erase(slot);
        c.first = index_[slot].sibling;
        index_.release(slot);
        records -= std::min(records, 1 + parts - clusters_.inState(ClusterState::part));
    }
    --c.relocated;
    return c.first == noSlot;
}

void
ClusterFs::Catalog::freeParts(const ClusterNo first)
{
    for (auto n = first; n != noCluster; n = clusters_[n].nextPart) {
        enter(n, ClusterState::draining);
        clusters_[n].first = noSlot;
        release(n);
    }
    if (!clusters_[first].pins)
        finishDraining(first);
}

void
ClusterFs::Catalog::finishDraining(const ClusterNo first)
{
    // only the first cluster of a chain is ever pinned, on behalf of all
    for (auto n = first; n != noCluster;) {
        const auto next = clusters_[n].nextPart;
        assert(!clusters_[n].pins);
        makeFree(n);
        n = next;
    }
}

void
ClusterFs::Catalog::unpin(const ClusterNo n)
{
    auto &c = clusters_[n];
    assert(c.pins > 0);
    if (--c.pins == 0 && c.state == ClusterState::draining)
        finishDraining(n);
}

/// makes a cluster that holds nothing free, or bad if it was retired
void
ClusterFs::Catalog::makeFree(const ClusterNo n)
{
    auto &c = clusters_[n];
    c.nextPart = noCluster;
    c.total = 0;
    c.headBytes = 0;
    c.end = 0;
    enter(n, c.errors == ClusterEntry::unwritable ? ClusterState::bad : ClusterState::free);
}

/// changes the state of a cluster, which the next checkpoint says; the free map follows
void
ClusterFs::Catalog::enter(const ClusterNo n, const ClusterState state)
{
    if (clusters_[n].state == ClusterState::free)
        free_.remove(n);
    clusters_.enter(n, state);
    if (state == ClusterState::free)
        free_.add(n);
}

void
ClusterFs::Catalog::announce(const ClusterNo n, const Sequence after)
{
    enter(n, ClusterState::announced);
    clusters_[n].sequence = after;
}

void
ClusterFs::Catalog::withdraw(const ClusterNo n)
{
    assert(clusters_[n].state == ClusterState::announced);
    makeFree(n);
}

void
ClusterFs::Catalog::beginWrite(const ClusterNo n, const Sequence sequence)
{
    auto &c = clusters_[n];
    assert(!c.pins && c.first == noSlot);
    enter(n, ClusterState::writing);
    c.sequence = sequence;
    c.end = 0;
    c.errors = 0;
}

void
ClusterFs::Catalog::abandonWrite(const ClusterNo n)
{
    assert(clusters_[n].first == noSlot);
    enter(n, ClusterState::announced);
}

void
ClusterFs::Catalog::failWrite(const ClusterNo n)
{
    assert(clusters_[n].state == ClusterState::writing && clusters_[n].first == noSlot);
    enter(n, ClusterState::bad);
}

void
ClusterFs::Catalog::finishWrite(const ClusterNo n, const uint32_t end, const uint32_t written, const Sequence now)
{
    auto &c = clusters_[n];
    assert(c.state == ClusterState::writing);
    enter(n, ClusterState::packed);
    c.end = end;
    c.written = written;
    c.heat = static_cast<uint32_t>(now.value());
    freeIfEmpty(n);
}

void
ClusterFs::Catalog::addPart(const ClusterNo n, const ClusterNo before, const Sequence sequence, const uint32_t end, const uint32_t written)
{
    auto &c = clusters_[n];
    assert(!c.pins);
    enter(n, ClusterState::part);
    c.sequence = sequence;
    c.end = end;
    c.written = written;
    c.nextPart = noCluster;
    c.errors = 0;
    c.first = noSlot;
    if (starting_)
        incoming_.insert(n);
    if (before == noCluster)
        return;
    clusters_[before].nextPart = n;
    clusters_.noteChange(before);
}

void
ClusterFs::Catalog::noteReadError(const ClusterNo n)
{
    auto &c = clusters_[n];
    if (c.errors + 1 < ClusterEntry::unwritable)
        ++c.errors;
}

void
ClusterFs::Catalog::retire(const ClusterNo n)
{
    clusters_[n].errors = ClusterEntry::unwritable;
}

void
ClusterFs::Catalog::beginRelocating(const ClusterNo n)
{
    assert(clusters_[n].state == ClusterState::packed);
    ++clusters_[n].relocated;
}

void
ClusterFs::Catalog::endRelocating(const ClusterNo n)
{
    assert(clusters_[n].relocated > 0);
    --clusters_[n].relocated;
}

void
ClusterFs::Catalog::freeIfEmpty(const ClusterNo n)
{
    const auto &c = clusters_[n];
    if (c.state == ClusterState::packed && !c.live && !c.relocated)
        freeCluster(n);
}

/* a start; a cluster as the index log has it is no change for the next checkpoint */

void
ClusterFs::Catalog::beginAdding(const uint64_t records)
{
    adding_ = starting_ = true;
    index_.expect(records);
}

void
ClusterFs::Catalog::giveToLog(const ClusterNo n)
{
    if (clusters_[n].state == ClusterState::unknown)
        clusters_.enterKnown(n, ClusterState::log);
    else
        enter(n, ClusterState::log);
}

void
ClusterFs::Catalog::addLogged(const IndexSection &section)
{
    auto &c = clusters_[section.cluster];
    const auto state = static_cast<ClusterState>(section.state);
    clusters_.enterKnown(section.cluster, state);
    if (state == ClusterState::bad)
        return;
    c.sequence = section.sequence;
    c.end = section.end;
    c.nextPart = section.nextPart;
    c.total = section.total;
    c.headBytes = section.headBytes;
    c.written = section.written;
    c.heat = section.heat;
}

void
ClusterFs::Catalog::addRead(const ClusterNo n, const ClusterHeader &header)
{
    auto &c = clusters_[n];
    assert(c.state == ClusterState::unknown);
    c.sequence = header.sequence;
    c.end = header.end;
    c.written = static_cast<uint32_t>(header.written);
    c.heat = static_cast<uint32_t>(header.sequence.value());
    enter(n, header.kind == ClusterKind::part ? ClusterState::part : ClusterState::packed);
}

void
ClusterFs::Catalog::addEmpty(const ClusterNo n, const bool logged)
{
    if (logged)
        changes_.again(n);
    clusters_.enterKnown(n, ClusterState::free);
    free_.add(n);
}

void
ClusterFs::Catalog::freeOrphan(const ClusterNo n)
{
    assert(isOrphan(n) && !clusters_[n].pins);
    makeFree(n);
}

/// The pin of a first part is for all parts, so these are not freed one by one.
void
ClusterFs::Catalog::endAdding()
{
    adding_ = false;
    for (const auto first: inUse_) {
        if (isOrphan(first))
            freeParts(first);
    }
    inUse_.clear();
}

void
ClusterFs::Catalog::endStart()
{
    starting_ = false;
    inUse_.clear();
    incoming_.clear();
}

/* to look at */

uint32_t
ClusterFs::Catalog::heat(const SlotNo slot) const
{
    const auto &r = index_[slot];
    return r.staged() ? staging_[r.stage()].heat : r.heat();
}

ClusterFs::ObjectInfo
ClusterFs::Catalog::info(const SlotNo slot) const
{
    auto info = index_[slot].info();
    info.size = objectSize(slot);
    return info;
}

uint64_t
ClusterFs::Catalog::objectSize(const SlotNo slot) const
{
    const auto &r = index_[slot];
    return r.parted() ? clusters_[r.firstPart()].total : r.size;
}

uint32_t
ClusterFs::Catalog::payloadBytes(const SlotNo slot) const
{
    const auto &r = index_[slot];
    return r.parted() ? clusters_[r.firstPart()].headBytes : r.size;
}
