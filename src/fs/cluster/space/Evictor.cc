// SPDX-License-Identifier: GPL-2.0-or-later
/* Making room. */

#include "fs/cluster/space/Evictor.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace ClusterFs {
namespace {

constexpr unsigned tailCandidates = 16; ///< clusters compared for the next eviction
constexpr unsigned otherCandidates = 32; ///< clusters from anywhere compared with them
constexpr uint32_t oldest = 128; ///< heat ticks since the last use from which on an object is worth nothing
constexpr uint32_t cyclicLooks = 1024; ///< clusters looked at for the next one on disk
constexpr unsigned valueLooks = 128; ///< records of a cluster looked at for its value; the others are taken for alike
constexpr unsigned looksForOne = 4; ///< records looked at for the value of clusters that cost a turn as much as one that goes
constexpr unsigned maxReads = 8; ///< to bring what is to be relocated
constexpr unsigned maxEvictions = 8; ///< clusters that go in one turn
constexpr size_t maxLeaving = 64; ///< clusters that a sweep lets go at once
constexpr size_t maxRelocated = 4096; ///< objects relocated from a cluster, the best of all
constexpr size_t maxMoved = 32768; ///< the same of one that holds little: ClusterEntry::relocated counts them
constexpr unsigned recordsForOne = 4; ///< that one object is worth which is relocated
constexpr unsigned sweepStep = 256; ///< clusters looked at in one sweep
constexpr uint64_t sweepMicros = 100000; ///< between sweeps
constexpr size_t maxUnderfilled = 64;
constexpr unsigned stagedLooks = 256; ///< staged objects looked at when there is no other victim
constexpr unsigned relocationShare = 12; ///< of the bytes packed, one part may be relocated ones
constexpr unsigned relocateRange = 8; ///< bytes read at most for a byte that is relocated, more or less
constexpr uint32_t relocationAge = 48; ///< heat ticks (of 64 in one turn of the device) within which a used object is wanted

} // namespace
} // namespace ClusterFs

ClusterFs::Evictor::Evictor(StoreContext &context, Journal &journal, Allocator &allocator, ReadCache &cache, Relocator &relocator):
    context_(context),
    journal_(journal),
    allocator_(allocator),
    cache_(cache),
    relocator_(relocator)
{
    relocator_.onEmptied = [this](const ClusterNo c) { finish(c); };
}

void
ClusterFs::Evictor::touch(const SlotNo slot)
{
    auto &catalog = context_.catalog;
    const auto heat = context_.heatOf(StoreContext::usesOf(catalog.heat(slot)) + 1);
    catalog.touch(slot, heat, context_.sequence, context_.config.replacement != ReplacementPolicy::fifo);
    const auto &record = catalog.index()[slot];
    if (!record.staged())
        allocator_.noteAccess(record.cluster);
}

bool
ClusterFs::Evictor::expired(const SlotNo slot) const
{
    const auto lifetime = context_.config.fileLifetime;
    const auto &record = context_.catalog.index()[slot];
    return lifetime && record.timestamp && int64_t(record.timestamp) + lifetime < context_.clock.wallSeconds();
}

bool
ClusterFs::Evictor::isShort() const
{
    const auto &index = context_.catalog.index();
    return index.used() + index.capacity() / 64 > index.capacity() || needsClusters();
}

bool
ClusterFs::Evictor::needsClusters() const
{
    // draining ones may wait for slow readers; what is leaving may wait for a
    // cluster to be packed into, so that it counts only while there are some
    const auto sure = allocator_.available();
    return sure + emptying_ < allocator_.reserve() || sure + relocator_.evicting() < allocator_.reserve() * 2;
}

