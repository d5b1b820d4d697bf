// SPDX-License-Identifier: GPL-2.0-or-later
/* Making room. */

#include "fs/cluster/replacement/Evictor.h"

#include <algorithm>
#include <cassert>

namespace ClusterFs {
namespace {

constexpr unsigned tailCandidates = 16; ///< clusters compared for the next eviction
constexpr unsigned otherCandidates = 32; ///< clusters from anywhere compared with them
constexpr uint32_t oldest = 128; ///< heat ticks since the last use from which on an object is worth nothing
constexpr unsigned valueLooks = 256; ///< records of a cluster looked at for its value; the others are taken for alike
constexpr unsigned evictionsMost = 8; ///< clusters that go in one turn
constexpr unsigned sweepStep = 256; ///< clusters looked at in one sweep
constexpr uint64_t sweepMicros = 100000; ///< between sweeps
constexpr size_t sparseMost = 64;
constexpr unsigned stagedLooks = 256; ///< staged objects looked at when there is no other victim
constexpr unsigned carryShare = 12; ///< of the bytes packed, one part may be carried ones
constexpr unsigned carryRange = 8; ///< bytes read at most for a byte that is carried, more or less
constexpr uint32_t carryAge = 48; ///< heat ticks (of 64 in one turn of the device) within which a used object is wanted

} // namespace
} // namespace ClusterFs

ClusterFs::Evictor::Evictor(Shared &shared, Journal &journal, Allocator &allocator, ReadCache &cache, Carrier &carrier):
    shared_(shared),
    journal_(journal),
    allocator_(allocator),
    cache_(cache),
    carrier_(carrier)
{
    carrier_.onEmptied = [this](const ClusterNo c) { finish(c); };
}

void
ClusterFs::Evictor::touch(const SlotNo slot)
{
    auto &catalog = shared_.catalog;
    auto &record = catalog.index[slot];
    if (record.staged()) {
        auto &o = catalog.staging[record.place];
        o.heat = shared_.heatOf(Shared::usesOf(o.heat) + 1);
        catalog.staging.touch(record.place);
        return;
    }
    record.setHeat(shared_.heatOf(Shared::usesOf(record.heat()) + 1));
    auto &c = catalog.clusters[record.cluster];
    c.heat = static_cast<uint32_t>(shared_.sequence);
    if (shared_.config.replacement != ReplacementPolicy::fifo && c.state == ClusterState::packed) {
        catalog.clusters.unlink(record.cluster);
        catalog.clusters.pushHead(record.cluster);
    }
    allocator_.noteAccess(record.cluster);
}

bool
ClusterFs::Evictor::expired(const SlotNo slot) const
{
    const auto lifetime = shared_.config.fileLifetime;
    const auto &record = shared_.catalog.index[slot];
    return lifetime && record.timestamp && int64_t(record.timestamp) + lifetime < shared_.clock.wallSeconds();
}

bool
ClusterFs::Evictor::isShort() const
{
    const auto &index = shared_.catalog.index;
    return index.used() + index.capacity() / 64 > index.capacity() || needsClusters();
}

bool
ClusterFs::Evictor::needsClusters() const
{
    // draining ones may wait for slow readers; what is leaving may wait for a
    // cluster to be packed into, so that it counts only while there are some
    const auto sure = allocator_.available();
    return sure < allocator_.reserve() || sure + carrier_.evicting() < allocator_.reserve() * 2;
}

void
ClusterFs::Evictor::poll()
{
    // until a scan is over, a cluster may hold large objects that wait for their
    // parts to be found, and it is not known which clusters nothing leads to
    if (!shared_.recovered || shared_.catalog.holdEmpty || shared_.health.level != Health::Level::good)
        return;
    if (shared_.clock.micros() >= nextSweep_) {
        nextSweep_ = shared_.clock.micros() + sweepMicros;
        sweep();
    }
    if (needsClusters())
        merge();
    // a device that is full at a start needs many: the next turn goes on
    for (unsigned n = 0; isShort() && n < evictionsMost; ++n) {
        const auto c = victim();
        if (c == noCluster ? !dropStaged() : !evict(c))
            return;
    }
}

