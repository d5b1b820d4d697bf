// SPDX-License-Identifier: GPL-2.0-or-later
/* Packing. */

#include "fs/cluster/packing/Packer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace ClusterFs {

/// how many objects that do not fit are passed over before a cluster counts as full
constexpr unsigned maxMisfits = 256;
constexpr size_t arrivalsSpare = 4096; ///< arrivals that are remembered beside twice as many as objects are staged
constexpr uint32_t smallRun = Device::bufferAlignment(); ///< bytes of small objects that stay in memory as one window

/// Half of the time until an object must survive a power cut is for packing,
/// the other half for the disk flush after it.
/// \param persist seconds
/// \returns microseconds
constexpr uint64_t halfOf(const uint32_t persist) { return uint64_t(persist) * 1000000 / 2; }

struct Packer::Pack {
    enum class Step : uint8_t { choose, take, fill, write, place, split };

    struct Item {
        StageNo stage;
        uint64_t id; ///< Staged::id
        SlotNo slot;
        uint32_t offset; ///< of the extent in the cluster; 0 when it was deleted before it was copied
        uint32_t payload; ///< bytes
        bool joined; ///< belongs to the group of the item before
        bool leavesFirst; ///< see GroupAdvisor
        bool placed; ///< has its new place; else it was deleted meanwhile

        /* of a replica, which has no staged object */
        ClusterRange original; ///< the extent whose bytes it has
        WindowPointer source; ///< which has them, until they are copied
        Key key;
    };
    Step step = Step::choose;
    StageNo seed = noStage; ///< the object to choose first, or noStage
    bool isNew = false; ///< whether its first objects were never moved
    bool moved = false; ///< which list of staged objects it takes, see Staged::moved
    bool mixes = false; ///< takes the other list then: the objects of one do not fill the cluster
    bool second = false; ///< it has come to the other list
    bool fromHead = false; ///< takes the objects that were used last first
    std::unordered_set<StageNo> misfits; ///< objects that do not fit, or whose group waits
    size_t next = 0; ///< the item, or the run, to go on with
    double used = 0; ///< bytes of extents whose objects were used before
    Directory front;
    WindowPointer window; ///< the image in the read cache
    std::vector<Run> runs; ///< objects that get windows of their own, see runsOf()
    ClusterNo cluster = noCluster;
    Sequence sequence{0};
    std::vector<Item> items;
    std::unordered_set<uint64_t> replicas; ///< of the objects at these places: cluster and offset
    size_t parts = 0; ///< part references of all items
    uint64_t extents = 0; ///< bytes of all extents
    BufferPointer buffer; ///< the image of the cluster
    uint32_t end = 0; ///< bytes from the cluster's start to the end of the last extent
    uint32_t when = 0; ///< when it was sent to the device, seconds since 1970, low 32 bits

    bool takes(const Staged &o) const { return mixes || o.moved == moved; }

    /// bytes of the cluster with one extent more
    uint64_t sizeWith(const uint64_t extent, const size_t moreParts) const {
        return roundUp(Directory::BytesFor(items.size() + 1, parts + moreParts), extentAlignment) + extents + extent;
    }
};

} // namespace ClusterFs

ClusterFs::Packer::Packer(StoreContext &context, Allocator &allocator, ReadCache &cache, GroupAdvisor &groups):
    context_(context),
    allocator_(allocator),
    windows_(cache.windows),
    replicas_(cache.replicas),
    groups_(groups)
{
}

void
ClusterFs::Packer::noteComplete(const StageNo s)
{
    const auto &staging = context_.catalog.staging();
    const auto &o = staging[s];
    // one object that waits at the front keeps all arrivals behind it, even those of objects that are packed or gone
    if (arrivals_.size() >= 2 * size_t(staging.objects()) + arrivalsSpare) {
        const auto isGone = [&staging](const Arrival &a) { return staging[a.stage].id != a.id || staging[a.stage].state == StageState::free; };
        arrivals_.erase(std::remove_if(arrivals_.begin(), arrivals_.end(), isGone), arrivals_.end());
    }
    const auto persist = groups_.persistOf(o.key);
    if (persist == context_.config.persist)
        arrivals_.push_back({s, o.id});
    else if (persist != neverPersist)
        timed_.insert({o.since + halfOf(persist), {s, o.id}});
}

