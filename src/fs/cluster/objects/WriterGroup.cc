// SPDX-License-Identifier: GPL-2.0-or-later
/* The writers of one engine: their limits, and their way to the device. */

#include "fs/cluster/objects/ObjectWriter.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr uint64_t spareReferences = 64; ///< parts by which an object may outgrow its expected size
constexpr uint32_t runShare = 16; ///< one part of so many of all clusters may wait for the parts of objects that come in
constexpr uint64_t hungMicros = 3000000; ///< nobody waits for a device that finishes no write for so long
constexpr uint64_t idleMicros = 3000000; ///< an object that has got no byte for so long gives way when staging is nearly full
constexpr uint64_t slowMicros = 10000000; ///< the age from which on an object gives way that comes in at less than slowRate
constexpr uint64_t slowRate = 4096; ///< bytes a second
constexpr unsigned slowLooks = 64; ///< objects looked at to find one that is too slow
} // namespace
} // namespace ClusterFs

ClusterFs::WriterGroup::WriterGroup(StoreContext &s, Allocator &a, WindowStore &w, Journal &j, PackingQueue &p, RoomMaker &r):
    context(s),
    allocator(a),
    windows(w),
    journal(j),
    packing(p),
    roomMaker(r)
{
}

uint64_t
ClusterFs::WriterGroup::smallestFront() const
{
    // Squid's metadata and most response headers fit, so that a new head
    // changes the front only
    return std::min<uint64_t>(16 * 1024, context.partCapacity() / 2);
}

uint64_t
ClusterFs::WriterGroup::largestObject() const
{
    // the references to all parts share a cluster with the smallest front,
    // and some room is left for headers that grow
    const auto room = context.extentCapacity() - 2 * smallestFront();
    const auto parts = std::max<uint64_t>(1, room / PartReference::encodedBytes);
    return std::min<uint64_t>(parts, context.geometry.clusterCount / 2) * context.partCapacity();
}

uint64_t
ClusterFs::WriterGroup::frontOf(const int64_t expectedSize) const
{
    const uint64_t whole = context.extentCapacity();
    if (expectedSize < 0)
        return whole / 2;
    const auto size = static_cast<uint64_t>(expectedSize);
    // it may turn out larger than expected: leave room for references to parts
    if (size + spareReferences * PartReference::encodedBytes <= whole)
        return std::max(size, whole / 2);
    // all parts are full, and the remainder is the front, so that no space is lost
    const auto parts = size / context.partCapacity();
    const auto left = size % context.partCapacity();
    const bool fits = left + parts * PartReference::encodedBytes + smallestFront() <= whole;
    return left >= smallestFront() && fits ? left : smallestFront();
}

uint64_t
ClusterFs::WriterGroup::promiseOf(const int64_t expectedSize) const
{
    return std::min({static_cast<uint64_t>(std::max<int64_t>(expectedSize, 0)), frontOf(expectedSize), smallestFront()});
}

uint32_t
ClusterFs::WriterGroup::spareForRuns() const
{
    const auto most = context.geometry.clusterCount / runShare;
    return most - std::min(most, clustersInRuns);
}

bool
ClusterFs::WriterGroup::takeFilling(ObjectWriter &writer, const uint64_t bytes)
{
    auto &object = *writer.object();
    const auto most = maxFilling() * (object.readers ? joinedFactor : 1);
    while (fillingBytes_ + bytes > most) {
        if (!giveWay(&writer, 0))
            return false;
    }
    if (!object.fillingBytes) {
        object.fillingBytes = std::shared_ptr<uint64_t>(new uint64_t(0), [this, alive = context.alive](const uint64_t *const taken) {
            if (*alive)
                fillingBytes_ -= *taken;
            delete taken;
        });
    }
    fillingBytes_ += bytes;
    *object.fillingBytes += bytes;
    return true;
}

void
ClusterFs::WriterGroup::noteBegin(ObjectWriter &writer)
{
    writer.begun = writer.lastBytes = context.clock.micros();
    writer.place = writers_.insert(writers_.end(), &writer);
}

void
ClusterFs::WriterGroup::noteBytes(ObjectWriter &writer)
{
    writer.lastBytes = context.clock.micros();
    writers_.splice(writers_.end(), writers_, writer.place);
}

