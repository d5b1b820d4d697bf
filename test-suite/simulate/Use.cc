// SPDX-License-Identifier: GPL-2.0-or-later
/* The actions of the user of a simulated machine. */

#include "test-suite/simulate/World.h"

#include "fs/cluster/base/SystemMemory.h"
#include "fs/cluster/layout/Superblock.h"

#include <algorithm>

using namespace ClusterFs;

void
Simulate::World::pass(const uint64_t micros)
{
    const auto end = clock_.micros() + micros;
    while (clock_.micros() < end) {
        turn();
        clock_.advance(std::min<uint64_t>(end - clock_.micros(), 50000));
    }
    turn();
}

void
Simulate::World::use()
{
    const auto steps = 20 + below(400);
    for (uint64_t i = 0; i < steps; ++i)
        step();
}

/// one action while a start goes on
void
Simulate::World::startStep()
{
    const auto what = below(100);
    if (what < 20)
        beginStore();
    else if (what < 40)
        continueStore();
    else if (what < 60)
        beginRead();
    else if (what < 70)
        continueRead();
    else if (what < 80) {
        removeOne();
        ++tally_.startRemoves;
    } else if (what < 84)
        replaceHead();
    else if (what < 86)
        updateInfo();
    else if (what < 88)
        engine_->requestCheckpoint();
    else
        pass(below(30000));
    turn();
    device_->wait(1);
}

void
Simulate::World::step()
{
    const auto what = below(100);
    if (what < 25)
        beginStore();
    else if (what < 50)
        continueStore();
    else if (what < 65)
        beginRead();
    else if (what < 75)
        continueRead();
    else if (what < 82)
        removeOne();
    else if (what < 86)
        replaceHead();
    else if (what < 87)
        rename();
    else if (what < 88)
        engine_->requestCheckpoint();
    else if (what < 89)
        engine_->touch(Oracle::KeyOf(someObject()));
    else if (what < 91)
        visitPage();
    else if (what < 99)
        pass(below(300000));
    else
        pass(below(20000000));
    if (below(300) == 0)
        reconfigure();
    if (below(100) == 0)
        engine_->noteMemory({uint64_t(below(64)) << 20, uint64_t(1) << 30}); // of which 32 MB should stay free
    if (below(50) == 0)
        controlGroups();
    if (below(80) == 0)
        keepHouse();
    if (below(50) == 0)
        updateInfo();
    if (below(200) == 0)
        listAll();
    if (below(400) == 0)
        stepClock();
    if (outages_ && below(outage_ ? 60 : 300) == 0)
        changeOutage();
    turn();
}

uint64_t
Simulate::World::someSize()
{
    const uint64_t cluster = config_.clusterBytes();
    switch (below(10)) {
    case 0:
        return below(3);
    case 1:
        return cluster / 2 + below(cluster);
    case 2:
        return cluster - 200 + below(300);
    case 3:
        return below(5 * cluster);
    default:
        return below(12000);
    }
}

/// Tells the engine of a request. Most objects with numbers beside each other are
/// of one page.
void
Simulate::World::note(const uint64_t object)
{
    constexpr uint64_t pageObjects = 12;
    const auto page = chance(95) ? object / pageObjects : below(objects_);
    Request r;
    r.key = Oracle::KeyOf(object);
    r.client = 1 + below(3);
    r.url = 1 + object;
    r.site = 1000000 + page / 4;
    r.kind = object % pageObjects ? RequestKind::member : RequestKind::page;
    if (r.kind == RequestKind::member && chance(80)) {
        r.refererSite = r.site;
        r.referer = chance(70) ? 1 + page * pageObjects : 0;
    }
    engine_->note(r);
}

/// reads the objects of a page, as a visit does
void
Simulate::World::visitPage()
{
    const auto first = someObject() / 12 * 12;
    for (auto object = first; object < std::min(first + 12, objects_); ++object)
        readObject(object, false);
}

/// a random call about groups
void
Simulate::World::controlGroups()
{
    const auto group = below(3);
    const auto object = someObject();
    switch (below(5)) {
    case 0:
        (void)engine_->setFavour(group, static_cast<ClusterFs::Favour>(below(3)));
        break;
    case 1:
        (void)(chance(4) ? engine_->dissolve(group) : engine_->unassign(Oracle::KeyOf(object)));
        break;
    case 2:
        (void)engine_->setPersist(group, static_cast<uint32_t>(below(mostPersist + 1)));
        break;
    case 3:
        engine_->collocate(Oracle::KeyOf(object), {Oracle::KeyOf(someObject()), Oracle::KeyOf(someObject())});
        break;
    default:
        for (auto member = object; member < std::min(object + 8, objects_); ++member)
            (void)engine_->assign(group, Oracle::KeyOf(member));
    }
}

