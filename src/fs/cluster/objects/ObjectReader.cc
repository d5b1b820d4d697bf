// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading one object. */

#include "fs/cluster/objects/ObjectReader.h"

#include <algorithm>
#include <cassert>

ClusterFs::ObjectReader::ObjectReader(const ReaderGroup &group, const Key &key, const SlotNo slot):
    context_(group.context),
    cache_(group.cache),
    tracker_(group.tracker),
    journal_(group.journal),
    engineAlive_(context_.alive),
    key_(key),
    slot_(slot)
{
    auto &catalog = context_.catalog;
    const auto &record = catalog.index()[slot];
    headBytes_ = catalog.payloadBytes(slot);
    size_ = catalog.objectSize(slot);
    if (record.parted()) {
        firstPart_ = record.firstPart();
        catalog.pin(firstPart_);
    }
    if (record.staged()) {
        stage_ = record.stage();
        headBytes_ = catalog.staging()[stage_].size;
        catalog.staging().pin(stage_);
        count(&Counters::readFromStaging);
    } else {
        own_ = {record.cluster, catalog.clusters()[record.cluster].sequence, record.offset()};
        catalog.pin(own_.cluster);
        at_ = own_;
        chooseReplica();
    }
}

ClusterFs::ObjectReader::ObjectReader(const ReaderGroup &group, const Key &key, const WritingPointer &writing):
    context_(group.context),
    cache_(group.cache),
    tracker_(group.tracker),
    journal_(group.journal),
    engineAlive_(context_.alive),
    key_(key),
    writing_(writing),
    stage_(writing->stage)
{
    ++writing_->readers;
    context_.catalog.staging().pin(stage_);
    count(&Counters::readFromStaging);
}

ClusterFs::ObjectReader::~ObjectReader()
{
    *alive_ = false;
    if (writing_)
        --writing_->readers;
    if (!*engineAlive_)
        return;
    if (stage_ != noStage)
        context_.catalog.staging().unpin(stage_);
    leaveReplica();
    if (own_.cluster != noCluster)
        context_.catalog.unpin(own_.cluster);
    if (firstPart_ != noCluster)
        context_.catalog.unpin(firstPart_);
}

bool
ClusterFs::ObjectReader::reads(const SlotNo slot) const
{
    const auto &r = context_.catalog.index()[slot];
    if (r.dead())
        return false;
    if (stage_ != noStage)
        return r.staged() && r.stage() == stage_;
    return r.cluster == own_.cluster && context_.catalog.clusters()[own_.cluster].sequence == own_.sequence && r.offset() == own_.offset;
}

ClusterFs::ClusterRange
ClusterFs::ObjectReader::rangeOf(const Extent &e) const
{
    return {e.cluster, e.sequence, e.offset, static_cast<uint32_t>(ExtentHeader::encodedBytes) + headBytes_};
}

/// reads a replica that is in memory or on its way, if the object's own place is not
void
ClusterFs::ObjectReader::chooseReplica()
{
    if (cache_.replicas.empty() || cache_.loader.has(rangeOf(own_)))
        return;
    auto &catalog = context_.catalog;
    const bool found = cache_.replicas.any({own_.cluster, own_.offset}, [&](const Replicas::Place &place) {
        const Extent there{place.cluster, catalog.clusters()[place.cluster].sequence, place.offset};
        if (!cache_.loader.has(rangeOf(there)))
            return false;
        at_ = there;
        return true;
    });
    if (!found)
        return;
    catalog.pin(at_.cluster);
    ++context_.counters.readReplicas;
}

/// reads the object's own place from now on
void
ClusterFs::ObjectReader::leaveReplica()
{
    if (readsReplica())
        context_.catalog.unpin(at_.cluster);
    at_ = own_;
}

uint64_t
ClusterFs::ObjectReader::size() const
{
    return writing_ ? writing_->size : size_;
}

uint32_t
ClusterFs::ObjectReader::headBytes() const
{
    return writing_ ? static_cast<uint32_t>(std::min(writing_->size, writing_->frontLimit)) : headBytes_;
}

ClusterFs::ClusterNo
ClusterFs::ObjectReader::firstPart()
{
    if (firstPart_ == noCluster && writing_ && writing_->firstPart != noCluster) {
        firstPart_ = writing_->firstPart;
        context_.catalog.pin(firstPart_);
    }
    return firstPart_;
}