void
ClusterFs::Evictor::poll()
{
    records_ = turnRecords;
    // until a scan is over, a cluster may hold large objects that wait for their
    // parts to be found, and it is not known which clusters nothing leads to
    if (!context_.recovered || context_.catalog.adding() || context_.health.level != Health::Level::good)
        return;
    sweep();
    work();
    if (context_.logIsShort())
        claimForLog();
    if (needsClusters())
        merge();
    // a device that is full at a start needs many: the next turn goes on
    for (unsigned n = 0; n < maxEvictions && records_ && leaving_.empty() && isShort(); ++n) {
        const auto c = victim();
        if (c == noCluster) {
            if (!dropStaged())
                return;
        } else {
            evict(c);
        }
    }
}

void
ClusterFs::Evictor::hurry()
{
    for (unsigned n = 0; n < maxEvictions && !allocator_.available(); ++n) {
        poll();
        records_ = ~0U;
        work();
    }
    records_ = 0;
}

/// Gives the next cluster to the index log, which takes the first ones of the device: what
/// is there has to go, like that of any other victim. The log goes past bad ones.
void
ClusterFs::Evictor::claimForLog()
{
    auto &catalog = context_.catalog;
    const ClusterNo n(context_.logClusters);
    const auto &c = catalog.clusters()[n];
    if (c.state == ClusterState::packed && !relocator_.holds(n)) {
        finish(n);
    } else if (c.state == ClusterState::part && c.first != noSlot) {
        ++context_.counters.evictedObjects;
        ++context_.forgotten; // its key is not known, and it may have older copies
        catalog.erase(c.first);
    } else if (c.state == ClusterState::announced) {
        allocator_.takeBack(n);
    } else if (c.state == ClusterState::bad && context_.geometry.logSkips.size() < maxLogSkips) {
        context_.geometry.logSkips.push_back(n);
        ++context_.logClusters;
        return;
    }
    if (c.state != ClusterState::free)
        return; // somebody reads or writes it
    catalog.giveToLog(n);
    ++context_.logClusters;
}

/// Large objects may take the whole device before any of their heads was
/// packed. Then the least recently used one has to go.
bool
ClusterFs::Evictor::dropStaged()
{
    auto &catalog = context_.catalog;
    if (allocator_.available())
        return false;
    unsigned looked = 0;
    for (auto s = catalog.staging().leastRecent(); s != noStage && looked < stagedLooks; s = catalog.staging().moreRecent(s), ++looked) {
        const auto &staged = catalog.staging()[s];
        if (staged.firstPart == noCluster || staged.record == noSlot)
            continue;
        drop(s);
        return true;
    }
    dropRelocated();
    return false;
}

/// All clusters but those that objects are relocated from are parts of large objects,
/// and what is relocated finds no cluster to go to. One of them has to let its objects go.
void
ClusterFs::Evictor::dropRelocated()
{
    auto &catalog = context_.catalog;
    if (catalog.clusters().inState(ClusterState::writing) || !relocator_.waitsForPacking())
        return;
    auto origin = noCluster;
    for (auto s = catalog.staging().leastRecent(), next = s; s != noStage; s = next) {
        const auto &staged = catalog.staging()[s];
        next = catalog.staging().moreRecent(s); // before it is dropped
        if (staged.origin == noCluster || staged.record == noSlot || (origin != noCluster && staged.origin != origin))
            continue;
        origin = staged.origin;
        drop(s);
    }
}

void
ClusterFs::Evictor::drop(const StageNo s)
{
    const auto &staged = context_.catalog.staging()[s];
    if (staged.origin != noCluster) // a crash would find it there
        journal_.removal(staged.key, context_.sequence);
    ++context_.counters.evictedObjects;
    context_.catalog.erase(staged.record);
}

ClusterFs::ClusterNo
ClusterFs::Evictor::victim()
{
    if (context_.config.layout == LayoutPolicy::overwrite)
        return nextOnDisk();
    return leastValuable();
}

