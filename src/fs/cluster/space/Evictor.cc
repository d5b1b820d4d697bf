// SPDX-License-Identifier: GPL-2.0-or-later
/* Making room. */

#include "fs/cluster/space/Evictor.h"

#include "fs/cluster/base/Messages.h"

#include <algorithm>
#include <cassert>

namespace ClusterFs {
namespace {

constexpr unsigned tailCandidates = 16; ///< least recently used clusters that are compared for an eviction
constexpr unsigned otherCandidates = 32; ///< clusters from anywhere that are compared with them
constexpr uint32_t cyclicLooks = 1024; ///< clusters looked at for the next one on the disk, or at the tail of the list
constexpr unsigned valueLooks = 128; ///< records of a cluster looked at for its value; the others are taken for alike
constexpr unsigned lossOfWorthy = 8; ///< bytes that are not worth moving as whose loss counts that of a byte that is
constexpr unsigned looksForOne = 4; ///< records looked at for a value that count as one record of the turn
constexpr unsigned maxEvictions = 8; ///< clusters that go in one turn
constexpr size_t maxLeaving = 64; ///< queued relocations from which on a sweep waits
constexpr unsigned sweepStep = 256; ///< clusters looked at in one sweep
constexpr uint64_t sweepMicros = 100000; ///< microseconds from one sweep to the next
constexpr size_t maxToMerge = 64; ///< clusters that are remembered for merge()
constexpr uint32_t trialShare = 10; ///< clusters on trial have one part of so many of all (S3-FIFO), and at least one has its trial
constexpr unsigned stagedLooks = 256; ///< staged objects looked at when there is no other victim

} // namespace
} // namespace ClusterFs

ClusterFs::Evictor::Evictor(StoreContext &context, Journal &journal, Allocator &allocator, Relocator &relocator):
    context_(context),
    journal_(journal),
    allocator_(allocator),
    relocator_(relocator)
{
}

void
ClusterFs::Evictor::touch(const SlotNo slot)
{
    auto &catalog = context_.catalog;
    const auto heat = context_.heatOf(StoreContext::usesOf(catalog.heat(slot)) + 1);
    catalog.touch(slot, heat, context_.sequence, !context_.config.replacement->inOrderOfWriting());
    const auto &record = catalog.index()[slot];
    if (!record.staged())
        allocator_.noteAccess(record.cluster);
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
    // Clusters that are being emptied count for the reserve. Those of all evictions
    // count only for twice the reserve, because their objects may need a cluster to
    // be packed into. Draining ones never count: they may wait for slow readers.
    const auto sure = allocator_.available();
    return sure + relocator_.emptying() < std::max(allocator_.reserve(), wanted_) ||
           sure + relocator_.evicting() < std::max(allocator_.reserve() * 2, wanted_);
}

