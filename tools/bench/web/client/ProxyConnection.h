// SPDX-License-Identifier: GPL-2.0-or-later
/* One connection of a browser to the proxy. */

#ifndef CLUSTERFS_BENCH_WEB_CLIENT_PROXYCONNECTION_H
#define CLUSTERFS_BENCH_WEB_CLIENT_PROXYCONNECTION_H

#include "tools/bench/web/client/RequestText.h"
#include "tools/bench/web/client/Results.h"
#include "tools/bench/web/corpus/BodyStream.h"
#include "tools/bench/web/http/ResponseParser.h"

#include <string>
#include <vector>

namespace WebBench {

/// What all connections of a client program have in common.
struct ClientContext {
    Endpoint proxy;
    RequestText requests;
    Results &results;
    Nanos timeout = 60 * oneSecond; ///< of one request
    bool checkBodies = true;
    asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}; ///< for one thread
    std::vector<char> buffer = std::vector<char>(1 << 18); ///< for whoever receives
};

/// Sends one request at a time and judges its response. Opens itself when
/// needed, and again when the proxy closed it while it was idle. Must live
/// as long as handlers run, and no longer than the context.
class ProxyConnection: private BodySink
{
public:
    /// What is told when a request has its response or never will.
    class Owner
    {
    public:
        virtual ~Owner() = default;
        virtual void fetched(ProxyConnection &, bool success) = 0;
    };

    /// \param source the address to come from; 0 leaves it to the system
    ProxyConnection(ClientContext &, Owner &, uint32_t source);

    /// Begins a request. Calls the owner when it is over, from a handler or tick().
    /// \param item must live until then
    /// \param from when the request should have begun
    /// \returns false when it is over at once, without success; the owner is not called
    bool begin(const Item &item, Nanos from);

    bool busy() const { return state_ == State::connecting || state_ == State::waiting; }
    bool isOpen() const { return state_ == State::idle; }

    /// gives up a request that takes too long
    void tick(Nanos time);

private:
    enum class State { closed, connecting, idle, waiting };

    void bodyBytes(const char *data, size_t size) override;
    bool connect();
    bool transmit();
    void watch();
    void connected(const error_code &);
    void receive();
    void take(size_t size);
    void ended();
    void judge();
    void close();
    void giveUp(const std::string &reason);
    void report(const std::string &reason);
    bool mayAskAgain() const;
    bool askAgain();

    ClientContext &context_;
    Owner &owner_;
    uint32_t source_;
    tcp::socket socket_;
    uint64_t opened_ = 0; ///< how often the socket was opened; a handler of an earlier one has nothing to do
    State state_ = State::closed;
    ResponseParser parser_;
    std::string output_; ///< the request
    bool sending_ = false; ///< the system has not taken all of it yet

    // of the present request
    const Item *item_ = nullptr;
    Nanos from_ = 0;
    Nanos sent_ = 0;
    Nanos deadline_ = 0;
    uint64_t size_ = 0; ///< that the body must have
    uint64_t received_ = 0; ///< bytes of the body
    uint64_t firstWrong_ = 0; ///< offset of the first wrong byte; UINT64_MAX when there is none
    BodyStream body_;
    bool reused_ = false; ///< it was not opened for this request
};

} // namespace WebBench

#endif