/// Large objects may take the whole device before any of their heads was
/// packed. Then the least recently used one has to go.
bool
ClusterFs::Evictor::dropStaged()
{
    auto &catalog = shared_.catalog;
    if (allocator_.available())
        return false;
    unsigned looked = 0;
    for (auto s = catalog.staging.leastRecent(); s != noStage && looked < stagedLooks; s = catalog.staging.moreRecent(s), ++looked) {
        const auto &staged = catalog.staging[s];
        if (staged.firstPart == noCluster || staged.record == noSlot)
            continue;
        drop(s);
        return true;
    }
    dropCarried();
    return false;
}

/// All clusters but those that objects are carried from are parts of large objects,
/// and what is carried finds no cluster to go to. One of them has to let its objects go.
void
ClusterFs::Evictor::dropCarried()
{
    auto &catalog = shared_.catalog;
    if (catalog.clusters.inState(ClusterState::writing) || !carrier_.waitsForPacking())
        return;
    auto origin = noCluster;
    for (auto s = catalog.staging.leastRecent(), next = s; s != noStage; s = next) {
        const auto &staged = catalog.staging[s];
        next = catalog.staging.moreRecent(s); // before it is dropped
        if (staged.origin == noCluster || staged.record == noSlot || (origin != noCluster && staged.origin != origin))
            continue;
        origin = staged.origin;
        drop(s);
    }
}

void
ClusterFs::Evictor::drop(const StageNo s)
{
    const auto &staged = shared_.catalog.staging[s];
    if (staged.origin != noCluster) // a crash would find it there
        journal_.removal(staged.key, shared_.sequence);
    ++shared_.counters.evictedObjects;
    shared_.catalog.erase(staged.record);
}

ClusterFs::ClusterNo
ClusterFs::Evictor::victim()
{
    if (shared_.config.layout == LayoutPolicy::overwrite) {
        const auto &clusters = shared_.catalog.clusters;
        for (uint32_t i = 0; i < clusters.count(); ++i) {
            cyclic_ = (cyclic_ + 1) % clusters.count();
            if (clusters[cyclic_].state == ClusterState::packed &&
                    !carrier_.holds(cyclic_))
                return cyclic_;
        }
        return noCluster;
    }
    return leastValuable();
}

/// Whether a cluster holds so little that moving all of it makes room. One that was just
/// written may be what became of others like it: moving it again would go on for ever.
bool
ClusterFs::Evictor::isSparse(const ClusterNo c) const
{
    const auto &entry = shared_.catalog.clusters[c];
    const auto bytes = shared_.geometry.clusterBytes;
    const bool isNew = shared_.sequence - entry.sequence < 2 * allocator_.reserve();
    return entry.state == ClusterState::packed && !isNew && (entry.liveBytes < bytes / 4 || entry.end < bytes / 2);
}

/// moves what is left in several sparse clusters, so that it comes to lie in fewer
void
ClusterFs::Evictor::merge()
{
    const auto isOver = [this](const ClusterNo c) { return !isSparse(c) || carrier_.holds(c); };
    sparse_.erase(std::remove_if(sparse_.begin(), sparse_.end(), isOver), sparse_.end());
    if (sparse_.size() < 2)
        return; // one alone takes as much room elsewhere
    uint64_t bytes = 0;
    while (!sparse_.empty() && !carrier_.full() && (bytes < shared_.geometry.clusterBytes || needsClusters())) {
        const auto c = sparse_.back();
        const auto live = shared_.catalog.clusters[c].liveBytes;
        if (!hasRoomFor(live))
            return;
        sparse_.pop_back();
        bytes += live;
        evict(c);
    }
}

/// whether so much may be staged without being in the way of what is stored
bool
ClusterFs::Evictor::hasRoomFor(const uint64_t bytes) const
{
    return bytes + bytes / 4 < shared_.catalog.staging.bytesFree() / 2;
}

/// the cluster with the least that is worth keeping, of those near the tail and some others
ClusterFs::ClusterNo
ClusterFs::Evictor::leastValuable()
{
    const auto &clusters = shared_.catalog.clusters;
    auto best = noCluster;
    uint64_t bestValue = 0;
    const auto compare = [&](const ClusterNo c) {
        const auto value = valueOf(c);
        if (best == noCluster || value < bestValue) {
            best = c;
            bestValue = value;
        }
    };
    const bool lru = shared_.config.replacement != ReplacementPolicy::fifo;
    const auto looks = lru ? std::max(1U, std::min(tailCandidates, clusters.count() / 8)) : 1;
    unsigned looked = 0;
    for (auto c = clusters.tail(); c != noCluster && looked < looks; c = clusters.towardsHead(c)) {
        if (carrier_.holds(c))
            continue;
        ++looked;
        compare(c);
    }
    // One object in use keeps its cluster away from the tail, whatever became of the
    // others. What is new is spared, though it may not fill its cluster.
    for (unsigned i = 0; lru && i < otherCandidates; ++i) {
        sample_ = sample_ * 1664525 + 1013904223; // Numerical Recipes' generator: here and there is enough
        const auto c = static_cast<ClusterNo>((uint64_t(sample_) * clusters.count()) >> 32);
        const bool isNew = shared_.sequence - clusters[c].sequence < clusters.count() / 4;
        if (clusters[c].state == ClusterState::packed && !isNew && !carrier_.holds(c))
            compare(c);
    }
    return best;
}