/// The next one that holds small objects, unless that was just written: behind a start, or when the layout was another
/// one, what is written goes to free clusters that the hand has yet to pass. Where the next many are free, new, or
/// parts of large objects, the least recently used one.
ClusterFs::ClusterNo
ClusterFs::Evictor::nextOnDisk()
{
    const auto &clusters = context_.catalog.clusters();
    if (clusters.tail() == noCluster)
        return noCluster; // there is none
    const auto mayGo = [this, &clusters](const ClusterNo c) { return clusters[c].state == ClusterState::packed && !relocator_.holds(c); };
    const auto looks = std::min(cyclicLooks, clusters.count());
    for (uint32_t i = 0; i < looks; ++i) {
        cyclic_ = clusters.after(cyclic_);
        if (mayGo(cyclic_) && !isRecent(cyclic_))
            return cyclic_;
    }
    spend(looks / looksForOne);
    auto c = clusters.tail();
    while (c != noCluster && !mayGo(c))
        c = clusters.towardsHead(c);
    return c;
}

/// whether a cluster is one of those written last
bool
ClusterFs::Evictor::isRecent(const ClusterNo c) const
{
    const auto &clusters = context_.catalog.clusters();
    return context_.sequence - clusters[c].sequence < clusters.count() / 4;
}

/// Whether a cluster holds so little that moving all of it makes room. One that was just
/// written may be what became of others like it: moving it again would go on for ever.
bool
ClusterFs::Evictor::isUnderfilled(const ClusterNo c) const
{
    const auto &entry = context_.catalog.clusters()[c];
    const auto bytes = context_.geometry.clusterBytes;
    const bool isNew = context_.sequence - entry.sequence < 2 * allocator_.reserve();
    return entry.state == ClusterState::packed && !isNew && (entry.liveBytes < bytes / 4 || entry.end < bytes / 2);
}

/// moves what is left in several sparse clusters, so that it comes to lie in fewer
void
ClusterFs::Evictor::merge()
{
    const auto isOver = [this](const ClusterNo c) { return !isUnderfilled(c) || relocator_.holds(c); };
    underfilled_.erase(std::remove_if(underfilled_.begin(), underfilled_.end(), isOver), underfilled_.end());
    if (underfilled_.size() < 2)
        return; // one alone takes as much room elsewhere
    uint64_t bytes = 0;
    while (!underfilled_.empty() && records_ && !relocator_.full() && (bytes < context_.geometry.clusterBytes || needsClusters())) {
        const auto c = underfilled_.back();
        const auto live = context_.catalog.clusters()[c].liveBytes;
        if (!hasRoomFor(live))
            return;
        underfilled_.pop_back();
        bytes += live;
        evict(c);
    }
}

/// whether so much may be staged without being in the way of what is stored
bool
ClusterFs::Evictor::hasRoomFor(const uint64_t bytes) const
{
    return bytes + bytes / 4 < context_.catalog.staging().bytesFree() / 2;
}

/// the cluster with the least that is worth keeping, of those near the tail and some others
ClusterFs::ClusterNo
ClusterFs::Evictor::leastValuable()
{
    const auto &clusters = context_.catalog.clusters();
    const bool forRecords = !needsClusters(); // memory for the index is short, and not room: what matters is how many are freed
    auto best = noCluster;
    uint64_t bestValue = 0;
    const auto compare = [&](const ClusterNo c) {
        const auto value = valueOf(c) / (forRecords ? std::max(1U, clusters[c].live) : 1);
        if (best == noCluster || value < bestValue) {
            best = c;
            bestValue = value;
        }
    };
    const bool lru = context_.config.replacement != ReplacementPolicy::fifo;
    const auto looks = lru ? std::max(1U, std::min(tailCandidates, clusters.count() / 8)) : 1;
    unsigned looked = 0;
    for (auto c = clusters.tail(); c != noCluster && looked < looks; c = clusters.towardsHead(c)) {
        if (relocator_.holds(c))
            continue;
        ++looked;
        compare(c);
    }
    // One object in use keeps its cluster away from the tail, whatever became of the
    // others. What is new is spared, though it may not fill its cluster.
    for (unsigned i = 0; lru && i < otherCandidates; ++i) {
        sample_ = sample_ * 1664525 + 1013904223; // Numerical Recipes' generator: here and there is enough
        const auto c = ClusterNo(static_cast<uint32_t>((uint64_t(sample_) * clusters.count()) >> 32));
        if (clusters[c].state == ClusterState::packed && !isRecent(c) && !relocator_.holds(c))
            compare(c);
    }
    return best;
}

