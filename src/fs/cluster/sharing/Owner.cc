// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that has the engine, as its workers see it. */

#include "fs/cluster/sharing/Owner.h"

#include "fs/cluster/sharing/Greeting.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

ClusterFs::Owner::Owner(Engine &engine, std::string path):
    engine_(engine),
    path_(std::move(path)),
    events_(epoll_create1(EPOLL_CLOEXEC)),
    again_(Bell::Make())
{
}

std::unique_ptr<ClusterFs::Owner>
ClusterFs::Owner::Open(Engine &engine, const std::string &path, std::string &error)
{
    std::unique_ptr<Owner> owner(new Owner(engine, path));
    if (!owner->controlMemory_.make("clusterfs-control", sizeof(Control), error))
        return nullptr;
    owner->control_ = new (owner->controlMemory_.data()) Control();
    owner->control_->show(engine);
    if (!owner->watch(owner->again_.fd())) {
        error = std::string("no file descriptor for workers: ") + strerror(errno);
        return nullptr;
    }
    owner->listening_ = listenForWorkers(path, error);
    if (!owner->listening_)
        return nullptr;
    if (!owner->watch(owner->listening_.get())) {
        error = std::string("workers can't be waited for: ") + strerror(errno);
        return nullptr;
    }
    return owner;
}

ClusterFs::Owner::~Owner()
{
    if (listening_)
        unlink(path_.c_str());
}

bool
ClusterFs::Owner::watch(const int fd)
{
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = fd;
    return epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

/// Closing would do, if no other process had the same file: a helper that is just being forked has.
void
ClusterFs::Owner::unwatch(const int fd)
{
    epoll_ctl(events_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void
ClusterFs::Owner::poll()
{
    takeEvents();
    auto more = turnOfAll();
    control_->show(engine_);
    for (const auto &member: members_) {
        if (!member->session.sleep())
            more = true;
    }
    if (more)
        again_.ring();
}

/// makes events_ quiet, lets workers in, and ends sessions whose worker is gone
void
ClusterFs::Owner::takeEvents()
{
    epoll_event events[64];
    const auto count = epoll_wait(events_.get(), events, 64, 0);
    for (int i = 0; i < count; ++i) {
        const auto fd = events[i].data.fd;
        if (fd == again_.fd()) {
            again_.hush();
        } else if (fd == listening_.get()) {
            letIn();
        } else {
            takeEvent(fd);
        }
    }
}

/// \param fd of a member: its bell, or its socket
void
ClusterFs::Owner::takeEvent(const int fd)
{
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
    const auto bell = channel.bell().fd();
    const std::vector<int> descriptors{channel.memoryFd(), bell, channel.othersBellFd(), controlMemory_.fd()};
    if (!watch(bell) || !watch(socket.get()) || !greet(socket.get(), descriptors)) {
        unwatch(bell);
        unwatch(socket.get());
        return false;
    }
    members_.push_back(std::make_unique<Member>(engine_, std::move(socket), std::move(channel)));
    return true;
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
    return more;
}

void
ClusterFs::Owner::end(const size_t member)
{
    auto &channel = members_[member]->session.channel();
    unwatch(channel.bell().fd());
    unwatch(members_[member]->socket.get());
    pastMessages_ += members_[member]->session.messages();
    pastWakeUps_ += channel.wakeUps();
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(member));
}

uint64_t
ClusterFs::Owner::messages() const
{
    auto sum = pastMessages_;
    for (const auto &member: members_)
        sum += member->session.messages();
    return sum;
}

uint64_t
ClusterFs::Owner::wakeUps() const
{
    auto sum = pastWakeUps_;
    for (const auto &member: members_)
        sum += member->session.channel().wakeUps();
    return sum;
}
