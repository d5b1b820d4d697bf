// SPDX-License-Identifier: GPL-2.0-or-later
/* The origin: one thread's share of it. */

#ifndef CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINSERVER_H
#define CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINSERVER_H

#include "tools/bench/web/base/Asio.h"
#include "tools/bench/web/origin/Answer.h"

#include <string>
#include <vector>

namespace WebBench {

/// Accepts connections and answers them, in one thread.
class OriginServer
{
public:
    struct Config {
        AnswerStyle style;
        Nanos delay = 0; ///< before each answer
        bool shared = false; ///< other threads listen at the same place
        uint64_t mostConnections = 10000; ///< more are closed at once
    };

    static constexpr size_t bufferSize = 131072;

    explicit OriginServer(const Config &);

    /// \param place gets the port in use; port 0 takes any free one
    /// \returns false with the reason in error
    bool open(Endpoint &place, std::string &error);

    /// serves until stop() was called
    void run() { io_.run(); }

    /// may be called by another thread
    void stop() { io_.stop(); }

    uint64_t requests() const { return requests_; } ///< answers that were sent to their end
    uint64_t bytes() const { return bytes_; } ///< of their bodies
    uint64_t errors() const { return errors_; } ///< answers with a status of 400 or more

    // for connections

    asio::mutable_buffer buffer() { return asio::buffer(buffer_); } ///< for whoever runs
    const AnswerStyle &style() const { return config_.style; }
    Nanos delays() const { return config_.delay; } ///< each answer by that; 0: none
    bool nextIsWrong();
    void count(const Answer &);
    void came() { ++connections_; }
    void left() { --connections_; }

private:
    void accept();

    Config config_;
    std::vector<char> buffer_;
    uint64_t connections_ = 0;
    uint64_t requests_ = 0;
    uint64_t bytes_ = 0;
    uint64_t errors_ = 0;
    uint64_t begun_ = 0;
    asio::io_context io_{1}; ///< holds the connections, which use the members above
    tcp::acceptor acceptor_{io_};
};

} // namespace WebBench

#endif
