// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that has the engine, as its workers see it. */

#include "fs/cluster/sharing/Owner.h"

#include "fs/cluster/sharing/Greeting.h"
#include "fs/cluster/base/SystemError.h"

#include <algorithm>
#include <new>
#include <utility>

ClusterFs::Owner::Owner(Engine &engine, const Clock &clock, std::string path, Services *const services):
    engine_(engine),
    clock_(clock),
    path_(std::move(path)),
    services_(services),
    openAt_(clock.micros() + openMicros)
{
}

std::unique_ptr<ClusterFs::Owner>
ClusterFs::Owner::Open(Engine &engine, const Clock &clock, const std::string &path, std::string &error, Services *const services)
{
    std::unique_ptr<Owner> owner(new Owner(engine, clock, path, services));
    if (!owner->makeMemory(error))
        return nullptr;
    if (!owner->events_.works()) {
        error = systemError("no file descriptor for workers");
        return nullptr;
    }
    owner->listening_ = listenForWorkers(path, error);
    if (!owner->listening_)
        return nullptr;
    if (!owner->events_.watch(owner->listening_.get())) {
        error = systemError("workers can't be waited for");
        return nullptr;
    }
    return owner;
}

/// makes the memory that is for all workers
bool
ClusterFs::Owner::makeMemory(std::string &error)
{
    if (!engine_.share(tables_, error) || !controlMemory_.make("clusterfs-control", sizeof(Control), error) ||
            !rowMemory_.make("clusterfs-workers", sizeof(WorkerRows), error))
        return false;
    control_ = new (controlMemory_.data()) Control();
    control_->begin(engine_, tables_);
    rows_ = reinterpret_cast<WorkerRows *>(rowMemory_.data()); // as zeros it is empty, and takes no memory
    rows_->rowsUsed.store(ownRow + 1, std::memory_order_relaxed);
    return true;
}

ClusterFs::Owner::~Owner()
{
    if (listening_)
        unlink(path_.c_str());
}

void
ClusterFs::Owner::poll()
{
    events_.take([this](const int fd) { takeEvent(fd); });
    auto more = turnOfAll();
    show();
    for (const auto &member: members_) {
        if (!member->session.sleep())
            more = true;
    }
    if (more)
        events_.ringAgain();
}

void
ClusterFs::Owner::show()
{
    control_->open.store(!shut_ && clock_.micros() >= openAt_, std::memory_order_relaxed);
    control_->show(engine_);
    if (shut_)
        control_->load.store(Engine::maxLoad + 1, std::memory_order_relaxed);
}

void
ClusterFs::Owner::shut(const bool shut)
{
    shut_ = shut;
    show();
    if (!shut)
        return;
    control_->closings.fetch_add(1, std::memory_order_release);
    for (const auto &member: members_)
        member->session.loseWriters();
    events_.ringAgain(); // poll() wakes the workers
}

/// lets workers in, hushes a worker's bell, or ends the session of one that is gone
void
ClusterFs::Owner::takeEvent(const int fd)
{
    if (fd == listening_.get()) {
        letIn();
        return;
    }
    for (size_t i = 0; i < members_.size(); ++i) {
        auto &member = *members_[i];
        if (member.session.channel().bell().fd() == fd) {
            member.session.channel().bell().hush();
            return;
        }
        if (member.socket.get() == fd) {
            if (hungUp(fd)) {
                member.session.end(); // what the worker has said counts: removals above all
                end(i);
            }
            return;
        }
    }
}

void
ClusterFs::Owner::letIn()
{
    bool refused = false;
    do {
        auto socket = acceptWorker(listening_.get(), refused);
        if (!refused && !socket)
            return;
        if (socket && members_.size() < maxWorkers)
            admit(std::move(socket));
    } while (true);
}

