// SPDX-License-Identifier: GPL-2.0-or-later
/* Rebuilding the index from journal, index log and directories. */

#include "fs/cluster/recovery/IndexRebuilder.h"

#include <algorithm>
#include <cassert>
#include <utility>

ClusterFs::IndexRebuilder::IndexRebuilder(StoreContext &context, RecoveryStats &stats):
    context_(context),
    stats_(stats),
    overruled_(context.geometry.clusterCount),
    highest_(context.sequence),
    order_(context.catalog)
{
}

void
ClusterFs::IndexRebuilder::see(const Sequence s)
{
    highest_ = std::max(highest_, s);
}

void
ClusterFs::IndexRebuilder::seeWritten(const Sequence s)
{
    see(s);
    highestWritten_ = std::max(highestWritten_, s);
}

void
ClusterFs::IndexRebuilder::journal(const JournalRecord &record)
{
    if (record.kind == JournalRecord::Kind::removal) {
        auto &until = removedUntil(context_.catalog.index().hashOf(record.key));
        until = std::max(until, record.sequence);
        see(record.sequence);
        ++stats_.deletes;
        return;
    }
    if (!context_.geometry.has(record.cluster))
        return;
    auto &fate = announcedClusters_[record.cluster];
    fate.announced = record.kind == JournalRecord::Kind::announce;
    fate.after = record.sequence;
    seeWritten(record.sequence);
}

void
ClusterFs::IndexRebuilder::removedNow(const Key &key)
{
    removedUntil(context_.catalog.index().hashOf(key)) = maxSequence;
}

ClusterFs::Sequence &
ClusterFs::IndexRebuilder::removedUntil(const HashedKey hashed)
{
    return removals_[hashed.tag % removals_.size()][hashed.number()];
}

bool
ClusterFs::IndexRebuilder::removed(const HashedKey hashed, const Sequence s) const
{
    const auto &some = removals_[hashed.tag % removals_.size()];
    const auto found = some.find(hashed.number());
    return found != some.end() && s <= found->second;
}

/* the index log */

void
ClusterFs::IndexRebuilder::announced(const IndexRemoval &removal)
{
    if (removal.kind != IndexRemoval::Kind::announced || !context_.geometry.has(removal.cluster))
        return;
    seeWritten(removal.after);
    AnnouncedCluster fate;
    fate.announced = true;
    fate.after = removal.after;
    announcedClusters_.emplace(removal.cluster, fate); // if the journal names the cluster, that is newer and stays
}

void
ClusterFs::IndexRebuilder::removal(const IndexRemoval &removal, const uint64_t serial)
{
    if (!context_.geometry.has(removal.cluster))
        return;
    auto &overruled = overruled_[removal.cluster];
    if (removal.offset >= context_.geometry.clusterBytes)
        return;
    if (removal.kind != IndexRemoval::Kind::object)
        overruled = std::max(overruled, static_cast<uint32_t>(serial));
    else if (static_cast<uint32_t>(serial) >= overruled)
        places_.gone(removal.cluster, removal.offset);
}

void
ClusterFs::IndexRebuilder::use(const IndexUse &use, const uint64_t serial)
{
    if (!context_.geometry.has(use.cluster) || static_cast<uint32_t>(serial) < overruled_[use.cluster])
        return;
    Record r = Record();
    r.place = use.place;
    places_.used(use.cluster, r.offset(), r.heat());
}

/// takes the cluster of a section, if it is not known better
/// \returns whether the section's objects are in that cluster
bool
ClusterFs::IndexRebuilder::adoptCluster(const IndexSection &section)
{
    const auto &c = context_.catalog.clusters()[section.cluster];
    const auto state = static_cast<ClusterState>(section.state);
    seeWritten(section.sequence);
    if (announcedClusters_.count(section.cluster))
        return false; // it was written or released since
    if (c.state != ClusterState::unknown)
        return c.state == ClusterState::packed && state == c.state && c.sequence == section.sequence;
    const bool holds = state == ClusterState::packed || state == ClusterState::part;
    if (state == ClusterState::bad || (holds && section.end <= context_.geometry.clusterBytes))
        context_.catalog.addLogged(section);
    return c.state == ClusterState::packed;
}

