// SPDX-License-Identifier: GPL-2.0-or-later
/* One client of the origin. */

#ifndef CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINCONNECTION_H
#define CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINCONNECTION_H

#include "tools/bench/web/base/Poller.h"
#include "tools/bench/web/origin/Answer.h"

#include <memory>
#include <string>

namespace WebBench {

class OriginServer;

/// Answers the requests of one connection, one after the other. Holds at most
/// one head of a request and one piece of a response.
class OriginConnection: public PollHandler, public std::enable_shared_from_this<OriginConnection>
{
public:
    OriginConnection(OriginServer &, Descriptor);

    /// waits for requests from now on
    void begin();

    void ready(uint32_t events) override;

    /// begins the answer that was delayed
    void answerNow();

private:
    enum class State { reading, delayed, sending, closed };

    void receive();
    void processInput();
    void answer(const Request *);
    void sendOn();
    bool flush();
    void finishAnswer();
    void watch(bool output);
    void close();

    OriginServer &server_;
    Descriptor socket_;
    std::string input_; ///< what has arrived and was not answered yet
    size_t requestLength_ = 0; ///< of the request at the front of input_; 0 when that is no request
    std::string output_; ///< made, but not taken by the system yet
    Answer answer_;
    State state_ = State::reading;
    bool watchesOutput_ = false;
};

} // namespace WebBench

#endif
