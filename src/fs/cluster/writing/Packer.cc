// SPDX-License-Identifier: GPL-2.0-or-later
/* Packing. */

#include "fs/cluster/writing/Packer.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace ClusterFs {

/// how many objects that do not fit are passed over before a cluster counts as full
constexpr unsigned misfitsMost = 256;
constexpr size_t arrivalsSpare = 4096; ///< arrivals of objects that are gone, beside as many as are staged
constexpr uint32_t smallRun = Device::bufferAlignment(); ///< bytes of small objects that stay in memory as one piece

/// Half of the time until an object must survive is for packing, half for the
/// flush after it. \returns microseconds
constexpr uint64_t halfOf(const uint32_t persist) { return uint64_t(persist) * 1000000 / 2; }

struct Packer::Pack {
    struct Item {
        StageNo stage;
        uint64_t id;
        SlotNo slot;
        uint32_t offset;
        uint32_t payload;
        bool joined; ///< to the group of the one before
    };
    ClusterNo cluster = noCluster;
    Sequence sequence = 0;
    std::vector<Item> items;
    size_t parts = 0;
    uint64_t extents = 0; ///< bytes of all extents
    BufferPointer buffer;
    uint32_t end = 0;

    uint64_t sizeWith(const uint64_t extent, const size_t moreParts) const {
        return roundUp(Directory::BytesFor(items.size() + 1, parts + moreParts), extentAlignment) + extents + extent;
    }
};

} // namespace ClusterFs

ClusterFs::Packer::Packer(Shared &shared, Allocator &allocator, ReadCache &cache):
    shared_(shared),
    allocator_(allocator),
    cache_(cache)
{
}

void
ClusterFs::Packer::noteComplete(const StageNo s, const uint32_t persist)
{
    const auto &staging = shared_.catalog.staging;
    const auto &o = staging[s];
    // one object that waits keeps the arrivals behind it, though those objects were packed or replaced long ago
    if (arrivals_.size() >= 2 * size_t(staging.objects()) + arrivalsSpare) {
        const auto isGone = [&staging](const Arrival &a) { return staging[a.stage].id != a.id || staging[a.stage].state == StageState::free; };
        arrivals_.erase(std::remove_if(arrivals_.begin(), arrivals_.end(), isGone), arrivals_.end());
    }
    arrivals_.push_back({s, o.id});
    if (persist < shared_.config.persist)
        hurried_.insert({o.since + halfOf(persist), {s, o.id}});
}

/// the staged object that was completed first, or noStage
ClusterFs::StageNo
ClusterFs::Packer::oldestArrival()
{
    const auto &staging = shared_.catalog.staging;
    while (!arrivals_.empty()) {
        const auto &a = arrivals_.front();
        const auto &o = staging[a.stage];
        if (o.id == a.id && (o.state == StageState::complete || o.state == StageState::packing))
            return o.state == StageState::complete ? a.stage : noStage;
        arrivals_.pop_front(); // packed or gone
    }
    return noStage;
}

/// the staged object that must not wait as long as others and has waited long enough, or noStage
ClusterFs::StageNo
ClusterFs::Packer::hurriedArrival()
{
    const auto &staging = shared_.catalog.staging;
    while (!hurried_.empty() && hurried_.begin()->first <= shared_.clock.micros()) {
        const auto a = hurried_.begin()->second;
        if (staging[a.stage].id == a.id && staging[a.stage].state == StageState::complete)
            return a.stage;
        hurried_.erase(hurried_.begin()); // packed or gone
    }
    return noStage;
}

/// the object that must be packed now, or noStage
ClusterFs::StageNo
ClusterFs::Packer::due()
{
    const auto &staging = shared_.catalog.staging;
    // a full index: only objects in clusters can make room there
    const auto &index = shared_.catalog.index;
    const bool slotsAreRare = index.used() + index.capacity() / 128 > index.capacity();
    // what is still coming can't be packed, and must not keep the rest from it
    const auto forComplete = staging.bytesLimit() - std::min(staging.bytesLimit(), staging.incompleteBytes());
    if (all_ || slotsAreRare || staging.completeBytes() > forComplete / 2)
        return staging.leastRecent();
    const auto oldest = oldestArrival();
    if (oldest != noStage && shared_.clock.micros() - staging[oldest].since >= halfOf(shared_.config.persist))
        return oldest;
    return hurriedArrival();
}

