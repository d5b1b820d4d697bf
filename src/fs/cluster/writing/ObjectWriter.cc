// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking in one object. */

#include "fs/cluster/writing/ObjectWriter.h"

#include <algorithm>
#include <cassert>

namespace ClusterFs {
namespace {
constexpr uint64_t spareReferences = 64; ///< parts by which an object may outgrow its expected size
constexpr uint64_t hungMicros = 3000000; ///< a device that finishes no write for so long is not waited for
} // namespace
} // namespace ClusterFs

ClusterFs::WriterGroup::WriterGroup(Shared &s, Allocator &a, ReadCache &c):
    shared(s),
    allocator(a),
    cache(c)
{
}

uint64_t
ClusterFs::WriterGroup::smallestFront() const
{
    // Squid's metadata and most response headers fit, so that replacing them
    // touches the front only
    return std::min<uint64_t>(16 * 1024, shared.partCapacity() / 2);
}

uint64_t
ClusterFs::WriterGroup::largestObject() const
{
    // the references to all parts share a cluster with the smallest front,
    // and some room is left for headers that grow
    const auto room = shared.extentCapacity() - 2 * smallestFront();
    const auto parts = std::max<uint64_t>(1, room / PartReference::encodedBytes);
    return std::min<uint64_t>(parts, shared.geometry.clusterCount / 2) * shared.partCapacity();
}

uint64_t
ClusterFs::WriterGroup::frontOf(const int64_t expectedSize) const
{
    const uint64_t whole = shared.extentCapacity();
    if (expectedSize < 0)
        return whole / 2;
    const auto size = static_cast<uint64_t>(expectedSize);
    // it may turn out larger than expected: leave room for references to parts
    if (size + spareReferences * PartReference::encodedBytes <= whole)
        return std::max(size, whole / 2);
    // full parts and what is left over as the front, so that no space is lost
    const auto parts = size / shared.partCapacity();
    const auto left = size % shared.partCapacity();
    const bool fits = left + parts * PartReference::encodedBytes + smallestFront() <= whole;
    return left >= smallestFront() && fits ? left : smallestFront();
}

void
ClusterFs::WriterGroup::send(const Journal::Ticket ticket, Io io)
{
    if (waiting_.empty() && ticket <= journal->written())
        shared.device.submit(std::move(io));
    else
        waiting_.push_back({ticket, std::move(io)});
}

void
ClusterFs::WriterGroup::poll()
{
    const bool lost = shared.health.level != Health::Level::good; // the journal will get no further
    while (!waiting_.empty() && (lost || waiting_.front().ticket <= journal->written())) {
        auto io = std::move(waiting_.front().io);
        waiting_.pop_front();
        if (lost)
            io.done(Status::ioError);
        else
            shared.device.submit(std::move(io));
    }
}

void
ClusterFs::WriterGroup::partSent(const uint64_t bytes)
{
    if (!bytesInFlight)
        lastProgress_ = shared.clock.micros();
    bytesInFlight += bytes;
}

void
ClusterFs::WriterGroup::partDone(const uint64_t bytes)
{
    bytesInFlight -= bytes;
    lastProgress_ = shared.clock.micros();
}

bool
ClusterFs::WriterGroup::congested() const
{
    return bytesInFlight > bytesInFlightMost() / 2 && shared.clock.micros() - lastProgress_ < hungMicros;
}

ClusterFs::Status
ClusterFs::WriterGroup::publish(const StageNo stage)
{
    auto &catalog = shared.catalog;
    const auto key = catalog.staging[stage].key;
    const auto older = catalog.index.find(key);
    if (older != noSlot || shared.mayReturn())
        journal->removal(key, shared.sequence);
    if (older != noSlot)
        catalog.erase(older);
    if (catalog.addStaged(stage) == noSlot)
        return Status::full;
    const auto slot = catalog.staging[stage].record;
    ++shared.counters.stored;
    shared.counters.storedBytes += catalog.objectSize(slot);
    return Status::ok;
}

ClusterFs::ObjectWriter::ObjectWriter(WriterGroup &group, const Key &key, const StageNo stage, const uint64_t frontLimit, const uint64_t promised):
    group_(group),
    engineAlive_(group.shared.alive),
    key_(key),
    object_(std::make_shared<WritingObject>()),
    promised_(promised)
{
    object_->stage = stage;
    object_->stageId = group.shared.catalog.staging[stage].id;
    object_->frontLimit = frontLimit;
}

