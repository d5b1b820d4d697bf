// SPDX-License-Identifier: GPL-2.0-or-later
/* The way of objects out of a cluster. */

#include "fs/cluster/space/Relocation.h"

#include "fs/cluster/base/States.h"
#include "fs/cluster/space/Relocator.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace ClusterFs {
namespace {

constexpr unsigned maxReads = 8; ///< reads of the candidates, if others take them out of memory at once
constexpr size_t maxRelocated = 4096; ///< most objects relocated from an evicted cluster
constexpr size_t maxMoved = 32768; ///< most objects relocated from a merged cluster: ClusterEntry::relocated has 16 bits
constexpr unsigned recordsForOne = 4; ///< records of the turn as which one relocated object counts
constexpr unsigned relocateRange = 32; ///< bytes from the first candidate to the last one for each byte of payload, at most

using State = Relocation::State;

/// the states that may follow each one
constexpr unsigned followers[] = {
    /* chosen */ bit(State::reading) | bit(State::staging) | bit(State::emptying) | bit(State::over),
    /* reading */ bit(State::staging) | bit(State::over),
    /* readingNext */ bit(State::staging),
    /* staging */ bit(State::readingNext) | bit(State::packing),
    /* packing */ bit(State::settled),
    /* settled */ bit(State::flushing),
    /* flushing */ bit(State::emptying) | bit(State::over),
    /* emptying */ bit(State::over),
    /* over */ 0,
};

} // namespace
} // namespace ClusterFs

ClusterFs::Relocation::Relocation(Relocator &relocator, const ClusterNo c, const Purpose purpose):
    relocator_(relocator),
    cluster_(c),
    purpose_(purpose),
    sequence_(relocator.entry(c).sequence),
    mayMove_(!relocator.full()),
    onTrial_(relocator.context.config.replacement->triesNewOnes() && relocator.context.queues.isOnTrial(sequence_)),
    since_(relocator.context.sequence),
    nextSlot_(relocator.entry(c).first)
{
    assert(relocator.entry(c).state == ClusterState::packed);
    if (purpose == Purpose::forget)
        beginEmptying();
}

bool
ClusterFs::Relocation::MayFollow(const State from, const State to)
{
    return mayFollow(followers, from, to);
}

void
ClusterFs::Relocation::enter(const State s)
{
    assert(MayFollow(state_, s));
    state_ = s;
}

/// ends the relocation: others may have the cluster
/// \returns true, for goOn()
bool
ClusterFs::Relocation::end()
{
    enter(State::over);
    relocator_.remove(*this);
    return true;
}

/// whether deletes have emptied the cluster; it may hold other contents by now
bool
ClusterFs::Relocation::isGone() const
{
    const auto &entry = relocator_.entry(cluster_);
    return entry.state != ClusterState::packed || entry.sequence != sequence_;
}

bool
ClusterFs::Relocation::goOn()
{
    switch (state_) {
    case State::chosen:
        return isGone() ? end() : look();
    case State::reading:
        if (isGone())
            return end();
        relocator_.context.catalog.beginRelocating(cluster_); // until flushed()
        return stage();
    case State::readingNext:
    case State::staging:
        return stage();
    case State::emptying:
        return isGone() ? end() : empty();
    default:
        break; // it waits for others
    }
    return true;
}

