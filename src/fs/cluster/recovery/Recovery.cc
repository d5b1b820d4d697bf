// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of a start. */

#include "fs/cluster/recovery/Recovery.h"

#include "fs/cluster/base/Messages.h"

#include <algorithm>
#include <cassert>

namespace ClusterFs {
namespace {
constexpr uint32_t journalBlocksInRead = 64;
constexpr uint64_t turnMicros = 1000; ///< microseconds that poll() may take
/// The gap that keeps this run clear of sequence numbers that a start does not see:
/// those of clusters whose announcement was lost. It is larger than the number of
/// clusters written from one superblock to the next. It is a multiple of all heat
/// ticks, so that the ages of objects stay as they are.
uint64_t
sequenceGap(const StoreContext &context)
{
    return roundUp(uint64_t(1) << 20, 256 * context.heatTickWrites());
}
} // namespace
} // namespace ClusterFs

/// the front of a cluster that was read
struct ClusterFs::Recovery::Front {
    ClusterNo cluster;
    Status status;
    BufferPointer buffer;
    uint32_t size;
    Directory directory{};
    bool decoded = false;
    bool isNew = false; ///< its directory is whole, and was written since the cluster was announced
};

ClusterFs::Recovery::Recovery(StoreContext &context, Journal &journal, const Superblock &superblock):
    context_(context),
    journal_(journal),
    superblock_(superblock),
    rebuilder_(context, stats_),
    reader_(context, rebuilder_, stats_, superblock)
{
    stats_.clean = superblock.clean;
    if (superblock.clean) // no start that did not come to its end wrote it
        rebuilder_.seeWritten(superblock.lastSequence);
}

void
ClusterFs::Recovery::read(const uint64_t offset, const uint32_t size, ReadDone done)
{
    const auto ioClass = step_ == Step::scan ? IoClass::background : IoClass::urgent;
    readAtStart(context_, stats_, ioClass, offset, size, std::move(done));
}

void
ClusterFs::Recovery::takeNumbers()
{
    // The run before began a gap above its superblock. The number of a delete from
    // now on must not be below any that it wrote; these are not known yet.
    context_.sequence += 2 * sequenceGap(context_);
}

/// \returns a number above all others whose heat tick is that of the cluster that was written last: an object that was
/// used just before the stop must not look as if that was long ago
ClusterFs::Sequence
ClusterFs::Recovery::nextSequence() const
{
    const auto round = 256 * context_.heatTickWrites();
    const auto least = std::max(context_.sequence, rebuilder_.highest()) + sequenceGap(context_);
    return least + (rebuilder_.highestWritten().value() + round - least.value() % round) % round;
}

void
ClusterFs::Recovery::start()
{
    startedAt_ = context_.clock.micros();
    context_.catalog.beginAdding(superblock_.objects);
    for (ClusterNo n{0}; n.value() < context_.logClusters; ++n) {
        if (context_.geometry.inLog(n, context_.logClusters))
            context_.catalog.giveToLog(n);
    }
    journalOf_ = resumeAt_ = superblock_.checkpoint;
    readJournal();
}

void
ClusterFs::Recovery::takeArrived(const IndexRebuilder::GoOn &goOn)
{
    while (!arrived_.empty()) {
        // taken out first, because it may add others
        auto what = std::move(arrived_.front());
        arrived_.pop_front();
        if (!what(goOn))
            arrived_.push_front(std::move(what));
        if (!goOn())
            return;
    }
}

/* the journal */

void
ClusterFs::Recovery::readJournal()
{
    const auto blocks = static_cast<uint32_t>(context_.geometry.journalBytes / journalBlockBytes);
    const auto count = std::min(journalBlocksInRead, blocks - journalBlock_);
    if (!count) {
        nextJournal();
        return;
    }
    const auto offset = context_.geometry.journalStart[journalOf_ % 2] + uint64_t(journalBlock_) * journalBlockBytes;
    read(offset, count * journalBlockBytes, [this, count](const Status status, const BufferPointer &buffer) {
        if (status != Status::ok) {
            nextJournal();
            return;
        }
        arrived_.emplace_back([this, buffer, count, next = uint32_t(0)](const IndexRebuilder::GoOn &goOn) mutable {
            return takeJournal(buffer, count, next, goOn);
        });
    });
}

