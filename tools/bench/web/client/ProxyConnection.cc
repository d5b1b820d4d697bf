// SPDX-License-Identifier: GPL-2.0-or-later
/* One connection of a browser to the proxy. */

#include "tools/bench/web/client/ProxyConnection.h"
#include "tools/bench/web/corpus/Target.h"

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace WebBench {

ProxyConnection::ProxyConnection(ClientContext &context, Owner &owner, const uint32_t source):
    context_(context),
    owner_(owner),
    source_(source)
{
}

void
ProxyConnection::close()
{
    socket_.close();
    state_ = State::closed;
}

/// counts the request as failed
void
ProxyConnection::report(const std::string &reason)
{
    context_.results.addError(from_, item_->path + ": " + reason);
}

void
ProxyConnection::giveUp(const std::string &reason)
{
    report(reason);
    close();
    owner_.fetched(*this, false);
}

bool
ProxyConnection::begin(const Item &item, const Nanos from)
{
    item_ = &item;
    from_ = from;
    deadline_ = now() + context_.timeout;
    Target target;
    if (!target.parse(item.path)) {
        report("not of the form of this program's paths");
        return false;
    }
    size_ = target.size;
    body_ = BodyStream(target.seed);
    reused_ = state_ == State::idle;
    return reused_ ? transmit() : connect();
}

/// \returns false after the failure was counted
bool
ProxyConnection::connect()
{
    std::string error;
    socket_ = beginConnect(context_.proxy, source_, error);
    if (socket_ && !context_.poller.add(socket_.get(), EPOLLIN | EPOLLOUT, *this))
        error = std::string("cannot watch a socket: ") + strerror(errno);
    if (!error.empty()) {
        report(error);
        close();
        return false;
    }
    state_ = State::connecting;
    return true;
}

/// \returns false after the failure was counted
bool
ProxyConnection::transmit()
{
    state_ = State::waiting;
    parser_.reset();
    received_ = 0;
    firstWrong_ = UINT64_MAX;
    context_.requests.write(*item_, output_);
    sent_ = now();
    if (sendOn())
        return true;
    const std::string reason = strerror(errno);
    if (mayAskAgain())
        return askAgain();
    report("cannot send: " + reason);
    close();
    return false;
}

/// Proxies close idle connections, also while the next request is under way.
/// As browsers do, ask once more then, unless an answer has begun.
bool
ProxyConnection::mayAskAgain() const
{
    return reused_ && !parser_.started();
}

/// \returns false after the failure was counted
bool
ProxyConnection::askAgain()
{
    reused_ = false;
    close();
    context_.results.addRetry();
    return connect();
}

/// \returns false when that is not possible, with errno set
bool
ProxyConnection::sendOn()
{
    const auto size = send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    output_.erase(0, size < 0 ? 0 : static_cast<size_t>(size));
    if (!output_.empty())
        context_.poller.change(socket_.get(), EPOLLIN | EPOLLOUT, *this);
    return true;
}

void
ProxyConnection::ready(const uint32_t events)
{
    if (state_ == State::connecting) {
        if (const int error = connectionError(socket_.get())) {
            giveUp(std::string("cannot connect to the proxy: ") + strerror(error));
        } else if (events & EPOLLOUT) {
            context_.poller.change(socket_.get(), EPOLLIN, *this);
            if (!transmit())
                owner_.fetched(*this, false);
        }
    } else if (state_ == State::waiting && !output_.empty() && (events & EPOLLOUT)) {
        context_.poller.change(socket_.get(), EPOLLIN, *this);
        if (!sendOn())
            ended();
    } else if (state_ != State::closed) {
        receive();
    }
}

void
ProxyConnection::receive()
{
    const auto size = recv(socket_.get(), context_.buffer.data(), context_.buffer.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (state_ == State::idle)
        close(); // it has ended, or talks without being asked
    else if (size <= 0)
        ended();
    else
        take(static_cast<size_t>(size));
}

void
ProxyConnection::take(const size_t size)
{
    const auto used = parser_.feed(context_.buffer.data(), size, *this);
    if (parser_.failed())
        giveUp(parser_.error());
    else if (parser_.done() && used < size)
        giveUp("more bytes came than the response has");
    else if (parser_.done())
        judge();
}

/// the proxy has closed the connection
void
ProxyConnection::ended()
{
    parser_.end();
    if (parser_.done()) {
        judge();
        return;
    }
    if (!mayAskAgain())
        giveUp(parser_.error());
    else if (!askAgain())
        owner_.fetched(*this, false);
}

void
ProxyConnection::bodyBytes(const char *const data, const size_t size)
{
    if (context_.checkBodies && firstWrong_ == UINT64_MAX && received_ + size <= size_) {
        const auto right = body_.check(received_, data, size);
        if (right < size)
            firstWrong_ = received_ + right;
    }
    received_ += size;
}

/// a whole response has arrived
void
ProxyConnection::judge()
{
    const auto end = now();
    bool success = false;
    if (parser_.status() != 200) {
        report("status " + std::to_string(parser_.status()));
    } else if (received_ != size_) {
        context_.results.addBadBody(from_, item_->path + ": the body has " + std::to_string(received_) + " bytes");
    } else if (firstWrong_ != UINT64_MAX) {
        context_.results.addBadBody(from_, item_->path + ": byte " + std::to_string(firstWrong_) + " of the body is wrong");
    } else if (!parser_.generated()) {
        report("the response has no X-Generated: it does not come from bench-origin");
    } else {
        success = true;
        context_.results.addResponse({from_, end, size_, parser_.generated() < sent_});
    }
    if (parser_.keepAlive())
        state_ = State::idle;
    else
        close();
    owner_.fetched(*this, success);
}

void
ProxyConnection::tick(const Nanos time)
{
    if (busy() && time > deadline_)
        giveUp("no response within " + std::to_string(context_.timeout / oneSecond) + " seconds");
}

} // namespace WebBench