/// Records lie all over the index's memory: the processor is asked for the memory of an object some objects ahead.
void
ClusterFs::IndexRebuilder::section(const IndexSection &section, const bool hasKeys, const uint64_t serial)
{
    constexpr size_t ahead = 8;
    if (!context_.geometry.has(section.cluster) || static_cast<uint32_t>(serial) < overruled_[section.cluster])
        return;
    const auto isStrange = [this](const IndexObject &o) { return o.hashed.bucket >= context_.geometry.baseBuckets; };
    if (std::any_of(section.objects.begin(), section.objects.end(), isStrange))
        return;
    if (section.whole)
        overruled_[section.cluster] = static_cast<uint32_t>(serial); // other pieces of the section have the same serial
    if (!adoptCluster(section))
        return;
    const auto &index = context_.catalog.index();
    const auto count = section.objects.size();
    for (size_t next = 0; next < count + 3 * ahead; ++next) {
        if (next < count)
            index.prefetchBucket(section.objects[next].hashed);
        if (next >= ahead && next - ahead < count)
            index.prefetchRecord(section.objects[next - ahead].hashed);
        if (next >= 2 * ahead && next - 2 * ahead < count)
            index.prefetchSecond(section.objects[next - 2 * ahead].hashed);
        if (next < 3 * ahead)
            continue;
        const auto &o = section.objects[next - 3 * ahead];
        Logged logged{o.hashed, hasKeys, o.key, Record()};
        auto &r = logged.record;
        r.tag = o.hashed.tag;
        r.cluster = section.cluster;
        r.place = o.place;
        r.size = o.size;
        r.timestamp = o.timestamp;
        r.setPacked(o.packed);
        r.setFlags(static_cast<uint8_t>((r.flags() & ~Record::flagDead) | (doubtful_ ? flagDoubtful : 0)));
        const auto known = places_.find(r.cluster, r.offset());
        if (known.gone)
            continue;
        if (known.used)
            r.setHeat(known.heat);
        if (r.parted())
            largeLogged_.push_back(logged);
        else
            log(logged);
    }
}

/// takes an object that the log names and that nothing in the log overrules
void
ClusterFs::IndexRebuilder::log(const Logged &logged)
{
    const auto &catalog = context_.catalog;
    const auto &r = logged.record;
    const auto *const key = logged.hasKey ? &logged.key : nullptr;
    const auto known = catalog.index().find(logged.hashed);
    if (known != noSlot && catalog.index()[known].cluster == r.cluster && catalog.index()[known].offset() == r.offset())
        return; // a newer block named it, too
    ++stats_.dropped;
    if (removed(logged.hashed, catalog.clusters()[r.cluster].sequence)) {
        reject(r);
        return;
    }
    if (known != noSlot) {
        const auto front = r.parted() ? fronts_.find(r.firstPart()) : fronts_.end();
        noteOlder(logged.hashed, key, r, // all that is in the index came from newer sources
                  front == fronts_.end() ? frontOf(r) : front->second);
        return;
    }
    const bool whole = !r.parted() || (catalog.clusters().has(r.firstPart()) && chainIsWhole(r.firstPart(), frontOf(r)));
    if (whole && adopt(logged.hashed, key, r, r.parted() ? catalog.clusters()[r.firstPart()].headBytes : r.size))
        --stats_.dropped;
    else
        reject(r);
}

bool
ClusterFs::IndexRebuilder::endLog(const GoOn &goOn)
{
    joinParts();
    while (!largeLogged_.empty()) {
        log(largeLogged_.front());
        largeLogged_.pop_front();
        if (!largeLogged_.empty() && !goOn())
            return false;
    }
    places_.clear();
    return true;
}