void
ClusterFs::ObjectReader::count(uint64_t Counters::*counter)
{
    if (!counted_)
        ++(context_.counters.*counter);
    counted_ = true;
}

bool
ClusterFs::ObjectReader::locate(const uint64_t offset, Piece &piece)
{
    if (offset >= headBytes() && !isEmptyFront(offset))
        return locatePart(offset, piece);
    assert(at_.cluster != noCluster);
    piece.range = rangeOf(at_);
    piece.pin = at_.cluster;
    piece.payloadAt = at_.offset + static_cast<uint32_t>(ExtentHeader::encodedBytes);
    piece.payload = headBytes_;
    piece.offset = 0;
    return true;
}

bool
ClusterFs::ObjectReader::locatePart(const uint64_t offset, Piece &piece)
{
    const auto first = firstPart();
    if (first == noCluster)
        return false;
    const auto capacity = context_.partCapacity();
    const auto wanted = (offset - headBytes()) / capacity;
    const auto &clusters = context_.catalog.clusters();
    if (atPart_ == noCluster || atPartNumber_ > wanted) {
        atPart_ = first;
        atPartNumber_ = 0;
    }
    while (atPartNumber_ < wanted) {
        const auto next = clusters[atPart_].nextPart;
        if (next == noCluster)
            return false;
        atPart_ = next;
        ++atPartNumber_;
    }
    const auto &c = clusters[atPart_];
    piece.range = {atPart_, c.sequence, 0, c.end};
    piece.pin = first;
    piece.payloadAt = partPayloadAt;
    piece.payload = c.end - partPayloadAt;
    piece.offset = headBytes() + wanted * capacity;
    piece.part = true;
    piece.number = static_cast<uint32_t>(wanted);
    return offset < piece.offset + piece.payload;
}

int64_t
ClusterFs::ObjectReader::copyFilling(const uint64_t offset, char *to, const size_t size) const
{
    const auto inside = offset - fillingStart();
    const auto n = std::min<uint64_t>(size, writing_->filled - inside);
    memcpy(to, writing_->filling->data() + partPayloadAt + inside, n);
    return static_cast<int64_t>(n);
}

int64_t
ClusterFs::ObjectReader::copy(const uint64_t offset, char *to, const size_t size)
{
    if (!*engineAlive_ || (writing_ && writing_->broken))
        return -1;
    const Turn turn(context_);
    if (offset >= this->size() && !isEmptyFront(offset))
        return writing_ && writing_->failed ? -1 : 0; // the rest of a failed object never comes
    if (offset < headBytes() && stage_ != noStage)
        return static_cast<int64_t>(context_.catalog.staging().copy(stage_, static_cast<uint32_t>(offset), to,
                                    std::min<uint64_t>(size, headBytes() - offset), cursor_));
    if (writing_ && writing_->filling && offset >= fillingStart())
        return copyFilling(offset, to, size);

    Piece piece;
    if (!locate(offset, piece))
        return -1;
    const auto window = cache_.windows.find(piece.range);
    if (!window)
        return -1;
    const auto status = check(*window, piece);
    if (status == Status::corrupt)
        failed(piece, status);
    if (status != Status::ok)
        return -1;
    window->again = window->again || !counted_; // this reader has not waited for it
    count(&Counters::readFromCache);
    window->use(piece.range.start, piece.range.size);
    if (!piece.payload)
        return 0;
    const auto inside = offset - piece.offset;
    const auto n = std::min<uint64_t>(size, piece.payload - inside);
    memcpy(to, window->at(piece.payloadAt + static_cast<uint32_t>(inside)), n);
    if (inside + n == piece.payload && tracker_.numbered().favourOf(key_) == Favour::hated)
        cache_.windows.putFirst(piece.range);
    return static_cast<int64_t>(n);
}

/// Whether the piece is whole and belongs to the object. The index takes two keys
/// for one that agree in bucket and tag: whole bytes of another key are notFound,
/// which is no fault of the device.
ClusterFs::Status
ClusterFs::ObjectReader::check(Window &window, const Piece &piece) const
{
    const auto owner = ownerOf(window, piece);
    auto &checked = window.checked;
    if (!window.trusted && std::find(checked.begin(), checked.end(), piece.range.start) == checked.end()) {
        const auto status = piece.part ? checkPart(window, piece) : checkFront(window, piece, owner);
        if (status != Status::ok)
            return status;
        checked.push_back(piece.range.start);
    }
    return owner == key_ ? Status::ok : Status::notFound;
}