ClusterFs::ObjectWriter::~ObjectWriter()
{
    if (!*engineAlive_ || object_->finished)
        return;
    if (!object_->failed)
        ++group_.shared.counters.aborted;
    giveUp();
}

/// Nobody will find the object. Who reads it already may go on: it was told that
/// the bytes are here.
void
ClusterFs::ObjectWriter::giveUp()
{
    auto &catalog = group_.shared.catalog;
    object_->failed = true;
    if (object_->stage == noStage)
        return; // has given up before
    catalog.staging.unpromise(promised_);
    promised_ = 0;
    catalog.staging.drop(object_->stage);
    object_->stage = noStage;
    if (object_->firstPart != noCluster)
        catalog.freeParts(object_->firstPart); // when the last reader has gone
}

bool
ClusterFs::ObjectWriter::fail()
{
    if (!object_->failed) {
        ++group_.shared.counters.refused;
        giveUp();
    }
    return false;
}

/// Only objects with parts are: the others wait in staging for nothing.
bool
ClusterFs::ObjectWriter::congested() const
{
    return *engineAlive_ && !object_->failed && (object_->parts || object_->filling) && group_.congested();
}

bool
ClusterFs::ObjectWriter::append(const char *from, size_t size)
{
    if (!*engineAlive_ || object_->failed)
        return false;
    assert(!object_->finished);
    if (object_->size + size > group_.largestObject())
        return fail();
    auto &staging = group_.shared.catalog.staging;
    if (object_->size < object_->frontLimit) {
        const auto n = std::min<uint64_t>(size, object_->frontLimit - object_->size);
        const auto kept = std::min(n, promised_); // a promise turns into use
        if (n > kept && Staging::MemoryOf(n - kept) > staging.bytesFree()) { // the rest is promised to others
            if (object_->size < group_.smallestFront())
                return fail();
            object_->frontLimit = object_->size; // what comes goes past staging
            return appendToPart(from, size);
        }
        staging.unpromise(kept);
        promised_ -= kept;
        if (!staging.append(object_->stage, from, n))
            return fail();
        object_->size += n;
        from += n;
        size -= n;
    }
    return !size || appendToPart(from, size);
}

bool
ClusterFs::ObjectWriter::appendToPart(const char *from, size_t size)
{
    auto &o = *object_;
    const auto capacity = group_.shared.partCapacity();
    while (size > 0) {
        if (!o.filling) {
            o.filling = std::make_shared<Buffer>(group_.shared.geometry.clusterBytes);
            o.filled = 0;
        }
        const auto n = std::min<size_t>(size, capacity - o.filled);
        memcpy(o.filling->data() + partPayloadAt + o.filled, from, n);
        o.filled += static_cast<uint32_t>(n);
        o.size += n;
        from += n;
        size -= n;
        if (o.filled == capacity && !submitPart())
            return fail();
    }
    return true;
}

bool
ClusterFs::ObjectWriter::submitPart()
{
    auto &shared = group_.shared;
    auto &catalog = shared.catalog;
    auto &o = *object_;
    const auto bytes = partPayloadAt + o.filled;
    const auto most = group_.bytesInFlightMost() * (o.readers ? WriterGroup::joinedFactor : 1);
    if (shared.health.level != Health::Level::good || group_.bytesInFlight + bytes > most)
        return false;
    // the references to all parts must fit beside the front
    if (o.frontLimit + (uint64_t(o.parts) + 1) * PartReference::encodedBytes > shared.extentCapacity())
        return false;
    auto taken = group_.allocator.takeSoon();
    if (taken.cluster == noCluster) {
        group_.makeRoom();
        taken = group_.allocator.takeSoon();
    }
    const auto c = taken.cluster;
    if (c == noCluster)
        return false;
    ++shared.sequence;
    const auto size = static_cast<uint32_t>(roundUp(bytes, shared.device.alignment()));
    sealPart(c, bytes, size);
    linkPart(c, bytes);
    ++o.writesInFlight;
    ++shared.counters.parts;
    group_.partSent(bytes);

    // the write keeps the chain from being reused, and the window in memory
    const auto first = o.firstPart;
    catalog.pin(first);
    const auto window = group_.cache.insert(c, shared.sequence, o.filling, bytes);
    Io io;
    io.op = IoOp::write;
    io.ioClass = IoClass::background;
    io.offset = shared.geometry.clusterOffset(c);
    io.size = size;
    io.buffer = o.filling->data();
    auto &group = group_;
    const auto object = object_;
    const auto alive = engineAlive_;
    io.done = [&group, object, window, alive, first, c, bytes](const Status status) {
        if (!*alive)
            return;
        group.partDone(bytes);
        PartDone(group, object, c, status);
        group.shared.catalog.unpin(first);
    };
    group_.send(taken.ticket, std::move(io));
    o.filling.reset();
    o.filled = 0;
    return true;
}