/// the log has an object that does not exist any more: the next checkpoint must say so
void
ClusterFs::IndexRebuilder::reject(const Record &r)
{
    context_.catalog.noteGone(r.cluster, r.offset());
}

/// Whether a chain of parts is whole and has the bytes of an object. A chain that the log names counts only if none of its
/// clusters was announced or released since; one that link() made counts in any case.
bool
ClusterFs::IndexRebuilder::chainIsWhole(const ClusterNo first, const Front &front) const
{
    const auto &clusters = context_.catalog.clusters();
    uint32_t length = 0;
    uint64_t bytes = 0;
    for (auto c = first; c != noCluster; c = clusters[c].nextPart) {
        if (!clusters.has(c) || (announcedClusters_.count(c) && !linked_.count(first)) || ++length > clusters.count())
            return false;
        const auto &part = clusters[c];
        if (part.state != ClusterState::part || part.first != noSlot || part.end < partPayloadAt)
            return false;
        // all parts but the last must be full: readers compute the part of an offset
        if (part.nextPart != noCluster && part.end - partPayloadAt != context_.partCapacity())
            return false;
        bytes += part.end - partPayloadAt;
    }
    // with another sum, a reader would give fewer or more bytes than the object has
    return length > 0 && front.headBytes + bytes == front.total;
}

/// a version of an object wants to enter the index: forgets an older one
/// \param s its sequence number
/// \param entering its record
/// \param front its sizes when it is large
/// \returns whether it may enter
bool
ClusterFs::IndexRebuilder::supersede(const Key &key, const Sequence s, const Record &entering, const Front &front)
{
    auto &catalog = context_.catalog;
    const auto hashed = catalog.index().hashOf(key);
    if (removed(hashed, s))
        return false;
    const auto older = catalog.index().find(hashed);
    if (older == noSlot)
        return true;
    const auto &r = catalog.index()[older];
    if (r.staged() || catalog.clusters()[r.cluster].sequence >= s) {
        noteOlder(hashed, &key, entering, front);
        return false;
    }
    noteOlder(hashed, &key, r, frontOf(r));
    // a large object with a new head has the parts of its older version: they stay
    catalog.supersede(older); // check() decides whether it has to come back
    ++stats_.dropped;
    return true;
}

static ClusterFs::Record
recordOf(const ClusterFs::HashedKey hashed, const ClusterFs::ClusterNo cluster, const ClusterFs::DirectoryEntry &e, const bool doubtful, const ClusterFs::ClusterNo firstPart)
{
    using namespace ClusterFs;
    Record r = Record();
    r.tag = hashed.tag;
    r.cluster = cluster;
    r.size = e.size;
    r.setInfo(e.info);
    r.setPlace(e.offset, e.heat);
    auto flags = static_cast<uint8_t>(r.flags() & (flagsOfCaller | flagDoubtful | flagJoined));
    if (doubtful)
        flags |= flagDoubtful;
    r.setFlags(flags);
    if (firstPart != noCluster)
        r.setFirstPart(firstPart);
    return r;
}

/// puts an object into the index
/// \param payload bytes in the extent
/// \returns whether it is in the index now
bool
ClusterFs::IndexRebuilder::adopt(const HashedKey hashed, const Key *const key, const Record &r, const uint32_t payload)
{
    auto &catalog = context_.catalog;
    const auto &c = catalog.clusters()[r.cluster];
    if (uint64_t(r.offset()) + ExtentHeader::encodedBytes + payload > c.end)
        return false;
    // Extents do not overlap. If a damaged log has some that do, their sum may be more than ClusterEntry::liveBytes can count.
    if (uint64_t(c.liveBytes) + Catalog::ExtentBytes(payload) > c.end)
        return false;
    return catalog.addFound(hashed, key, r, payload) != noSlot;
}