/// asks for some housekeeping
void
Simulate::World::keepHouse()
{
    const auto chore = static_cast<Chore>(below(6));
    const auto most = chore == Chore::freeDisk ? media_->size() / 2 : uint64_t(config_.stagingMb) << 20;
    const auto bytes = chance(50) ? below(most) : 0;
    const auto asked = clock_.micros();
    if (chore == Chore::freeDisk) {
        ++clearing_;
        crowded_ = deviceWrites();
    }
    engine_->run(chore, bytes, [this, chore, asked](const Status status) { choreDone(chore, asked, status); });
}

void
Simulate::World::choreDone(const Chore chore, const uint64_t asked, const Status status)
{
    ++tally_.chores;
    if (chore == Chore::freeDisk) {
        --clearing_;
        crowded_ = deviceWrites();
    }
    const auto state = engine_->state();
    if (status == Status::ok && chore == Chore::sync)
        synced_ = std::max(synced_, asked);
    const bool refused = status == Status::ioError || status == Status::offline;
    const bool mayBeRefused = !honest_ || outages_ || state == EngineState::readOnly || state == EngineState::offline;
    const bool expected = status == Status::ok || (refused && mayBeRefused) || (status == Status::busy && chore == Chore::freeMemory) ||
                          (status == Status::full && chore == Chore::freeDisk);
    if (!expected)
        broken(std::string("housekeeping ended with: ") + statusText(status));
}

/// random flags, and random times that the index keeps to the second
ClusterFs::ObjectInfo
Simulate::World::someInfo()
{
    ObjectInfo info;
    info.timestamp = clock_.wallSeconds();
    info.expires = chance(10) ? -1 : info.timestamp + static_cast<int64_t>(below(10000));
    info.lastModified = chance(10) ? -1 : info.timestamp - static_cast<int64_t>(below(chance(50) ? 1000000 : static_cast<uint64_t>(info.timestamp)));
    info.flags = static_cast<uint8_t>(below(flagsOfCaller + 1));
    return info;
}

/// a version is stored and takes the place of the one before
void
Simulate::World::complete(const uint64_t object, const uint64_t number)
{
    oracle_.finish(object, number, clock_.micros());
    say("object " + std::to_string(object) + ", version " + std::to_string(number) + " is stored");
    for (auto &v: oracle_.of(object)) {
        if (v.number != number)
            continue;
        v.writes = deviceWrites();
        v.clusters = engine_->superblock()->geometry.clusterCount;
    }
    settle(object);
}

void
Simulate::World::beginStore()
{
    if (writing_.size() > 5)
        return;
    const auto object = someObject();
    note(object);
    Writing w;
    w.object = object;
    w.known = chance(60);
    Version plan;
    plan.size = someSize();
    const auto info = someInfo();
    w.writer = engine_->create(Oracle::KeyOf(object), info, w.known ? static_cast<int64_t>(plan.size) : -1);
    if (!w.writer)
        return;
    auto &v = oracle_.add(object);
    v.size = plan.size;
    v.headSize = 0;
    v.bodyVersion = v.number;
    v.infos = {info};
    w.version = v;
    writing_.push_back(std::move(w));
    ++tally_.stores;
}

void
Simulate::World::continueStore()
{
    if (writing_.empty())
        return;
    const auto which = below(writing_.size());
    auto &w = writing_[which];
    const bool giveUp = chance(2);
    const auto pieces = 1 + below(200);
    bool failed = giveUp;
    for (uint64_t i = 0; i < pieces && w.writer->size() < w.version.size && !failed; ++i) {
        char piece[4096];
        const auto n = std::min<uint64_t>(1 + below(sizeof(piece)), w.version.size - w.writer->size());
        fill(w.version, w.writer->size(), piece, n);
        failed = !w.writer->append(piece, n);
    }
    if (!failed && chance(20)) { // somebody reads the bytes that have come so far
        const auto reader = engine_->read(*w.writer);
        char piece[1000];
        if (reader && w.writer->size()) {
            const auto offset = below(w.writer->size());
            const auto n = reader->copy(offset, piece, sizeof(piece));
            if (n > 0 && !matches(w.version, offset, piece, static_cast<size_t>(n)))
                broken("wrong bytes of an object that is being written");
        }
    }
    if (!failed && w.writer->size() < w.version.size)
        return;
    if (!failed && w.writer->finish() == Status::ok) {
        complete(w.object, w.version.number);
        ObjectInfo info;
        if (!lifetimes_ && !engine_->find(Oracle::KeyOf(w.object), info) && engine_->state() != EngineState::offline)
            broken("a stored object is not found");
    }
    writing_.erase(writing_.begin() + static_cast<std::ptrdiff_t>(which));
}