/// finds the candidates
bool
ClusterFs::Relocation::look()
{
    const auto &context = relocator_.context;
    const auto &catalog = context.catalog;
    const auto &policy = *context.config.replacement;
    const bool all = purpose_ == Purpose::merge;
    const auto sizeWeight = context.sizeWeight();
    if (!all && !tally_)
        tally_ = std::make_unique<KeepMark::Tally>();
    for (; nextSlot_ != noSlot && relocator_.records; nextSlot_ = catalog.index()[nextSlot_].sibling) {
        relocator_.spend(1);
        const auto &r = catalog.index()[nextSlot_];
        if (r.dead() || context.expired(nextSlot_))
            continue;
        const auto object = context.viewOf(nextSlot_);
        if (object.age >= EvictionPolicy::oldest)
            continue;
        const auto worth = policy.worth(object, sizeWeight);
        if (!all) {
            tally_->add(worth, object.bytes);
            worthSum_ += worth > EvictionPolicy::worthless ? std::exp2(static_cast<double>(worth)) * object.bytes : 0;
            looked_ += object.bytes;
        }
        if (all ? candidates_.size() >= maxMoved : !stays(object, worth, r.tag))
            continue;
        bytes_ += object.bytes;
        candidates_.push_back({nextSlot_, r.tag, r.offset(), object.bytes});
        worth_.push_back(worth);
    }
    if (nextSlot_ != noSlot)
        return false;
    if (!all) {
        const auto budget = context.config.writeBudget;
        if (policy.inflates() && looked_)
            relocator_.context.inflation.grow(worthSum_ / static_cast<double>(looked_));
        relocator_.mark.follow(*tally_, RewriteBudget::evictionShare(context.geometry.clusterBytes, budget));
        tally_.reset();
        keepBest(context.rewrites.forEviction(context.geometry.clusterBytes, budget));
        bytes_ = KeepNear(candidates_, bytes_);
    }
    const auto &index = catalog.index();
    const bool room = mayMove_ && relocator_.hasRoomFor(bytes_) && index.used() + candidates_.size() < index.capacity();
    if (!room && !candidates_.empty() && relocator_.entry(cluster_).errors == ClusterEntry::unwritable && relocator_.fits(cluster_))
        return end(); // objects stored meanwhile took the room: a later sweep comes back
    if (candidates_.empty() || !room) {
        beginEmptying();
        return false;
    }
    enter(State::reading);
    read();
    return true;
}

/// whether the policy wants an object to be moved
/// \param tag Record::tag
bool
ClusterFs::Relocation::stays(const ObjectView &object, const float worth, const uint32_t tag) const
{
    auto &context = relocator_.context;
    const auto &policy = *context.config.replacement;
    if (!policy.triesNewOnes())
        return !policy.inOrderOfWriting() && relocator_.mark.isBelow(worth);
    const bool isUsed = relocator_.isUsed(cluster_, onTrial_, object);
    if (onTrial_ && !isUsed)
        context.queues.noteFailed(tag);
    return isUsed;
}

/// Keeps only the candidates that are worth most, within a budget.
/// \param budget bytes of payload
void
ClusterFs::Relocation::keepBest(const uint64_t budget)
{
    if (bytes_ <= budget && candidates_.size() <= maxRelocated)
        return;
    std::vector<uint32_t> byWorth(candidates_.size()); // a heap, since most candidates of a large cluster are not kept: no need to sort them
    std::iota(byWorth.begin(), byWorth.end(), 0U);
    const auto isLess = [this](const uint32_t a, const uint32_t b) { return worth_[a] < worth_[b]; };
    std::make_heap(byWorth.begin(), byWorth.end(), isLess);
    Candidates kept;
    for (bytes_ = 0; !byWorth.empty() && kept.size() < maxRelocated; byWorth.pop_back()) {
        const auto &best = candidates_[byWorth.front()];
        if (bytes_ + best.payload > budget)
            break;
        bytes_ += best.payload;
        kept.push_back(best);
        std::pop_heap(byWorth.begin(), byWorth.end(), isLess);
    }
    candidates_.swap(kept);
}

uint64_t
ClusterFs::Relocation::KeepNear(Candidates &list, uint64_t bytes)
{
    const auto gap = [](const Candidate &a, const Candidate &b) { return b.offset - a.offset - Catalog::ExtentBytes(a.payload); };
    std::sort(list.begin(), list.end(), [](const Candidate &a, const Candidate &b) { return a.offset < b.offset; });
    auto first = list.begin();
    auto end = list.end();
    while (end - first > 1 && uint64_t((end - 1)->offset - first->offset) > relocateRange * bytes) {
        const bool front = gap(*first, *(first + 1)) >= gap(*(end - 2), *(end - 1));
        bytes -= front ? (first++)->payload : (--end)->payload;
    }
    list = Candidates(first, end);
    return bytes;
}

/// reads all candidates in one request
void
ClusterFs::Relocation::read()
{
    uint32_t from = ~0U;
    uint32_t to = 0;
    for (const auto &c: candidates_) {
        from = std::min(from, c.offset);
        to = std::max(to, c.offset + Catalog::ExtentBytes(c.payload));
    }
    const ClusterRange range = {cluster_, sequence_, from, to - from};
    const auto done = [self = shared_from_this(), alive = relocator_.context.alive, range](const Status status) {
        if (*alive)
            self->arrived(range, status == Status::ok);
    };
    if (relocator_.cache.windows.peek(range))
        relocator_.context.later.emplace_back([done] { done(Status::ok); });
    else
        relocator_.cache.loader.load(range, cluster_, IoClass::background, done);
}

