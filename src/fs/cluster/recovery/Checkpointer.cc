// SPDX-License-Identifier: GPL-2.0-or-later
/* The checkpoint daemon. */

#include "fs/cluster/recovery/Checkpointer.h"

#include "fs/cluster/recovery/SuperblockFile.h"

#include <algorithm>
#include <cassert>

namespace ClusterFs {
namespace {
constexpr uint64_t superblockMicros = 60000000; ///< for its write and the flush after it
constexpr double journalShare = 0.5; ///< of the journal that may be used before a checkpoint is due
constexpr uint64_t retryMicros = 10000000; ///< between tries when they fail
constexpr uint64_t turnMicros = 500; ///< how long poll() may keep requests waiting
constexpr uint32_t blocksInPiece = 64;
constexpr unsigned looksAtOnce = 256; ///< clusters, objects and staging slots in a step
constexpr uint32_t logShare = 3; ///< the log is to hold that many times what there is to say
} // namespace
} // namespace ClusterFs

ClusterFs::Checkpointer::Checkpointer(StoreContext &context, Journal &journal, const Superblock &superblock):
    context_(context),
    journal_(journal),
    superblock_(superblock),
    log_(context.geometry, superblock),
    buffer_(std::make_shared<Buffer>(std::max(blocksInPiece * indexBlockBytes, groupsChunkBytes))),
    serial_(superblock.serial),
    previous_(superblock.serial),
    tried_(context.clock.micros())
{
}

size_t
ClusterFs::Checkpointer::objectBytes() const
{
    return IndexObject::encodedBytes + (context_.catalog.index().keepsKeys() ? sizeof(Key) : 0);
}

void
ClusterFs::Checkpointer::poll()
{
    if (busy_ || held_ || !context_.recovered || context_.health.level != Health::Level::good)
        return;
    if (step_ == Step::idle && !due())
        return;
    if (waitsForJournal()) {
        journal_.hasWaiter();
        return;
    }
    const auto until = context_.clock.micros() + turnMicros;
    do {
        next();
    } while (!busy_ && step_ != Step::idle && !waitsForJournal() && context_.clock.micros() < until);
}

/// Clusters were caught at different moments. An object that was named before it was replaced, and parts that
/// were named after they had got another head, do not fit together: the journal must say by then that the
/// object is no more. A journal without room gets none before a checkpoint is complete.
bool
ClusterFs::Checkpointer::waitsForJournal() const
{
    return step_ == Step::journal && journal_.written() < caught_ && !journal_.full();
}

/// \returns whether this step may look at one thing more
bool
ClusterFs::Checkpointer::look()
{
    if (!looks_)
        return false;
    --looks_;
    return true;
}

/// \returns whether one has begun
bool
ClusterFs::Checkpointer::due()
{
    const auto since = context_.clock.micros() - tried_;
    const bool time = since >= uint64_t(context_.config.checkpoint) * 1000000 && context_.catalog.changes().any();
    const bool space = journal_.used() >= journalShare && (!lastFailed_ || since >= retryMicros);
    waiting_ = requested_ || time || space;
    // An object may be deleted while its cluster is being written. The journal
    // before this checkpoint says so, but only that of later ones is sure to
    // be read: begin when nothing is being written.
    if (!waiting_ || context_.catalog.clusters().inState(ClusterState::writing))
        return false;
    begin();
    return true;
}

/// The log must hold all there is to say, twice, and what changes in one turn of it.
void
ClusterFs::Checkpointer::askForRoom()
{
    const auto &catalog = context_.catalog;
    const auto &g = context_.geometry;
    const auto inUse = catalog.clusters().inState(ClusterState::packed) + catalog.clusters().inState(ClusterState::part);
    const auto bytes = catalog.index().linked() * objectBytes() + uint64_t(inUse) * 2 * IndexSection::encodedBytes;
    const auto wanted = logShare * (bytes / (IndexBlock::capacity() * 9 / 10) + 8);
    if (wanted <= g.logBlocks)
        return;
    const auto clusters = (wanted - g.logBlocks) / (g.clusterBytes / indexBlockBytes) + 1;
    context_.logClustersWanted = std::max(context_.logClustersWanted, static_cast<uint32_t>(std::min<uint64_t>(clusters, g.clusterCount / 2)));
}

