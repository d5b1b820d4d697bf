// SPDX-License-Identifier: GPL-2.0-or-later
/* The way of a checkpoint to the device. */

#include "fs/cluster/recovery/Checkpoint.h"

#include "fs/cluster/base/States.h"

#include <cassert>

namespace ClusterFs {
namespace {

constexpr uint64_t turnMicros = 500; ///< how long poll() may keep requests waiting
constexpr unsigned looksAtOnce = 256; ///< clusters, objects and staging slots in a step

using State = Checkpoint::State;

/// the states that may follow each one
constexpr unsigned followers[] = {
    /* changedClusters */ bit(State::goneObjects) | bit(State::givenUp),
    /* goneObjects */ bit(State::removals) | bit(State::givenUp),
    /* removals */ bit(State::sections) | bit(State::failed),
    /* sections */ bit(State::updates) | bit(State::failed),
    /* updates */ bit(State::uses) | bit(State::failed),
    /* uses */ bit(State::turn) | bit(State::failed),
    /* turn */ bit(State::removalsAgain) | bit(State::failed),
    /* removalsAgain */ bit(State::endOfLog) | bit(State::failed),
    /* endOfLog */ bit(State::groups) | bit(State::failed),
    /* groups */ bit(State::journal) | bit(State::failed),
    /* journal */ bit(State::written) | bit(State::failed),
    /* written */ bit(State::flushing),
    /* flushing */ bit(State::writingSuperblock) | bit(State::failed),
    /* writingSuperblock */ bit(State::flushingSuperblock) | bit(State::failed),
    /* flushingSuperblock */ bit(State::done) | bit(State::failed),
    /* done */ 0,
    /* failed */ 0,
    /* givenUp */ 0,
};

} // namespace
} // namespace ClusterFs

ClusterFs::Checkpoint::Checkpoint(StoreContext &context, Journal &journal, IndexLog &log, GroupSaver &groups, SingleIo &io,
                                  const Superblock &superblock, std::function<void(Status)> done):
    context_(context),
    journal_(journal),
    log_(log),
    groups_(groups),
    io_(io),
    done_(std::move(done)),
    superblock_(superblock),
    from_(context.sequence + 1),
    forgotten_(context.forgotten),
    newHeads_(context.newHeads),
    writer_(context, log, io.data())
{
    context.leftBehind.checkpointBegins();
    context.catalog.beginCheckpoint();
    anew_ = context.catalog.changes().collectsAll();
    log.begin(context.logClusters, anew_);
    groups.begin(superblock.groups);
    ++superblock_.checkpoint;
    journal.follow(superblock_.checkpoint);
}

bool
ClusterFs::Checkpoint::MayFollow(const State from, const State to)
{
    return mayFollow(followers, from, to);
}

void
ClusterFs::Checkpoint::enter(const State s)
{
    assert(MayFollow(state_, s));
    state_ = s;
}

void
ClusterFs::Checkpoint::poll()
{
    if (io_.busy())
        return;
    if (waitsForJournal()) {
        journal_.hasWaiter();
        return;
    }
    const auto until = context_.clock.micros() + turnMicros;
    do {
        next();
    } while (!isOver() && !io_.busy() && !waitsForJournal() && context_.clock.micros() < until);
}

/// Clusters were caught at different moments. An object that was named before it was replaced, and parts that
/// were named after they had got another head, do not fit together: the journal must say by then that the
/// object is no more. A journal without room gets none before a checkpoint is complete.
bool
ClusterFs::Checkpoint::waitsForJournal() const
{
    return state_ == State::journal && journal_.written() < caught_ && !journal_.full();
}

