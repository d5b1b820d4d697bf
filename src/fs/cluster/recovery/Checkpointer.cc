// SPDX-License-Identifier: GPL-2.0-or-later
/* The checkpoint daemon. */

#include "fs/cluster/recovery/Checkpointer.h"

#include "fs/cluster/recovery/SuperblockFile.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr uint64_t superblockMicros = 60000000; ///< for its write and the flush after it
constexpr double journalShare = 0.5; ///< of the journal that may be used before a checkpoint is due
constexpr uint64_t retryMicros = 10000000; ///< between tries when they fail
} // namespace
} // namespace ClusterFs

ClusterFs::Checkpointer::Checkpointer(Shared &shared, Journal &journal, const Superblock &superblock):
    shared_(shared),
    journal_(journal),
    superblock_(superblock),
    buffer_(std::make_shared<Buffer>(checkpointChunkBytes)),
    tried_(shared.clock.micros())
{
}

void
ClusterFs::Checkpointer::poll()
{
    if (busy_ || held_ || !shared_.recovered || shared_.health.level != Health::Level::good)
        return;
    if (step_ != Step::idle) {
        next();
        return;
    }
    const auto since = shared_.clock.micros() - tried_;
    const bool time = since >= uint64_t(shared_.config.checkpoint) * 1000000;
    const bool space = journal_.used() >= journalShare && (!lastFailed_ || since >= retryMicros);
    waiting_ = requested_ || time || space;
    // An object may be deleted while its cluster is being written. The journal
    // before this checkpoint says so, but only that of later ones is sure to
    // be read: begin when nothing is being written.
    if (waiting_ && !shared_.catalog.clusters.inState(ClusterState::writing))
        begin();
}

void
ClusterFs::Checkpointer::begin()
{
    requested_ = waiting_ = false;
    tried_ = shared_.clock.micros();
    number_ = superblock_.checkpoint + 1;
    from_ = shared_.sequence + 1;
    forgotten_ = shared_.forgotten;
    shared_.leftBehind.checkpointBegins();
    chunk_ = 0;
    nextCluster_ = 0;
    nextBucket_ = 0;
    nextStage_ = 0;
    nextGroup_ = 0;
    groups_.clear();
    written_ = 0;
    journal_.follow(number_);
    step_ = Step::clusters;
    next();
}

void
ClusterFs::Checkpointer::next()
{
    switch (step_) {
    case Step::idle:
        return;
    case Step::clusters:
        writeClusters();
        return;
    case Step::objects:
        writeObjects();
        return;
    case Step::carried:
        writeCarried();
        return;
    case Step::end:
        writeEnd();
        return;
    case Step::groups:
        writeGroups();
        return;
    case Step::flush:
        step_ = Step::superblock;
        submit(IoOp::flush, 0, 0);
        return;
    case Step::superblock:
        writeSuperblock();
        return;
    case Step::flushSuperblock:
        step_ = Step::finish;
        submit(IoOp::flush, 0, 0);
        return;
    case Step::finish:
        finish();
        return;
    }
}

ClusterFs::Checkpoint::Chunk
ClusterFs::Checkpointer::newChunk(const Checkpoint::Kind kind) const
{
    Checkpoint::Chunk chunk;
    chunk.checkpoint = number_;
    chunk.index = chunk_;
    chunk.kind = kind;
    chunk.keys = shared_.catalog.index.keepsKeys();
    chunk.from = from_;
    return chunk;
}

void
ClusterFs::Checkpointer::writeClusters()
{
    auto chunk = newChunk(Checkpoint::clusters);
    const auto &clusters = shared_.catalog.clusters;
    while (nextCluster_ < clusters.count() && chunk.clusterRecords.size() < Checkpoint::ClustersInChunk()) {
        const auto n = nextCluster_++;
        const auto &c = clusters[n];
        if (c.state == ClusterState::free || c.state == ClusterState::unknown || c.state == ClusterState::draining)
            continue;
        Checkpoint::ClusterRecord record;
        record.number = n;
        // Those written since the start count as about to be written: the next
        // start reads them, since neither the journal nor our objects name what
        // they hold. Of such, the sequence is what their contents must exceed.
        const bool isNew = c.sequence >= from_ && c.state != ClusterState::bad && c.state != ClusterState::announced;
        record.state = static_cast<uint8_t>(isNew ? ClusterState::announced : c.state);
        record.sequence = isNew || c.state == ClusterState::writing ? c.sequence - 1 : c.sequence;
        record.end = c.end;
        record.nextPart = c.nextPart;
        record.total = c.total;
        record.headBytes = c.headBytes;
        record.written = c.written;
        record.heat = c.heat;
        chunk.clusterRecords.push_back(record);
    }
    if (nextCluster_ >= clusters.count())
        step_ = Step::objects;
    if (chunk.clusterRecords.empty())
        next();
    else
        write(chunk);
}