void
ClusterFs::Evictor::poll()
{
    relocator_.records = turnRecords;
    stuck_ = false;
    context_.inflation.advance(context_.heatTick());
    // Until a scan is over, a cluster may hold large objects whose parts are not
    // found yet, and a cluster without records may still get some.
    if (!context_.recovered || context_.catalog.adding() || context_.health.level != Health::Level::good)
        return;
    sweep();
    relocator_.work();
    if (context_.logIsShort())
        claimForLog();
    if (needsClusters())
        merge();
    // a device that is full at a start needs many clusters: the next turn goes on
    for (unsigned n = 0; n < maxEvictions && relocator_.records && !relocator_.hasWork() && isShort(); ++n) {
        const auto c = victim();
        if (c == noCluster) {
            if (!dropStaged()) {
                stuck_ = !relocator_.held() && !context_.catalog.clusters().inState(ClusterState::writing);
                return;
            }
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
        relocator_.records = ~0U;
        relocator_.work();
    }
    relocator_.records = 0;
}

/// Gives the next of the first clusters of the device to the index log. Its contents have to go,
/// like those of any other victim. The log skips bad ones.
void
ClusterFs::Evictor::claimForLog()
{
    auto &catalog = context_.catalog;
    const ClusterNo n(context_.logClusters);
    const auto &c = catalog.clusters()[n];
    if (c.state == ClusterState::packed && !relocator_.holds(n)) {
        relocator_.begin(n, Relocation::Purpose::forget);
    } else if (c.state == ClusterState::part && c.first != noSlot) {
        ++context_.counters.evictedObjects;
        ++context_.forgotten; // its key is not known here, so no record of the journal covers its head on the device
        catalog.erase(c.first);
    } else if (c.state == ClusterState::announced) {
        allocator_.takeBack(n);
    } else if (c.state == ClusterState::bad && context_.geometry.logSkips.size() < maxLogSkips) {
        context_.geometry.logSkips.push_back(n);
        ++context_.logClusters;
        return;
    }
    if (c.state != ClusterState::free)
        return; // it is not free yet: somebody reads or writes it, or it is being emptied
    catalog.giveToLog(n);
    ++context_.logClusters;
}

/// Large objects may take the whole device before any of their heads is packed.
/// Then the least recently used one has to go.
bool
ClusterFs::Evictor::dropStaged()
{
    auto &catalog = context_.catalog;
    if (allocator_.available())
        return false;
    const auto &staging = catalog.staging();
    for (const bool moved: {false, true}) {
        unsigned looked = 0;
        for (auto s = staging.leastRecent(moved); s != noStage && looked < stagedLooks; s = staging.moreRecent(s), ++looked) {
            if (staging[s].firstPart == noCluster || staging[s].record == noSlot)
                continue;
            drop(s);
            return true;
        }
    }
    dropRelocated();
    return false;
}

/// All clusters are parts of large objects, or objects are being relocated from them, and no
/// cluster is left for the staged copies. Drops those of one cluster, so that it becomes free.
void
ClusterFs::Evictor::dropRelocated()
{
    auto &catalog = context_.catalog;
    if (catalog.clusters().inState(ClusterState::writing) || !relocator_.waitsForPacking())
        return;
    auto origin = noCluster;
    for (const bool moved: {true, false}) {
        for (auto s = catalog.staging().leastRecent(moved), next = s; s != noStage; s = next) {
            const auto &staged = catalog.staging()[s];
            next = catalog.staging().moreRecent(s); // before it is dropped
            if (staged.origin == noCluster || staged.record == noSlot || (origin != noCluster && staged.origin != origin))
                continue;
            origin = staged.origin;
            drop(s);
        }
    }
}

void
ClusterFs::Evictor::drop(const StageNo s)
{
    const auto &staged = context_.catalog.staging()[s];
    if (staged.origin != noCluster) // a start would find it there
        journal_.removal(staged.key, context_.sequence);
    ++context_.counters.evictedObjects;
    context_.catalog.erase(staged.record);
}

ClusterFs::ClusterNo
ClusterFs::Evictor::victim()
{
    if (context_.config.layout->evictsInOrder())
        return nextOnDisk();
    return context_.config.replacement->triesNewOnes() ? firstInQueue() : leastValuable();
}

/// Whether a cluster can make room: not one that is put out of use, which does not become free, and which may have to wait
/// until its objects can be moved.
bool
ClusterFs::Evictor::mayGo(const ClusterNo c) const
{
    const auto &entry = context_.catalog.clusters()[c];
    return entry.state == ClusterState::packed && entry.errors != ClusterEntry::unwritable && !relocator_.holds(c);
}

/// The next packed cluster on the disk that was not written recently. (After a start, or if the layout was another one
/// before, new clusters may lie in front of the hand.) If none of the next ones will do, the least recently used one.
ClusterFs::ClusterNo
ClusterFs::Evictor::nextOnDisk()
{
    const auto &clusters = context_.catalog.clusters();
    if (clusters.tail() == noCluster)
        return noCluster; // there is none
    const auto looks = std::min(cyclicLooks, clusters.count());
    for (uint32_t i = 0; i < looks; ++i) {
        cyclic_ = clusters.after(cyclic_);
        if (mayGo(cyclic_) && !isRecent(cyclic_))
            return cyclic_;
    }
    relocator_.spend(looks / looksForOne);
    auto c = clusters.tail();
    for (uint32_t i = 0; c != noCluster && !mayGo(c); ++i)
        c = i < cyclicLooks ? clusters.towardsHead(c) : noCluster;
    return c;
}

/// whether a cluster is one of those written last, a quarter of all
bool
ClusterFs::Evictor::isRecent(const ClusterNo c) const
{
    const auto &clusters = context_.catalog.clusters();
    return context_.sequence - clusters[c].sequence < clusters.count() / 4;
}

/// Whether moving all of a cluster makes room. A cluster that was just written may be the result of a merge: moving that
/// again would go on for ever.
/// \param most bytes of live objects
bool
ClusterFs::Evictor::holdsLittle(const ClusterNo c, const uint32_t most) const
{
    const auto &entry = context_.catalog.clusters()[c];
    const bool isNew = context_.sequence - entry.sequence < 2 * allocator_.reserve();
    return entry.state == ClusterState::packed && !isNew && entry.liveBytes < most;
}

/// whether a cluster is so empty that all of its objects move whatever the budget: that makes more room than it takes
bool
ClusterFs::Evictor::isSparse(const ClusterNo c) const
{
    const auto bytes = context_.geometry.clusterBytes;
    return holdsLittle(c, context_.catalog.clusters()[c].end < bytes / 2 ? bytes : bytes / 4);
}

/// whether a quarter of a cluster is empty: all of its objects move, within the budget
bool
ClusterFs::Evictor::isUnderfilled(const ClusterNo c) const
{
    return holdsLittle(c, context_.geometry.clusterBytes / 4 * 3);
}

/// moves all objects of several underfilled clusters, the emptiest first, so that they come to lie in fewer
void
ClusterFs::Evictor::merge()
{
    const auto isOver = [this](const ClusterNo c) { return !isUnderfilled(c) || relocator_.holds(c); };
    toMerge_.erase(std::remove_if(toMerge_.begin(), toMerge_.end(), isOver), toMerge_.end());
    if (toMerge_.size() < 2)
        return; // the objects of a single one would take as much room elsewhere
    const auto &clusters = context_.catalog.clusters();
    const auto &index = context_.catalog.index();
    const auto isBefore = [&](const ClusterNo a, const ClusterNo b) {
        const bool first = isSparse(a);
        return first == isSparse(b) ? clusters[a].liveBytes < clusters[b].liveBytes : first;
    };
    uint64_t bytes = 0;
    while (!toMerge_.empty() && relocator_.records && !relocator_.full() && (bytes < context_.geometry.clusterBytes || needsClusters())) {
        const auto best = std::min_element(toMerge_.begin(), toMerge_.end(), isBefore);
        const auto c = *best;
        const auto live = clusters[c].liveBytes;
        const bool needsNoBudget = isSparse(c);
        const bool hasRoom = relocator_.hasRoomFor(live) && index.used() + clusters[c].live < index.capacity();
        if (!hasRoom || (!needsNoBudget && !context_.rewrites.allowsMerging(live, context_.config.writeBudget)))
            return;
        if (!needsNoBudget)
            context_.rewrites.noteMerged(live);
        toMerge_.erase(best);
        bytes += live;
        relocator_.begin(c, Relocation::Purpose::merge);
    }
}

/// remembers a cluster for merge() if it is underfilled; where there are too many, the one that holds most is forgotten
void
ClusterFs::Evictor::noteUnderfilled(const ClusterNo c)
{
    if (!isUnderfilled(c) || std::find(toMerge_.begin(), toMerge_.end(), c) != toMerge_.end())
        return;
    if (toMerge_.size() < maxToMerge) {
        toMerge_.push_back(c);
        return;
    }
    const auto &clusters = context_.catalog.clusters();
    const auto fullest = std::max_element(toMerge_.begin(), toMerge_.end(), [&clusters](const ClusterNo a, const ClusterNo b) {
        return clusters[a].liveBytes < clusters[b].liveBytes;
    });
    if (clusters[c].liveBytes < clusters[*fullest].liveBytes)
        *fullest = c;
}

/// the cluster with the least to lose, of those at the tail of the list and some from anywhere
ClusterFs::ClusterNo
ClusterFs::Evictor::leastValuable()
{
    const auto &clusters = context_.catalog.clusters();
    const bool forRecords = !needsClusters(); // the index is short of memory, and not the device of room: count the loss for each record
    auto best = noCluster;
    uint64_t leastLoss = 0;
    const auto compare = [&](const ClusterNo c) {
        const auto loss = lossOf(c) / (forRecords ? std::max(1U, clusters[c].live) : 1);
        if (best == noCluster || loss < leastLoss) {
            best = c;
            leastLoss = loss;
        }
    };
    const bool compares = !context_.config.replacement->inOrderOfWriting();
    const auto looks = compares ? std::max(1U, std::min(tailCandidates, clusters.count() / 8)) : 1;
    unsigned looked = 0, passed = 0;
    for (auto c = clusters.tail(); c != noCluster && looked < looks && passed < cyclicLooks; c = clusters.towardsHead(c), ++passed) {
        if (!mayGo(c))
            continue;
        ++looked;
        compare(c);
    }
    // One object in use keeps its cluster away from the tail, even if nobody wants the
    // others: so look elsewhere, too, but spare new clusters, even if they are not full.
    for (unsigned i = 0; compares && i < otherCandidates; ++i) {
        sample_ = sample_ * 1664525 + 1013904223; // Numerical Recipes' generator: here and there is enough
        const auto c = ClusterNo(static_cast<uint32_t>((uint64_t(sample_) * clusters.count()) >> 32));
        if (mayGo(c) && !isRecent(c))
            compare(c);
    }
    return best;
}

/// The first cluster of a queue that has no more in use than may move; those before it get a round among the others. The
/// queue is that of clusters on trial, if they have more than a tenth of the device and are not a single one.
ClusterFs::ClusterNo
ClusterFs::Evictor::firstInQueue()
{
    auto &queues = context_.queues;
    const auto &clusters = context_.catalog.clusters();
    const auto isThere = [&](const ClusterNo c, const Sequence s) {
        return clusters[c].sequence == s && mayGo(c);
    };
    const auto mayMove = RewriteBudget::evictionShare(context_.geometry.clusterBytes, context_.config.writeBudget);
    const auto mostOnTrial = std::max(1U, clusters.inState(ClusterState::packed) / trialShare);
    auto oldest = queues.oldestOnTrial(isThere);
    for (unsigned n = 0; oldest != noCluster && queues.onTrial() > mostOnTrial; ++n) {
        if (n == tailCandidates || usedBytes(oldest) <= mayMove)
            return oldest;
        queues.endTrial();
        giveRound(oldest);
        oldest = queues.oldestOnTrial(isThere);
    }
    std::vector<ClusterNo> passed; // at most tailCandidates
    auto best = noCluster;
    uint64_t least = ~uint64_t(0);
    unsigned looks = 0;
    for (auto c = clusters.tail(); c != noCluster && looks < cyclicLooks && passed.size() < tailCandidates && least > mayMove; ++looks) {
        if (mayGo(c) && !queues.isOnTrial(clusters[c].sequence)) {
            passed.push_back(c);
            const auto used = usedBytes(c);
            if (used < least) {
                best = c;
                least = used;
            }
        }
        c = clusters.towardsHead(c);
    }
    relocator_.spend(looks / looksForOne);
    for (const auto c: passed) {
        if (c != best)
            giveRound(c);
    }
    return best != noCluster ? best : oldest;
}

/// puts a cluster at the end of its queue: only uses from now on count
void
ClusterFs::Evictor::giveRound(const ClusterNo c)
{
    context_.catalog.moveToHead(c);
    context_.queues.noteRound(c, context_.heatTick());
}

/// \param weight what a live object counts that is not too old
/// \returns the sum over a cluster
template <class Weight>
uint64_t
ClusterFs::Evictor::sumOver(const ClusterNo c, const Weight &weight)
{
    const auto &catalog = context_.catalog;
    uint64_t sum = 0;
    uint32_t live = 0;
    unsigned looks = 0;
    for (auto s = catalog.clusters()[c].first; s != noSlot && looks < valueLooks; s = catalog.index()[s].sibling, ++looks) {
        const auto &r = catalog.index()[s];
        if (r.dead())
            continue;
        ++live;
        const auto object = context_.viewOf(s);
        if (object.age >= EvictionPolicy::oldest || context_.expired(s))
            continue;
        sum += weight(object);
    }
    relocator_.spend(looks / looksForOne);
    return live ? sum * catalog.clusters()[c].live / live : 0;
}

/// The bytes that are lost with a cluster, those of objects that are worth moving several times: each of them costs a
/// write, or is a loss that will be felt.
uint64_t
ClusterFs::Evictor::lossOf(const ClusterNo c)
{
    const auto &policy = *context_.config.replacement;
    const auto sizeWeight = context_.sizeWeight();
    return sumOver(c, [&](const ObjectView &object) {
        const bool isWorthMoving = relocator_.mark.isBelow(policy.worth(object, sizeWeight));
        return uint64_t(object.bytes) * (isWorthMoving ? lossOfWorthy : 1);
    });
}

/// the bytes of a cluster that were used since it came into its queue
uint64_t
ClusterFs::Evictor::usedBytes(const ClusterNo c)
{
    const bool onTrial = context_.queues.isOnTrial(context_.catalog.clusters()[c].sequence);
    return sumOver(c, [&](const ObjectView &object) {
        return relocator_.isUsed(c, onTrial, object) ? uint64_t(object.bytes) : 0;
    });
}

/// lets a cluster go, and moves the objects that are worth it, or all of them
void
ClusterFs::Evictor::evict(const ClusterNo c)
{
    const bool all = isSparse(c) || context_.catalog.clusters()[c].errors == ClusterEntry::unwritable;
    relocator_.begin(c, all ? Relocation::Purpose::merge : Relocation::Purpose::evict);
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
    while (sweepLeft_ && sweepRecords_ && relocator_.queued() < maxLeaving) {
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

/// Puts a cluster that gave errors out of use, and moves its objects, in a later sweep if there is no room now. Many of
/// them may be whole: a power cut in the middle of a write tears only some.
void
ClusterFs::Evictor::retire(const ClusterNo c)
{
    const auto &entry = context_.catalog.clusters()[c];
    if (entry.errors != ClusterEntry::unwritable) {
        ++retired_;
        if (retired_ <= retiredShown || !(retired_ & (retired_ - 1))) { // 32, 64, ...
            if (retired_ > retiredShown)
                say<Message::clustersRetired>(context_.log, c.value(), entry.errors, retired_);
            else
                say<Message::clusterRetired>(context_.log, c.value(), entry.errors);
        }
        context_.catalog.retire(c);
        ++context_.counters.quarantined;
    }
    if (!relocator_.fits(c) || (relocator_.hasRoomFor(entry.liveBytes) && !relocator_.full()))
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
        relocator_.begin(c, Relocation::Purpose::forget);
        return;
    }
    if (entry.errors >= Health::maxClusterErrors) {
        sweepNext_ = noSlot;
        retire(c);
        return;
    }
    if (context_.config.fileLifetime && !expireRecords(c))
        return;
    noteUnderfilled(c);
}

/// forgets the objects of a cluster that are past their lifetime
/// \returns false when the next turn has to go on
bool
ClusterFs::Evictor::expireRecords(const ClusterNo c)
{
    auto &catalog = context_.catalog;
    const auto &entry = catalog.clusters()[c];
    auto s = sweepNext_ != noSlot && sweepSequence_ == entry.sequence ? sweepNext_ : entry.first;
    for (; s != noSlot && sweepRecords_ && entry.state == ClusterState::packed; --sweepRecords_) {
        const auto next = catalog.index()[s].sibling;
        if (!catalog.index()[s].dead() && context_.expired(s)) {
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