/// the key in the header of the piece
ClusterFs::Key
ClusterFs::ObjectReader::ownerOf(const Window &window, const Piece &piece)
{
    if (!piece.part)
        return keyOfExtent(window.at(piece.range.start));
    ClusterHeader header;
    Directory::Peek(window.at(0), ClusterHeader::encodedBytes, header);
    return header.key;
}

ClusterFs::Status
ClusterFs::ObjectReader::checkFront(const Window &window, const Piece &piece, const Key &owner) const
{
    ExtentHeader expected;
    expected.size = headBytes_;
    expected.sequence = piece.range.sequence;
    expected.key = owner;
    const auto &r = piece.range;
    return checkExtent(window.at(r.start), r.size, expected, context_.uuid, r.cluster, r.start);
}

ClusterFs::Status
ClusterFs::ObjectReader::checkPart(const Window &window, const Piece &piece) const
{
    Directory front;
    const auto &r = piece.range;
    const auto status = front.decode(window.at(0), partPayloadAt, r.cluster, context_.uuid, context_.geometry.clusterBytes);
    if (status != Status::ok)
        return Status::corrupt;
    const auto &h = front.header;
    if (h.kind != ClusterKind::part || h.sequence != r.sequence || h.end != r.size || h.partNumber != piece.number)
        return Status::corrupt;
    const auto crc = partCrc(window.at(partPayloadAt), piece.payload, context_.uuid, r.cluster, r.sequence);
    return crc == h.payloadCrc ? Status::ok : Status::corrupt;
}

/// Whether the offset is that of an object without bytes. It has an extent on the device, too, and its header must be read
/// and checked before the object is a hit.
bool
ClusterFs::ObjectReader::isEmptyFront(const uint64_t offset) const
{
    return !writing_ && stage_ == noStage && !size_ && !offset;
}

/// whether copy() could answer from staging or from the part that is being filled
bool
ClusterFs::ObjectReader::inMemory(const uint64_t offset) const
{
    if (offset >= size() || (writing_ && writing_->broken))
        return false;
    if (offset < headBytes())
        return stage_ != noStage;
    return writing_ && writing_->filling && offset >= fillingStart();
}

/// offset of the first byte of the part that is being filled
uint64_t
ClusterFs::ObjectReader::fillingStart() const
{
    return writing_->frontLimit + uint64_t(writing_->parts) * context_.partCapacity();
}

void
ClusterFs::ObjectReader::answerLater(const Status status, std::function<void(Status)> done)
{
    const auto alive = alive_;
    context_.later.emplace_back([alive, status, done = std::move(done)] {
        if (*alive)
            done(status);
    });
}

void
ClusterFs::ObjectReader::fetch(const uint64_t offset, std::function<void(Status)> done)
{
    Piece piece;
    if (!*engineAlive_)
        return;
    const Turn turn(context_);
    if (inMemory(offset)) {
        answerLater(Status::ok, std::move(done));
        return;
    }
    if ((writing_ && writing_->broken) || (offset >= size() && !isEmptyFront(offset)) || !locate(offset, piece)) {
        answerLater(Status::aborted, std::move(done));
        return;
    }
    count(&Counters::readFromDisk);
    const auto alive = alive_;
    WindowLoader::Done arrived = [this, alive, piece, done = std::move(done)](const Status status) {
        if (*alive)
            fetched(piece, status, done);
    };
    if (piece.part || alone_) {
        cache_.loader.load(piece.range, piece.pin, IoClass::urgent, std::move(arrived));
        if (piece.part)
            readAhead(piece);
    } else if (!cache_.loader.join(piece.range, IoClass::urgent, arrived)) {
        const auto run = groupAround(piece);
        alone_ = !cache_.loader.loadWithGroup(piece.range, run, std::move(arrived));
        if (context_.readKeys.size() < StoreContext::maxReadKeys)
            context_.readKeys.push_back(key_);
    }
}