/// what would be lost with a cluster: bytes, or objects, weighed by how lately they were used
uint64_t
ClusterFs::Evictor::valueOf(const ClusterNo c) const
{
    const auto &catalog = shared_.catalog;
    const bool alike = shared_.config.replacement == ReplacementPolicy::gds;
    uint64_t value = 0;
    uint32_t live = 0;
    unsigned looks = 0;
    for (auto s = catalog.clusters[c].first; s != noSlot && looks < valueLooks; s = catalog.index[s].sibling, ++looks) {
        const auto &r = catalog.index[s];
        if (r.dead())
            continue;
        ++live;
        const auto age = shared_.ageOf(r.heat());
        if (age < oldest && !expired(s))
            value += (alike ? 1 : uint64_t(catalog.payloadBytes(s))) * (oldest - age);
    }
    return live ? value * catalog.clusters[c].live / live : 0;
}

bool
ClusterFs::Evictor::wanted(const Record &r) const
{
    return Shared::usesOf(r.heat()) > 0 && shared_.ageOf(r.heat()) < carryAge;
}

uint64_t
ClusterFs::Evictor::wantedBytes(const ClusterNo c, std::vector<Carrier::Wanted> *list, const bool all) const
{
    const auto &catalog = shared_.catalog;
    uint64_t bytes = 0;
    for (auto s = catalog.clusters[c].first; s != noSlot; s = catalog.index[s].sibling) {
        const auto &r = catalog.index[s];
        if (r.dead() || !(all ? shared_.ageOf(r.heat()) < oldest : wanted(r)) || expired(s))
            continue;
        const auto payload = catalog.payloadBytes(s);
        bytes += payload;
        if (list)
            list->push_back({s, r.tag, r.offset(), payload});
    }
    return bytes;
}

/// Carried bytes cost writes. Together with what is regrouped they stay below
/// three tenths of what is stored.
/// \returns bytes that may be carried now
uint64_t
ClusterFs::Evictor::carryBudget() const
{
    const auto &counters = shared_.counters;
    const auto budget = (counters.packedBytes + shared_.geometry.clusterBytes) / carryShare;
    const auto spent = counters.carriedBytes - counters.regroupedBytes - counters.mergedBytes;
    return budget > spent ? budget - spent : 0;
}

/// Leaves those objects in the list that are most likely to be used again, for
/// their size, as far as a budget allows.
/// \param bytes of all
/// \returns bytes of those
uint64_t
ClusterFs::Evictor::keepBest(std::vector<Carrier::Wanted> &list, uint64_t bytes, const uint64_t budget) const
{
    if (bytes <= budget)
        return bytes;
    const auto worth = [this](const Carrier::Wanted &w) {
        const auto heat = shared_.catalog.index[w.slot].heat();
        return (1.0 + Shared::usesOf(heat)) / (shared_.ageOf(heat) + 4.0) / (w.payload + 2000.0);
    };
    std::sort(list.begin(), list.end(), [&](const Carrier::Wanted &a, const Carrier::Wanted &b) { return worth(a) > worth(b); });
    size_t kept = 0;
    for (bytes = 0; kept < list.size() && bytes + list[kept].payload <= budget; ++kept)
        bytes += list[kept].payload;
    list.resize(kept);
    return bytes;
}

