// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side of its connection to the owner. */

#include "fs/cluster/sharing/Link.h"

#include "fs/cluster/sharing/Greeting.h"

#include <cstring>

using ClusterFs::Messages::Kind;

ClusterFs::Link::Link(std::string path, const Clock &clock):
    path_(std::move(path)),
    clock_(clock)
{
}

void
ClusterFs::Link::poll()
{
    events_.take([this](const int fd) {
        if (channel_ && fd == channel_->bell().fd())
            channel_->bell().hush();
        else if (fd == socket_.get() && !channel_)
            join();
        else if (fd == socket_.get() && hungUp(fd))
            disconnect();
    });
    if (!socket_ && clock_.micros() >= nextAttempt_)
        connect();
    if (channel_) {
        channel_->awake();
        takeAnswers();
        sendKept();
        forgetHeardRemovals();
    }
    runLater();
    if (channel_ && (channel_->broken() || tooMuchKept_ || hangs()))
        disconnect();
    if (channel_ && !channel_->sleep())
        events_.ringAgain();
}

void
ClusterFs::Link::runLater()
{
    std::vector<std::function<void()>> now;
    now.swap(later_);
    for (const auto &function: now)
        function();
}

void
ClusterFs::Link::later(std::function<void()> function)
{
    later_.push_back(std::move(function));
    events_.ringAgain();
}

/* the connection */

void
ClusterFs::Link::connect()
{
    nextAttempt_ = clock_.micros() + connectMicros;
    socket_ = connectToOwner(path_);
    if (socket_ && !events_.watch(socket_.get()))
        socket_.reset();
}

/// takes the owner's greeting
void
ClusterFs::Link::join()
{
    std::vector<Descriptor> descriptors;
    uint32_t row = 0;
    const auto greeted = takeGreeting(socket_.get(), Greeting::ofOwner, descriptors, row);
    if (greeted == Greeted::notYet)
        return;
    // a worker of another version is about to be restarted, or its owner is: it tries again
    if (greeted != Greeted::yes || !take(std::move(descriptors), row)) {
        disconnect();
        return;
    }
    ++connections_;
    for (auto &removal: removals_)
        list(removal);
    sendRemovals();
}

/// maps what the owner has sent
/// \returns false when that is not possible
bool
ClusterFs::Link::take(std::vector<Descriptor> all, const uint32_t row)
{
    std::string error;
    auto channel = std::make_unique<Channel>();
    if (row >= WorkerRows::maxRows ||
            !channel->join(std::move(all[0]), std::move(all[1]), std::move(all[2]), error) ||
            !controlMemory_.map(std::move(all[3]), sizeof(Control), SharedMemory::Access::read, error) ||
            !rowMemory_.map(std::move(all[4]), sizeof(WorkerRows), SharedMemory::Access::write, error))
        return false;
    const auto control = reinterpret_cast<const Control *>(controlMemory_.data());
    EngineView::Descriptors tables;
    for (size_t i = 0; i < tables.size(); ++i)
        tables[i] = std::move(all[5 + i]);
    auto view = std::make_unique<EngineView>();
    if (!view->map(std::move(tables), control->tables, error) || !events_.watch(channel->bell().fd()))
        return false;
    channel_ = std::move(channel);
    controlMemory_.closeDescriptor();
    rowMemory_.closeDescriptor();
    view_ = std::move(view);
    control_ = control;
    rows_ = reinterpret_cast<WorkerRows *>(rowMemory_.data());
    row_ = &rows_->rows[row];
    turnSeenAt_ = clock_.micros();
    return true;
}

/// whether the owner has done nothing for long
bool
ClusterFs::Link::hangs()
{
    const auto turns = control_->turns.load(std::memory_order_relaxed);
    const auto now = clock_.micros();
    if (turns != turnsSeen_ || now < turnSeenAt_) {
        turnsSeen_ = turns;
        turnSeenAt_ = now;
    }
    return now - turnSeenAt_ > hangMicros;
}

/// whether an object may be looked up, and nobody wants it removed
bool
ClusterFs::Link::open(const Key &key) const
{
    return connected() && control_->open.load(std::memory_order_relaxed) && !rows_->mayHave(key);
}

bool
ClusterFs::Link::read(const Key &key, const uint64_t most, EngineView::Copy &copy) const
{
    return open(key) && started() && view_->read(key, most, copy);
}

/// Whether the owner's start is over: until then, only the owner knows whether an object may have a newer version.
bool
ClusterFs::Link::started() const
{
    const auto state = control_->state.load(std::memory_order_relaxed);
    return state == EngineState::serving || state == EngineState::readOnly;
}

bool
ClusterFs::Link::next(uint64_t &cursor, Key &key, ObjectInfo &info, unsigned &looks) const
{
    if (!connected() || !started())
        return false;
    while (view_->next(cursor, key, info, looks)) {
        if (open(key))
            return true;
    }
    return false;
}

bool
ClusterFs::Link::find(const Key &key, ObjectInfo &info, const bool counted) const
{
    const auto found = open(key) && view_->find(key, info);
    if (counted && connected())
        row_->count(found);
    return found;
}