/// does a step of the present state; no request is under way
void
ClusterFs::Checkpoint::next()
{
    looks_ = looksAtOnce;
    switch (state_) {
    case State::changedClusters:
        addChangedClusters();
        return;
    case State::goneObjects:
        addGoneObjects();
        return;
    case State::removals:
    case State::removalsAgain:
        addRemovals();
        return;
    case State::sections:
        addSections();
        return;
    case State::updates:
        addUpdates();
        return;
    case State::uses:
        addUses();
        return;
    case State::turn:
        addTurn();
        return;
    case State::endOfLog:
        endLog();
        return;
    case State::groups:
        addGroups();
        return;
    case State::journal: // it has been waited for
        enter(State::written);
        return;
    case State::written:
        enter(State::flushing);
        submit(IoOp::flush, 0, 0);
        return;
    case State::flushing:
        writeSuperblock();
        return;
    case State::writingSuperblock:
        enter(State::flushingSuperblock);
        submit(IoOp::flush, 0, 0);
        return;
    case State::flushingSuperblock:
        finish();
        return;
    default:
        break; // it is over
    }
}

/// \returns whether this step may look at one thing more
bool
ClusterFs::Checkpoint::look()
{
    if (!looks_)
        return false;
    --looks_;
    return true;
}

/* removals: what older checkpoints must not be believed any more */

/// \returns the next cluster that is to be named, or noCluster when there is none, or no look left
ClusterFs::ClusterNo
ClusterFs::Checkpoint::nextChanged()
{
    if (!anew_)
        return context_.catalog.changes().next(nextCluster_, looks_);
    return look() && context_.catalog.clusters().has(nextCluster_) ? nextCluster_++ : noCluster;
}

/// Those that are about to be written are named each time: of them, the next start reads the
/// directories, since neither the journal nor our sections name what they hold.
void
ClusterFs::Checkpoint::addChangedClusters()
{
    auto &catalog = context_.catalog;
    while (looks_) {
        const auto n = nextChanged();
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
        if (!addRemoval(removal))
            return;
    }
    if (!catalog.clusters().has(nextCluster_))
        enter(State::goneObjects);
}

void
ClusterFs::Checkpoint::addGoneObjects()
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
        if (!addRemoval(removal))
            return;
    }
    if (!anew_ && nextItem_ < gone.size())
        return;
    beginPart(IndexBlock::Part::removals);
    enter(State::removals);
}

/// \returns false when there are too many
bool
ClusterFs::Checkpoint::addRemoval(const IndexRemoval &removal)
{
    if (removals_.size() == maxRemovals) {
        giveUp();
        return false;
    }
    removals_.push_back(removal);
    if (removalBytes_ + removal.encodedBytes() > IndexBlock::capacity()) {
        ++removalBlocks_;
        removalBytes_ = 0;
    }
    removalBytes_ += removal.encodedBytes();
    return true;
}

void
ClusterFs::Checkpoint::addRemovals()
{
    for (; nextItem_ < removals_.size() && look(); ++nextItem_) {
        if (!makeRoom(removals_[nextItem_].encodedBytes()))
            return;
        writer_.add(removals_[nextItem_]);
    }
    if (nextItem_ < removals_.size() || (removals_.empty() && !makeRoom(0)))
        return;
    beginPart(IndexBlock::Part::contents);
    enter(state_ == State::removals ? State::sections : State::endOfLog);
}

/* contents */

ClusterFs::IndexSection
ClusterFs::Checkpoint::sectionOf(const ClusterNo n) const
{
    const auto &c = context_.catalog.clusters()[n];
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
    return s;
}

ClusterFs::IndexObject
ClusterFs::Checkpoint::objectOf(const SlotNo slot, const Record &where) const
{
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
    return o;
}

/// begins to name a cluster and what it holds. \returns false when it has to wait
bool
ClusterFs::Checkpoint::openSection(const ClusterNo n)
{
    const auto &c = context_.catalog.clusters()[n];
    const bool named = c.state == ClusterState::packed || c.state == ClusterState::part || c.state == ClusterState::bad;
    if (!named || (c.state != ClusterState::bad && c.sequence >= from_))
        return true; // nothing is known of free ones; the journal leads to new ones
    if (!makeRoom(IndexSection::encodedBytes + writer_.objectBytes()))
        return false;
    writer_.add(sectionOf(n));
    if (c.state == ClusterState::packed && section_.cluster != n) {
        section_ = Section();
        section_.cluster = n;
        section_.sequence = c.sequence;
        section_.next = c.first;
    }
    return true;
}