/// the staged object that was completed first; noStage when there is none, or when it is being packed
ClusterFs::StageNo
ClusterFs::Packer::oldestArrival()
{
    const auto &staging = context_.catalog.staging();
    while (!arrivals_.empty()) {
        const auto &a = arrivals_.front();
        const auto &o = staging[a.stage];
        if (o.id == a.id && (o.state == StageState::complete || o.state == StageState::packing))
            return o.state == StageState::complete ? a.stage : noStage;
        arrivals_.pop_front(); // packed or gone
    }
    return noStage;
}

/// a staged object with another time to survive than Config::persist that is due, or noStage
ClusterFs::StageNo
ClusterFs::Packer::timedArrival()
{
    const auto &staging = context_.catalog.staging();
    while (!timed_.empty() && timed_.begin()->first <= context_.clock.micros()) {
        const auto a = timed_.begin()->second;
        if (staging[a.stage].id == a.id && staging[a.stage].state == StageState::complete)
            return a.stage;
        timed_.erase(timed_.begin()); // packed or gone
    }
    return noStage;
}

/// the object that must be packed now, or noStage
ClusterFs::StageNo
ClusterFs::Packer::due()
{
    const auto &staging = context_.catalog.staging();
    // when the index is nearly full: eviction makes room in it, and evicts only objects in clusters
    const auto &index = context_.catalog.index();
    const bool slotsAreRare = index.used() + index.capacity() / 128 > index.capacity();
    // objects that are still coming in can't be packed; complete ones may have half of the memory that is left
    const auto forComplete = staging.bytesLimit() - std::min(staging.bytesLimit(), staging.incompleteBytes());
    const auto moved = staging.leastRecent(true);
    movedAreDue_ = movedAreDue_ && moved != noStage;
    if (movedAreDue_ || staging.completeBytes(true) > fullCluster())
        return moved;
    const bool all = all_ != All::no && staging.completeBytes() > downTo_;
    if (all && all_ == All::fromHead)
        return staging.mostRecent(false) != noStage ? staging.mostRecent(false) : staging.mostRecent(true);
    if (all || slotsAreRare || staging.completeBytes() > forComplete / 2)
        return staging.leastRecent(false) != noStage ? staging.leastRecent(false) : moved;
    const auto oldest = oldestArrival();
    if (oldest != noStage && context_.clock.micros() - staging[oldest].since >= halfOf(context_.config.persist))
        return oldest;
    return timedArrival();
}

/// bytes of memory whose objects fill a cluster: objects take whole chunks in memory, and less on the device
uint64_t
ClusterFs::Packer::fullCluster() const
{
    return context_.geometry.clusterBytes + context_.geometry.clusterBytes / 8;
}

void
ClusterFs::Packer::poll(const bool mayStart)
{
    if (!context_.recovered || context_.health.level != Health::Level::good)
        return;
    objects_ = turnObjects;
    bytes_ = turnBytes;
    while (!settling_.empty() && !turnIsOver()) {
        if (settle(*settling_.front()))
            settling_.pop_front();
    }
    while (!turnIsOver()) {
        if (!preparing_) {
            const auto seed = mayStart && inFlight_ < maxInFlight && allocator_.ready() ? due() : noStage;
            if (seed == noStage)
                return;
            start(seed);
        }
        if (!prepare(preparing_))
            return;
        preparing_.reset();
    }
}

void
ClusterFs::Packer::spend(const uint64_t objects, const uint64_t bytes)
{
    objects_ -= std::min(objects_, objects);
    bytes_ -= std::min(bytes_, bytes);
}

bool
ClusterFs::Packer::add(Pack &pack, const StageNo s, const bool joined)
{
    const auto &o = context_.catalog.staging()[s];
    if (o.state != StageState::complete || !pack.takes(o))
        return false;
    const auto extent = Catalog::ExtentBytes(o.size);
    size_t parts = 0;
    for (auto c = o.firstPart; c != noCluster; c = context_.catalog.clusters()[c].nextPart)
        ++parts;
    if (pack.sizeWith(extent, parts) > context_.geometry.clusterBytes)
        return false;
    pack.items.push_back({s, o.id, o.record, 0, o.size, joined, groups_.leavesFirst(o.key), false, {}, nullptr, o.key});
    if (o.origin != noCluster || StoreContext::usesOf(o.heat) > 0)
        pack.used += static_cast<double>(extent);
    spend(1, 0);
    pack.parts += parts;
    pack.extents += extent;
    context_.catalog.staging().startPacking(s);
    return true;
}