void
ClusterFs::Checkpointer::addObject(Checkpoint::Chunk &chunk, const uint32_t bucket, const SlotNo slot, const Record &where)
{
    const auto &index = shared_.catalog.index;
    if (shared_.catalog.clusters[where.cluster].sequence >= from_)
        return; // the journal leads to it
    const auto &r = index[slot];
    Checkpoint::ObjectRecord record;
    record.bucket = bucket;
    record.tag = r.tag;
    record.cluster = where.cluster;
    record.place = where.place;
    record.size = r.size;
    record.timestamp = r.timestamp;
    record.packed = r.packed();
    if (chunk.keys)
        record.key = index.keyOf(slot);
    chunk.objectRecords.push_back(record);
    ++written_;
}

/// In the order of buckets: the start that reads them back then fills the index
/// from one end to the other instead of jumping through memory.
void
ClusterFs::Checkpointer::writeObjects()
{
    constexpr uint32_t ahead = 16;
    auto chunk = newChunk(Checkpoint::objects);
    const auto &index = shared_.catalog.index;
    const auto most = Checkpoint::ObjectsInChunk(chunk.keys);
    // a step looks at a bounded number of buckets, so that it stays short
    for (size_t looked = 0; nextBucket_ < index.bucketCount() && looked < 4 * most; ++looked, ++nextBucket_) {
        const auto bucket = static_cast<uint32_t>(nextBucket_);
        if (nextBucket_ + ahead < index.bucketCount())
            index.prefetchRecord(bucket + ahead);
        const auto before = chunk.objectRecords.size();
        if (!addBucket(chunk, bucket, most) && before) {
            written_ -= chunk.objectRecords.size() - before;
            chunk.objectRecords.resize(before); // the whole bucket in the next chunk
            break;
        }
    }
    if (nextBucket_ >= index.bucketCount())
        step_ = Step::carried;
    if (!chunk.objectRecords.empty())
        write(chunk);
    else if (step_ == Step::carried)
        next();
}

/// \returns false when not all fit. A bucket that is larger than a chunk (someone
/// has sought keys for that) loses the rest, which a crash makes misses of.
bool
ClusterFs::Checkpointer::addBucket(Checkpoint::Chunk &chunk, const uint32_t bucket, const size_t most)
{
    const auto &index = shared_.catalog.index;
    for (auto slot = index.firstOf(bucket); slot != noSlot; slot = index.nextOf(slot)) {
        if (chunk.objectRecords.size() >= most)
            return false;
        const auto &r = index[slot];
        if (!r.staged())
            addObject(chunk, bucket, slot, r);
    }
    return true;
}

/// Objects that are being carried still are where they came from. They come
/// last: one that moves into staging behind our back in writeObjects() must
/// not be missed, while naming one twice does no harm.
void
ClusterFs::Checkpointer::writeCarried()
{
    auto chunk = newChunk(Checkpoint::objects);
    const auto &staging = shared_.catalog.staging;
    const auto most = Checkpoint::ObjectsInChunk(chunk.keys);
    for (; nextStage_ < staging.slotsTouched() && chunk.objectRecords.size() < most; ++nextStage_) {
        const auto &staged = staging[nextStage_];
        if (staged.state == StageState::free || staged.origin == noCluster || staged.record == noSlot)
            continue;
        Record where = shared_.catalog.index[staged.record];
        where.cluster = staged.origin;
        where.setPlace(staged.originOffset, staged.heat);
        addObject(chunk, shared_.catalog.index.bucketOfSlot(staged.record), staged.record, where);
    }
    if (nextStage_ >= staging.slotsTouched())
        step_ = Step::end;
    if (!chunk.objectRecords.empty())
        write(chunk);
    else
        next(); // an empty chunk means that there are no more
}

void
ClusterFs::Checkpointer::writeEnd()
{
    auto chunk = newChunk(Checkpoint::end);
    chunk.total = written_;
    step_ = Step::groups;
    write(chunk);
}

