// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing the journal. */

#include "fs/cluster/recovery/Journal.h"

#include "fs/cluster/base/Messages.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr uint32_t blocksInWrite = 16; ///< most blocks of one write
constexpr unsigned failuresTolerated = 8; ///< writes in a row after which nobody's waiting makes the next one due
constexpr uint64_t flushAgainMicros = 1000000; ///< microseconds after a failed flush until the next one
constexpr uint64_t writeAgainMicros = 10000000; ///< microseconds between tries on a device that takes no writes
} // namespace
} // namespace ClusterFs

ClusterFs::Journal::Journal(StoreContext &context):
    context_(context)
{
}

void
ClusterFs::Journal::follow(const uint64_t checkpoint)
{
    if (checkpoint == checkpoint_)
        return; // that checkpoint failed before, and its journal still counts
    checkpoint_ = checkpoint;
    nextBlock_ = 0;
    overflowed_ = false;
}

void
ClusterFs::Journal::resume(const uint64_t checkpoint, const uint32_t block)
{
    checkpoint_ = checkpoint;
    nextBlock_ = block;
}

uint32_t
ClusterFs::Journal::blocks() const
{
    return static_cast<uint32_t>(context_.geometry.journalBytes / journalBlockBytes);
}

std::vector<ClusterFs::Key>
ClusterFs::Journal::removals() const
{
    std::vector<Key> keys;
    for (const auto &record: pending_) {
        if (record.kind == JournalRecord::Kind::removal)
            keys.push_back(record.key);
    }
    return keys;
}

double
ClusterFs::Journal::used() const
{
    return static_cast<double>(nextBlock_) / blocks();
}

void
ClusterFs::Journal::add(const JournalRecord &record)
{
    ++issued_;
    if (pending_.size() >= maxPending) {
        if (!overflowed_)
            say<Message::journalFull>(context_.log);
        overflowed_ = true;
        return;
    }
    const auto now = context_.clock.micros();
    if (pending_.empty())
        oldest_ = now;
    pendingRemovals_ += record.kind == JournalRecord::Kind::removal;
    if (record.kind == JournalRecord::Kind::release && !pendingReleases_++)
        releasePending_ = now;
    pending_.push_back(record);
}

void
ClusterFs::Journal::removal(const Key &key, const Sequence sequence)
{
    JournalRecord record;
    record.kind = JournalRecord::Kind::removal;
    record.key = key;
    record.sequence = sequence;
    ++context_.counters.journalDeletes;
    add(record);
}

void
ClusterFs::Journal::release(const ClusterNo cluster)
{
    JournalRecord record;
    record.kind = JournalRecord::Kind::release;
    record.cluster = cluster;
    add(record);
}

ClusterFs::Journal::Ticket
ClusterFs::Journal::announce(const ClusterNo cluster, const Sequence sequence)
{
    JournalRecord record;
    record.kind = JournalRecord::Kind::announce;
    record.cluster = cluster;
    record.sequence = sequence;
    waited_ = true;
    add(record);
    return issued_;
}

void
ClusterFs::Journal::hasWaiter()
{
    waited_ = waited_ || (!pending_.empty() && failures_ < failuresTolerated);
}

bool
ClusterFs::Journal::due() const
{
    if (pending_.empty())
        return false;
    if (hurry_ || waited_ || pendingRemovals_ >= context_.config.deleteCount)
        return true;
    return overdue(oldest_) || overdue(releasePending_);
}

/// \param since Clock::micros(); 0 is never overdue
bool
ClusterFs::Journal::overdue(const uint64_t since) const
{
    return since && context_.clock.micros() - since >= uint64_t(context_.config.deleteTime) * 1000000;
}

void
ClusterFs::Journal::poll()
{
    // Objects that are deleted while the device takes no writes would come back with the next
    // start. So the journal tries now and then whether it takes one again.
    const bool good = context_.health.level == Health::Level::good;
    const bool again = context_.health.level == Health::Level::noWrites && context_.clock.micros() >= writeAgain_;
    if (!busy_ && (good || again)) {
        if (flushOwed_ && context_.clock.micros() >= flushAgain_)
            flush();
        else if (due())
            write();
        else if (overdue(releaseAtRisk_))
            flush();
    }
    if (pending_.empty())
        hurry_ = false;
}

