// SPDX-License-Identifier: GPL-2.0-or-later
/* One client of the origin. */

#include "tools/bench/web/origin/OriginConnection.h"
#include "tools/bench/web/origin/OriginServer.h"

#include <boost/asio/write.hpp>
#include <utility>

namespace WebBench {

OriginConnection::OriginConnection(OriginServer &server, tcp::socket socket):
    server_(server),
    socket_(std::move(socket)),
    timer_(socket_.get_executor())
{
    server_.came();
}

OriginConnection::~OriginConnection()
{
    server_.left();
}

void
OriginConnection::begin()
{
    error_code error;
    socket_.set_option(tcp::no_delay(true), error);
    socket_.non_blocking(true, error);
    if (!error)
        watch();
}

/// While an answer is on its way nothing more is read: the client has to wait.
void
OriginConnection::watch()
{
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code &error) {
        if (!error)
            self->receive();
    });
}

void
OriginConnection::receive()
{
    error_code error;
    const auto size = socket_.read_some(server_.buffer(), error);
    if (error == asio::error::would_block) {
        watch();
    } else if (!error) {
        input_.append(static_cast<const char *>(server_.buffer().data()), size);
        processInput();
    }
}

void
OriginConnection::processInput()
{
    Request request;
    size_t length;
    while (parseRequest(input_, request, length) != RequestOutcome::incomplete) {
        if (server_.delays()) {
            delay();
            return;
        }
        if (!answer())
            return;
    }
    watch();
}

void
OriginConnection::delay()
{
    timer_.expires_after(std::chrono::nanoseconds(server_.delays()));
    timer_.async_wait([self = shared_from_this()](const error_code &error) {
        if (!error && self->answer())
            self->processInput();
    });
}

/// Answers the request at the front of the input, or what is there and is none.
/// \returns whether that is done; else it goes on later, or the connection closes
bool
OriginConnection::answer()
{
    Request request;
    size_t length;
    if (parseRequest(input_, request, length) == RequestOutcome::complete) {
        answer_.begin(request, server_.style(), server_.nextIsWrong());
        input_.erase(0, length);
    } else {
        answer_.beginBad();
        input_.clear();
    }
    return send();
}

/// \returns as answer() does
bool
OriginConnection::send()
{
    const auto buffer = server_.buffer();
    const auto place = static_cast<char *>(buffer.data());
    while (const auto size = answer_.produce(place, buffer.size())) {
        error_code error;
        const auto taken = socket_.write_some(asio::buffer(place, size), error);
        if (error && error != asio::error::would_block)
            return false;
        if (taken < size) {
            output_.assign(place + taken, size - taken);
            asio::async_write(socket_, asio::buffer(output_), [self = shared_from_this()](const error_code &failure, size_t) {
                if (!failure && self->send())
                    self->processInput();
            });
            return false;
        }
    }
    server_.count(answer_);
    error_code ignored;
    if (!answer_.keepAlive())
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
    return answer_.keepAlive();
}

} // namespace WebBench