/// takes blocks of the journal that were read
/// \param count how many
/// \param next the next one to take; moved on
/// \returns whether all is done
bool
ClusterFs::Recovery::takeJournal(const BufferPointer &buffer, const uint32_t count, uint32_t &next, const IndexRebuilder::GoOn &goOn)
{
    while (next < count) {
        const auto at = next++;
        JournalBlock block;
        const auto ok = block.decode(buffer->data() + size_t(at) * journalBlockBytes, context_.uuid) == Status::ok;
        if (!ok || block.checkpoint != journalOf_ || block.index != journalBlock_ || block.run < journalRun_) {
            stats_.journalBlocksLost += blocksBehindHole(buffer->data() + size_t(at) * journalBlockBytes, count - at);
            nextJournal();
            return true;
        }
        for (const auto &record: block.records)
            rebuilder_.journal(record);
        journalRun_ = block.run;
        ++journalBlock_;
        resumeAt_ = journalOf_;
        resumeBlock_ = journalBlock_;
        if (next < count && !goOn())
            return false;
    }
    readJournal();
    return true;
}

/// The journal ends at the first block that is not whole. If whole blocks of it follow, it has lost some.
/// \param blocks from the first one that is not whole on
/// \param count how many were read
/// \returns how many were written: up to the last one that is whole
uint32_t
ClusterFs::Recovery::blocksBehindHole(const char *const blocks, const uint32_t count) const
{
    uint32_t lost = 0;
    for (uint32_t i = 0; i < count; ++i) {
        JournalBlock block;
        const bool whole = block.decode(blocks + size_t(i) * journalBlockBytes, context_.uuid) == Status::ok;
        // a block of a lower run was left by an earlier crash
        if (whole && block.checkpoint == journalOf_ && block.index == journalBlock_ + i && block.run >= journalRun_)
            lost = i + 1;
    }
    return lost;
}

/// A journal was read. Behind that of the newest checkpoint comes that of a checkpoint that was begun and not completed.
void
ClusterFs::Recovery::nextJournal()
{
    if (journalOf_ == superblock_.checkpoint) {
        ++journalOf_;
        journalBlock_ = 0;
        readJournal();
        return;
    }
    journal_.resume(resumeAt_, resumeBlock_);
    if (hasLog()) {
        step_ = Step::removals;
        reader_.start();
    } else {
        beginClusters(); // the store was just formatted, or a program without an index log wrote it
    }
}

/* the index log */

void
ClusterFs::Recovery::takeLog(const IndexRebuilder::GoOn &goOn)
{
    if (!reader_.done()) {
        reader_.poll(goOn);
        return;
    }
    if (!rebuilder_.endLog(goOn))
        return;
    if (stats_.blocksLost) {
        if (reader_.beyondRepair())
            say<Message::logBeyondRepair>(context_.log, stats_.blocksLost, superblock_.log.used());
        else
            say<Message::logDamaged>(context_.log, stats_.blocksLost, superblock_.log.used());
        context_.catalog.nameAll();
    }
    if (reader_.beyondRepair())
        beginScan();
    else
        end(goOn);
}

/* clusters */

void
ClusterFs::Recovery::beginClusters()
{
    step_ = Step::clusters;
    fronts_ = rebuilder_.announced();
    stats_.clustersAnnounced = fronts_.size();
    nextFront_ = 0;
    readFronts();
}

void
ClusterFs::Recovery::beginScan()
{
    step_ = Step::scan;
    stats_.scanned = true;
    context_.catalog.nameAll();
    fronts_.clear();
    nextScan_ = ClusterNo(0);
    context_.sequence = nextSequence();
    scanLimit_ = context_.sequence;
    readFronts();
}

