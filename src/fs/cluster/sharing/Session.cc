// SPDX-License-Identifier: GPL-2.0-or-later
/* One worker, as the owner sees it. */

#include "fs/cluster/sharing/Session.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace ClusterFs::Messages;

ClusterFs::Session::Session(Engine &engine, Services *const services, Removals &removals, Channel channel, WorkerRow &row):
    engine_(engine),
    services_(services),
    removals_(removals),
    channel_(std::move(channel)),
    row_(row),
    alive_(std::make_shared<bool>(true))
{
}

ClusterFs::Session::~Session()
{
    *alive_ = false;
    row_.reset();
}

bool
ClusterFs::Session::turn(const unsigned records)
{
    giveWaiting();
    lookAtCongestion();
    Record record;
    unsigned left = records;
    while (left && !broken() && backlog() < maxBacklog && channel_.in().next(record)) {
        --left;
        ++messages_;
        handle(record);
    }
    channel_.release();
    heardAll_ = heardAll_ || (left && !broken() && backlog() < maxBacklog);
    return !left;
}

void
ClusterFs::Session::end()
{
    ended_ = true;
    readers_.clear();
    answers_.clear();
    waiting_.clear();
    turn(Channel::toOwnerBytes / Ring::headBytes); // as many as the ring can hold: some other process could go on filling it
}

bool
ClusterFs::Session::sleep()
{
    if (backlog() && !channel_.out().waitForRoom(static_cast<uint32_t>(sizeof(Bytes) + pieceBytes)))
        return false;
    // with a full backlog, it is the worker that has to take something first
    return backlog() >= maxBacklog || channel_.sleep();
}

/// copies a message out of the memory that the worker could still change
template <class Message>
bool
ClusterFs::Session::take(const Record &record, Message &message)
{
    if (record.bytes < sizeof(message)) {
        broken_ = true;
        return false;
    }
    memcpy(&message, record.content, sizeof(message));
    return true;
}

void
ClusterFs::Session::handle(const Record &record)
{
    const auto kind = static_cast<Kind>(record.kind);
    switch (kind) {
    case Kind::note: {
        Note m;
        if (!take(record, m))
            return;
        broken_ = m.sheet > 1;
        if (!broken_)
            engine_.note(m.request());
        return;
    }
    case Kind::touch:
    case Kind::haveRead:
    case Kind::unadmitted: {
        Named m;
        if (!take(record, m))
            return;
        if (kind == Kind::touch)
            engine_.touch(m.key);
        else if (kind == Kind::haveRead)
            engine_.noteRead(m.key);
        else
            engine_.noteUnadmitted(m.key);
        return;
    }
    case Kind::remove: {
        Remove m;
        if (!take(record, m))
            return;
        removals_.noteRemoved(m.key, m.removal);
        if (!removals_.storedAfter(m.key, m.removal))
            engine_.remove(m.key);
        row_.noteDone();
        return;
    }
    case Kind::updateInfo: {
        Described m;
        if (take(record, m) && !replacedAfter(m.key, m.removals))
            engine_.updateInfo(m.key, m.info);
        return;
    }
    case Kind::open: {
        Open m;
        if (take(record, m))
            open(m.number, m.bytes, false, [this, &m] { return engine_.read(m.key); });
        return;
    }
    case Kind::openWriter: {
        OpenWriter m;
        if (!take(record, m))
            return;
        open(m.reader.number, m.reader.bytes, true, [this, &m] { return readWriter(m.writer, m.reader.key); });
        return;
    }
    case Kind::fetch: {
        Fetch m;
        if (take(record, m))
            fetch(m);
        return;
    }
    case Kind::create: {
        Create m;
        if (take(record, m))
            create(m);
        return;
    }
    case Kind::closeReader:
    case Kind::append:
    case Kind::finish:
    case Kind::dropWriter: {
        Numbered m;
        if (!take(record, m))
            return;
        if (kind == Kind::closeReader)
            readers_.erase(m.number);
        else if (kind == Kind::append)
            append(m.number, record.content + sizeof(m), record.bytes - sizeof(m));
        else if (kind == Kind::finish)
            finish(m.number);
        else
            endWriter(m.number);
        return;
    }
    case Kind::replaceHead:
    case Kind::rename: {
        NewHead m;
        if (take(record, m))
            newHead(kind, m, std::string(record.content + sizeof(m), record.bytes - sizeof(m)));
        return;
    }
    case Kind::ask: {
        Ask m;
        if (!take(record, m))
            return;
        const std::string question(record.content + sizeof(m), record.bytes - sizeof(m));
        open(m.number, m.bytes, true, [this, &question] { return services_ ? services_->answer(question) : nullptr; });
        return;
    }
    case Kind::figures:
        addFigures(record);
        return;
    case Kind::bytes:
    case Kind::lost:
    case Kind::congested:
    case Kind::relieved:
    case Kind::finished:
    case Kind::replaced:
        break; // only the owner says that
    }
    broken_ = true;
}

