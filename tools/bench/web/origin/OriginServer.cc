// SPDX-License-Identifier: GPL-2.0-or-later
/* The origin: one thread's share of it. */

#include "tools/bench/web/origin/OriginServer.h"
#include "tools/bench/web/origin/OriginConnection.h"

#include <memory>
#include <sys/socket.h>
#include <utility>

namespace WebBench {

static_assert(OriginServer::bufferSize >= Answer::minimalRoom, "an answer must fit in pieces");

OriginServer::OriginServer(const Config &config): config_(config), buffer_(bufferSize) {}

bool
OriginServer::open(Endpoint &place, std::string &error)
try {
    acceptor_.open(tcp::v4());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    if (config_.shared)
        enable(acceptor_.native_handle(), SOL_SOCKET, SO_REUSEPORT);
    acceptor_.bind(toAsio(place));
    acceptor_.listen(1024);
    place.port = acceptor_.local_endpoint().port();
    accept();
    return true;
} catch (const boost::system::system_error &e) {
    error = "cannot listen at " + place.text() + ": " + e.code().message();
    return false;
}

void
OriginServer::accept()
{
    acceptor_.async_accept([this](const error_code &error, tcp::socket socket) {
        if (!error && connections_ < config_.mostConnections)
            std::make_shared<OriginConnection>(*this, std::move(socket))->begin();
        accept();
    });
}

bool
OriginServer::nextIsWrong()
{
    ++begun_;
    return config_.style.wrongEvery && begun_ % config_.style.wrongEvery == 0;
}

void
OriginServer::count(const Answer &answer)
{
    ++requests_;
    bytes_ += answer.bodyBytes();
    if (answer.isError())
        ++errors_;
}

} // namespace WebBench