/// adds an object to the section that is open. \returns false when it has to wait
bool
ClusterFs::Checkpoint::addObject(const SlotNo slot, const Record &where)
{
    if (!makeRoom(writer_.objectBytes()))
        return false;
    if (writer_.section() != section_.cluster && !openSection(section_.cluster))
        return false;
    writer_.add(objectOf(slot, where));
    return true;
}

/// Objects that are being relocated still are where they came from. They come last: one that moves
/// into staging behind our back must not be missed, while naming one twice does no harm.
/// \returns whether the section is complete, or there is none
bool
ClusterFs::Checkpoint::continueSection()
{
    if (section_.cluster == noCluster)
        return true;
    const auto &catalog = context_.catalog;
    const auto &c = catalog.clusters()[section_.cluster];
    if (c.state != ClusterState::packed || c.sequence != section_.sequence) {
        section_.cluster = noCluster; // forgotten meanwhile: the journal says so
        return true;
    }
    for (; !section_.relocated && section_.next != noSlot; section_.next = catalog.index()[section_.next].sibling) {
        if (!look())
            return false;
        const auto &r = catalog.index()[section_.next];
        if (r.cluster != section_.cluster) {
            section_.cluster = noCluster; // it is being emptied: the journal says that, too
            return true;
        }
        if (!r.dead() && !addObject(section_.next, r))
            return false;
    }
    section_.relocated = true;
    const auto &staging = catalog.staging();
    for (; c.relocated && section_.nextStaged < staging.slotsTouched(); ++section_.nextStaged) {
        if (!look())
            return false;
        const auto &staged = staging[section_.nextStaged];
        if (staged.state == StageState::free || staged.origin != section_.cluster || staged.record == noSlot)
            continue;
        Record where = Record();
        where.setPlace(staged.originOffset, staged.heat);
        if (!addObject(staged.record, where))
            return false;
    }
    section_.cluster = noCluster;
    return true;
}

void
ClusterFs::Checkpoint::addSections()
{
    while (looks_) {
        if (!continueSection())
            return;
        const auto at = nextCluster_;
        const auto n = nextChanged();
        if (n == noCluster)
            break;
        if (!openSection(n)) {
            nextCluster_ = at;
            return;
        }
    }
    if (section_.cluster != noCluster || context_.catalog.clusters().has(nextCluster_))
        return;
    nextItem_ = 0;
    enter(State::updates);
}

/// Objects with other times, alone: newer pieces of a cluster overrule older ones.
void
ClusterFs::Checkpoint::addUpdates()
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
        if (!makeRoom(IndexSection::encodedBytes + writer_.objectBytes()))
            return;
        auto section = sectionOf(r.cluster);
        section.whole = false;
        writer_.add(section);
        writer_.add(objectOf(slot, r));
    }
    if (!anew_ && nextItem_ < updates.size())
        return;
    nextItem_ = 0;
    enter(State::uses);
}

void
ClusterFs::Checkpoint::addUses()
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
        writer_.add(IndexUse{r.cluster, r.place});
    }
    if (!anew_ && nextItem_ < uses.size())
        return;
    enter(State::turn);
    // the longer the log has become, the sooner its tail must follow
    const auto used = uint64_t(log_.used()) + writer_.blocks();
    const auto all = uint64_t(log_.blocks());
    const uint32_t fifths = 4 * used <= 3 * all ? 4 : 8 * used <= 7 * all ? 10 : 20;
    credit_ = writer_.blocks() + fifths * (writer_.blocks() + removalBlocks_ + 1) / 5;
    turnEnd_ = nextCluster_ = log_.cursor();
    turnDone_ = anew_ || brief_;
}