/* reading */

void
ClusterFs::Session::open(const uint64_t number, const uint64_t bytes, const bool grows, const std::function<std::unique_ptr<Reader>()> &make)
{
    if (readers_.count(number)) {
        broken_ = true;
        return;
    }
    if (ended_)
        return;
    if (readers_.size() >= maxReaders) {
        answer(Kind::bytes, number, Status::busy);
        return;
    }
    auto reader = make();
    if (!reader) {
        answer(Kind::bytes, number, Status::notFound);
        return;
    }
    auto &reading = readers_[number];
    reading.reader = std::move(reader);
    reading.end = bytes;
    reading.grows = grows;
    give(number, reading);
}

/// a reader of what a writer has until now, or of the object where the writer has ended
std::unique_ptr<ClusterFs::Reader>
ClusterFs::Session::readWriter(const uint64_t number, const Key &key)
{
    const auto found = writers_.find(number);
    return found == writers_.end() ? engine_.read(key) : engine_.read(*found->second.writer);
}

void
ClusterFs::Session::fetch(const Fetch &m)
{
    const auto found = readers_.find(m.number);
    if (found == readers_.end())
        return; // it has failed, which the worker may not know yet
    auto &reading = found->second;
    if (reading.at < reading.end || m.offset + m.bytes < m.offset) {
        broken_ = true; // one at a time
        return;
    }
    reading.at = m.offset;
    reading.end = m.offset + m.bytes;
    reading.moved = true;
    give(m.number, reading);
}

/// copies what is wanted into the ring, as far as it is in memory and there is room
void
ClusterFs::Session::give(const uint64_t number, Reading &reading)
{
    while (reading.at < reading.end) {
        const auto wanted = std::min<uint64_t>(reading.end - reading.at, pieceBytes);
        const auto to = channel_.out().reserve(static_cast<uint32_t>(sizeof(Bytes) + wanted));
        if (!to) {
            waiting_.push_back(number);
            return;
        }
        const auto copied = reading.reader->copy(reading.at, to + sizeof(Bytes), wanted);
        if (copied < 0) {
            if (++reading.tries > maxTries)
                return give(number, reading, Status::busy);
            reading.reader->fetch(reading.at, [this, number](const Status status) { fetched(number, status); });
            return;
        }
        reading.tries = 0;
        const auto from = reading.at;
        reading.at += static_cast<uint64_t>(copied);
        const auto size = reading.reader->size();
        if (!copied || (!reading.grows && reading.at >= size))
            reading.end = reading.at; // of the object
        const auto last = reading.at >= reading.end;
        const auto closed = last && !reading.grows && !reading.moved && reading.at >= size;
        const Bytes m{number, from, size, Status::ok, last, closed};
        publish(Kind::bytes, to, m, static_cast<size_t>(copied));
        if (closed) { // the worker has all of it, and need not say that it does
            readers_.erase(number);
            return;
        }
    }
}

void
ClusterFs::Session::fetched(const uint64_t number, const Status status)
{
    const auto found = readers_.find(number);
    if (found == readers_.end())
        return;
    if (status == Status::ok || status == Status::busy)
        give(number, found->second);
    else
        give(number, found->second, status);
}

/// says that no more bytes come of those that are wanted
void
ClusterFs::Session::give(const uint64_t number, Reading &reading, const Status status)
{
    reading.at = reading.end = 0;
    reading.tries = 0;
    answer(Kind::bytes, number, status);
}

/* writing */

void
ClusterFs::Session::create(const Create &m)
{
    if (writers_.count(m.number)) {
        broken_ = true;
        return;
    }
    auto writer = writers_.size() < maxWriters ? engine_.create(m.key, m.info, m.expectedSize) : nullptr;
    if (!writer) {
        answer(Kind::lost, m.number, Status::busy);
        return;
    }
    writers_[m.number] = {std::move(writer), m.key, m.removals, removals_.removedAfter(m.key, m.removals), false};
    writersOf_.emplace(m.key, m.number);
}

void
ClusterFs::Session::endWriter(const uint64_t number)
{
    const auto found = writers_.find(number);
    if (found == writers_.end())
        return;
    const auto numbers = writersOf_.equal_range(found->second.key);
    writersOf_.erase(std::find_if(numbers.first, numbers.second, [number](const auto &each) { return each.second == number; }));
    writers_.erase(found);
}

void
ClusterFs::Session::dropWritten(const Key &key, const uint64_t removal)
{
    const auto numbers = writersOf_.equal_range(key);
    for (auto each = numbers.first; each != numbers.second; ++each) {
        auto &writing = writers_[each->second];
        writing.removed = writing.removed || writing.removals < removal;
    }
}