bool
ClusterFs::IndexRebuilder::directory(const ClusterNo n, const Directory &d, const bool doubtful, const GoOn &goOn)
{
    auto &catalog = context_.catalog;
    const auto &c = catalog.clusters()[n];
    seeWritten(d.header.sequence);
    if (c.state == ClusterState::unknown) {
        catalog.addRead(n, d.header);
        if (c.state == ClusterState::part)
            return true;
    } else if (c.state != ClusterState::packed || c.sequence != d.header.sequence || d.header.kind != ClusterKind::packed) {
        nextEntry_ = nextPart_ = 0;
        return true;
    }
    const auto &index = catalog.index();
    constexpr size_t ahead = 16; // keys go to random places of the index
    while (nextEntry_ < d.entries.size()) {
        const auto i = nextEntry_++;
        if (i + 2 * ahead < d.entries.size())
            index.prefetchBucket(index.hashOf(d.entries[i + 2 * ahead].key));
        if (i + ahead < d.entries.size())
            index.prefetchRecord(index.hashOf(d.entries[i + ahead].key));
        const auto &e = d.entries[i];
        if (e.parts) {
            const auto hashed = index.hashOf(e.key);
            if (!doubtful && !removed(hashed, d.header.sequence)) {
                auto &newest = awaited_[hashed.number()];
                newest = std::max(newest, d.header.sequence);
            }
            const auto from = d.parts.begin() + static_cast<std::ptrdiff_t>(nextPart_);
            large_.push_back({n, doubtful, e, {from, from + e.parts}});
            nextPart_ += e.parts;
        } else {
            const auto hashed = index.hashOf(e.key);
            const auto r = recordOf(hashed, n, e, doubtful, noCluster);
            if (supersede(e.key, d.header.sequence, r, Front()))
                adopt(hashed, &e.key, r, e.size);
        }
        if (nextEntry_ % ahead == 0 && nextEntry_ < d.entries.size() && !goOn())
            return false;
    }
    nextEntry_ = nextPart_ = 0;
    return true;
}

bool
ClusterFs::IndexRebuilder::partsAreHere(const LargeObject &o) const
{
    const auto &clusters = context_.catalog.clusters();
    uint64_t bytes = o.entry.size;
    for (const auto &p: o.parts) {
        if (!clusters.has(p.cluster))
            return false;
        const auto &c = clusters[p.cluster];
        if (c.state != ClusterState::part || c.sequence != p.sequence || c.first != noSlot ||
                c.end != partPayloadAt + uint64_t(p.bytes))
            return false;
        // all parts but the last must be full: readers compute the part of an offset
        if (&p != &o.parts.back() && p.bytes != context_.partCapacity())
            return false;
        bytes += p.bytes;
    }
    return bytes == o.entry.info.size;
}

/// whether parts of an object were released or announced after they were written: then the object was forgotten before the stop
bool
ClusterFs::IndexRebuilder::wasGivenUp(const LargeObject &o) const
{
    return std::any_of(o.parts.begin(), o.parts.end(), [this](const PartReference &p) {
        const auto fate = announcedClusters_.find(p.cluster);
        return fate != announcedClusters_.end() && (!fate->second.announced || fate->second.after >= p.sequence);
    });
}

/// chains the parts of an object as a directory has them
void
ClusterFs::IndexRebuilder::link(const LargeObject &o)
{
    context_.catalog.linkParts(o.parts);
    linked_.insert(o.parts.front().cluster);
}

void
ClusterFs::IndexRebuilder::join(const LargeObject &o)
{
    auto &catalog = context_.catalog;
    const auto &home = catalog.clusters()[o.cluster];
    const auto hashed = catalog.index().hashOf(o.entry.key);
    const auto r = recordOf(hashed, o.cluster, o.entry, o.doubtful, o.parts.front().cluster);
    const Front front{o.entry.info.size, o.entry.size};
    if (home.state != ClusterState::packed)
        return;
    if (!supersede(o.entry.key, home.sequence, r, front)) {
        if (partsAreHere(o))
            link(o); // it may have to come back if the newer version is not whole
        return;
    }
    if (!partsAreHere(o)) {
        ++stats_.dropped;
        stats_.objectsLost += !o.doubtful && !wasGivenUp(o); // a scan also finds heads of objects that were forgotten long ago
        return;
    }
    fronts_.emplace(r.firstPart(), frontOf(r)); // the sizes of the log, for the older version
    catalog.joinParts(o.parts, front.total, front.headBytes);
    linked_.insert(r.firstPart());
    adopt(hashed, &o.entry.key, r, o.entry.size);
}

