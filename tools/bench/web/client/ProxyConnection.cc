// SPDX-License-Identifier: GPL-2.0-or-later
/* One connection of a browser to the proxy. */

#include "tools/bench/web/client/ProxyConnection.h"
#include "tools/bench/web/corpus/Target.h"

#include <boost/asio/write.hpp>
#include <netinet/in.h>

namespace WebBench {

ProxyConnection::ProxyConnection(ClientContext &context, Owner &owner, const uint32_t source):
    context_(context),
    owner_(owner),
    source_(source),
    socket_(context.io)
{
}

void
ProxyConnection::close()
{
    error_code ignored;
    socket_.close(ignored);
    ++opened_;
    sending_ = false;
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
    error_code error;
    socket_.open(tcp::v4(), error);
    if (error) {
        report("cannot make a socket: " + error.message());
        return false;
    }
    socket_.set_option(tcp::no_delay(true), error);
    if (source_) {
        // the port is chosen when the target is known, so that ports do not run out
        enable(socket_.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
        const Endpoint from{source_, 0};
        socket_.bind(toAsio(from), error);
        if (error) {
            report("cannot come from " + from.text() + ": " + error.message());
            close();
            return false;
        }
    }
    state_ = State::connecting;
    socket_.async_connect(toAsio(context_.proxy), [this, opened = opened_](const error_code &result) {
        if (opened == opened_)
            connected(result);
    });
    return true;
}

void
ProxyConnection::connected(const error_code &result)
{
    error_code error = result;
    if (!error)
        socket_.non_blocking(true, error);
    if (error) {
        giveUp("cannot connect to the proxy: " + error.message());
        return;
    }
    watch();
    if (!transmit())
        owner_.fetched(*this, false);
}

/// Calls receive() when something has come. That is all that waits while the
/// connection is open: bytes go straight to the buffer that all share.
void
ProxyConnection::watch()
{
    socket_.async_wait(tcp::socket::wait_read, [this, opened = opened_](const error_code &) {
        if (opened != opened_)
            return;
        receive();
        if (opened == opened_)
            watch();
    });
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
    error_code error;
    const auto size = socket_.write_some(asio::buffer(output_), error);
    if (error && error != asio::error::would_block) {
        if (mayAskAgain())
            return askAgain();
        report("cannot send: " + error.message());
        close();
        return false;
    }
    if (size < output_.size()) {
        sending_ = true;
        asio::async_write(socket_, asio::buffer(output_) + size, [this, opened = opened_](const error_code &result, size_t) {
            if (opened != opened_)
                return;
            sending_ = false;
            if (result)
                ended();
        });
    }
    return true;
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

void
ProxyConnection::receive()
{
    error_code error;
    const auto size = socket_.read_some(asio::buffer(context_.buffer), error);
    if (error == asio::error::would_block)
        return;
    if (state_ == State::idle)
        close(); // it has ended, or talks without being asked
    else if (error)
        ended();
    else
        take(size);
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
    if (parser_.keepAlive() && !sending_)
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