void
ClusterFs::Link::disconnect()
{
    if (channel_) {
        pastWakeUps_ += channel_->wakeUps();
        events_.unwatch(channel_->bell().fd());
    }
    events_.unwatch(socket_.get());
    for (auto &removal: removals_)
        removal.end = 0;
    channel_ = nullptr;
    control_ = nullptr;
    controlMemory_ = SharedMemory();
    rows_ = nullptr;
    row_ = nullptr;
    rowMemory_ = SharedMemory();
    view_ = nullptr;
    socket_.reset();
    kept_.clear();
    keptBytes_ = 0;
    tooMuchKept_ = false;
    std::vector<uint64_t> numbers;
    for (const auto &each: correspondents_)
        numbers.push_back(each.first);
    for (const auto number: numbers) {
        const auto found = correspondents_.find(number);
        if (found != correspondents_.end())
            found->second->bereave();
    }
}

/* answers */

uint64_t
ClusterFs::Link::enter(Correspondent &correspondent)
{
    correspondents_[++lastNumber_] = &correspondent;
    return lastNumber_;
}

void
ClusterFs::Link::takeAnswers()
{
    RingReader::Record record;
    while (channel_->in().next(record))
        dispatch(record);
    channel_->release();
}

void
ClusterFs::Link::dispatch(const RingReader::Record &record)
{
    uint64_t number = 0; // each answer begins with it
    memcpy(&number, record.content, record.bytes < sizeof(number) ? record.bytes : sizeof(number));
    const auto found = correspondents_.find(number);
    if (found != correspondents_.end()) // else nobody waits any more
        found->second->hear(static_cast<Kind>(record.kind), record.content, record.bytes);
}

/* messages */

/// \returns false when the ring has no room
bool
ClusterFs::Link::put(const Kind kind, const void *const message, const size_t size, const void *const more, const size_t bytes, const bool quiet)
{
    const auto all = static_cast<uint32_t>(size + bytes);
    const auto to = channel_->out().reserve(all);
    if (!to)
        return false;
    memcpy(to, message, size);
    if (bytes)
        memcpy(to + size, more, bytes);
    channel_->publish(static_cast<uint32_t>(kind), all, quiet);
    return true;
}

/// whether a hint leaves the owner asleep
bool
ClusterFs::Link::mayBeQuiet(const bool soon)
{
    auto &out = channel_->out();
    if (!soon && out.written() - out.taken() < maxQuiet)
        return true;
    const auto now = clock_.micros();
    if (now - wokenAt_ < quietMicros)
        return true;
    wokenAt_ = now;
    return false;
}

void
ClusterFs::Link::sendOrKeep(const Kind kind, const void *const message, const size_t size, const void *const more, const size_t bytes)
{
    if (kept_.empty() && put(kind, message, size, more, bytes))
        return;
    tooMuchKept_ = tooMuchKept_ || keptBytes_ + size + bytes > mostKept;
    if (tooMuchKept_) {
        events_.ringAgain(); // poll() disconnects
        return;
    }
    std::string all(static_cast<const char *>(message), size);
    all.append(static_cast<const char *>(more), bytes);
    keptBytes_ += all.size();
    kept_.push_back({kind, std::move(all)});
    events_.ringAgain(); // poll() waits for room
}

void
ClusterFs::Link::sendKept()
{
    while (!kept_.empty()) {
        const auto &first = kept_.front();
        if (!put(first.kind, first.bytes.data(), first.bytes.size(), nullptr, 0)) {
            if (channel_->broken() || channel_->out().waitForRoom(static_cast<uint32_t>(first.bytes.size())))
                return;
            continue; // there is some already
        }
        keptBytes_ -= first.bytes.size();
        kept_.pop_front();
    }
    sendRemovals();
}

/* removals */

void
ClusterFs::Link::remove(const Key &key)
{
    if (removals_.size() >= maxRemovals) {
        removalsLost_ = true;
        return;
    }
    removals_.push_back({key, 0, 0});
    if (connected())
        list(removals_.back());
    if (connected() && kept_.empty())
        sendRemovals();
}

/// lets all workers know of a removal
void
ClusterFs::Link::list(Removal &removal)
{
    row_->add(removal.key);
    removal.number = rows_->removals.fetch_add(1, std::memory_order_acq_rel) + 1;
}

/// sends those that are not sent yet, as far as there is room
void
ClusterFs::Link::sendRemovals()
{
    auto first = removals_.end();
    while (first != removals_.begin() && !std::prev(first)->end)
        --first;
    while (first != removals_.end()) {
        const Messages::Remove m{first->key, first->number};
        if (put(Kind::remove, &m, sizeof(m), nullptr, 0))
            (first++)->end = channel_->out().written();
        else if (channel_->broken() || channel_->out().waitForRoom(sizeof(m)))
            return;
    }
}

void
ClusterFs::Link::forgetHeardRemovals()
{
    const auto taken = channel_->out().taken();
    while (!removals_.empty() && removals_.front().end && removals_.front().end <= taken)
        removals_.pop_front();
}