void
ClusterFs::Recovery::readFronts()
{
    const auto size = std::min(frontBytes, context_.geometry.clusterBytes);
    while (frontsInFlight_ < depth) {
        ClusterNo n = noCluster;
        if (step_ == Step::clusters && nextFront_ < fronts_.size()) {
            n = fronts_[nextFront_++];
        } else if (step_ == Step::scan && context_.geometry.has(nextScan_)) {
            n = nextScan_++;
            const auto state = context_.catalog.clusters()[n].state;
            if (state != ClusterState::unknown && state != ClusterState::packed)
                continue;
        } else {
            return;
        }
        ++stats_.clustersRead;
        ++frontsInFlight_;
        read(context_.geometry.clusterOffset(n), size, [this, n, size](const Status status, const BufferPointer &buffer) {
            frontArrived(n, status, buffer, size);
        });
    }
}

void
ClusterFs::Recovery::frontArrived(const ClusterNo n, const Status status, const BufferPointer &buffer, const uint32_t size)
{
    ClusterHeader peek;
    if (status == Status::ok && size < context_.geometry.clusterBytes && Directory::Peek(buffer->data(), size, peek) &&
            peek.uuid == context_.uuid && peek.directoryBytes() > size && peek.directoryBytes() <= context_.geometry.clusterBytes) {
        const auto whole = static_cast<uint32_t>(roundUp(peek.directoryBytes(), context_.device.alignment()));
        read(context_.geometry.clusterOffset(n), whole, [this, n, whole](const Status again, const BufferPointer &more) {
            frontArrived(n, again, more, whole);
        });
        return;
    }
    const auto front = std::make_shared<Front>(Front{n, status, buffer, size});
    arrived_.emplace_back([this, front](const IndexRebuilder::GoOn &goOn) { return takeFront(*front, goOn); });
}

/// takes the front of a cluster that was read
/// \returns whether all is done
bool
ClusterFs::Recovery::takeFront(Front &front, const IndexRebuilder::GoOn &goOn)
{
    const auto n = front.cluster;
    auto &d = front.directory;
    if (!front.decoded) {
        front.decoded = true;
        const bool isWhole = front.status == Status::ok &&
                             d.decode(front.buffer->data(), front.size, n, context_.uuid, context_.geometry.clusterBytes) == Status::ok;
        front.isNew = isWhole && d.header.sequence > rebuilder_.announcedAfter(n);
        if (step_ == Step::clusters)
            countAnnounced(n, front.status, front.isNew, front.buffer, front.size);
    }
    // a cluster that was written while the scan goes on has a higher number: the catalog has its objects already
    if (front.isNew && (step_ != Step::scan || d.header.sequence <= scanLimit_)) {
        if (!rebuilder_.directory(n, d, step_ == Step::scan, goOn))
            return false;
    } else if (step_ == Step::scan && context_.catalog.clusters()[n].state == ClusterState::unknown) {
        context_.catalog.addEmpty(n, true);
    }
    --frontsInFlight_;
    return true;
}

/// counts an announced cluster for the figures of the start
/// \param isWhole whether its directory is whole and was written after the announcement
void
ClusterFs::Recovery::countAnnounced(const ClusterNo n, const Status status, const bool isWhole, const BufferPointer &buffer, const uint32_t size)
{
    ClusterHeader peek;
    const bool isBegun = status != Status::ok || (Directory::Peek(buffer->data(), size, peek) && peek.uuid == context_.uuid &&
                         peek.number == n && peek.sequence > rebuilder_.announcedAfter(n));
    stats_.clustersWritten += isWhole;
    stats_.clustersTorn += !isWhole && isBegun;
}

void
ClusterFs::Recovery::poll()
{
    const auto until = context_.clock.micros() + turnMicros;
    const auto goOn = [&] { return context_.clock.micros() < until; };
    advance(goOn);
    // An idle Squid looks at its stores ten times a second: a start would take a hundred times as long as its work.
    if (!done() && (!goOn() || context_.device.idle()))
        context_.device.pollAgain();
}