/// Adds an object and its group, if the policy takes the group now.
/// \returns whether anything was added
bool
ClusterFs::Packer::addGroup(Pack &pack, const StageNo seed)
{
    group_.clear();
    groups_.stagedGroup(seed, group_);
    if (group_.size() < 2) {
        if (!add(pack, seed, false))
            return false;
        addReplicas(pack, seed);
        return true;
    }
    uint64_t bytes = 0;
    for (const auto s: group_) {
        const auto &o = context_.catalog.staging()[s];
        if (pack.takes(o))
            bytes += Catalog::ExtentBytes(o.size) + DirectoryEntry::encodedBytes;
    }
    const auto left = context_.geometry.clusterBytes - std::min<uint64_t>(pack.sizeWith(0, 0), context_.geometry.clusterBytes);
    if (!pack.items.empty() && !context_.config.packing->takes({group_.size(), bytes}, {pack.items.size(), left}))
        return false;
    bool any = false;
    for (const auto s: group_)
        any = add(pack, s, any) || any;
    if (any)
        addReplicas(pack, seed);
    return any;
}

/// adds replicas of what the group that was added last shares with others
void
ClusterFs::Packer::addReplicas(Pack &pack, const StageNo seed)
{
    if (!context_.config.replicas)
        return;
    shared_.clear();
    groups_.sharedOf(seed, shared_);
    for (const auto &key: shared_) {
        if (!addReplica(pack, key))
            spend(1, 0);
    }
}

/// adds a replica of an object if its bytes are in memory, it fits, and the option replicas allows it
bool
ClusterFs::Packer::addReplica(Pack &pack, const Key &key)
{
    const auto &catalog = context_.catalog;
    const auto slot = catalog.index().find(key);
    if (slot == noSlot)
        return false;
    const auto &r = catalog.index()[slot];
    if (r.staged() || r.parted() || catalog.clusters()[r.cluster].state != ClusterState::packed)
        return false;
    const auto payload = catalog.payloadBytes(slot);
    const auto extent = Catalog::ExtentBytes(payload);
    const ClusterRange original{r.cluster, catalog.clusters()[r.cluster].sequence, r.offset(), static_cast<uint32_t>(ExtentHeader::encodedBytes) + payload};
    if (pack.sizeWith(extent, 0) > context_.geometry.clusterBytes ||
        !context_.rewrites.allowsReplica(extent, pack.extents, context_.config.replicas))
        return false;
    const auto window = windows_.peek(original);
    if (!window || !pack.replicas.insert(uint64_t(original.cluster.value()) << 32 | original.start).second)
        return false;
    pack.items.push_back({noStage, 0, slot, 0, payload, true, pack.items.back().leavesFirst, false, original, window, key});
    context_.rewrites.noteReplicated(extent);
    spend(1, 0);
    pack.extents += extent;
    return true;
}

/// chooses objects until the cluster is full or nothing else fits
/// \returns whether that is done; else the turn is over
bool
ClusterFs::Packer::choose(Pack &pack)
{
    auto &staging = context_.catalog.staging();
    auto &misfits = pack.misfits;
    auto passed = noStage; // all objects of the list up to this one are misfits
    const auto followingIn = [&](const bool moved) {
        if (passed != noStage && (staging[passed].state != StageState::complete || staging[passed].moved != moved))
            passed = noStage; // it was added as a member of another object's group, or is in the other list
        const auto behind = [&](const StageNo s) { return pack.fromHead ? staging.lessRecent(s) : staging.moreRecent(s); };
        auto s = passed != noStage ? behind(passed) : pack.fromHead ? staging.mostRecent(moved) : staging.leastRecent(moved);
        for (; s != noStage && misfits.count(s); s = behind(s))
            passed = s;
        return s;
    };
    const auto following = [&] {
        auto s = followingIn(pack.moved);
        if (s == noStage && pack.mixes && !pack.second) {
            pack.second = true;
            pack.moved = !pack.moved;
            s = followingIn(pack.moved);
        }
        return s;
    };
    auto next = std::exchange(pack.seed, noStage);
    if (next == noStage)
        next = following();
    while (next != noStage && misfits.size() < maxMisfits) {
        if (turnIsOver())
            return false;
        if (!addGroup(pack, next)) {
            spend(1, 0);
            misfits.insert(next);
            misfits.insert(group_.begin(), group_.end()); // each member would bring the same group
        }
        next = following();
    }
    return true;
}