void
ClusterFs::Packer::poll()
{
    if (!shared_.recovered || shared_.health.level != Health::Level::good)
        return;
    while (inFlight_ < inFlightMost) {
        const auto seed = due();
        if (seed == noStage || !start(seed))
            return;
    }
}

bool
ClusterFs::Packer::add(Pack &pack, const StageNo s, const bool joined)
{
    const auto &o = shared_.catalog.staging[s];
    if (o.state != StageState::complete)
        return false;
    const auto extent = Catalog::ExtentBytes(o.size);
    size_t parts = 0;
    for (auto c = o.firstPart; c != noCluster; c = shared_.catalog.clusters[c].nextPart)
        ++parts;
    if (pack.sizeWith(extent, parts) > shared_.geometry.clusterBytes)
        return false;
    pack.items.push_back({s, o.id, o.record, 0, o.size, joined});
    pack.parts += parts;
    pack.extents += extent;
    shared_.catalog.staging.startPacking(s);
    return true;
}

/// Adds an object and its group. A group that does not fit into what is left
/// is not torn apart: it waits for the next cluster.
/// \returns whether anything was added
bool
ClusterFs::Packer::addGroup(Pack &pack, const StageNo seed)
{
    group_.clear();
    if (groupOf)
        groupOf(seed, group_);
    if (group_.size() < 2)
        return add(pack, seed, false);
    uint64_t bytes = 0;
    for (const auto s: group_)
        bytes += Catalog::ExtentBytes(shared_.catalog.staging[s].size) + DirectoryEntry::encodedBytes;
    if (!pack.items.empty() && pack.sizeWith(bytes, 0) > shared_.geometry.clusterBytes)
        return false;
    bool any = false;
    for (const auto s: group_)
        any = add(pack, s, any) || any;
    return any;
}

void
ClusterFs::Packer::choose(Pack &pack, const StageNo seed)
{
    auto &staging = shared_.catalog.staging;
    std::unordered_set<StageNo> misfits;
    auto passed = noStage; // up to here, all are misfits
    for (auto next = seed; next != noStage && misfits.size() < misfitsMost;) {
        if (!addGroup(pack, next)) {
            misfits.insert(next);
            misfits.insert(group_.begin(), group_.end()); // each of them would bring the same group
        }
        if (passed != noStage && staging[passed].state != StageState::complete)
            passed = noStage; // it came in with others
        next = passed == noStage ? staging.leastRecent() : staging.moreRecent(passed);
        while (next != noStage && misfits.count(next)) {
            passed = next;
            next = staging.moreRecent(next);
        }
    }
}

bool
ClusterFs::Packer::start(const StageNo seed)
{
    if (!allocator_.ready())
        return false;
    const auto pack = std::make_shared<Pack>();
    choose(*pack, seed);
    assert(!pack->items.empty()); // any staged object fits into an empty cluster
    const auto cluster = allocator_.take(isWanted(*pack));
    pack->cluster = cluster;
    pack->sequence = ++shared_.sequence;
    fillImage(*pack);

    auto &entry = shared_.catalog.clusters[cluster];
    shared_.catalog.clusters.setState(cluster, ClusterState::writing);
    entry.sequence = pack->sequence;
    entry.end = pack->end;
    entry.written = shared_.wallSeconds();
    entry.errors = 0;
    const auto window = cache_.insert(cluster, pack->sequence, pack->buffer, pack->end);

    Io io;
    io.op = IoOp::write;
    io.ioClass = IoClass::background;
    io.offset = shared_.geometry.clusterOffset(cluster);
    io.size = static_cast<uint32_t>(roundUp(pack->end, shared_.device.alignment()));
    io.buffer = pack->buffer->data();
    const auto alive = shared_.alive;
    io.done = [this, alive, pack, window](const Status status) {
        if (!*alive)
            return;
        written(pack, status);
        if (status == Status::ok)
            cache_.split(window, runsOf(*pack));
        else
            cache_.split(window, {}); // in nobody's way
        const auto &now = shared_.catalog.clusters[pack->cluster];
        if (now.sequence == pack->sequence && now.live < pack->items.size())
            cache_.forgetUnused(pack->cluster); // what was deleted while it was being written
    };
    ++inFlight_;
    shared_.device.submit(std::move(io));
    return true;
}

