// SPDX-License-Identifier: GPL-2.0-or-later
/* The store in a worker. */

#include "fs/cluster/sharing/RemoteStore.h"

#include "fs/cluster/sharing/RemoteReader.h"
#include "fs/cluster/sharing/RemoteWriter.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace ClusterFs::Messages;

namespace {

/// a figure that the owner shows
template <class Number>
Number
shown(const ClusterFs::Control *const control, const std::atomic<Number> ClusterFs::Control::*const figure)
{
    return control ? (control->*figure).load(std::memory_order_relaxed) : Number();
}

} // namespace

/// who waits for a new head
class ClusterFs::RemoteStore::HeadRequest: private Correspondent
{
public:
    HeadRequest(RemoteStore &store, std::function<void(Status)> done): store_(store), done_(std::move(done)), number_(store.link_->enter(*this)) {}
    ~HeadRequest() override { store_.link_->leave(number_); }

    uint64_t number() const { return number_; }

private:
    void hear(const Kind kind, const char *const content, const size_t bytes) override {
        Done m;
        if (kind != Kind::replaced || bytes < sizeof(m))
            return;
        memcpy(&m, content, sizeof(m));
        end(m.status);
    }
    void bereave() override { end(Status::offline); }
    void end(const Status status) {
        const auto done = std::move(done_);
        store_.forget(number_); // and so this
        done(status);
    }

    RemoteStore &store_;
    std::function<void(Status)> done_;
    const uint64_t number_;
};

ClusterFs::RemoteStore::RemoteStore(const std::string &path, const Clock &clock):
    clock_(clock),
    link_(std::make_shared<Link>(path, clock))
{
}

ClusterFs::RemoteStore::~RemoteStore() = default;

ClusterFs::EngineState
ClusterFs::RemoteStore::state() const
{
    if (!connected())
        return EngineState::offline;
    const auto theirs = shown(link_->control(), &Control::state);
    const auto open = shown(link_->control(), &Control::open);
    return theirs == EngineState::serving && !open ? EngineState::recovering : theirs;
}

void
ClusterFs::RemoteStore::poll()
{
    if (!figures_.empty() && (clock_.micros() - figuresSince_ >= figureMicros || figures_.size() >= maxFigures / 2))
        tellFigures();
    link_->poll();
}

/* looking up */

bool
ClusterFs::RemoteStore::find(const Key &key, ObjectInfo &info)
{
    ++lookups_;
    if (!look(key, info, true))
        return false;
    ++found_;
    return true;
}

bool
ClusterFs::RemoteStore::look(const Key &key, ObjectInfo &info, const bool counted) const
{
    if (!link_->find(key, info, counted))
        return false;
    if (info.timestamp > 0 && info.timestamp <= shown(link_->control(), &Control::doubtedUntil))
        info.flags |= flagDoubtful;
    return !expired(info);
}

/// whether an object is past its lifetime
bool
ClusterFs::RemoteStore::expired(const ObjectInfo &info) const
{
    return pastLifetime(info.timestamp, fileLifetime_, clock_);
}

bool
ClusterFs::RemoteStore::has(const Key &key) const
{
    ObjectInfo info;
    return peek(key, info);
}

bool
ClusterFs::RemoteStore::next(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    while (link_->next(cursor, key, info, looks)) {
        if (!expired(info))
            return true;
    }
    return false;
}

void
ClusterFs::RemoteStore::note(const Request &request)
{
    link_->hint(Kind::note, Note::Of(request), request.kind == RequestKind::page); // the rest of a page is prefetched
}

void
ClusterFs::RemoteStore::touch(const Key &key)
{
    link_->hint(Kind::touch, Named{key});
}

/* storing */

bool
ClusterFs::RemoteStore::canCreate(const int64_t size, int &load) const
{
    load = maxLoad;
    if (!connected() || link_->behind() || size > static_cast<int64_t>(maxObjectSize()))
        return false;
    const auto seen = shown(link_->control(), &Control::load);
    load = static_cast<int>(std::min<uint32_t>(seen, maxLoad));
    return seen <= uint32_t(maxLoad);
}

std::unique_ptr<ClusterFs::Writer>
ClusterFs::RemoteStore::create(const Key &key, const ObjectInfo &info, const int64_t expectedSize)
{
    int load = 0;
    if (!canCreate(expectedSize, load))
        return nullptr;
    return std::make_unique<RemoteWriter>(link_, key, info, expectedSize);
}

void
ClusterFs::RemoteStore::noteUnadmitted(const Key &key)
{
    link_->hint(Kind::unadmitted, Named{key});
}

/* reading */

/// an object that this process has copied
class ClusterFs::RemoteStore::WholeReader final: public Reader
{
public:
    WholeReader(std::shared_ptr<Link> link, EngineView::Copy copy): link_(std::move(link)), copy_(std::move(copy)) {}
    ~WholeReader() override { *alive_ = false; }