void
ClusterFs::Packer::start(const StageNo seed)
{
    preparing_ = std::make_shared<Pack>();
    preparing_->seed = seed;
    preparing_->moved = context_.catalog.staging()[seed].moved;
    preparing_->isNew = !preparing_->moved;
    preparing_->mixes = context_.catalog.staging().completeBytes(preparing_->moved) < fullCluster();
    preparing_->fromHead = all_ == All::fromHead;
    movedAreDue_ = movedAreDue_ && !preparing_->moved;
    ++inFlight_;
}

/// takes a pack from step choose to step write
/// \returns whether it is on its way or given up; else the turn is over, or no cluster is ready
bool
ClusterFs::Packer::prepare(const PackPointer &pack)
{
    waitsForCluster_ = false;
    if (pack->step == Pack::Step::choose) {
        if (!choose(*pack))
            return false;
        pack->step = Pack::Step::take;
    }
    if (pack->step == Pack::Step::take) {
        waitsForCluster_ = !take(*pack);
        if (waitsForCluster_)
            return false;
        pack->step = Pack::Step::fill;
    }
    if (!fillImage(*pack))
        return false;
    if (pack->front.entries.empty()) {
        giveUp(*pack);
        return true;
    }
    seal(*pack);
    write(pack);
    return true;
}

/// all objects of the pack were deleted meanwhile
void
ClusterFs::Packer::giveUp(const Pack &pack)
{
    context_.catalog.abandonWrite(pack.cluster);
    allocator_.giveBack({pack.cluster, 0});
    --inFlight_;
}

/// Finds a cluster for the chosen objects. The journal's record of a delete from now on has a sequence number that is not
/// below the cluster's. An object that was deleted before must not be written: the number in its record is lower.
/// \returns false when no cluster is ready
bool
ClusterFs::Packer::take(Pack &pack)
{
    assert(!pack.items.empty()); // any staged object fits into an empty cluster
    if (!allocator_.ready())
        return false; // parts of large objects took them meanwhile
    pack.cluster = allocator_.take(isWanted(pack));
    pack.sequence = ++context_.sequence;
    context_.catalog.beginWrite(pack.cluster, pack.sequence);

    pack.end = static_cast<uint32_t>(roundUp(Directory::BytesFor(pack.items.size(), pack.parts), extentAlignment));
    pack.buffer = std::make_shared<Buffer>(roundUp(pack.end + pack.extents, Device::bufferAlignment()), Buffer::Pages::whenUsed);
    pack.front.entries.reserve(pack.items.size());
    return true;
}

void
ClusterFs::Packer::write(const PackPointer &pack)
{
    pack->when = context_.wallSeconds();
    pack->window = windows_.insert(pack->cluster, pack->sequence, pack->buffer, pack->end);
    pack->step = Pack::Step::write;

    Io io;
    io.op = IoOp::write;
    io.ioClass = IoClass::background;
    io.offset = context_.geometry.clusterOffset(pack->cluster);
    io.size = static_cast<uint32_t>(roundUp(pack->end, context_.device.alignment()));
    io.buffer = pack->buffer->data();
    const auto alive = context_.alive;
    io.done = [this, alive, pack](const Status status) {
        if (*alive)
            written(pack, status);
    };
    context_.device.submit(std::move(io));
}

/// whether a cluster has a larger share of objects that were used before than others have: it will be read more often
bool
ClusterFs::Packer::isWanted(const Pack &pack)
{
    const auto share = pack.used / static_cast<double>(pack.extents);
    const bool wanted = share > usedShare_;
    usedShare_ += (share - usedShare_) / 16;
    return wanted;
}

/// copies the chosen objects into the image
/// \returns whether all are copied; else the turn is over
bool
ClusterFs::Packer::fillImage(Pack &pack)
{
    for (; pack.next < pack.items.size(); ++pack.next) {
        if (turnIsOver())
            return false;
        addToImage(pack, pack.next);
    }
    return true;
}