void
ClusterFs::Journal::write()
{
    const auto room = blocks() - nextBlock_;
    if (!room)
        return; // the next checkpoint gives us the other region
    const auto buffer = std::make_shared<Buffer>(blocksInWrite * journalBlockBytes);
    uint32_t count = 0;
    size_t taken = 0;
    bool removals = false;
    while (count < std::min(room, blocksInWrite) && taken < pending_.size()) {
        JournalBlock block;
        block.checkpoint = checkpoint_;
        block.index = nextBlock_ + count;
        block.run = run_;
        size_t bytes = 0;
        while (taken < pending_.size() && bytes + pending_[taken].encodedBytes() <= JournalBlock::Capacity()) {
            bytes += pending_[taken].encodedBytes();
            removals = removals || pending_[taken].kind == JournalRecord::Kind::removal;
            block.records.push_back(pending_[taken++]);
        }
        block.encode(buffer->data() + size_t(count) * journalBlockBytes, context_.uuid);
        ++count;
    }

    Io io;
    io.op = IoOp::write;
    io.ioClass = IoClass::urgent; // packing waits for announcements
    io.offset = context_.geometry.journalStart[checkpoint_ % 2] + uint64_t(nextBlock_) * journalBlockBytes;
    io.size = count * journalBlockBytes;
    io.buffer = buffer->data();
    const auto upTo = issued_ - (pending_.size() - taken);
    const auto alive = context_.alive;
    const auto region = checkpoint_;
    const auto flushNow = removals || hurry_;
    io.done = [this, alive, buffer, upTo, taken, count, region, flushNow](const Status status) {
        if (!*alive)
            return;
        if (status == Status::ok) {
            takeWritten(taken);
            if (region == checkpoint_) // if not, a checkpoint began, and follow() has set the next block
                nextBlock_ += count;
            context_.counters.journalBlocks += count;
        }
        wrote(status, upTo, flushNow);
    };
    busy_ = true;
    waited_ = false;
    context_.device.submit(std::move(io));
}

/// the first pending records are on the device
void
ClusterFs::Journal::takeWritten(const size_t records)
{
    const auto releases = pendingReleases_;
    for (size_t i = 0; i < records; ++i) {
        const auto kind = pending_.front().kind;
        pendingRemovals_ -= kind == JournalRecord::Kind::removal;
        pendingReleases_ -= kind == JournalRecord::Kind::release;
        pending_.pop_front();
    }
    if (pendingReleases_ < releases && !releaseAtRisk_)
        releaseAtRisk_ = releasePending_;
    if (!pendingReleases_)
        releasePending_ = 0;
}

void
ClusterFs::Journal::wrote(const Status status, const Ticket upTo, const bool flushNow)
{
    busy_ = false;
    context_.health.writeDone(status, context_.log);
    if (status != Status::ok) {
        ++context_.counters.writeErrors;
        waited_ = ++failures_ < failuresTolerated; // the records are still pending
        writeAgain_ = context_.clock.micros() + writeAgainMicros;
        return;
    }
    failures_ = 0;
    written_ = upTo;
    if (!pending_.empty())
        oldest_ = context_.clock.micros();
    if (flushNow)
        flush();
}

void
ClusterFs::Journal::flush()
{
    Io io;
    io.op = IoOp::flush;
    io.ioClass = IoClass::background;
    const auto alive = context_.alive;
    busy_ = true;
    flushOwed_ = false;
    releaseAtRisk_ = 0; // this flush covers all that is written
    io.done = [this, alive](const Status status) {
        if (!*alive)
            return;
        busy_ = false;
        context_.health.writeDone(status, context_.log);
        if (status != Status::ok) {
            flushOwed_ = true;
            flushAgain_ = context_.clock.micros() + flushAgainMicros;
        }
    };
    context_.device.submit(std::move(io));
}
