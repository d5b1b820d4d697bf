// SPDX-License-Identifier: GPL-2.0-or-later
/* One client of the origin. */

#ifndef CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINCONNECTION_H
#define CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINCONNECTION_H

#include "tools/bench/web/base/Asio.h"
#include "tools/bench/web/origin/Answer.h"

#include <memory>
#include <string>

namespace WebBench {

class OriginServer;

/// Answers the requests of one connection, one after the other. Holds at most
/// one head of a request and one piece of a response. Lives as long as a
/// handler of it waits: the one that waits for nothing more closes it.
class OriginConnection: public std::enable_shared_from_this<OriginConnection>
{
public:
    OriginConnection(OriginServer &, tcp::socket);
    ~OriginConnection();

    /// waits for requests from now on
    void begin();

private:
    void watch();
    void receive();
    void processInput();
    void delay();
    bool answer();
    bool send();

    OriginServer &server_;
    tcp::socket socket_;
    asio::steady_timer timer_; ///< of an answer that is delayed
    std::string input_; ///< what has arrived and was not answered yet
    std::string output_; ///< made, but not taken by the system yet
    Answer answer_;
};

} // namespace WebBench

#endif