/// what would be lost with a cluster: bytes, or objects, weighed by how lately they were used
uint64_t
ClusterFs::Evictor::valueOf(const ClusterNo c)
{
    const auto &catalog = context_.catalog;
    const bool alike = context_.config.replacement == ReplacementPolicy::gds;
    uint64_t value = 0;
    uint32_t live = 0;
    unsigned looks = 0;
    for (auto s = catalog.clusters()[c].first; s != noSlot && looks < valueLooks; s = catalog.index()[s].sibling, ++looks) {
        const auto &r = catalog.index()[s];
        if (r.dead())
            continue;
        ++live;
        const auto age = context_.ageOf(r.heat());
        if (age < oldest && !expired(s))
            value += (alike ? 1 : uint64_t(catalog.payloadBytes(s))) * (oldest - age);
    }
    spend(looks / looksForOne);
    return live ? value * catalog.clusters()[c].live / live : 0;
}

bool
ClusterFs::Evictor::wanted(const Record &r) const
{
    return StoreContext::usesOf(r.heat()) > 0 && context_.ageOf(r.heat()) < relocationAge;
}

/// Relocated bytes cost writes. Together with what is regrouped they stay below
/// three tenths of what is stored.
/// \returns bytes that may be relocated now
uint64_t
ClusterFs::Evictor::relocationBudget() const
{
    const auto &counters = context_.counters;
    const auto budget = (counters.packedBytes + context_.geometry.clusterBytes) / relocationShare;
    const auto spent = counters.relocatedBytes - counters.regroupedBytes - counters.mergedBytes;
    return budget > spent ? budget - spent : 0;
}

/// Leaves those objects in the list that are most likely to be used again, for
/// their size, as far as a budget allows.
void
ClusterFs::Evictor::KeepBest(Leaving &l, const uint64_t budget)
{
    if (l.bytes <= budget && l.list.size() <= maxRelocated)
        return;
    std::vector<uint32_t> byWorth(l.list.size()); // a heap: most of a large cluster is not kept, and need not be sorted
    std::iota(byWorth.begin(), byWorth.end(), 0U);
    const auto isLess = [&l](const uint32_t a, const uint32_t b) { return l.worth[a] < l.worth[b]; };
    std::make_heap(byWorth.begin(), byWorth.end(), isLess);
    std::vector<Relocator::Wanted> kept;
    for (l.bytes = 0; !byWorth.empty() && kept.size() < maxRelocated; byWorth.pop_back()) {
        const auto &best = l.list[byWorth.front()];
        if (l.bytes + best.payload > budget)
            break;
        l.bytes += best.payload;
        kept.push_back(best);
        std::pop_heap(byWorth.begin(), byWorth.end(), isLess);
    }
    l.list.swap(kept);
}

uint64_t
ClusterFs::Evictor::KeepNear(std::vector<Relocator::Wanted> &list, uint64_t bytes)
{
    using Wanted = Relocator::Wanted;
    const auto gap = [](const Wanted &a, const Wanted &b) { return b.offset - a.offset - Catalog::ExtentBytes(a.payload); };
    std::sort(list.begin(), list.end(), [](const Wanted &a, const Wanted &b) { return a.offset < b.offset; });
    auto first = list.begin();
    auto end = list.end();
    while (end - first > 1 && uint64_t((end - 1)->offset - first->offset) > relocateRange * bytes) {
        const bool front = gap(*first, *(first + 1)) >= gap(*(end - 2), *(end - 1));
        bytes -= front ? (first++)->payload : (--end)->payload;
    }
    list = std::vector<Wanted>(first, end);
    return bytes;
}