void
ClusterFs::Relocation::arrived(const ClusterRange &range, const bool well)
{
    if (well)
        window_ = relocator_.cache.windows.peek(range);
    // a reader that finds a damaged object in the cluster takes all its windows out of memory
    if (well && !window_ && !isGone() && ++readsInVain_ < maxReads) {
        read();
        return;
    }
    // a cluster that is put out of use has bad places: objects that lie elsewhere can be read alone
    oneByOne_ = !well && !isGone() && relocator_.entry(cluster_).errors == ClusterEntry::unwritable;
    readsInVain_ = 0;
    relocator_.queue(shared_from_this());
}

/// Reads the next candidate alone.
/// \returns whether it is in memory already
bool
ClusterFs::Relocation::readNext()
{
    const auto &next = candidates_[next_];
    const ClusterRange range = {cluster_, sequence_, next.offset, Catalog::ExtentBytes(next.payload)};
    window_ = relocator_.cache.windows.peek(range);
    if (window_)
        return true;
    enter(State::readingNext);
    relocator_.cache.loader.load(range, cluster_, IoClass::background,
    [self = shared_from_this(), alive = relocator_.context.alive, range](const Status status) {
        if (!*alive)
            return;
        if (status == Status::ok)
            self->window_ = self->relocator_.cache.windows.peek(range);
        self->readsInVain_ += status != Status::ok;
        self->relocator_.queue(self);
    });
    return false;
}

bool
ClusterFs::Relocation::stage()
{
    bool isRead = !oneByOne_ || state_ == State::readingNext; // whether the next candidate was read
    if (state_ != State::staging)
        enter(State::staging);
    for (; next_ < candidates_.size() && relocator_.records; ++next_) {
        if (readsInVain_ >= Health::maxClusterErrors) {
            next_ = candidates_.size(); // give up: a disk may take seconds for each bad place
            break;
        }
        if (!isRead && !readNext())
            return true; // readNext() queues this again when the object is read
        relocator_.spend(recordsForOne);
        copy(candidates_[next_], window_.get());
        if (oneByOne_)
            window_.reset();
        isRead = !oneByOne_;
    }
    if (next_ < candidates_.size())
        return false;
    window_.reset();
    enter(State::packing);
    relocator_.copySettled(cluster_);
    return true;
}

uint64_t
ClusterFs::Relocation::regroup(const Candidates &list)
{
    auto &context = relocator_.context;
    auto &windows = relocator_.cache.windows;
    context.catalog.beginRelocating(cluster_); // until flushed()
    enter(State::staging);
    uint64_t bytes = 0;
    for (const auto &c: list)
        bytes += copy(c, windows.peek({cluster_, sequence_, c.offset, Catalog::ExtentBytes(c.payload)}).get());
    std::vector<uint32_t> offsets;
    if (context.catalog.offsetsIn(cluster_, offsets)) { // if not, the windows leave memory when their time has come
        for (const auto &r: relocator_.cache.replicas.in(cluster_))
            offsets.insert(std::upper_bound(offsets.begin(), offsets.end(), r.offset), r.offset);
        windows.forgetUnused(cluster_, sequence_, offsets);
    }
    enter(State::packing);
    relocator_.copySettled(cluster_);
    return bytes;
}

/// stages an object again
/// \param window its bytes, or nil
/// \returns bytes staged
uint64_t
ClusterFs::Relocation::copy(const Candidate &c, const Window *const window)
{
    if (!window)
        return 0;
    auto &context = relocator_.context;
    const auto &r = context.catalog.index()[c.slot];
    if (r.dead() || r.cluster != cluster_ || r.tag != c.tag || r.offset() != c.offset)
        return 0; // it was deleted meanwhile
    if (!stageCopy(c, *window))
        return 0;
    ++context.counters.relocatedObjects;
    context.counters.relocatedBytes += c.payload;
    switch (purpose_) {
    case Purpose::merge:
        context.counters.mergedBytes += c.payload;
        break;
    case Purpose::regroup:
        ++context.counters.regroupedObjects;
        context.counters.regroupedBytes += c.payload;
        context.rewrites.noteRegrouped(c.payload);
        break;
    default:
        context.rewrites.noteEvicted(c.payload);
        break;
    }
    return c.payload;
}