void
ClusterFs::Session::append(const uint64_t number, const char *const bytes, const size_t size)
{
    const auto found = writers_.find(number);
    if (found == writers_.end())
        return; // it is lost, which the worker may not know yet
    auto &writing = found->second;
    if (!writing.writer->append(bytes, size)) {
        endWriter(number);
        answer(Kind::lost, number, Status::aborted);
    } else if (!writing.congested && writing.writer->congested()) {
        writing.congested = true;
        congested_.push_back(number);
        answer(Kind::congested, number, Status::ok);
    }
}

void
ClusterFs::Session::finish(const uint64_t number)
{
    const auto found = writers_.find(number);
    if (found == writers_.end())
        return;
    const auto removed = found->second.removed;
    const auto removals = found->second.removals;
    const auto key = found->second.key;
    if (removed) // the index would show it for a moment
        removals_.hide(key);
    const auto status = found->second.writer->finish();
    endWriter(number);
    if (removed) {
        engine_.remove(key);
        removals_.endHiding();
    } else if (status == Status::ok) { // else an older object may be there
        removals_.noteStored(key, removals);
    }
    answer(Kind::finished, number, status);
}

void
ClusterFs::Session::loseWriters()
{
    congested_.clear();
    for (const auto &each: writers_)
        answer(Kind::lost, each.first, Status::aborted);
    writers_.clear();
    writersOf_.clear();
}

void
ClusterFs::Session::lookAtCongestion()
{
    const auto relieved = [this](const uint64_t number) {
        const auto found = writers_.find(number);
        if (found == writers_.end())
            return true;
        if (found->second.writer->congested())
            return false;
        found->second.congested = false;
        answer(Kind::relieved, number, Status::ok);
        return true;
    };
    congested_.erase(std::remove_if(congested_.begin(), congested_.end(), relieved), congested_.end());
}

/// whether an object was removed, or stored anew, after what a worker said of it when there had been this number of removals
bool
ClusterFs::Session::replacedAfter(const Key &key, const uint64_t number) const
{
    return removals_.removedAfter(key, number) || removals_.storedAfter(key, number + 1); // its removal may not be heard of yet
}

void
ClusterFs::Session::newHead(const Kind kind, const NewHead &m, const std::string &head)
{
    const auto removed = replacedAfter(m.key, m.removals) || replacedAfter(m.newKey, m.removals);
    if (removed || requests_ >= maxRequests) {
        answer(Kind::replaced, m.number, removed ? Status::notFound : Status::busy);
        return;
    }
    ++requests_;
    auto done = [this, alive = alive_, kind, number = m.number, removals = m.removals, newKey = m.newKey](const Status status) {
        if (!*alive)
            return;
        --requests_;
        if (kind == Kind::rename && status == Status::ok) // nothing of that name was stored or removed meanwhile
            removals_.noteStored(newKey, removals);
        answer(Kind::replaced, number, status);
    };
    if (kind == Kind::rename)
        engine_.rename(m.key, m.newKey, m.oldHeadSize, head, std::move(done));
    else
        engine_.replaceHead(m.key, m.oldHeadSize, head, m.info, std::move(done));
}

/* figures */

void
ClusterFs::Session::addFigures(const Record &record)
{
    Figure figure;
    for (size_t at = 0; services_ && at + sizeof(figure) <= record.bytes; at += sizeof(figure)) {
        memcpy(&figure, record.content + at, sizeof(figure));
        services_->add(figure);
    }
}

/* answers */

template <class Message>
void
ClusterFs::Session::publish(const Kind kind, char *const at, const Message &message, const size_t more)
{
    memcpy(at, &message, sizeof(message));
    channel_.publish(static_cast<uint32_t>(kind), static_cast<uint32_t>(sizeof(message) + more));
}

/// gives an answer without bytes, now or when the ring has room
void
ClusterFs::Session::answer(const Kind kind, const uint64_t number, const Status status)
{
    const Answer a{kind, number, status};
    if (!ended_ && (!answers_.empty() || !tell(a)))
        answers_.push_back(a);
}

/// \returns false when the ring has no room
bool
ClusterFs::Session::tell(const Answer &a)
{
    const auto to = channel_.out().reserve(std::max({sizeof(Bytes), sizeof(Done), sizeof(Numbered)}));
    if (!to)
        return false;
    switch (a.kind) {
    case Kind::bytes:
        publish(a.kind, to, Bytes{a.number, 0, 0, a.status, true, false});
        return true;
    case Kind::congested:
    case Kind::relieved:
        publish(a.kind, to, Numbered{a.number});
        return true;
    default:
        publish(a.kind, to, Done{a.number, a.status});
        return true;
    }
}

void
ClusterFs::Session::giveWaiting()
{
    while (!answers_.empty() && tell(answers_.front()))
        answers_.pop_front();
    for (auto left = waiting_.size(); left && answers_.empty(); --left) {
        const auto number = waiting_.front();
        waiting_.pop_front();
        const auto found = readers_.find(number);
        if (found != readers_.end())
            give(number, found->second); // which may put it at the end again
    }
}
