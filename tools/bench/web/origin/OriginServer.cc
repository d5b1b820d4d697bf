// SPDX-License-Identifier: GPL-2.0-or-later
/* The origin: one thread's share of it. */

#include "tools/bench/web/origin/OriginServer.h"

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace WebBench {

static_assert(OriginServer::bufferSize >= Answer::minimalRoom, "an answer must fit in pieces");

OriginServer::OriginServer(const Config &config): config_(config), buffer_(bufferSize) {}

bool
OriginServer::open(Endpoint &place, std::string &error)
{
    wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) {
        error = std::string("cannot make an eventfd: ") + strerror(errno);
        return false;
    }
    if (!poller_.open(error))
        return false;
    listener_ = listenAt(place, config_.shared, error);
    if (!listener_)
        return false;
    if (!poller_.add(listener_.get(), EPOLLIN, *this) || !poller_.add(wake_.get(), EPOLLIN, *this)) {
        error = std::string("cannot watch a socket: ") + strerror(errno);
        return false;
    }
    return true;
}

void
OriginServer::run()
{
    while (!stopping_) {
        poller_.wait(delayed_.empty() ? now() + 60 * oneSecond : delayed_.front().time);
        answerDelayed();
        ended_.clear();
    }
    connections_.clear();
}

void
OriginServer::stop()
{
    stopping_ = true;
    const uint64_t one = 1;
    if (write(wake_.get(), &one, sizeof(one)) != sizeof(one))
        return; // it is awake already
}

/// clients have come
void
OriginServer::ready(uint32_t)
{
    while (auto socket = acceptFrom(listener_.get())) {
        if (connections_.size() >= config_.mostConnections)
            continue; // closes it
        const auto connection = std::make_shared<OriginConnection>(*this, std::move(socket));
        connections_.emplace(connection.get(), connection);
        connection->begin();
    }
}

bool
OriginServer::nextIsWrong()
{
    ++begun_;
    return config_.style.wrongEvery && begun_ % config_.style.wrongEvery == 0;
}

void
OriginServer::answerLater(OriginConnection &connection)
{
    delayed_.push_back({now() + config_.delay, connection.weak_from_this()});
}

void
OriginServer::answerDelayed()
{
    const auto time = now();
    while (!delayed_.empty() && delayed_.front().time <= time) {
        const auto connection = delayed_.front().connection.lock();
        delayed_.pop_front();
        if (connection)
            connection->answerNow();
    }
}

void
OriginServer::count(const Answer &answer)
{
    ++requests_;
    bytes_ += answer.bodyBytes();
    if (answer.isError())
        ++errors_;
}

void
OriginServer::ended(OriginConnection &connection)
{
    const auto found = connections_.find(&connection);
    ended_.push_back(std::move(found->second));
    connections_.erase(found);
}

} // namespace WebBench