/// puts header and checksum in front of the part that is being filled
void
ClusterFs::ObjectWriter::sealPart(const ClusterNo c, const uint32_t bytes, const uint32_t size)
{
    const auto &shared = group_.shared;
    const auto &o = *object_;
    char *const data = o.filling->data();
    Directory front;
    front.header.kind = ClusterKind::part;
    front.header.number = c;
    front.header.uuid = shared.uuid;
    front.header.sequence = shared.sequence;
    front.header.written = shared.clock.wallSeconds();
    front.header.end = bytes;
    front.header.partNumber = o.parts;
    front.header.key = key_;
    front.header.payloadCrc = partCrc(data + partPayloadAt, o.filled, shared.uuid, c, shared.sequence);
    memset(data, 0, partPayloadAt);
    front.encode(data, partPayloadAt);
    memset(data + bytes, 0, size - bytes);
}

/// makes a cluster the last part of the object
void
ClusterFs::ObjectWriter::linkPart(const ClusterNo c, const uint32_t bytes)
{
    const auto &shared = group_.shared;
    auto &clusters = group_.shared.catalog.clusters;
    auto &o = *object_;
    clusters.setState(c, ClusterState::part);
    auto &entry = clusters[c];
    entry.sequence = shared.sequence;
    entry.end = bytes;
    entry.written = shared.wallSeconds();
    entry.nextPart = noCluster;
    entry.errors = 0;
    entry.first = noSlot;
    if (o.lastPart == noCluster) {
        o.firstPart = c;
        pinParts();
    } else {
        clusters[o.lastPart].nextPart = c;
    }
    o.lastPart = c;
    ++o.parts;
}

/// readers of the unfinished object may come to the parts long after it was deleted
void
ClusterFs::ObjectWriter::pinParts()
{
    auto &catalog = group_.shared.catalog;
    const auto first = object_->firstPart;
    const auto alive = engineAlive_;
    catalog.pin(first);
    object_->partsPin = std::shared_ptr<void>(nullptr, [&catalog, first, alive](void *) {
        if (*alive)
            catalog.unpin(first);
    });
}

/// a part is on the device, or failed to get there
void
ClusterFs::ObjectWriter::PartDone(WriterGroup &group, const WritingPointer &object, const ClusterNo c, const Status status)
{
    auto &shared = group.shared;
    auto &staging = shared.catalog.staging;
    shared.health.writeDone(status, shared.log, true);
    --object->writesInFlight;
    const bool ours = object->stage != noStage && staging[object->stage].id == object->stageId &&
                      staging[object->stage].state == StageState::writing;
    if (status != Status::ok) {
        ++shared.counters.writeErrors;
        ++shared.counters.quarantined;
        shared.catalog.clusters[c].errors = ClusterEntry::unwritable; // until its chain is freed
        object->failed = object->broken = true; // an unfinished writer notices at its next call
        if (ours && object->finished && staging[object->stage].record != noSlot)
            shared.catalog.erase(staging[object->stage].record);
        return;
    }
    if (ours && object->finished && !object->failed && !object->writesInFlight) {
        staging.complete(object->stage, shared.clock.micros());
        group.onComplete(object->stage);
    }
}

ClusterFs::Status
ClusterFs::ObjectWriter::finish()
{
    auto &o = *object_;
    if (!*engineAlive_ || o.failed)
        return Status::aborted;
    assert(!o.finished);
    if (o.filling && o.filled && !submitPart()) {
        fail();
        return Status::full;
    }
    auto &shared = group_.shared;
    auto &staged = shared.catalog.staging[o.stage];
    shared.catalog.staging.unpromise(promised_);
    promised_ = 0;
    staged.info.size = o.size;
    staged.firstPart = o.firstPart;
    staged.heat = shared.heatOf(0);
    if (o.firstPart != noCluster) {
        shared.catalog.clusters[o.firstPart].total = o.size;
        shared.catalog.clusters[o.firstPart].headBytes = staged.size;
    }
    const auto status = group_.publish(o.stage);
    if (status != Status::ok) {
        fail();
        return status;
    }
    o.finished = true;
    if (!o.writesInFlight) {
        shared.catalog.staging.complete(o.stage, shared.clock.micros());
        group_.onComplete(o.stage);
    }
    return Status::ok;
}