void
ClusterFs::Checkpointer::begin()
{
    requested_ = waiting_ = false;
    tried_ = context_.clock.micros();
    number_ = superblock_.checkpoint + 1;
    ++serial_;
    from_ = context_.sequence + 1;
    forgotten_ = context_.forgotten;
    newHeads_ = context_.newHeads;
    context_.leftBehind.checkpointBegins();
    context_.catalog.beginCheckpoint();
    anew_ = context_.catalog.changes().collectsAll();
    askForRoom();
    log_.begin(context_.logClusters, anew_);
    removals_.clear();
    removalBlocks_ = 1;
    removalBytes_ = 0;
    room_ = filled_ = written_ = removalNumber_ = 0;
    part_ = IndexBlock::Part::removals;
    open_ = false;
    nextCluster_ = ClusterNo(0);
    nextItem_ = 0;
    section_ = noCluster;
    nextGroup_ = groupsChunk_ = 0;
    groups_.clear();
    journal_.follow(number_);
    step_ = Step::changedClusters;
}

void
ClusterFs::Checkpointer::next()
{
    looks_ = looksAtOnce;
    switch (step_) {
    case Step::idle:
        return;
    case Step::changedClusters:
        addChangedClusters();
        return;
    case Step::goneObjects:
        addGoneObjects();
        return;
    case Step::removals:
        addRemovals(false);
        return;
    case Step::sections:
        addSections();
        return;
    case Step::updates:
        addUpdates();
        return;
    case Step::uses:
        addUses();
        return;
    case Step::turn:
        addTurn();
        return;
    case Step::removalsAgain:
        addRemovals(true);
        return;
    case Step::endOfLog:
        step_ = Step::groups;
        bytesSince_ += uint64_t(written_) * indexBlockBytes;
        if (filled_)
            writePiece();
        return;
    case Step::groups:
        addGroups();
        return;
    case Step::journal:
        step_ = Step::flush; // it has been waited for
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

/* blocks */

/// \returns whether so many bytes can go into the open block; else the step has to wait
bool
ClusterFs::Checkpointer::makeRoom(const size_t bytes)
{
    if (open_ && blockBytes_ + bytes > IndexBlock::capacity())
        closeBlock();
    if (!busy_ && !open_)
        openBlock();
    return open_;
}

void
ClusterFs::Checkpointer::openBlock()
{
    if (filled_ == room_) {
        filled_ = 0;
        room_ = std::min(blocksInPiece, log_.contiguous());
        if (!room_) {
            failed(Status::full);
            return;
        }
        pieceAt_ = context_.geometry.logOffset(log_.next().block);
    }
    block_ = IndexBlock();
    block_.serial = serial_;
    block_.previous = previous_;
    block_.part = part_;
    block_.keys = context_.catalog.index().keepsKeys();
    block_.number = part_ == IndexBlock::Part::contents ? 0 : removalNumber_++;
    block_.removalBlocks = removalBlocks_;
    block_.turn = log_.turnBefore();
    block_.turnCursor = log_.cursorBefore();
    blockBytes_ = 0;
    open_ = true;
}

void
ClusterFs::Checkpointer::closeBlock()
{
    block_.position = log_.next();
    block_.encode(buffer_->data() + size_t(filled_) * indexBlockBytes, context_.uuid);
    log_.take();
    ++filled_;
    ++written_;
    open_ = false;
    if (filled_ == room_)
        writePiece();
}

void
ClusterFs::Checkpointer::writePiece()
{
    const auto size = filled_ * indexBlockBytes;
    filled_ = room_ = 0;
    submit(IoOp::write, pieceAt_, size);
}

/// ends a part of the checkpoint
void
ClusterFs::Checkpointer::closePart(const IndexBlock::Part following)
{
    if (open_)
        closeBlock();
    part_ = following;
    removalNumber_ = 0;
    nextItem_ = 0;
    nextCluster_ = ClusterNo(0);
}

/* removals: what older checkpoints must not be believed any more */

void
ClusterFs::Checkpointer::addRemoval(const IndexRemoval &removal)
{
    if (removals_.size() < maxRemovals) {
        removals_.push_back(removal);
        if (removalBytes_ + removal.encodedBytes() > IndexBlock::capacity()) {
            ++removalBlocks_;
            removalBytes_ = 0;
        }
        removalBytes_ += removal.encodedBytes();
        return;
    }
    // it would hardly be more to write everything, and then nothing older counts
    context_.catalog.checkpointFailed();
    context_.catalog.nameAll();
    log_.failed(false);
    begin();
}

/// Those that are about to be written are named each time: of them, the next start reads the
/// directories, since neither the journal nor our sections name what they hold.
void
ClusterFs::Checkpointer::addChangedClusters()
{
    auto &catalog = context_.catalog;
    while (looks_) {
        ClusterNo n = noCluster;
        if (!anew_)
            n = catalog.changes().next(nextCluster_, looks_);
        else if (look() && catalog.clusters().has(nextCluster_))
            n = nextCluster_++;
        if (n == noCluster)
            break;
        const auto &c = catalog.clusters()[n];
        const bool written = (c.state == ClusterState::writing || c.state == ClusterState::packed || c.state == ClusterState::part) && c.sequence >= from_;
        IndexRemoval removal;
        removal.cluster = n;
        if (c.state == ClusterState::announced || written) {
            removal.kind = IndexRemoval::Kind::announced;
            removal.after = written ? c.sequence - 1 : c.sequence;
            if (!written)
                catalog.nameAgain(n);
        } else if (anew_) {
            continue; // nothing older counts
        }
        addRemoval(removal);
    }
    if (!catalog.clusters().has(nextCluster_))
        step_ = Step::goneObjects;
}

void
ClusterFs::Checkpointer::addGoneObjects()
{
    const auto &changes = context_.catalog.changes();
    const auto &gone = changes.collectedGone();
    for (; !anew_ && nextItem_ < gone.size() && look(); ++nextItem_) {
        const auto &g = gone[nextItem_];
        if (changes.collects(g.cluster))
            continue; // what it holds is named anew
        IndexRemoval removal;
        removal.kind = IndexRemoval::Kind::object;
        removal.cluster = g.cluster;
        removal.offset = g.offset;
        addRemoval(removal);
        if (step_ != Step::goneObjects)
            return; // all anew
    }
    if (!anew_ && nextItem_ < gone.size())
        return;
    nextItem_ = 0;
    step_ = Step::removals;
}

void
ClusterFs::Checkpointer::addRemovals(const bool again)
{
    while (nextItem_ < removals_.size() && look()) {
        if (!makeRoom(removals_[nextItem_].encodedBytes()))
            return;
        block_.removals.push_back(removals_[nextItem_]);
        blockBytes_ += removals_[nextItem_++].encodedBytes();
    }
    if (nextItem_ < removals_.size() || (removals_.empty() && !makeRoom(0)))
        return;
    closePart(IndexBlock::Part::contents);
    step_ = again ? Step::endOfLog : Step::sections;
}

/* contents */

/// begins to name a cluster and what it holds. \returns false when it has to wait
bool
ClusterFs::Checkpointer::openSection(const ClusterNo n)
{
    const auto &c = context_.catalog.clusters()[n];
    const bool named = c.state == ClusterState::packed || c.state == ClusterState::part || c.state == ClusterState::bad;
    if (!named || (c.state != ClusterState::bad && c.sequence >= from_))
        return true; // nothing is known of free ones; the journal leads to new ones
    if (!makeRoom(IndexSection::encodedBytes + objectBytes()))
        return false;
    IndexSection s;
    s.cluster = n;
    s.state = static_cast<uint8_t>(c.state);
    s.whole = true;
    s.sequence = c.sequence;
    s.end = c.end;
    s.nextPart = c.nextPart;
    s.total = c.total;
    s.headBytes = c.headBytes;
    s.written = c.written;
    s.heat = c.heat;
    block_.sections.push_back(s);
    blockBytes_ += IndexSection::encodedBytes;
    if (c.state == ClusterState::packed && section_ != n) {
        section_ = n;
        sectionSequence_ = c.sequence;
        sectionSlot_ = c.first;
        sectionRelocated_ = false;
    }
    return true;
}

/// adds an object to the section that is open. \returns false when it has to wait
bool
ClusterFs::Checkpointer::addObject(const SlotNo slot, const Record &where)
{
    if (!makeRoom(objectBytes()))
        return false;
    if ((block_.sections.empty() || block_.sections.back().cluster != section_) && !openSection(section_))
        return false;
    const auto &index = context_.catalog.index();
    const auto &r = index[slot];
    IndexObject o;
    o.hashed = index.hashedOf(slot);
    o.place = where.place;
    o.size = r.size;
    o.timestamp = r.timestamp;
    o.packed = r.packed();
    if (index.keepsKeys())
        o.key = index.keyOf(slot);
    block_.sections.back().objects.push_back(o);
    blockBytes_ += objectBytes();
    return true;
}

/// Objects that are being relocated still are where they came from. They come last: one that moves
/// into staging behind our back must not be missed, while naming one twice does no harm.
/// \returns whether the section is complete
bool
ClusterFs::Checkpointer::continueSection()
{
    const auto &catalog = context_.catalog;
    const auto &c = catalog.clusters()[section_];
    if (c.state != ClusterState::packed || c.sequence != sectionSequence_) {
        section_ = noCluster; // forgotten meanwhile: the journal says so
        return true;
    }
    for (; !sectionRelocated_ && sectionSlot_ != noSlot; sectionSlot_ = catalog.index()[sectionSlot_].sibling) {
        if (!look())
            return false;
        const auto &r = catalog.index()[sectionSlot_];
        if (r.cluster != section_) {
            section_ = noCluster; // it is being emptied: the journal says that, too
            return true;
        }
        if (!r.dead() && !addObject(sectionSlot_, r))
            return false;
    }
    if (!sectionRelocated_) {
        sectionRelocated_ = true;
        sectionStage_ = StageNo(0);
    }
    const auto &staging = catalog.staging();
    for (; c.relocated && sectionStage_ < staging.slotsTouched(); ++sectionStage_) {
        if (!look())
            return false;
        const auto &staged = staging[sectionStage_];
        if (staged.state == StageState::free || staged.origin != section_ || staged.record == noSlot)
            continue;
        Record where = Record();
        where.setPlace(staged.originOffset, staged.heat);
        if (!addObject(staged.record, where))
            return false;
    }
    section_ = noCluster;
    return true;
}

void
ClusterFs::Checkpointer::addSections()
{
    auto &catalog = context_.catalog;
    while (looks_) {
        if (section_ != noCluster && !continueSection())
            return;
        const auto at = nextCluster_;
        ClusterNo n = noCluster;
        if (!anew_)
            n = catalog.changes().next(nextCluster_, looks_);
        else if (look() && catalog.clusters().has(nextCluster_))
            n = nextCluster_++;
        if (n == noCluster)
            break;
        if (!openSection(n)) {
            nextCluster_ = at;
            return;
        }
    }
    if (section_ != noCluster || catalog.clusters().has(nextCluster_))
        return;
    nextItem_ = 0;
    step_ = Step::updates;
}

/// Objects with other times, alone: newer pieces of a cluster overrule older ones.
void
ClusterFs::Checkpointer::addUpdates()
{
    const auto &catalog = context_.catalog;
    const auto &updates = catalog.changes().collectedUpdates();
    for (; !anew_ && nextItem_ < updates.size() && look(); ++nextItem_) {
        const auto slot = catalog.index().find(updates[nextItem_]);
        if (slot == noSlot || catalog.index()[slot].staged())
            continue;
        const auto &r = catalog.index()[slot];
        const auto &c = catalog.clusters()[r.cluster];
        if (catalog.changes().collects(r.cluster) || c.sequence >= from_ || c.state != ClusterState::packed)
            continue;
        if (!makeRoom(IndexSection::encodedBytes + objectBytes()))
            return;
        const auto before = block_.sections.size();
        section_ = r.cluster;
        openSection(r.cluster);
        assert(block_.sections.size() == before + 1);
        (void)before; // only asserted on
        block_.sections.back().whole = false;
        addObject(slot, r);
        section_ = noCluster;
    }
    if (!anew_ && nextItem_ < updates.size())
        return;
    nextItem_ = 0;
    step_ = Step::uses;
}

void
ClusterFs::Checkpointer::addUses()
{
    const auto &catalog = context_.catalog;
    const auto &uses = catalog.changes().collectedUses();
    for (; !anew_ && nextItem_ < uses.size() && look(); ++nextItem_) {
        const auto slot = catalog.index().find(uses[nextItem_]);
        if (slot == noSlot || catalog.index()[slot].staged())
            continue;
        const auto &r = catalog.index()[slot];
        if (catalog.changes().collects(r.cluster) || catalog.clusters()[r.cluster].sequence >= from_)
            continue;
        if (!makeRoom(IndexUse::encodedBytes))
            return;
        block_.uses.push_back({r.cluster, r.place});
        blockBytes_ += IndexUse::encodedBytes;
    }
    if (!anew_ && nextItem_ < uses.size())
        return;
    step_ = Step::turn;
    // the longer the log has become, the sooner its tail must follow
    const auto used = uint64_t(log_.used()) + written_;
    const auto all = uint64_t(log_.blocks());
    const uint32_t fifths = 4 * used <= 3 * all ? 4 : 8 * used <= 7 * all ? 10 : 20;
    credit_ = written_ + fifths * (written_ + removalBlocks_ + 1) / 5;
    turnEnd_ = nextCluster_ = log_.cursor();
    turnDone_ = anew_ || brief_;
}

/// Names clusters of which nothing has changed, one after the other, so that what older
/// checkpoints said of them may be written over.
void
ClusterFs::Checkpointer::addTurn()
{
    const auto &catalog = context_.catalog;
    for (;;) {
        if (section_ != noCluster && !continueSection())
            return;
        if (turnDone_ || written_ >= credit_)
            break;
        if (!look())
            return;
        if (!catalog.changes().collects(nextCluster_) && !openSection(nextCluster_))
            return;
        if (!catalog.clusters().has(++nextCluster_)) {
            log_.nextTurn();
            nextCluster_ = ClusterNo(0);
        }
        turnDone_ = nextCluster_ == turnEnd_;
    }
    if (anew_)
        log_.nextTurn();
    else
        log_.refreshed(nextCluster_);
    closePart(IndexBlock::Part::removalsAgain);
    step_ = Step::removalsAgain;
}

/* what was learned, and the end */

/// Groups are written whole, and so only now and then. What does not fit is not known to the
/// next run, which learns it again.
void
ClusterFs::Checkpointer::addGroups()
{
    constexpr uint64_t rarely = 4; // times their bytes are written to the log before they are
    const bool fits = (uint64_t(groupsChunk_) + 1) * groupsChunkBytes <= context_.geometry.groupsBytes;
    const bool wanted = saveGroups && (groupsChunk_ || brief_ || bytesSince_ >= rarely * groupsBytes_);
    const auto saved = fits && wanted ? saveGroups(nextGroup_, groups_) : SavedGroups::Saved::all;
    if (saved == SavedGroups::Saved::some)
        return;
    if (saved == SavedGroups::Saved::all) {
        step_ = Step::journal;
        caught_ = context_.newHeads != newHeads_ ? journal_.issued() : 0;
    }
    if (groups_.empty())
        return;
    SavedGroups::Chunk chunk;
    chunk.generation = superblock_.groups + 1;
    chunk.index = groupsChunk_;
    chunk.groups.swap(groups_);
    SavedGroups::Encode(buffer_->data(), chunk, context_.uuid);
    submit(IoOp::write, context_.geometry.groupsOffset(chunk.generation, groupsChunk_++), groupsChunkBytes);
}

void
ClusterFs::Checkpointer::writeSuperblock()
{
    newer_ = superblock_;
    newer_.version = formatVersion;
    newer_.checkpoint = number_;
    newer_.serial = serial_;
    newer_.clean = false;
    newer_.lastSequence = context_.sequence;
    newer_.objects = context_.catalog.objects();
    newer_.groups += groupsChunk_ ? 1 : 0;
    log_.describe(newer_, removalBlocks_);
    ++newer_.update;
    newer_.encode(buffer_->data());
    step_ = Step::flushSuperblock;
    submit(IoOp::write, superblockOffset(newer_.update), superblockBytes);
}

void
ClusterFs::Checkpointer::finish()
{
    superblock_ = newer_;
    previous_ = serial_;
    log_.done();
    context_.catalog.checkpointDone();
    step_ = Step::idle;
    lastFailed_ = false;
    if (groupsChunk_) {
        groupsBytes_ = uint64_t(groupsChunk_) * groupsChunkBytes;
        bytesSince_ = 0;
    }
    context_.covered = forgotten_; // its journal and its objects do not have them
    context_.leftBehind.checkpointDone();
    ++completed_;
    ++context_.counters.checkpoints;
    context_.counters.checkpointBytes += uint64_t(written_) * indexBlockBytes + uint64_t(groupsChunk_) * groupsChunkBytes;
    completedAt_ = context_.clock.micros();
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
    const auto alive = context_.alive;
    const auto buffer = buffer_; // stays until the device is done with it
    io.done = [this, alive, buffer](const Status status) {
        if (*alive)
            answer(status);
    };
    busy_ = true;
    context_.device.submit(std::move(io));
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
    ++context_.counters.checkpointErrors;
    if (!lastFailed_)
        say<Message::checkpointFailed>(context_.log, statusText(status));
    lastFailed_ = true;
    context_.catalog.checkpointFailed();
    if (status == Status::full) {
        context_.catalog.nameAll();
        log_.giveUp();
    } else {
        context_.health.writeDone(status, context_.log);
        // the superblock may be on the device all the same
        const bool known = step_ == Step::flushSuperblock || step_ == Step::finish;
        log_.failed(known);
        if (known)
            previous_ = serial_;
    }
    open_ = false;
    step_ = Step::idle;
}

ClusterFs::Status
ClusterFs::Checkpointer::superblockNow(const bool clean, const uint64_t maxMicros)
{
    const auto deadline = context_.clock.micros() + maxMicros;
    auto newer = superblock_;
    newer.clean = clean;
    newer.lastSequence = context_.sequence;
    ++newer.update;
    const auto buffer = std::make_shared<Buffer>(superblockBytes);
    newer.encode(buffer->data());
    const auto left = [&] {
        const auto now = context_.clock.micros();
        return static_cast<unsigned>(now < deadline ? (deadline - now) / 1000 : 0);
    };
    auto status = doAndWait(context_.device, IoOp::write, superblockOffset(newer.update), buffer, superblockBytes, left());
    if (status == Status::ok)
        status = doAndWait(context_.device, IoOp::flush, 0, nullptr, 0, left());
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