uint64_t
ClusterFs::Evictor::KeepNear(std::vector<Carrier::Wanted> &list, uint64_t bytes)
{
    using Wanted = Carrier::Wanted;
    const auto gap = [](const Wanted &a, const Wanted &b) { return b.offset - a.offset - Catalog::ExtentBytes(a.payload); };
    std::sort(list.begin(), list.end(), [](const Wanted &a, const Wanted &b) { return a.offset < b.offset; });
    auto first = list.begin();
    auto end = list.end();
    while (end - first > 1 && uint64_t((end - 1)->offset - first->offset) > carryRange * bytes) {
        const bool front = gap(*first, *(first + 1)) >= gap(*(end - 2), *(end - 1));
        bytes -= front ? (first++)->payload : (--end)->payload;
    }
    list = std::vector<Wanted>(first, end);
    return bytes;
}

/// \returns false when nothing could be done
bool
ClusterFs::Evictor::evict(const ClusterNo c)
{
    const auto &entry = shared_.catalog.clusters[c];
    const bool compact = isSparse(c);
    std::vector<Carrier::Wanted> list;
    auto bytes = wantedBytes(c, &list, compact);
    if (!compact)
        bytes = KeepNear(list, keepBest(list, bytes, carryBudget()));
    const bool room = hasRoomFor(bytes);
    const bool waiting = carrier_.full(); // never let room depend on packing alone
    if (list.empty() || !room || waiting || shared_.catalog.index.used() + list.size() >= shared_.catalog.index.capacity()) {
        finish(c);
        return true;
    }
    uint32_t from = entry.end;
    uint32_t to = 0;
    for (const auto &w: list) {
        from = std::min(from, w.offset);
        to = std::max(to, w.offset + Catalog::ExtentBytes(w.payload));
    }
    const auto sequence = entry.sequence;
    const auto size = to - from;
    carrier_.hold(c, true);
    const auto alive = shared_.alive;
    const auto arrived = [this, alive, c, sequence, list, compact](const Status status) {
        if (!*alive)
            return;
        const auto carried = carrier_.carry(c, sequence, status == Status::ok ? list : std::vector<Carrier::Wanted>(), compact);
        if (compact)
            shared_.counters.mergedBytes += carried;
    };
    if (cache_.find(c, sequence, from, size))
        shared_.later.push_back([arrived] { arrived(Status::ok); });
    else
        cache_.load(c, sequence, from, size, c, IoClass::background, arrived);
    return true;
}

void
ClusterFs::Evictor::finish(const ClusterNo c)
{
    auto &entry = shared_.catalog.clusters[c];
    if (entry.state != ClusterState::packed)
        return;
    if (entry.live && (carrier_.copied(c) || shared_.leftBehind.mayConcern(entry.sequence)))
        ++shared_.forgotten;
    ++shared_.counters.evictedClusters;
    shared_.counters.evictedObjects += entry.live;
    shared_.catalog.freeCluster(c);
}

void
ClusterFs::Evictor::sweep()
{
    const auto count = shared_.catalog.clusters.count();
    for (unsigned i = 0; i < std::min(sweepStep, count); ++i) {
        hand_ = (hand_ + 1) % count;
        if (shared_.catalog.clusters[hand_].state == ClusterState::packed)
            sweepCluster(hand_);
    }
}

void
ClusterFs::Evictor::sweepCluster(const ClusterNo c)
{
    auto &catalog = shared_.catalog;
    auto &entry = catalog.clusters[c];
    if (carrier_.holds(c))
        return;
    const auto lifetime = shared_.config.clusterLifetime;
    if (lifetime && int64_t(entry.written) + lifetime < shared_.clock.wallSeconds()) {
        shared_.counters.expiredObjects += entry.live;
        finish(c);
        return;
    }
    if (entry.errors >= Health::clusterErrorsTolerated) {
        shared_.log(LogLevel::warning, "cluster " + std::to_string(c) + " gave " + std::to_string(entry.errors) +
                    " read errors and is put out of use");
        finish(c);
        if (entry.state == ClusterState::free) {
            catalog.quarantine(c);
            ++shared_.counters.quarantined;
        }
        return;
    }
    if (shared_.config.fileLifetime) {
        for (auto s = entry.first; s != noSlot && entry.state == ClusterState::packed;) {
            const auto next = catalog.index[s].sibling;
            if (!catalog.index[s].dead() && expired(s)) {
                ++shared_.counters.expiredObjects;
                ++shared_.forgotten; // its key is no longer known, but remains on the device
                catalog.erase(s);
            }
            s = next;
        }
    }
    if (isSparse(c) && sparse_.size() < sparseMost && std::find(sparse_.begin(), sparse_.end(), c) == sparse_.end())
        sparse_.push_back(c);
}