void
ClusterFs::IndexRebuilder::joinParts()
{
    const auto &clusters = context_.catalog.clusters();
    std::stable_sort(large_.begin(), large_.end(), [&](const LargeObject &a, const LargeObject &b) {
        return clusters[a.cluster].sequence < clusters[b.cluster].sequence;
    });
    for (const auto &o: large_)
        join(o);
    large_.clear();
    awaited_.clear();
}

bool
ClusterFs::IndexRebuilder::awaitsNewer(const SlotNo slot) const
{
    if (awaited_.empty())
        return false;
    const auto &catalog = context_.catalog;
    const auto found = awaited_.find(catalog.index().hashedOf(slot).number());
    return found != awaited_.end() && catalog.clusters()[catalog.index()[slot].cluster].sequence < found->second;
}

/* objects with several copies, because they were being relocated */
/// remembers a copy that is older than the one in the index, or gives way to one that enters now

void
ClusterFs::IndexRebuilder::noteOlder(const HashedKey hashed, const Key *const key, const Record &r, const Front &front)
{
    if (stats_.scanned)
        return;
    const auto &catalog = context_.catalog;
    const auto known = catalog.index().find(hashed);
    // the copy in the index may be the one that gives way: then sortOut() finds the cluster of the newer one
    const auto newer = known != noSlot && !catalog.index()[known].staged() ? catalog.index()[known].cluster : r.cluster;
    older_[newer].push_back({{hashed, key != nullptr, key ? *key : Key(), r}, catalog.clusters()[r.cluster].sequence, front});
}

/// the sizes of a large object as its first part has them now
ClusterFs::IndexRebuilder::Front
ClusterFs::IndexRebuilder::frontOf(const Record &r) const
{
    const auto &clusters = context_.catalog.clusters();
    if (!r.parted() || !clusters.has(r.firstPart()))
        return Front();
    return {clusters[r.firstPart()].total, clusters[r.firstPart()].headBytes};
}

/// \returns the object's copy in the index, or noSlot when there is none that is newer
ClusterFs::SlotNo
ClusterFs::IndexRebuilder::newerThan(const OlderCopy &copy) const
{
    const auto &catalog = context_.catalog;
    const auto slot = catalog.index().find(copy.hashed);
    if (slot == noSlot || catalog.index()[slot].staged())
        return noSlot;
    return catalog.clusters()[catalog.index()[slot].cluster].sequence > copy.sequence ? slot : noSlot;
}

/// whether an object begins in the same stretch of its cluster as those of span_
bool
ClusterFs::IndexRebuilder::isNear(const SlotNo slot) const
{
    return stayed_.empty() || context_.catalog.index()[slot].offset() / stretch == span_.from / stretch;
}

/// moves copies to the clusters in which their newer ones are now; those of sorted_ that are near each other go to stayed_
bool
ClusterFs::IndexRebuilder::sortOut(const GoOn &goOn)
{
    constexpr size_t slice = 16;
    while (!sorting_.empty()) {
        const auto copy = sorting_.back();
        sorting_.pop_back();
        const auto slot = newerThan(copy);
        const auto c = slot == noSlot ? noCluster : context_.catalog.index()[slot].cluster;
        if (slot == noSlot) {
            dismiss(copy); // the object was deleted or stored again meanwhile
        } else if (c != sorted_ || !isNear(slot)) {
            older_[c].push_back(copy);
        } else {
            stayed_.push_back(copy);
            const auto from = context_.catalog.index()[slot].offset();
            span_.from = std::min(span_.from, from);
            span_.to = std::max(span_.to, from + Catalog::ExtentBytes(context_.catalog.payloadBytes(slot)));
        }
        if (sorting_.size() % slice == 0 && !sorting_.empty() && !goOn())
            return false;
    }
    return true;
}

