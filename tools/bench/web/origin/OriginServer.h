// SPDX-License-Identifier: GPL-2.0-or-later
/* The origin: one thread's share of it. */

#ifndef CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINSERVER_H
#define CLUSTERFS_BENCH_WEB_ORIGIN_ORIGINSERVER_H

#include "tools/bench/web/base/Poller.h"
#include "tools/bench/web/origin/OriginConnection.h"

#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace WebBench {

/// Accepts connections and answers them, in one thread.
class OriginServer: private PollHandler
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

    /// \param place gets the port in use
    /// \returns false with the reason in error
    bool open(Endpoint &place, std::string &error);

    /// serves until stop() was called
    void run();

    /// may be called by another thread
    void stop();

    uint64_t requests() const { return requests_; } ///< answers that were sent to their end
    uint64_t bytes() const { return bytes_; } ///< of their bodies
    uint64_t errors() const { return errors_; } ///< answers with a status of 400 or more

    // for connections

    Poller &poller() { return poller_; }
    char *buffer() { return buffer_.data(); } ///< for whoever runs
    const AnswerStyle &style() const { return config_.style; }
    bool delays() const { return config_.delay > 0; }
    bool nextIsWrong();
    void answerLater(OriginConnection &);
    void count(const Answer &);
    void ended(OriginConnection &);

private:
    struct Delayed {
        Nanos time;
        std::weak_ptr<OriginConnection> connection;
    };

    void ready(uint32_t events) override;
    void answerDelayed();

    Config config_;
    Poller poller_;
    Descriptor listener_;
    Descriptor wake_;
    std::vector<char> buffer_;
    std::unordered_map<OriginConnection *, std::shared_ptr<OriginConnection>> connections_;
    std::vector<std::shared_ptr<OriginConnection>> ended_; ///< kept until no event can name them
    std::deque<Delayed> delayed_; ///< in the order of their times
    std::atomic<bool> stopping_{false};
    uint64_t requests_ = 0;
    uint64_t bytes_ = 0;
    uint64_t errors_ = 0;
    uint64_t begun_ = 0;
};

} // namespace WebBench

#endif
