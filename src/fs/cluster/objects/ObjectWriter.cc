// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking in one object. */

#include "fs/cluster/objects/ObjectWriter.h"

#include <algorithm>
#include <cassert>

namespace ClusterFs {
namespace {
constexpr uint64_t leastFilling = 16 * 1024; ///< bytes of a part's buffer at first
constexpr uint32_t runBytes = 8 << 20; ///< of an object's parts that lie side by side: a disk that reads on for so long is near its full rate
constexpr uint32_t longestRun = 16; ///< clusters
constexpr unsigned incompleteShare = 64; ///< each incoming object may have one part of so many of the staging that all have left
} // namespace
} // namespace ClusterFs

ClusterFs::ObjectWriter::ObjectWriter(WriterGroup &group, const Key &key, const StageNo stage, const Plan &plan):
    group_(group),
    engineAlive_(group.context.alive),
    key_(key),
    object_(std::make_shared<WritingObject>()),
    expected_(plan.expected),
    promised_(plan.promised)
{
    object_->stage = stage;
    object_->stageId = group.context.catalog.staging()[stage].id;
    object_->frontLimit = plan.frontLimit;
    group.noteBegin(*this);
}

ClusterFs::ObjectWriter::~ObjectWriter()
{
    if (!*engineAlive_ || object_->finished)
        return;
    if (!object_->failed)
        ++group_.context.counters.aborted;
    giveUp();
}

/// Nobody will find the object. Its readers may go on: they were told that the
/// bytes are here.
void
ClusterFs::ObjectWriter::giveUp()
{
    auto &catalog = group_.context.catalog;
    object_->failed = true;
    if (object_->stage == noStage)
        return; // it was given up before
    group_.noteEnd(*this);
    endRun();
    if (!object_->readers) {
        object_->filling.reset();
        object_->fillingBytes.reset();
    }
    catalog.staging().unpromise(promised_);
    promised_ = 0;
    catalog.staging().drop(object_->stage);
    object_->stage = noStage;
    if (object_->firstPart != noCluster)
        catalog.freeParts(object_->firstPart); // they are free once the last reader has gone
}

bool
ClusterFs::ObjectWriter::fail()
{
    if (!object_->failed) {
        ++group_.context.counters.refused;
        giveUp();
    }
    return false;
}

/// only objects with parts can be: the others go to staging, which waits for no device
bool
ClusterFs::ObjectWriter::congested() const
{
    return *engineAlive_ && !object_->failed && parted() && group_.congested();
}