void
ClusterFs::WriterGroup::noteEnd(ObjectWriter &writer)
{
    writers_.erase(writer.place);
}

/// Refuses the object that has got no byte for longest, but not one that others read.
/// \param to the writer that needs the memory of a part; nil if memory of staging is needed
/// \param idle microseconds for which the object must have got no byte
/// \returns whether there was one
bool
ClusterFs::WriterGroup::giveWay(const ObjectWriter *const to, const uint64_t idle)
{
    const auto now = context.clock.micros();
    for (auto *const writer: writers_) {
        if (now - writer->lastBytes < idle)
            return false; // all that follow have got bytes later
        const auto &object = *writer->object();
        if (writer == to || object.readers || object.failed || (to && !object.filling))
            continue;
        writer->refuse();
        return true;
    }
    return false;
}

/// Refuses an object that gets a few bytes now and then, and so never stands still.
/// \returns whether there was one
bool
ClusterFs::WriterGroup::slowGivesWay()
{
    const auto now = context.clock.micros();
    unsigned looks = 0;
    for (auto *const writer: writers_) {
        if (++looks > slowLooks)
            return false; // enough for one turn; the others have got bytes later than these
        const auto age = now - writer->begun;
        const auto &object = *writer->object();
        if (age < slowMicros || object.readers || object.failed || object.size > age * slowRate / 1000000)
            continue;
        writer->refuse();
        return true;
    }
    return false;
}

/// Refuses objects that come in too slowly and keep others from being stored; but not while the
/// device is behind, because then the device slows them down.
void
ClusterFs::WriterGroup::makeWay()
{
    const auto &staging = context.catalog.staging();
    while (staging.bytesFree() < staging.bytesLimit() / 8 && bytesInFlight * 2 <= maxBytesInFlight()) {
        if (!giveWay(nullptr, idleMicros) && !slowGivesWay())
            return;
    }
}

void
ClusterFs::WriterGroup::send(const Journal::Ticket ticket, Io io)
{
    if (waiting_.empty() && ticket <= journal.written())
        context.device.submit(std::move(io));
    else
        waiting_.push_back({ticket, std::move(io)});
}

void
ClusterFs::WriterGroup::poll()
{
    makeWay();
    const bool lost = context.health.level != Health::Level::good; // the journal will get no further
    while (!waiting_.empty() && (lost || waiting_.front().ticket <= journal.written())) {
        auto io = std::move(waiting_.front().io);
        waiting_.pop_front();
        if (lost)
            io.done(Status::ioError);
        else
            context.device.submit(std::move(io));
    }
}

void
ClusterFs::WriterGroup::partSent(const uint64_t bytes)
{
    if (!bytesInFlight)
        lastProgress_ = context.clock.micros();
    bytesInFlight += bytes;
}

void
ClusterFs::WriterGroup::partDone(const uint64_t bytes)
{
    bytesInFlight -= bytes;
    lastProgress_ = context.clock.micros();
}

bool
ClusterFs::WriterGroup::congested() const
{
    return bytesInFlight > maxBytesInFlight() / 2 && context.clock.micros() - lastProgress_ < hungMicros;
}

bool
ClusterFs::WriterGroup::isKnown(const StageNo stage) const
{
    const auto &catalog = context.catalog;
    return context.config.replacement->triesNewOnes() && context.queues.takeFailed(catalog.index().hashOf(catalog.staging()[stage].key).tag);
}

ClusterFs::Status
ClusterFs::WriterGroup::publish(const StageNo stage)
{
    auto &catalog = context.catalog;
    const auto key = catalog.staging()[stage].key;
    moves.noteChange(key);
    const auto older = catalog.index().find(key);
    if (older != noSlot || context.mayReturn())
        journal.removal(key, context.sequence);
    if (older != noSlot)
        catalog.erase(older);
    if (catalog.addStaged(stage) == noSlot)
        return Status::full;
    const auto slot = catalog.staging()[stage].record;
    ++context.counters.stored;
    context.counters.storedBytes += catalog.objectSize(slot);
    return Status::ok;
}