    uint64_t size() const override { return copy_.info.size; }
    int64_t copy(const uint64_t offset, char *const to, const size_t size) override {
        const auto bytes = offset < this->size() ? std::min<uint64_t>(size, this->size() - offset) : 0;
        memcpy(to, copy_.data() + offset, bytes);
        return static_cast<int64_t>(bytes);
    }
    void fetch(const uint64_t offset, std::function<void(Status)> done) override {
        const auto status = offset < size() || !offset ? Status::ok : Status::aborted;
        link_->later([status, done = std::move(done), alive = alive_] {
            if (*alive)
                done(status);
        });
    }

private:
    const std::shared_ptr<Link> link_;
    const EngineView::Copy copy_;
    const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true); ///< false for what comes later than the end
};

/// \returns nil when the object is not in memory, or not whole there
std::unique_ptr<ClusterFs::Reader>
ClusterFs::RemoteStore::readAlone(const Key &key)
{
    EngineView::Copy copy;
    if (!link_->read(key, RemoteReader::pieceBytes, copy) || expired(copy.info))
        return nullptr;
    ++readAlone_;
    link_->hint(Kind::haveRead, Named{key});
    return std::make_unique<WholeReader>(link_, std::move(copy));
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::RemoteStore::read(const Key &key)
{
    if (auto reader = readAlone(key))
        return reader;
    ObjectInfo info;
    if (!peek(key, info))
        return nullptr;
    return std::make_unique<RemoteReader>(link_, key, info.size);
}

std::unique_ptr<ClusterFs::Reader>
ClusterFs::RemoteStore::read(const Writer &writer)
{
    const auto &ours = static_cast<const RemoteWriter &>(writer);
    if (!connected() || ours.lost())
        return nullptr;
    return std::make_unique<RemoteReader>(link_, ours);
}

/* forgetting and changing */

bool
ClusterFs::RemoteStore::remove(const Key &key)
{
    const auto known = has(key);
    link_->remove(key); // known or not: a start may find the object later
    return known;
}

void
ClusterFs::RemoteStore::updateInfo(const Key &key, const ObjectInfo &info)
{
    link_->send(Kind::updateInfo, Described{key, info, link_->removals()});
}

void
ClusterFs::RemoteStore::replaceHead(const Key &key, const uint32_t oldHeadSize, const std::string &newHead, const ObjectInfo &info,
                                    std::function<void(Status)> done)
{
    ask(Kind::replaceHead, NewHead{0, key, key, info, link_->removals(), oldHeadSize}, newHead, std::move(done));
}

void
ClusterFs::RemoteStore::rename(const Key &key, const Key &newKey, const uint32_t oldHeadSize, const std::string &newHead,
                               std::function<void(Status)> done)
{
    ask(Kind::rename, NewHead{0, key, newKey, ObjectInfo(), link_->removals(), oldHeadSize}, newHead, std::move(done));
}

void
ClusterFs::RemoteStore::ask(const Kind kind, NewHead message, const std::string &newHead, std::function<void(Status)> done)
{
    const auto status = !connected() ? Status::offline :
                        newHead.size() > maxHead ? Status::unsupported :
                        requests_.size() >= maxRequests ? Status::busy : Status::ok;
    if (status != Status::ok) {
        link_->later([done = std::move(done), status] { done(status); });
        return;
    }
    auto request = std::make_unique<HeadRequest>(*this, std::move(done));
    message.number = request->number();
    requests_[message.number] = std::move(request);
    link_->send(kind, message, newHead.data(), newHead.size());
}

void
ClusterFs::RemoteStore::forget(const uint64_t number)
{
    requests_.erase(number);
}

/* questions and figures */

std::unique_ptr<ClusterFs::Reader>
ClusterFs::RemoteStore::ask(const std::string &question)
{
    return std::make_unique<RemoteReader>(link_, question);
}

void
ClusterFs::RemoteStore::tell(const Figure &figure)
{
    if (figures_.empty())
        figuresSince_ = clock_.micros();
    if (figures_.size() < maxFigures)
        figures_.push_back(figure);
}

void
ClusterFs::RemoteStore::tellFigures()
{
    if (!connected())
        return;
    link_->send(Kind::figures, figures_.front(), figures_.data() + 1, (figures_.size() - 1) * sizeof(Figure));
    figures_.clear();
}

uint32_t
ClusterFs::RemoteStore::closings() const
{
    return shown(link_->control(), &Control::closings);
}

/* figures of the store */

uint64_t
ClusterFs::RemoteStore::objectCount() const
{
    return shown(link_->control(), &Control::objects);
}

uint64_t
ClusterFs::RemoteStore::liveBytes() const
{
    return shown(link_->control(), &Control::liveBytes);
}

uint64_t
ClusterFs::RemoteStore::capacityBytes() const
{
    return shown(link_->control(), &Control::capacityBytes);
}

uint64_t
ClusterFs::RemoteStore::deviceBytes() const
{
    return connected() ? link_->control()->deviceBytes : 0;
}

uint32_t
ClusterFs::RemoteStore::clusterBytes() const
{
    return connected() ? link_->control()->clusterBytes : 0;
}

uint64_t
ClusterFs::RemoteStore::maxObjectSize() const
{
    return shown(link_->control(), &Control::maxObjectSize);
}

bool
ClusterFs::RemoteStore::indexLoaded() const
{
    return shown(link_->control(), &Control::indexLoaded);
}

double
ClusterFs::RemoteStore::recoveryProgress() const
{
    return shown(link_->control(), &Control::progress) / 1000.0;
}