/// begins to let a cluster go
void
ClusterFs::Evictor::evict(const ClusterNo c)
{
    const auto &entry = context_.catalog.clusters()[c];
    auto l = std::make_shared<Leaving>();
    l->cluster = c;
    l->sequence = entry.sequence;
    l->step = Leaving::Step::look;
    l->compact = isUnderfilled(c) || entry.errors == ClusterEntry::unwritable;
    l->mayRelocate = !relocator_.full();
    l->next = entry.first;
    relocator_.hold(c, true);
    leaving_.push_back(std::move(l));
    work();
}

/// goes on with what is leaving, as far as this turn may
void
ClusterFs::Evictor::work()
{
    while (!leaving_.empty() && records_) {
        const auto l = leaving_.front();
        if (!goOn(l))
            continue;
        emptying_ -= l->step == Leaving::Step::empty;
        leaving_.pop_front();
    }
}

/// \returns whether nothing is left to do now
bool
ClusterFs::Evictor::goOn(const LeavingPointer &l)
{
    const auto &entry = context_.catalog.clusters()[l->cluster];
    const bool gone = entry.state != ClusterState::packed || entry.sequence != l->sequence;
    if (gone && !l->begun) {
        relocator_.letGo(l->cluster); // deletes have emptied it
        return true;
    }
    switch (l->step) {
    case Leaving::Step::look:
        return look(l);
    case Leaving::Step::relocate:
        return relocate(l);
    case Leaving::Step::empty:
        break;
    }
    return empty(*l);
}

/// finds what of a cluster is to be relocated
bool
ClusterFs::Evictor::look(const LeavingPointer &l)
{
    auto &catalog = context_.catalog;
    for (; l->next != noSlot && records_; l->next = catalog.index()[l->next].sibling) {
        spend(1);
        const auto &r = catalog.index()[l->next];
        const bool isIn = !r.dead() && (l->compact ? context_.ageOf(r.heat()) < oldest : wanted(r)) && !expired(l->next);
        if (!isIn || (l->compact && l->list.size() >= maxMoved))
            continue;
        const auto payload = catalog.payloadBytes(l->next);
        l->bytes += payload;
        l->list.push_back({l->next, r.tag, r.offset(), payload});
        l->worth.push_back((1.0 + StoreContext::usesOf(r.heat())) / (context_.ageOf(r.heat()) + 4.0) / (payload + 2000.0));
    }
    if (l->next != noSlot)
        return false;
    if (!l->compact) {
        KeepBest(*l, relocationBudget());
        l->bytes = KeepNear(l->list, l->bytes);
    }
    const auto &index = catalog.index();
    const bool room = l->mayRelocate && hasRoomFor(l->bytes) && index.used() + l->list.size() < index.capacity();
    if (!room && !l->list.empty() && catalog.clusters()[l->cluster].errors == ClusterEntry::unwritable && fits(l->cluster)) {
        relocator_.letGo(l->cluster); // what was stored meanwhile took the room: a later sweep comes back
        return true;
    }
    if (l->list.empty() || !room) {
        beginEmptying(*l);
        return false;
    }
    load(l);
    return true;
}

/// reads what is to be relocated
void
ClusterFs::Evictor::load(const LeavingPointer &l)
{
    uint32_t from = ~0U;
    uint32_t to = 0;
    for (const auto &w: l->list) {
        from = std::min(from, w.offset);
        to = std::max(to, w.offset + Catalog::ExtentBytes(w.payload));
    }
    const ClusterRange range = {l->cluster, l->sequence, from, to - from};
    const auto arrived = [this, alive = context_.alive, l, range](const Status status) {
        if (!*alive)
            return;
        if (status == Status::ok)
            l->window = cache_.windows.peek(range);
        const auto &now = context_.catalog.clusters()[l->cluster];
        const bool isThere = now.state == ClusterState::packed && now.sequence == l->sequence;
        // who reads an object of it that is damaged takes all of it out of memory
        if (status == Status::ok && !l->window && isThere && ++l->reads < maxReads) {
            load(l);
            return;
        }
        // one that is put out of use has bad places: what is whole can be read without them
        l->oneByOne = status != Status::ok && isThere && now.errors == ClusterEntry::unwritable;
        l->reads = 0;
        l->step = Leaving::Step::relocate;
        leaving_.push_back(l);
    };
    if (cache_.windows.peek(range))
        context_.later.push_back([arrived] { arrived(Status::ok); });
    else
        cache_.loader.load(range, l->cluster, IoClass::background, arrived);
}

