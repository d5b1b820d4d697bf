// SPDX-License-Identifier: GPL-2.0-or-later
/* One client of the origin. */

#include "tools/bench/web/origin/OriginConnection.h"
#include "tools/bench/web/http/HttpHead.h"
#include "tools/bench/web/origin/OriginServer.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace WebBench {

OriginConnection::OriginConnection(OriginServer &server, Descriptor socket):
    server_(server),
    socket_(std::move(socket))
{
}

void
OriginConnection::begin()
{
    if (!server_.poller().add(socket_.get(), EPOLLIN, *this))
        close();
}

void
OriginConnection::close()
{
    if (state_ == State::closed)
        return;
    state_ = State::closed;
    socket_.close();
    server_.ended(*this);
}

/// While an answer is on its way nothing more is read: the client has to wait.
void
OriginConnection::watch(const bool output)
{
    if (output != watchesOutput_)
        server_.poller().change(socket_.get(), output ? EPOLLOUT : EPOLLIN, *this);
    watchesOutput_ = output;
}

void
OriginConnection::ready(const uint32_t events)
{
    if (state_ == State::closed)
        return;
    if (state_ == State::sending)
        sendOn();
    else if (state_ == State::reading)
        receive();
    else if (events & (EPOLLHUP | EPOLLERR))
        close();
    else
        receive(); // pipelined, or the client went away
}

void
OriginConnection::receive()
{
    const auto size = recv(socket_.get(), server_.buffer(), server_.bufferSize, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0 || input_.size() > largestHead) {
        close();
        return;
    }
    input_.append(server_.buffer(), static_cast<size_t>(size));
    processInput();
}

void
OriginConnection::processInput()
{
    while (state_ == State::reading && !input_.empty()) {
        Request request;
        const auto outcome = parseRequest(input_, request, requestLength_);
        if (outcome == RequestOutcome::incomplete)
            return;
        if (outcome == RequestOutcome::bad)
            requestLength_ = 0;
        if (server_.delays()) {
            state_ = State::delayed;
            server_.answerLater(*this);
        } else {
            answer(outcome == RequestOutcome::complete ? &request : nullptr);
        }
    }
}

void
OriginConnection::answerNow()
{
    if (state_ != State::delayed)
        return;
    Request request;
    const bool good = requestLength_ && parseRequest(input_, request, requestLength_) == RequestOutcome::complete;
    answer(good ? &request : nullptr);
    processInput();
}

/// \param request the one at the front of input_; nil when that is none
void
OriginConnection::answer(const Request *const request)
{
    if (request) {
        answer_.begin(*request, server_.style(), server_.nextIsWrong());
        input_.erase(0, requestLength_);
    } else {
        answer_.beginBad();
        input_.clear();
    }
    state_ = State::sending;
    sendOn();
}

/// \returns false when the system takes no more now, or the connection was closed
bool
OriginConnection::flush()
{
    const auto size = send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (size < 0) {
        if (errno != EAGAIN && errno != EINTR)
            close();
        return false;
    }
    output_.erase(0, static_cast<size_t>(size));
    return output_.empty();
}

void
OriginConnection::sendOn()
{
    if (!output_.empty() && !flush()) {
        if (state_ != State::closed)
            watch(true);
        return;
    }
    while (const auto size = answer_.produce(server_.buffer(), server_.bufferSize)) {
        const auto sent = send(socket_.get(), server_.buffer(), size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            close();
            return;
        }
        const auto taken = sent < 0 ? 0 : static_cast<size_t>(sent);
        if (taken < size) {
            output_.assign(server_.buffer() + taken, size - taken);
            watch(true);
            return;
        }
    }
    finishAnswer();
}

void
OriginConnection::finishAnswer()
{
    server_.count(answer_);
    if (!answer_.keepAlive()) {
        shutdown(socket_.get(), SHUT_WR);
        close();
        return;
    }
    state_ = State::reading;
    const bool watched = watchesOutput_;
    watch(false);
    if (watched)
        processInput(); // else the caller goes on with it
}

} // namespace WebBench