/// Names clusters of which nothing has changed, one after the other, so that what older
/// checkpoints said of them may be written over.
void
ClusterFs::Checkpoint::addTurn()
{
    const auto &catalog = context_.catalog;
    for (;;) {
        if (!continueSection())
            return;
        if (turnDone_ || writer_.blocks() >= credit_)
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
    beginPart(IndexBlock::Part::removalsAgain);
    enter(State::removalsAgain);
}

/* blocks */

/// ends the part before, if there is one
void
ClusterFs::Checkpoint::beginPart(const IndexBlock::Part part)
{
    if (writer_.isOpen())
        closeBlock();
    writer_.beginPart(part, removalBlocks_);
    nextItem_ = 0;
    nextCluster_ = ClusterNo(0);
}

/// \returns whether so many bytes can go into the open block; else the step has to wait, or it is over
bool
ClusterFs::Checkpoint::makeRoom(const size_t bytes)
{
    if (writer_.hasRoom(bytes))
        return true;
    if (writer_.isOpen())
        closeBlock();
    if (io_.busy())
        return false;
    if (!writer_.openBlock()) {
        fail(Status::full);
        return false;
    }
    return true;
}

void
ClusterFs::Checkpoint::closeBlock()
{
    writer_.closeBlock();
    if (writer_.pieceIsFull())
        writePiece();
}

void
ClusterFs::Checkpoint::writePiece()
{
    const auto piece = writer_.takePiece();
    submit(IoOp::write, piece.offset, piece.size);
}

/* what was learned, and the end */

void
ClusterFs::Checkpoint::endLog()
{
    enter(State::groups);
    groups_.noteLogged(uint64_t(writer_.blocks()) * indexBlockBytes);
    if (writer_.hasPiece())
        writePiece();
}

void
ClusterFs::Checkpoint::addGroups()
{
    const auto saved = groups_.gather(brief_);
    if (saved == SavedGroups::Saved::some)
        return;
    if (saved == SavedGroups::Saved::all) {
        enter(State::journal);
        caught_ = context_.newHeads != newHeads_ ? journal_.issued() : 0;
    }
    if (groups_.hasChunk()) {
        const auto at = groups_.takeChunk(io_.data());
        submit(IoOp::write, at, groupsChunkBytes);
    }
}

void
ClusterFs::Checkpoint::writeSuperblock()
{
    superblock_.version = formatVersion;
    superblock_.clean = false;
    superblock_.lastSequence = context_.sequence;
    superblock_.written = context_.written();
    superblock_.objects = context_.catalog.objects();
    groups_.describe(superblock_);
    log_.describe(superblock_, removalBlocks_);
    ++superblock_.update;
    superblock_.encode(io_.data());
    enter(State::writingSuperblock);
    submit(IoOp::write, superblockOffset(superblock_.update), superblockBytes);
}

void
ClusterFs::Checkpoint::submit(const IoOp op, const uint64_t offset, const uint32_t size)
{
    io_.submit(op, offset, size, [this](const Status status) {
        if (status != Status::ok)
            fail(status);
    });
}

void
ClusterFs::Checkpoint::finish()
{
    log_.done();
    groups_.done();
    context_.catalog.checkpointDone();
    context_.covered = forgotten_; // its journal and its objects do not have them
    context_.leftBehind.checkpointDone();
    ++context_.counters.checkpoints;
    context_.counters.checkpointBytes += uint64_t(writer_.blocks()) * indexBlockBytes + groups_.bytes();
    enter(State::done);
    done_(Status::ok);
}

/// The device keeps the older checkpoint; the journal goes on where it is.
void
ClusterFs::Checkpoint::fail(const Status status)
{
    context_.catalog.checkpointFailed();
    if (status == Status::full) {
        context_.catalog.nameAll();
        log_.giveUp();
    } else { // the superblock may be on the device all the same
        log_.failed(state_ == State::writingSuperblock || state_ == State::flushingSuperblock);
    }
    enter(State::failed);
    done_(status);
}

/// It would hardly be more to write everything, and then nothing older counts.
void
ClusterFs::Checkpoint::giveUp()
{
    context_.catalog.checkpointFailed();
    context_.catalog.nameAll();
    log_.failed(false);
    enter(State::givenUp);
}