/// Reads the next object that is to be relocated.
/// \returns whether it is in memory already
bool
ClusterFs::Evictor::loadNext(const LeavingPointer &l)
{
    const auto &next = l->list[l->relocated];
    const ClusterRange range = {l->cluster, l->sequence, next.offset, Catalog::ExtentBytes(next.payload)};
    l->window = cache_.windows.peek(range);
    if (l->window)
        return true;
    cache_.loader.load(range, l->cluster, IoClass::background, [this, alive = context_.alive, l, range](const Status status) {
        if (!*alive)
            return;
        if (status == Status::ok)
            l->window = cache_.windows.peek(range);
        l->reads += status != Status::ok;
        l->isRead = true;
        leaving_.push_back(l);
    });
    return false;
}

bool
ClusterFs::Evictor::relocate(const LeavingPointer &leaving)
{
    auto &l = *leaving;
    if (!l.begun && !relocator_.begin(l.cluster, l.sequence))
        return true;
    l.begun = true;
    for (; l.relocated < l.list.size() && records_; ++l.relocated) {
        if (l.reads >= Health::maxClusterErrors) {
            l.relocated = l.list.size(); // a disk may take seconds for each of these
            break;
        }
        if (l.oneByOne && !l.isRead && !loadNext(leaving))
            return true; // it comes back when it is read
        spend(recordsForOne);
        const auto bytes = relocator_.relocate(l.cluster, l.list[l.relocated], l.window.get(), l.compact);
        context_.counters.mergedBytes += l.compact ? bytes : 0;
        if (l.oneByOne)
            l.window.reset();
        l.isRead = false;
    }
    if (l.relocated < l.list.size())
        return false;
    l.window.reset();
    relocator_.end(l.cluster);
    return true;
}

/// nothing of a cluster is needed any more
void
ClusterFs::Evictor::finish(const ClusterNo c)
{
    const auto &entry = context_.catalog.clusters()[c];
    if (entry.state != ClusterState::packed)
        return;
    auto l = std::make_shared<Leaving>();
    l->cluster = c;
    l->sequence = entry.sequence;
    beginEmptying(*l);
    relocator_.hold(c, true);
    leaving_.push_back(std::move(l));
    work();
}

void
ClusterFs::Evictor::beginEmptying(Leaving &l)
{
    const auto &entry = context_.catalog.clusters()[l.cluster];
    if (entry.live && (relocator_.copied(l.cluster) || context_.leftBehind.mayConcern(entry.sequence)))
        ++context_.forgotten;
    ++context_.counters.evictedClusters;
    context_.counters.evictedObjects += entry.live;
    l.step = Leaving::Step::empty;
    ++emptying_;
}

bool
ClusterFs::Evictor::empty(const Leaving &l)
{
    auto &catalog = context_.catalog;
    spend(1);
    if (catalog.forgetSome(l.cluster, records_)) {
        relocator_.letGo(l.cluster);
        catalog.freeCluster(l.cluster);
        return true;
    }
    // What is gone may be deleted before the rest has gone, too, and could not be written down then: as of a
    // cluster that is free, nothing of it may come back. Each turn says so, since a checkpoint may have begun.
    journal_.release(l.cluster);
    return false;
}