void
Simulate::World::beginRead()
{
    readObject(someObject(), chance(30));
}

/// \param slowly whether to read it in pieces, between other actions
void
Simulate::World::readObject(const uint64_t object, const bool slowly)
{
    note(object);
    ++tally_.reads;
    ObjectInfo info;
    const auto found = engine_->find(Oracle::KeyOf(object), info);
    const auto starting = engine_->state() == EngineState::recovering;
    if (!settled(object)) { // it is not known yet which version the start finds
        if (found)
            tally_.startHits += verifyOne(object, oracle_.of(object)) && starting;
        return;
    }
    readShared(object);
    const auto v = oracle_.current(object);
    if (!found) {
        if (v && mustBeKept(*v))
            broken("object " + std::to_string(object) + ", version " + std::to_string(v->number) + ", is lost while the engine runs, which says that " +
                   std::to_string(engine_->stats().counters.evictedObjects) + " were evicted and " +
                   std::to_string(engine_->stats().counters.corrupt) + " extents corrupt");
        return;
    }
    if (!v)
        broken("object " + std::to_string(object) + " is found, but was deleted or never stored");
    checkInfo(object, *v, info);
    engine_->touch(Oracle::KeyOf(object));
    ++tally_.hits;
    if (reading_.size() < 10 && slowly) {
        Reading r;
        r.reader = engine_->read(Oracle::KeyOf(object));
        r.version = *v;
        if (r.reader)
            reading_.push_back(std::move(r));
        return;
    }
    readWhole(object, *v);
}

/// Reads an object as another process does. It need not find all that is there, but what it finds is right.
void
Simulate::World::readShared(const uint64_t object)
{
    const auto key = Oracle::KeyOf(object);
    const auto state = engine_->state();
    EngineView::Copy copy;
    if (!shared_ || (state != EngineState::serving && state != EngineState::readOnly) || !view_.read(key, 1 << 20, copy))
        return;
    ++tally_.sharedReads;
    if (lifetimes_ && !engine_->has(key))
        return; // another process looks at the lifetime, too
    const auto v = oracle_.current(object);
    if (!v)
        broken("object " + std::to_string(object) + " is read by another process, but was deleted or never stored");
    checkInfo(object, *v, copy.info);
    if (!matches(*v, 0, copy.data(), copy.info.size))
        broken("object " + std::to_string(object) + " has wrong bytes for another process");
    engine_->noteRead(key);
}

void
Simulate::World::readWhole(const uint64_t object, const Version &v)
{
    const auto reader = engine_->read(Oracle::KeyOf(object));
    if (!reader)
        broken("found, but can't be opened");
    std::string bytes;
    if (!fetchAll(*reader, bytes)) {
        if (honest_ && !(troubled_ && v.finished >= startBegan_))
            broken("object " + std::to_string(object) + " can't be read on an honest disk");
        return;
    }
    if (bytes.size() != v.size || !matches(v, 0, bytes.data(), bytes.size()))
        broken("object " + std::to_string(object) + " has wrong bytes");
}

void
Simulate::World::continueRead()
{
    if (reading_.empty())
        return;
    const auto which = below(reading_.size());
    auto &r = reading_[which];
    char piece[4096];
    if (chance(20))
        r.offset = below(r.reader->size() + 1);
    auto n = r.reader->copy(r.offset, piece, sizeof(piece));
    if (n < 0) {
        bool done = false;
        auto status = Status::busy;
        const auto begin = clock_.micros();
        r.reader->fetch(r.offset, [&](const Status s) {
            done = true;
            status = s;
            if (s == Status::ok)
                n = r.reader->copy(r.offset, piece, sizeof(piece));
        });
        if (!await([&] { return done; }) && !hangs_)
            broken("a read is never answered");
        if (!done) {
            reading_.erase(reading_.begin() + static_cast<std::ptrdiff_t>(which));
            return;
        }
        // a part of it may have been lost in an outage after the object was complete
        if (status != Status::ok && honest_ && !troubled_)
            broken("version " + std::to_string(r.version.number) + ", which is open, can't be read on an honest disk: " + statusText(status));
        checkWait(clock_.micros() - begin);
    }
    // a reader keeps the version that it opened, even if the object is deleted or replaced
    if (n > 0 && !matches(r.version, r.offset, piece, static_cast<size_t>(n)))
        broken("wrong bytes of an object that is open");
    if (n > 0)
        r.offset += static_cast<uint64_t>(n);
    if (n <= 0 || chance(10))
        reading_.erase(reading_.begin() + static_cast<std::ptrdiff_t>(which));
}