/// What does not fit is not known to the next run, which learns it again.
void
ClusterFs::Checkpointer::writeGroups()
{
    const auto saved = hasRoom() && saveGroups ? saveGroups(nextGroup_, groups_) : Checkpoint::Saved::all;
    if (saved == Checkpoint::Saved::some)
        return; // in the next turn
    if (saved == Checkpoint::Saved::all)
        step_ = Step::flush;
    if (groups_.empty()) {
        next();
        return;
    }
    auto chunk = newChunk(Checkpoint::groups);
    chunk.groupRecords.swap(groups_);
    write(chunk);
}

bool
ClusterFs::Checkpointer::hasRoom() const
{
    return (uint64_t(chunk_) + 1) * checkpointChunkBytes <= shared_.geometry.checkpointBytes;
}

void
ClusterFs::Checkpointer::write(const Checkpoint::Chunk &chunk)
{
    if (!hasRoom()) {
        failed(Status::full); // the region is sized for any index, so this is a bug
        return;
    }
    Checkpoint::Encode(buffer_->data(), chunk, shared_.uuid);
    submit(IoOp::write, shared_.geometry.chunkOffset(number_, chunk_++), checkpointChunkBytes);
}

void
ClusterFs::Checkpointer::writeSuperblock()
{
    newer_ = superblock_;
    newer_.version = formatVersion;
    newer_.checkpoint = number_;
    newer_.clean = false;
    newer_.lastSequence = shared_.sequence;
    ++newer_.update;
    newer_.encode(buffer_->data());
    step_ = Step::flushSuperblock;
    submit(IoOp::write, superblockOffset(newer_.update), superblockBytes);
}

void
ClusterFs::Checkpointer::finish()
{
    superblock_ = newer_;
    step_ = Step::idle;
    lastFailed_ = false;
    shared_.covered = forgotten_; // its journal and its objects do not have them
    shared_.leftBehind.checkpointDone();
    ++completed_;
    ++shared_.counters.checkpoints;
    completedAt_ = shared_.clock.micros();
}

void
ClusterFs::Checkpointer::submit(const IoOp op, const uint64_t offset, const uint32_t size)
{
    Io io;
    io.op = op;
    io.ioClass = IoClass::background;
    io.offset = offset;
    io.size = size;
    io.buffer = buffer_->data();
    const auto alive = shared_.alive;
    const auto buffer = buffer_; // stays until the device is done with it
    io.done = [this, alive, buffer](const Status status) {
        if (*alive)
            answer(status);
    };
    busy_ = true;
    shared_.device.submit(std::move(io));
}

void
ClusterFs::Checkpointer::answer(const Status status)
{
    busy_ = false;
    if (status != Status::ok)
        failed(status);
}

/// The device keeps the older checkpoint; the journal goes on where it is.
void
ClusterFs::Checkpointer::failed(const Status status)
{
    shared_.health.writeDone(status, shared_.log);
    ++shared_.counters.checkpointErrors;
    if (!lastFailed_)
        shared_.log(LogLevel::error, std::string("a checkpoint could not be written (") + statusText(status) +
                    "): the next start will take longer");
    lastFailed_ = true;
    step_ = Step::idle;
}

ClusterFs::Status
ClusterFs::Checkpointer::superblockNow(const bool clean, const uint64_t maxMicros)
{
    const auto deadline = shared_.clock.micros() + maxMicros;
    auto newer = superblock_;
    newer.clean = clean;
    newer.lastSequence = shared_.sequence;
    ++newer.update;
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    newer.encode(buffer->data());
    const auto left = [&] {
        const auto now = shared_.clock.micros();
        return static_cast<unsigned>(now < deadline ? (deadline - now) / 1000 : 0);
    };
    auto status = doAndWait(shared_.device, IoOp::write, superblockOffset(newer.update), buffer, superblockBytes, left());
    if (status == Status::ok)
        status = doAndWait(shared_.device, IoOp::flush, 0, nullptr, 0, left());
    if (status == Status::ok)
        superblock_ = newer;
    return status;
}

ClusterFs::Status
ClusterFs::Checkpointer::writeCleanSuperblock(const uint64_t maxMicros)
{
    return superblockNow(true, maxMicros);
}

ClusterFs::Status
ClusterFs::Checkpointer::writeDirtySuperblock()
{
    return superblockNow(false, superblockMicros);
}