/// goes on from the step that was reached
void
ClusterFs::Recovery::advance(const IndexRebuilder::GoOn &goOn)
{
    takeArrived(goOn);
    if (step_ == Step::removals && reader_.knowsRemovals())
        beginClusters();
    if (step_ == Step::objects) {
        takeLog(goOn);
        return;
    }
    if (step_ == Step::copies)
        end(goOn);
    else if (step_ == Step::finish)
        finish(goOn);
    if (step_ != Step::clusters && step_ != Step::scan)
        return;
    readFronts();
    if (nextFront_ < fronts_.size() || frontsInFlight_)
        return;
    if (step_ == Step::clusters && hasLog()) {
        step_ = Step::objects; // joinParts() comes later: the log has parts of large objects whose heads were read now
        return;
    }
    rebuilder_.joinParts();
    if (step_ == Step::clusters && superblock_.checkpoint) {
        say<Message::logUnusable>(context_.log);
        beginScan();
    } else {
        end(goOn);
    }
}

/// Clusters that were written since the checkpoint are read in the order of their places, so the older of two versions may
/// come first. If it was replaced just before the crash, the journal may not have that. If the older one was served now
/// and the newer one later, an object would have gone back in time for a moment.
bool
ClusterFs::Recovery::mayFindNewer(const SlotNo slot) const
{
    if (done() || context_.catalog.index()[slot].staged())
        return false;
    return step_ == Step::clusters || rebuilder_.awaitsNewer(slot);
}

void
ClusterFs::Recovery::checkCopies(const IndexRebuilder::Contested &what)
{
    const auto alignment = context_.device.alignment();
    const auto from = roundDown(what.from, alignment);
    const auto size = static_cast<uint32_t>(roundUp(what.to, alignment) - from);
    ++stats_.clustersRead;
    ++frontsInFlight_;
    read(context_.geometry.clusterOffset(what.cluster) + from, size, [this, what, from](const Status status, const BufferPointer &buffer) {
        const auto *const bytes = status == Status::ok ? buffer->data() + (what.from - from) : nullptr;
        arrived_.emplace_back([this, what, buffer, bytes](const IndexRebuilder::GoOn &goOn) {
            const bool all = rebuilder_.check(what, bytes, goOn);
            frontsInFlight_ -= all;
            return all;
        });
    });
}

/// All objects are found. Checks the newer copies of contested ones, and then finishes.
void
ClusterFs::Recovery::end(const IndexRebuilder::GoOn &goOn)
{
    if (step_ != Step::scan)
        step_ = Step::copies;
    IndexRebuilder::Contested what;
    while (frontsInFlight_ < depth && rebuilder_.contested(what, goOn)) {
        checkCopies(what);
        if (!goOn())
            break;
    }
    if (frontsInFlight_ || rebuilder_.mayBeContested())
        return; // poll() comes back
    if (step_ != Step::scan)
        context_.sequence = nextSequence();
    fronts_.clear();
    step_ = Step::finish;
    finish(goOn);
}

void
ClusterFs::Recovery::finish(const IndexRebuilder::GoOn &goOn)
{
    if (!rebuilder_.finish(goOn))
        return;
    step_ = Step::done;
    stats_.objects = context_.catalog.objects();
    stats_.micros = context_.clock.micros() - startedAt_;
}

double
ClusterFs::Recovery::progress() const
{
    switch (step_) {
    case Step::journal:
    case Step::removals:
        return 0;
    case Step::clusters:
        return 0.1;
    case Step::objects:
        return 0.2 + 0.8 * reader_.progress();
    case Step::copies:
    case Step::finish:
        return 1;
    case Step::scan:
        return static_cast<double>(nextScan_.value()) / context_.geometry.clusterCount;
    case Step::done:
        break;
    }
    return 1;
}