/// whether a cluster has more than others of what was used before, and so will be read more often
bool
ClusterFs::Packer::isWanted(const Pack &pack)
{
    double used = 0;
    for (const auto &item: pack.items) {
        const auto &o = shared_.catalog.staging[item.stage];
        if (o.origin != noCluster || Shared::usesOf(o.heat) > 0)
            used += static_cast<double>(Catalog::ExtentBytes(item.payload));
    }
    const auto share = used / static_cast<double>(pack.extents);
    const bool wanted = share > usedShare_;
    usedShare_ += (share - usedShare_) / 16;
    return wanted;
}

void
ClusterFs::Packer::fillImage(Pack &pack)
{
    const auto &staging = shared_.catalog.staging;
    const auto &clusters = shared_.catalog.clusters;
    Directory front;
    auto at = static_cast<uint32_t>(roundUp(Directory::BytesFor(pack.items.size(), pack.parts), extentAlignment));
    const auto size = roundUp(at + pack.extents, Device::bufferAlignment());
    pack.buffer = std::make_shared<Buffer>(size);
    char *const image = pack.buffer->data();
    memset(image, 0, at);
    for (auto &item: pack.items) {
        const auto &o = staging[item.stage];
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
            front.parts.push_back({c, clusters[c].end - partPayloadAt, clusters[c].sequence});
            ++e.parts;
        }
        Staging::Cursor cursor;
        const auto copied = staging.copy(item.stage, 0, image + at + ExtentHeader::encodedBytes, o.size, cursor);
        assert(copied == o.size);
        ExtentHeader header;
        header.size = static_cast<uint32_t>(copied);
        header.sequence = pack.sequence;
        header.key = o.key;
        sealExtent(image + at, header, shared_.uuid, pack.cluster, at);
        const auto end = at + static_cast<uint32_t>(ExtentHeader::encodedBytes) + o.size;
        at += Catalog::ExtentBytes(o.size);
        memset(image + end, 0, at - end);
        front.entries.push_back(e);
    }
    pack.end = at;
    memset(image + at, 0, size - at);
    front.header.kind = ClusterKind::packed;
    front.header.number = pack.cluster;
    front.header.uuid = shared_.uuid;
    front.header.sequence = pack.sequence;
    front.header.written = shared_.clock.wallSeconds();
    front.header.end = pack.end;
    front.encode(image, size);
}

/// \returns beginning and end of each group in a cluster, in bytes from its start. What fits
/// a page stays together: each piece takes whole pages of memory, and is looked at by who looks for another one.
std::vector<std::pair<uint32_t, uint32_t>>
ClusterFs::Packer::runsOf(const Pack &pack)
{
    std::vector<std::pair<uint32_t, uint32_t>> runs;
    for (const auto &item: pack.items) {
        const auto end = item.offset + Catalog::ExtentBytes(item.payload);
        if (item.joined || (!runs.empty() && end - runs.back().first <= smallRun))
            runs.back().second = end;
        else
            runs.push_back({item.offset, end});
    }
    return runs;
}

void
ClusterFs::Packer::written(const PackPointer &pack, const Status status)
{
    assert(inFlight_ > 0);
    --inFlight_;
    shared_.health.writeDone(status, shared_.log, true);
    if (status != Status::ok) {
        failed(pack);
        return;
    }
    auto &catalog = shared_.catalog;
    catalog.clusters.setState(pack->cluster, ClusterState::packed);
    catalog.clusters.pushHead(pack->cluster);
    catalog.clusters[pack->cluster].heat = static_cast<uint32_t>(shared_.sequence);
    ++shared_.counters.packs;
    dirty_ = true;
    for (const auto &item: pack->items) {
        const auto &o = catalog.staging[item.stage];
        if (o.id != item.id || o.state != StageState::packing)
            continue; // deleted while it was being written
        ++shared_.counters.packedObjects;
        shared_.counters.packedInGroups += item.joined;
        shared_.counters.packedBytes += item.payload;
        catalog.place(item.slot, pack->cluster, item.offset, item.payload, item.joined);
    }
    if (!catalog.clusters[pack->cluster].live)
        catalog.freeCluster(pack->cluster);
}

/// the device refused the cluster: put it out of use and keep the objects
void
ClusterFs::Packer::failed(const PackPointer &pack)
{
    auto &catalog = shared_.catalog;
    ++shared_.counters.writeErrors;
    ++shared_.counters.quarantined;
    catalog.quarantine(pack->cluster);
    for (const auto &item: pack->items) {
        const auto &o = catalog.staging[item.stage];
        if (o.id == item.id && o.state == StageState::packing)
            catalog.staging.packingFailed(item.stage);
    }
}