bool
ClusterFs::IndexRebuilder::contested(Contested &what, const GoOn &goOn)
{
    if (stats_.scanned)
        older_.clear();
    while (mayBeContested()) {
        if (sorting_.empty()) {
            // a cluster has one range under way at a time: its other copies wait
            const auto next = std::find_if(older_.begin(), older_.end(), [this](const Copies::value_type &c) { return !checking_.count(c.first); });
            if (next == older_.end())
                return false;
            sorted_ = span_.cluster = next->first;
            span_.from = context_.geometry.clusterBytes;
            span_.to = 0;
            sorting_ = std::move(next->second);
            older_.erase(next);
        }
        if (!sortOut(goOn))
            return false;
        if (stayed_.empty())
            continue;
        what = span_;
        checking_[sorted_] = std::move(stayed_);
        stayed_.clear();
        return true;
    }
    return false;
}

bool
ClusterFs::IndexRebuilder::isWhole(const SlotNo slot, const char *const bytes, const Contested &what) const
{
    const auto &catalog = context_.catalog;
    const auto &r = catalog.index()[slot];
    const auto size = catalog.payloadBytes(slot);
    if (!bytes || r.offset() < what.from || r.offset() + Catalog::ExtentBytes(size) > what.to)
        return false;
    const char *const extent = bytes + (r.offset() - what.from);
    ExtentHeader header;
    header.size = size;
    header.sequence = catalog.clusters()[r.cluster].sequence;
    header.key = keyOfExtent(extent);
    return checkExtent(extent, what.to - r.offset(), header, context_.uuid, r.cluster, r.offset()) == Status::ok;
}

bool
ClusterFs::IndexRebuilder::check(const Contested &what, const char *const bytes, const GoOn &goOn)
{
    const auto &index = context_.catalog.index();
    auto &copies = checking_[what.cluster];
    // Of several older copies of an object, the newest has to be the first that may come back. They are taken from the end.
    if (std::exchange(checked_, what.cluster) != what.cluster)
        std::stable_sort(copies.begin(), copies.end(), [](const OlderCopy &a, const OlderCopy &b) { return a.sequence < b.sequence; });
    while (!copies.empty()) {
        const auto copy = copies.back();
        copies.pop_back();
        const auto slot = newerThan(copy);
        if (slot != noSlot && index[slot].cluster != what.cluster)
            older_[index[slot].cluster].push_back(copy); // the copy that was to be checked gave way to another one, which is newer, too
        else if (slot == noSlot || isWhole(slot, bytes, what))
            dismiss(copy);
        else
            revert(slot, copy);
        if (!copies.empty() && !goOn())
            return false;
    }
    checking_.erase(what.cluster);
    checked_ = noCluster;
    return true;
}

/// an older copy does not count: the next checkpoint must say so
void
ClusterFs::IndexRebuilder::dismiss(const OlderCopy &copy)
{
    const auto &c = context_.catalog.clusters()[copy.record.cluster];
    const auto known = context_.catalog.index().find(copy.hashed);
    const bool itself = known != noSlot && context_.catalog.index()[known].cluster == copy.record.cluster &&
                        context_.catalog.index()[known].offset() == copy.record.offset();
    if (c.sequence == copy.sequence && !itself)
        reject(copy.record);
}

/// the newer copy is not whole: the older one takes its place
/// \param slot of the newer one
void
ClusterFs::IndexRebuilder::revert(const SlotNo slot, const OlderCopy &copy)
{
    auto &catalog = context_.catalog;
    const auto parts = catalog.index()[slot].parted() ? catalog.index()[slot].firstPart() : noCluster;
    catalog.disownParts(slot);
    catalog.erase(slot);
    if (bringBack(copy, parts))
        return;
    ++stats_.dropped;
    ++stats_.objectsLost;
}