bool
ClusterFs::Relocation::stageCopy(const Candidate &c, const Window &window)
{
    auto &context = relocator_.context;
    auto &catalog = context.catalog;
    const char *const extent = window.at(c.offset);
    ExtentHeader header;
    header.size = c.payload;
    header.sequence = sequence_;
    header.key = keyOfExtent(extent);
    // if the extent has another key, staging it would put that key into the index a second time
    if (catalog.index().find(header.key) != c.slot ||
            checkExtent(extent, Catalog::ExtentBytes(c.payload), header, context.uuid, cluster_, c.offset) != Status::ok) {
        ++context.counters.corrupt;
        return false;
    }
    if (Staging::MemoryOf(c.payload) > catalog.staging().bytesFree())
        return false; // writers took the room meanwhile
    if (catalog.index().full())
        return false; // the old record stays until the cluster is free
    auto info = catalog.info(c.slot);
    info.flags &= static_cast<uint8_t>(~flagJoined); // the packer sets it where it fits
    const auto stage = catalog.staging().open(header.key, info);
    if (stage == noStage)
        return false;
    if (!catalog.staging().append(stage, extent + ExtentHeader::encodedBytes, c.payload)) {
        catalog.staging().drop(stage);
        return false;
    }
    catalog.staging().close(stage, info.size, catalog.heat(c.slot)); // to move an object says nothing about its worth
    catalog.relocate(c.slot, stage);
    catalog.staging().complete(stage, context.clock.micros(), relocator_.separates());
    relocator_.packing.noteComplete(stage);
    return true;
}

bool
ClusterFs::Relocation::settle()
{
    if (state_ != State::packing || relocator_.entry(cluster_).relocated > 1)
        return false; // copies are still to be staged, or still in staging
    enter(State::settled);
    return true;
}

void
ClusterFs::Relocation::flushed()
{
    auto &context = relocator_.context;
    context.catalog.endRelocating(cluster_);
    if (evicts()) {
        since_ = context.sequence;
        beginEmptying();
        relocator_.queue(shared_from_this());
        return;
    }
    context.leftBehind.note(since_);
    end();
    context.catalog.freeIfEmpty(cluster_);
}

/// from now on, no object of the cluster is needed
void
ClusterFs::Relocation::beginEmptying()
{
    enter(State::emptying);
    auto &context = relocator_.context;
    const auto &entry = relocator_.entry(cluster_);
    if (entry.live && (relocator_.copied(cluster_) || context.leftBehind.mayConcern(entry.sequence)))
        ++context.forgotten;
    ++context.counters.evictedClusters;
    context.counters.evictedObjects += entry.live;
    noteAge();
}

/// counts the age of one of the objects that go; it stands for all of them
void
ClusterFs::Relocation::noteAge() const
{
    constexpr unsigned looks = 16; // at records of copies that have moved
    constexpr double weight = 1.0 / 64; // of the newest in the moving mean
    auto &context = relocator_.context;
    const auto &index = context.catalog.index();
    auto slot = relocator_.entry(cluster_).first;
    for (unsigned looked = 1; slot != noSlot && index[slot].dead(); ++looked)
        slot = looked < looks ? index[slot].sibling : noSlot;
    if (slot == noSlot || !index[slot].timestamp)
        return;
    const auto age = context.clock.wallSeconds() - index[slot].timestamp;
    auto &mean = context.counters.evictedAge;
    if (age > 0)
        mean += (static_cast<double>(age) - mean) * (mean > 0 ? weight : 1);
}

bool
ClusterFs::Relocation::empty()
{
    auto &catalog = relocator_.context.catalog;
    relocator_.spend(1);
    if (catalog.forgetSome(cluster_, relocator_.records)) {
        end();
        catalog.freeCluster(cluster_);
        return true;
    }
    // Objects that are forgotten already may be deleted before the cluster is free, and the journal would not have these
    // deletes. So the journal releases the cluster now: no start brings any object of it back. Each turn notes it again,
    // because a checkpoint may have begun a new journal.
    relocator_.journal.release(cluster_);
    return false;
}