bool
ClusterFs::ObjectWriter::append(const char *from, size_t size)
{
    if (!*engineAlive_ || object_->failed)
        return false;
    const Turn turn(group_.context);
    assert(!object_->finished);
    if (object_->size + size > group_.largestObject())
        return fail();
    group_.noteBytes(*this);
    auto &staging = group_.context.catalog.staging();
    if (object_->size < object_->frontLimit) {
        auto n = std::min<uint64_t>(size, object_->frontLimit - object_->size);
        if (!mayStage(n) && !stageLess(n))
            return fail();
        const auto kept = std::min(n, promised_); // append() uses promised bytes first
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

/// Whether staging takes so many bytes more. Incoming objects share half of it. Beyond that, each may
/// have a 64th (incompleteShare) of the bytes that they have left, and at least the smallest front, so
/// that small objects find room.
bool
ClusterFs::ObjectWriter::mayStage(const uint64_t bytes) const
{
    const auto more = bytes - std::min(bytes, promised_);
    if (!more)
        return true;
    const auto &staging = group_.context.catalog.staging();
    const auto memory = Staging::MemoryOf(more);
    if (memory > staging.bytesFree()) // which leaves out the bytes that are promised to others
        return false;
    const auto held = staging.incompleteBytes() + memory;
    if (held <= staging.bytesLimit() / 2)
        return true;
    const auto left = staging.bytesLimit() - std::min(staging.bytesLimit(), held);
    return object_->size + bytes <= std::max(group_.smallestFront(), left / incompleteShare);
}

/// Ends the front early, so that the rest of the object goes to parts and not to
/// staging; but not for a few bytes, which would take a cluster of their own.
/// \param bytes that are to be staged; receives how many of them still are
/// \returns false when this does not help
bool
ClusterFs::ObjectWriter::stageLess(uint64_t &bytes)
{
    auto &o = *object_;
    const auto front = group_.smallestFront();
    const auto least = o.size < front ? std::min<uint64_t>(bytes, front - o.size) : 0;
    const auto expected = static_cast<uint64_t>(std::max<int64_t>(expected_, 0));
    const bool worthAPart = o.size >= expected || expected - o.size >= group_.context.partCapacity() / 4;
    if (least == bytes || !worthAPart || !mayStage(least))
        return false;
    bytes = least;
    o.frontLimit = o.size + least;
    return true;
}

/// Makes the buffer of the part that is being filled large enough. It grows with the bytes
/// that come: with whole clusters at once, slow objects would hold memory for nothing.
/// \param bytes of payload
/// \returns false when there is no memory for it
bool
ClusterFs::ObjectWriter::makeFilling(const uint64_t bytes)
{
    auto &o = *object_;
    const uint64_t has = o.filling ? o.filling->size() : 0;
    if (partPayloadAt + bytes <= has)
        return true;
    auto size = std::max(has, leastFilling);
    while (size < partPayloadAt + bytes)
        size *= 2;
    if (!group_.takeFilling(*this, size - has))
        return false;
    const auto larger = std::make_shared<Buffer>(size);
    if (o.filled)
        memcpy(larger->data() + partPayloadAt, o.filling->data() + partPayloadAt, o.filled);
    o.filling = larger;
    return true;
}

bool
ClusterFs::ObjectWriter::appendToPart(const char *from, size_t size)
{
    auto &o = *object_;
    const auto capacity = group_.context.partCapacity();
    while (size > 0) {
        const auto n = std::min<size_t>(size, capacity - o.filled);
        if (!makeFilling(o.filled + n))
            return fail();
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
    auto &context = group_.context;
    auto &catalog = context.catalog;
    auto &o = *object_;
    const auto bytes = partPayloadAt + o.filled;
    const auto most = group_.maxBytesInFlight() * (o.readers ? WriterGroup::joinedFactor : 1);
    if (context.health.level != Health::Level::good || group_.bytesInFlight + bytes > most)
        return false;
    // the references to all parts must fit beside the front
    if (o.frontLimit + (uint64_t(o.parts) + 1) * PartReference::encodedBytes > context.extentCapacity())
        return false;
    const auto taken = nextCluster();
    const auto c = taken.cluster;
    if (c == noCluster)
        return false;
    ++context.sequence;
    const auto size = static_cast<uint32_t>(roundUp(bytes, context.device.alignment()));
    sealPart(c, bytes, size);
    linkPart(c, bytes);
    ++o.writesInFlight;
    ++context.counters.parts;
    group_.partSent(bytes);

    // until the write is done, the pin keeps the parts from being reused, and io.done keeps the window in memory
    const auto first = o.firstPart;
    catalog.pin(first);
    const auto window = group_.windows.insert(c, context.sequence, o.filling, bytes);
    Io io;
    io.op = IoOp::write;
    io.ioClass = IoClass::background;
    io.offset = context.geometry.clusterOffset(c);
    io.size = size;
    io.buffer = o.filling->data();
    auto &group = group_;
    const auto object = object_;
    const auto alive = engineAlive_;
    io.done = [&group, object, window, alive, first, c, bytes](const Status status) {
        if (!*alive)
            return;
        group.windows.written(*window);
        group.partDone(bytes);
        PartDone(group, object, c, status);
        group.context.catalog.unpin(first);
    };
    group_.send(taken.ticket, std::move(io));
    o.filling.reset();
    o.fillingBytes.reset();
    o.filled = 0;
    return true;
}

/// \returns the cluster of the next part; noCluster in it when nothing is free
ClusterFs::Allocator::Taken
ClusterFs::ObjectWriter::nextCluster()
{
    auto &allocator = group_.allocator;
    if (run_.empty()) {
        run_ = allocator.takeRun(object_->lastPart, partsToCome());
        if (run_.empty()) {
            group_.roomMaker.hurry();
            run_ = allocator.takeRun(object_->lastPart, 1);
        }
        if (run_.empty())
            return {noCluster, 0};
        group_.clustersInRuns += static_cast<uint32_t>(run_.size());
    }
    const auto next = run_.front();
    run_.pop_front();
    --group_.clustersInRuns;
    return next;
}

/// how many clusters to take for the parts from this one on
uint32_t
ClusterFs::ObjectWriter::partsToCome() const
{
    const auto &context = group_.context;
    const auto &o = *object_;
    const auto most = std::min(std::clamp(runBytes / context.geometry.clusterBytes, 1U, longestRun), group_.spareForRuns());
    const auto come = o.size - o.filled;
    if (expected_ < 0 || static_cast<uint64_t>(expected_) <= come)
        return 1; // who knows
    const auto capacity = context.partCapacity();
    return static_cast<uint32_t>(std::clamp<uint64_t>(most, 1, (static_cast<uint64_t>(expected_) - come + capacity - 1) / capacity));
}

/// gives back the clusters that were taken for parts that do not come
void
ClusterFs::ObjectWriter::endRun()
{
    for (; !run_.empty(); run_.pop_front()) {
        group_.allocator.giveBack(run_.front());
        --group_.clustersInRuns;
    }
}

/// puts header and checksum in front of the part that is being filled
/// \param bytes of header and payload
/// \param size bytes of the write, for which the buffer has room
void
ClusterFs::ObjectWriter::sealPart(const ClusterNo c, const uint32_t bytes, const uint32_t size)
{
    const auto &context = group_.context;
    const auto &o = *object_;
    char *const data = o.filling->data();
    Directory front;
    front.header.kind = ClusterKind::part;
    front.header.number = c;
    front.header.uuid = context.uuid;
    front.header.sequence = context.sequence;
    front.header.written = context.clock.wallSeconds();
    front.header.end = bytes;
    front.header.partNumber = o.parts;
    front.header.key = key_;
    front.header.payloadCrc = partCrc(data + partPayloadAt, o.filled, context.uuid, c, context.sequence);
    memset(data, 0, partPayloadAt);
    front.encode(data, partPayloadAt);
    memset(data + bytes, 0, size - bytes);
}

/// makes a cluster the last part of the object
void
ClusterFs::ObjectWriter::linkPart(const ClusterNo c, const uint32_t bytes)
{
    auto &context = group_.context;
    auto &o = *object_;
    context.catalog.addPart(c, o.lastPart, context.sequence, bytes, context.wallSeconds());
    if (o.lastPart == noCluster) {
        o.firstPart = c;
        pinParts();
    }
    o.lastPart = c;
    ++o.parts;
}

/// keeps the parts for readers of the unfinished object, who may come to them long after it was deleted
void
ClusterFs::ObjectWriter::pinParts()
{
    auto &catalog = group_.context.catalog;
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
    auto &context = group.context;
    auto &staging = context.catalog.staging();
    context.health.writeDone(status, context.log, true);
    --object->writesInFlight;
    const bool ours = object->stage != noStage && staging[object->stage].id == object->stageId &&
                      staging[object->stage].state == StageState::writing;
    if (status != Status::ok) {
        ++context.counters.writeErrors;
        ++context.counters.quarantined;
        context.catalog.retire(c); // it becomes bad when the parts are freed
        object->failed = object->broken = true; // a writer that is not finished notices at its next call
        if (ours && object->finished && staging[object->stage].record != noSlot)
            context.catalog.erase(staging[object->stage].record);
        return;
    }
    if (ours && object->finished && !object->failed && !object->writesInFlight) {
        staging.complete(object->stage, context.clock.micros(), group.isKnown(object->stage));
        group.packing.noteComplete(object->stage);
    }
}

ClusterFs::Status
ClusterFs::ObjectWriter::finish(std::function<void(Status)>)
{
    auto &o = *object_;
    if (!*engineAlive_ || o.failed)
        return Status::aborted;
    const Turn turn(group_.context);
    assert(!o.finished);
    if (o.filling && o.filled && !submitPart()) {
        fail();
        return Status::full;
    }
    endRun();
    auto &context = group_.context;
    auto &staging = context.catalog.staging();
    staging.unpromise(promised_);
    promised_ = 0;
    staging.close(o.stage, o.size, context.heatOf(0));
    if (o.firstPart != noCluster)
        context.catalog.putHead(o.stage, o.firstPart);
    const auto status = group_.publish(o.stage);
    if (status != Status::ok) {
        fail();
        return status;
    }
    o.finished = true;
    group_.noteEnd(*this);
    if (!o.writesInFlight) {
        staging.complete(o.stage, context.clock.micros(), group_.isKnown(o.stage));
        group_.packing.noteComplete(o.stage);
    }
    return Status::ok;
}