void
ClusterFs::Packer::addToImage(Pack &pack, const size_t n)
{
    const auto &staging = context_.catalog.staging();
    const auto &clusters = context_.catalog.clusters();
    auto &item = pack.items[n];
    spend(1, item.payload);
    if (item.source) {
        addReplicaToImage(pack, n);
        return;
    }
    const auto &o = staging[item.stage];
    if (o.id != item.id || o.state != StageState::packing)
        return; // deleted since it was chosen
    const auto at = pack.end;
    item.offset = at;
    DirectoryEntry e;
    e.key = o.key;
    e.offset = at;
    e.size = o.size;
    e.info = o.info;
    e.info.flags &= flagsOfCaller | flagDoubtful;
    if (item.joined)
        e.info.flags |= flagJoined;
    e.heat = static_cast<uint16_t>(o.heat);
    for (auto c = o.firstPart; c != noCluster; c = clusters[c].nextPart) {
        pack.front.parts.push_back({c, clusters[c].end - partPayloadAt, clusters[c].sequence});
        ++e.parts;
    }
    char *const extent = pack.buffer->data() + at;
    Staging::Cursor cursor;
    const auto copied = staging.copy(item.stage, 0, extent + ExtentHeader::encodedBytes, o.size, cursor);
    assert(copied == o.size);
    ExtentHeader header;
    header.size = static_cast<uint32_t>(copied);
    header.sequence = pack.sequence;
    header.key = o.key;
    sealExtent(extent, header, context_.uuid, pack.cluster, at);
    const auto used = ExtentHeader::encodedBytes + o.size;
    pack.end = at + Catalog::ExtentBytes(o.size);
    memset(extent + used, 0, pack.end - at - used);
    pack.front.entries.push_back(e);
}

/// whether an object still lies where it was
bool
ClusterFs::Packer::isThere(const Key &key, const ClusterRange &place) const
{
    const auto &catalog = context_.catalog;
    const auto slot = catalog.index().find(key);
    if (slot == noSlot)
        return false;
    const auto &r = catalog.index()[slot];
    return !r.staged() && r.cluster == place.cluster && r.offset() == place.start && catalog.clusters()[r.cluster].sequence == place.sequence;
}

/// Copies the bytes of an object on the device, if they are whole, into the image. The directory does not name them.
void
ClusterFs::Packer::addReplicaToImage(Pack &pack, const size_t n)
{
    auto &item = pack.items[n];
    const auto source = std::move(item.source);
    const auto &from = item.original;
    if (!isThere(item.key, from) || !source->covers(from))
        return;
    ExtentHeader header;
    header.size = item.payload;
    header.sequence = from.sequence;
    header.key = item.key;
    const char *const bytes = source->at(from.start);
    if (checkExtent(bytes, from.size, header, context_.uuid, from.cluster, from.start) != Status::ok)
        return; // damaged, or of another key with the same hash
    item.offset = pack.end;
    char *const extent = pack.buffer->data() + item.offset;
    memcpy(extent + ExtentHeader::encodedBytes, bytes + ExtentHeader::encodedBytes, item.payload);
    header.sequence = pack.sequence;
    sealExtent(extent, header, context_.uuid, pack.cluster, item.offset);
    pack.end = item.offset + Catalog::ExtentBytes(item.payload);
    memset(extent + from.size, 0, pack.end - item.offset - from.size);
}

/// puts the directory in front of the objects
void
ClusterFs::Packer::seal(Pack &pack)
{
    char *const image = pack.buffer->data();
    const auto size = roundUp(pack.end, Device::bufferAlignment());
    memset(image, 0, pack.front.entries.front().offset);
    memset(image + pack.end, 0, size - pack.end);
    auto &header = pack.front.header;
    header.kind = ClusterKind::packed;
    header.number = pack.cluster;
    header.uuid = context_.uuid;
    header.sequence = pack.sequence;
    header.written = context_.clock.wallSeconds();
    header.end = pack.end;
    pack.front.encode(image, size);
    pack.front = Directory();
}