/// \returns false when there is no memory or no descriptor for another worker, or it is gone already
bool
ClusterFs::Owner::admit(Descriptor socket)
{
    Channel channel;
    std::string error;
    if (!channel.make(error))
        return false;
    const auto row = freeRow();
    if (row >= rows_->rowsUsed.load(std::memory_order_relaxed))
        rows_->rowsUsed.store(row + 1, std::memory_order_release);
    const auto bell = channel.bell().fd();
    std::vector<int> descriptors{channel.memoryFd(), bell, channel.othersBellFd(), controlMemory_.fd(), rowMemory_.fd()};
    for (const auto &memory: tables_.memories)
        descriptors.push_back(memory.fd);
    if (!events_.watch(bell) || !events_.watch(socket.get()) || !greet(socket.get(), descriptors, row)) {
        events_.unwatch(bell);
        events_.unwatch(socket.get());
        return false;
    }
    members_.push_back(std::make_unique<Member>(engine_, services_, static_cast<Session::Removals &>(*this), std::move(socket), std::move(channel), *rows_, row));
    return true;
}

/// the first row that no worker has; there is one, since there are not more workers
uint32_t
ClusterFs::Owner::freeRow() const
{
    uint32_t row = ownRow + 1;
    while (std::any_of(members_.begin(), members_.end(), [row](const auto &member) { return member->row == row; }))
        ++row;
    return row;
}

/// \returns whether there is more to do at once
bool
ClusterFs::Owner::turnOfAll()
{
    auto more = false;
    for (size_t i = members_.size(); i-- > 0;) {
        auto &session = members_[i]->session;
        session.channel().awake();
        if (session.turn(recordsInTurn))
            more = true;
        if (session.broken())
            end(i);
    }
    endPeriod();
    return more;
}

/// Ends a period of the recent removals when all was heard of each worker in it: each member in its turn, so that one pass over
/// all of them takes at least as long.
void
ClusterFs::Owner::endPeriod()
{
    while (heard_ < members_.size() && members_[heard_]->session.heardAll())
        ++heard_;
    if (heard_ < members_.size())
        return;
    recent_.nextPeriod();
    heard_ = 0;
    for (const auto &member: members_)
        (void)member->session.heardAll(); // what was heard in the period that has ended
}

void
ClusterFs::Owner::noteRemoved(const Key &key, const uint64_t number)
{
    recent_.note(key, number);
    for (const auto &member: members_)
        member->session.dropWritten(key, number);
}

void
ClusterFs::Owner::end(const size_t member)
{
    auto &channel = members_[member]->session.channel();
    events_.unwatch(channel.bell().fd());
    events_.unwatch(members_[member]->socket.get());
    pastMessages_ += members_[member]->session.messages();
    pastWakeUps_ += channel.wakeUps();
    auto &row = rows_->rows[members_[member]->row];
    pastLookups_ += row.lookups.exchange(0);
    pastFound_ += row.found.exchange(0);
    if (member < heard_)
        --heard_;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(member));
}

/// adds what a function says of each worker that is here to the figure of those that have left
template <class Figure>
uint64_t
ClusterFs::Owner::ofAll(uint64_t sum, const Figure &figure) const
{
    for (const auto &member: members_)
        sum += figure(*member);
    return sum;
}

uint64_t
ClusterFs::Owner::lookups() const
{
    return ofAll(pastLookups_, [this](const Member &m) { return rows_->rows[m.row].lookups.load(std::memory_order_relaxed); });
}

uint64_t
ClusterFs::Owner::found() const
{
    return ofAll(pastFound_, [this](const Member &m) { return rows_->rows[m.row].found.load(std::memory_order_relaxed); });
}

uint64_t
ClusterFs::Owner::messages() const
{
    return ofAll(pastMessages_, [](const Member &m) { return m.session.messages(); });
}

uint64_t
ClusterFs::Owner::wakeUps() const
{
    return ofAll(pastWakeUps_, [](Member &m) { return m.session.channel().wakeUps(); });
}