void
ClusterFs::Evictor::sweep()
{
    const auto count = context_.catalog.clusters().count();
    if (!sweepLeft_ && context_.clock.micros() >= nextSweep_) {
        nextSweep_ = context_.clock.micros() + sweepMicros;
        sweepLeft_ = std::min(sweepStep, count);
    }
    sweepRecords_ = turnRecords;
    while (sweepLeft_ && sweepRecords_ && leaving_.size() < maxLeaving) {
        if (sweepNext_ == noSlot) {
            hand_ = context_.catalog.clusters().after(hand_);
            --sweepLeft_;
        }
        if (context_.catalog.clusters()[hand_].state == ClusterState::packed)
            sweepCluster(hand_);
        else
            sweepNext_ = noSlot;
    }
}

/// whether there could ever be room to move all of a cluster
bool
ClusterFs::Evictor::fits(const ClusterNo c) const
{
    const uint64_t bytes = context_.catalog.clusters()[c].liveBytes;
    return bytes + bytes / 4 < context_.catalog.staging().bytesLimit() / 2;
}

/// Puts a cluster that gave errors out of use. What is whole in it moves, with a later sweep where there is no room
/// now: after a power cut, a cluster that was being written may have as many objects that are torn.
void
ClusterFs::Evictor::retire(const ClusterNo c)
{
    const auto &entry = context_.catalog.clusters()[c];
    if (entry.errors != ClusterEntry::unwritable) {
        ++retired_;
        if (retired_ <= retiredShown || !(retired_ & (retired_ - 1))) { // 32, 64, ...
            context_.log(LogLevel::warning, "cluster " + std::to_string(c.value()) + " gave " + std::to_string(entry.errors) +
                        " read errors and is put out of use" +
                        (retired_ > retiredShown ? "; these are " + std::to_string(retired_) + " since the start" : ""));
        }
        context_.catalog.retire(c);
        ++context_.counters.quarantined;
    }
    if (!fits(c) || (hasRoomFor(entry.liveBytes) && !relocator_.full()))
        evict(c);
}

void
ClusterFs::Evictor::sweepCluster(const ClusterNo c)
{
    const auto &entry = context_.catalog.clusters()[c];
    if (relocator_.holds(c)) {
        sweepNext_ = noSlot;
        return;
    }
    const auto lifetime = context_.config.clusterLifetime;
    if (lifetime && int64_t(entry.written) + lifetime < context_.clock.wallSeconds()) {
        sweepNext_ = noSlot;
        context_.counters.expiredObjects += entry.live;
        finish(c);
        return;
    }
    if (entry.errors >= Health::maxClusterErrors) {
        sweepNext_ = noSlot;
        retire(c);
        return;
    }
    if (context_.config.fileLifetime && !expireRecords(c))
        return;
    if (isUnderfilled(c) && underfilled_.size() < maxUnderfilled && std::find(underfilled_.begin(), underfilled_.end(), c) == underfilled_.end())
        underfilled_.push_back(c);
}

/// forgets the objects of a cluster that are past their lifetime
/// \returns false when it goes on with the next turn
bool
ClusterFs::Evictor::expireRecords(const ClusterNo c)
{
    auto &catalog = context_.catalog;
    const auto &entry = catalog.clusters()[c];
    auto s = sweepNext_ != noSlot && sweepSequence_ == entry.sequence ? sweepNext_ : entry.first;
    for (; s != noSlot && sweepRecords_ && entry.state == ClusterState::packed; --sweepRecords_) {
        const auto next = catalog.index()[s].sibling;
        if (!catalog.index()[s].dead() && expired(s)) {
            ++context_.counters.expiredObjects;
            ++context_.forgotten; // its key is no longer known, but remains on the device
            catalog.erase(s);
        }
        s = next;
    }
    const bool done = s == noSlot || entry.state != ClusterState::packed;
    sweepNext_ = done ? noSlot : s;
    sweepSequence_ = entry.sequence;
    return done;
}