/// the extents that may be worth reading with that of the piece
ClusterFs::Catalog::Run
ClusterFs::ObjectReader::groupAround(const Piece &piece) const
{
    if (!reads(slot_) || readsReplica())
        return Catalog::Run(); // it was deleted, or replaced; or the replica's group has left memory already
    const auto &wanted = piece.range;
    auto run = context_.catalog.runAround(slot_);
    if (!cache_.loader.mayReadGroup(run))
        return Catalog::Run();
    const auto end = run.to;
    std::vector<Key> company;
    if (run.objects > 1 && tracker_.companyOf(key_, company, Groups::maxMembers)) {
        const auto less = context_.catalog.narrowed(run, wanted.cluster, wanted.start, wanted.size, company);
        if (less.objects * 2 < run.objects)
            run = less;
    }
    const bool whole = run.to == end;
    // extents that are in memory, or on their way, need not come again
    const auto isHere = [&](const uint32_t from, const uint32_t bytes) {
        return cache_.loader.has({wanted.cluster, wanted.sequence, from, bytes});
    };
    run = context_.catalog.without(run, wanted.start, isHere);
    if (whole)
        addReplicas(run, wanted, end);
    return run;
}

/// adds the replicas right behind a group whose objects are not in memory anywhere
/// \param end of the group
void
ClusterFs::ObjectReader::addReplicas(Catalog::Run &run, const ClusterRange &wanted, uint32_t end) const
{
    const auto &catalog = context_.catalog;
    for (const auto &r: cache_.replicas.in(wanted.cluster)) {
        if (r.offset != end)
            continue;
        end += r.bytes;
        const ClusterRange original{r.original.cluster, catalog.clusters()[r.original.cluster].sequence, r.original.offset, r.bytes};
        if (cache_.loader.has(original) || cache_.loader.has({wanted.cluster, wanted.sequence, r.offset, r.bytes}))
            continue;
        run.to = end;
        ++run.objects;
    }
}

void
ClusterFs::ObjectReader::fetched(const Piece &piece, Status status, const std::function<void(Status)> &done)
{
    context_.health.readDone(status);
    if (status == Status::ok) {
        const auto window = cache_.windows.peek(piece.range); // no use: copy() counts that
        status = window ? check(*window, piece) : Status::busy;
    }
    if (status == Status::ioError && !piece.part && !alone_) {
        alone_ = true; // the bad place may be another object of the group
        fetch(piece.offset, done);
        return;
    }
    if (status != Status::ok && status != Status::busy && isReplica(piece)) {
        failed(piece, status);
        fetch(piece.offset, done);
        return;
    }
    if (status == Status::corrupt || status == Status::ioError)
        failed(piece, status);
    done(status);
}

void
ClusterFs::ObjectReader::failed(const Piece &piece, const Status status)
{
    auto &catalog = context_.catalog;
    if (status == Status::corrupt)
        ++context_.counters.corrupt;
    else
        ++context_.counters.readErrors;
    catalog.noteReadError(piece.range.cluster);
    cache_.windows.forget(piece.range.cluster);
    if (isReplica(piece)) {
        cache_.replicas.forget({piece.range.cluster, piece.range.start});
        leaveReplica();
        return;
    }

    // A start may know an older copy that is whole, which counts then. It looks at this one by itself.
    if (catalog.adding())
        return;
    // The object may have been replaced meanwhile. Leave the newer version alone,
    // unless only its head is new and it has the same bad part.
    const auto slot = catalog.index().find(key_);
    if (slot == noSlot)
        return;
    const auto &r = catalog.index()[slot];
    if (!(piece.part ? r.parted() && r.firstPart() == firstPart_ : r.cluster == piece.range.cluster))
        return;
    // A start must not bring it back: the journal would not have a later delete of it, because the index does not have
    // it. erase() may release the cluster, if this is its last object; the removal is noted in front of that, because
    // it may be the only one of the two that gets to the device.
    journal_.removal(key_, context_.sequence);
    catalog.erase(slot);
}

void
ClusterFs::ObjectReader::readAhead(const Piece &piece)
{
    Piece next;
    const auto offset = piece.offset + piece.payload;
    if (offset >= size() || !locatePart(offset, next) || next.range.cluster == piece.range.cluster)
        return;
    cache_.loader.readAhead(next.range, next.pin);
}