/// Small objects that together fit a page of memory are one run, because each window takes whole pages, and a look for
/// another window of the cluster passes it.
std::vector<ClusterFs::Packer::Run>
ClusterFs::Packer::runsOf(const Pack &pack)
{
    std::vector<Run> runs;
    for (const auto &item: pack.items) {
        if (!item.placed)
            continue;
        const auto end = item.offset + Catalog::ExtentBytes(item.payload);
        const bool behind = !runs.empty() && item.offset == runs.back().span.second;
        if ((item.joined && behind) || (!runs.empty() && end - runs.back().span.first <= smallRun)) {
            runs.back().span.second = end;
            runs.back().leavesFirst = runs.back().leavesFirst && item.leavesFirst;
        } else {
            runs.push_back({{item.offset, end}, item.leavesFirst});
        }
    }
    return runs;
}

void
ClusterFs::Packer::written(const PackPointer &pack, const Status status)
{
    windows_.written(*pack->window);
    context_.health.writeDone(status, context_.log, true);
    if (status != Status::ok) {
        assert(inFlight_ > 0);
        --inFlight_;
        windows_.drop(pack->window); // no object is in this cluster
        failed(pack);
        return;
    }
    dirty_ = true;
    pack->step = Pack::Step::place;
    pack->next = pack->items.size();
    settling_.push_back(pack);
}

/// Gives objects their new place, and each group a window of its own. Goes from the last object to the first: each
/// is put in front of the cluster's list of records, so that the list then has them in the order of their places.
/// \returns whether that is done; else the turn is over
bool
ClusterFs::Packer::settle(Pack &pack)
{
    auto &catalog = context_.catalog;
    for (; pack.step == Pack::Step::place && pack.next; --pack.next) {
        if (turnIsOver())
            return false;
        spend(1, 0);
        auto &item = pack.items[pack.next - 1];
        if (item.stage == noStage) {
            settleReplica(pack, pack.next - 1);
            continue;
        }
        const auto &o = catalog.staging()[item.stage];
        if (!item.offset || o.id != item.id || o.state != StageState::packing)
            continue; // deleted before the cluster was on the device
        ++context_.counters.packedObjects;
        context_.counters.packedInGroups += item.joined;
        context_.counters.packedBytes += item.payload;
        context_.rewrites.notePacked(item.payload);
        if (o.origin != noCluster)
            replicas_.moved({o.origin, o.originOffset}, {pack.cluster, item.offset});
        catalog.place(item.slot, pack.cluster, item.offset, item.payload, item.joined);
        item.placed = true;
    }
    if (pack.step == Pack::Step::place) {
        ++context_.counters.packs;
        catalog.finishWrite(pack.cluster, pack.end, pack.when, context_.sequence);
        if (context_.config.replacement->triesNewOnes())
            context_.queues.noteWritten(pack.cluster, pack.sequence, pack.isNew, context_.heatTick());
        pack.runs = runsOf(pack);
        pack.step = Pack::Step::split;
    }
    for (; pack.next < pack.runs.size(); ++pack.next) {
        if (turnIsOver())
            return false;
        const auto &run = pack.runs[pack.next];
        const auto bytes = run.span.second - run.span.first;
        spend(1, bytes);
        if (!windows_.split(pack.window, run.span))
            break; // the window has left memory
        if (run.leavesFirst)
            windows_.putFirst({pack.cluster, pack.sequence, run.span.first, bytes});
    }
    windows_.drop(pack.window);
    assert(inFlight_ > 0);
    --inFlight_;
    return true;
}

/// a replica is on the device: from now on it may be read in place of the original
void
ClusterFs::Packer::settleReplica(Pack &pack, const size_t n)
{
    auto &item = pack.items[n];
    if (!item.offset || !isThere(item.key, item.original) ||
        !replicas_.add({item.original.cluster, item.original.start}, {pack.cluster, item.offset}, Catalog::ExtentBytes(item.payload)))
        return;
    item.placed = true;
    ++context_.counters.replicas;
    context_.counters.replicaBytes += item.payload;
}

/// the device refused the cluster: put it out of use and keep the objects
void
ClusterFs::Packer::failed(const PackPointer &pack)
{
    auto &catalog = context_.catalog;
    ++context_.counters.writeErrors;
    ++context_.counters.quarantined;
    catalog.failWrite(pack->cluster);
    for (const auto &item: pack->items) {
        if (item.stage == noStage)
            continue; // a replica
        const auto &o = catalog.staging()[item.stage];
        if (o.id == item.id && o.state == StageState::packing)
            catalog.staging().packingFailed(item.stage);
    }
}