void
Simulate::World::removeOne()
{
    const auto object = someObject();
    engine_->remove(Oracle::KeyOf(object));
    gone(object);
    ++tally_.removes;
}

/// an object was deleted
void
Simulate::World::gone(const uint64_t object)
{
    oracle_.remove(object, clock_.micros());
    settle(object);
    say("object " + std::to_string(object) + " is deleted");
    ObjectInfo info;
    if (engine_->find(Oracle::KeyOf(object), info))
        broken("a deleted object is found");
}

/// a revalidation brings other headers
void
Simulate::World::replaceHead()
{
    const auto object = someObject();
    auto info = someInfo();
    newHead(object, object, info, [&](const uint32_t oldHead, const std::string &head, std::function<void(Status)> done) {
        engine_->replaceHead(Oracle::KeyOf(object), oldHead, head, info, std::move(done));
    });
}

/// the response of a revalidation gets a key of its own
void
Simulate::World::rename()
{
    const auto object = someObject();
    const auto other = someObject();
    ObjectInfo info;
    if (object == other || !engine_->find(Oracle::KeyOf(object), info))
        return;
    newHead(object, other, info, [&](const uint32_t oldHead, const std::string &head, std::function<void(Status)> done) {
        engine_->rename(Oracle::KeyOf(object), Oracle::KeyOf(other), oldHead, head, std::move(done));
    });
}

/// an object becomes a version of another one, or of itself, with another head
/// \param how calls the engine
void
Simulate::World::newHead(const uint64_t from, const uint64_t to, const ObjectInfo &info,
                         const std::function<void(uint32_t, const std::string &, std::function<void(Status)>)> &how)
{
    const auto v = oracle_.current(from);
    ObjectInfo now;
    if (!v || !settled(from) || !engine_->find(Oracle::KeyOf(from), now) || now.size != v->size)
        return;
    const auto old = *v;
    const auto oldHead = below(std::min<uint64_t>(old.size, 2000) + 1);
    if (oldHead < old.headSize) // takeHead() can't divide an older head
        return;
    auto &fresh = oracle_.add(to);
    takeHead(fresh, old, oldHead, below(2000));
    std::string head(fresh.headSize, '\0');
    fill(fresh, 0, &head[0], head.size());
    const auto number = fresh.number;
    fresh.infos = {info};
    const auto done = std::make_shared<bool>(false);
    how(static_cast<uint32_t>(oldHead), head, [this, from, to, number, done](const Status s) {
        *done = true;
        if (s != Status::ok)
            return;
        ++(from == to ? tally_.headUpdates : tally_.renames);
        complete(to, number);
        if (from != to)
            gone(from);
    });
    if (!await([&] { return *done; }) && !hangs_)
        broken("a head update is never answered");
}

/// a revalidation brings only other times
void
Simulate::World::updateInfo()
{
    const auto object = someObject();
    const auto v = oracle_.current(object);
    ObjectInfo info;
    if (!v || !settled(object) || !engine_->find(Oracle::KeyOf(object), info))
        return;
    v->infos.push_back(someInfo());
    say("object " + std::to_string(object) + " has new times");
    engine_->updateInfo(Oracle::KeyOf(object), v->infos.back());
    ++tally_.infoUpdates;
    if (!engine_->find(Oracle::KeyOf(object), info))
        broken("an object is gone after an update of its times");
    checkInfo(object, *v, info);
}

/// Lists the store. Each listed object must be there, and is listed once; all objects that this run has stored are listed.
void
Simulate::World::listAll()
{
    if (!listing_)
        return;
    std::map<std::string, uint64_t> objects;
    for (uint64_t object = 0; object < objects_; ++object)
        objects[Oracle::KeyOf(object).hex()] = object;
    std::set<uint64_t> listed;
    uint64_t cursor = 0;
    Key key;
    ObjectInfo info;
    for (unsigned looks = ~0U; engine_->next(cursor, key, info, looks);) {
        const auto known = objects.find(key.hex());
        if (known == objects.end())
            broken("a key is listed that nothing was ever stored under");
        if (!listed.insert(known->second).second)
            broken("object " + std::to_string(known->second) + " is listed twice");
        const auto v = oracle_.current(known->second);
        if (settled(known->second) && !v)
            broken("object " + std::to_string(known->second) + " is listed, but was deleted or never stored");
        if (settled(known->second))
            checkInfo(known->second, *v, info);
        ++tally_.listed;
    }
    for (uint64_t object = 0; object < objects_; ++object) {
        const auto v = oracle_.current(object);
        if (v && v->finished >= startBegan_ && engine_->find(Oracle::KeyOf(object), info) && !listed.count(object))
            broken("object " + std::to_string(object) + " was stored in this run and is not listed");
    }
}