/// puts an older copy into the index
/// \param parts first part of the newer copy, or noCluster
/// \returns whether the object is in the index again
bool
ClusterFs::IndexRebuilder::bringBack(const OlderCopy &copy, const ClusterNo parts)
{
    auto &catalog = context_.catalog;
    const auto &r = copy.record;
    const auto &c = catalog.clusters()[r.cluster];
    if (c.state != ClusterState::packed || c.sequence != copy.sequence)
        return false;
    if (r.parted() && r.firstPart() != parts && !chainIsWhole(r.firstPart(), copy.front)) {
        reject(r);
        return false;
    }
    const auto payload = r.parted() ? copy.front.headBytes : r.size;
    if (r.parted()) {
        // the newer copy may have put another head in front of the same parts
        catalog.putHead(r.firstPart(), copy.front.total, copy.front.headBytes);
    }
    if (adopt(copy.hashed, copy.hasKey ? &copy.key : nullptr, r, payload))
        return true;
    reject(r);
    return false;
}

std::vector<ClusterFs::ClusterNo>
ClusterFs::IndexRebuilder::announced() const
{
    std::vector<ClusterNo> list;
    for (const auto &f: announcedClusters_) {
        if (f.second.announced)
            list.push_back(f.first);
    }
    std::sort(list.begin(), list.end());
    return list;
}

ClusterFs::Sequence
ClusterFs::IndexRebuilder::announcedAfter(const ClusterNo n) const
{
    const auto found = announcedClusters_.find(n);
    return found == announcedClusters_.end() ? Sequence(0) : found->second.after;
}

bool
ClusterFs::IndexRebuilder::finish(const GoOn &goOn)
{
    constexpr uint32_t slice = 1024;
    auto &catalog = context_.catalog;
    catalog.endAdding();
    while (catalog.clusters().has(nextToFinish_)) {
        for (uint32_t i = 0; i < slice && catalog.clusters().has(nextToFinish_); ++i)
            finish(nextToFinish_++);
        if (catalog.clusters().has(nextToFinish_) && !goOn())
            return false;
    }
    if (!order_.run(goOn))
        return false;
    // they may be millions, so they are freed a piece at a time
    while (nextRemovals_ < removals_.size()) {
        removals_[nextRemovals_++] = std::unordered_map<uint64_t, Sequence>();
        if (!goOn())
            return false;
    }
    while (!announcedClusters_.empty()) {
        announcedClusters_.erase(announcedClusters_.begin());
        if (!goOn())
            return false;
    }
    fronts_.clear();
    linked_.clear();
    older_.clear();
    checking_.clear();
    catalog.endStart();
    return true;
}

void
ClusterFs::IndexRebuilder::finish(const ClusterNo n)
{
    auto &catalog = context_.catalog;
    const auto &c = catalog.clusters()[n];
    const bool inOrderOfWriting = context_.config.replacement->inOrderOfWriting();
    if (c.state == ClusterState::unknown)
        catalog.addEmpty(n, announcedClusters_.count(n)); // the log may have contents of it that the journal ended
    else if (c.state == ClusterState::packed && !c.live)
        catalog.freeCluster(n);
    else if (c.state == ClusterState::packed)
        // differences from now, because ClusterEntry::heat has only 32 bits
        order_.add(n, static_cast<uint32_t>(inOrderOfWriting ? context_.sequence - c.sequence : context_.sequence.value() - c.heat));
    else if (catalog.isOrphan(n))
        catalog.freeOrphan(n);
    const bool used = c.state == ClusterState::packed || c.state == ClusterState::part;
    if (used && (newest_ == noCluster || c.sequence > catalog.clusters()[newest_].sequence))
        newest_ = n;
}
