// SPDX-License-Identifier: GPL-2.0-or-later
/* Users at work, from the beginning of a run to its end. */

#ifndef CLUSTERFS_BENCH_WEB_CLIENT_LOAD_H
#define CLUSTERFS_BENCH_WEB_CLIENT_LOAD_H

#include "tools/bench/web/client/Browser.h"
#include "tools/bench/web/client/ClientSettings.h"
#include "tools/bench/web/workload/Pacing.h"

#include <boost/asio/signal_set.hpp>

#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace WebBench {

/// Begins visits when they are due, until it is time to stop.
class Load: private Browser::Owner
{
public:
    Load(const ClientSettings &, Workload &, ClientContext &);

    /// Runs to the end. \returns why it ended early: "signal", "errors",
    /// "deadline"; empty when it did not
    std::string run();

private:
    /// a user who makes no visit before some time
    struct Resting {
        Nanos until;
        uint32_t user;
        bool operator<(const Resting &other) const { return until > other.until; } // the soonest on top
    };

    void visited(Browser &, Nanos from, bool success) override;

    void prepare(Nanos start);
    bool ended(Nanos time, std::string &reason) const;
    bool mayBegin() const;
    void beginDue(Nanos time);
    bool beginOne(Nanos time);
    Browser &browser(uint32_t number);
    void wakeRested(Nanos time);
    void tick(Nanos time);
    Nanos nextEvent(Nanos time) const;
    void waitUntil(Nanos time);
    void addUnfinished(Nanos end);

    const ClientSettings &settings_;
    Workload &workload_;
    ClientContext &context_;
    std::unique_ptr<Pacing> pacing_;
    Random random_;
    std::vector<std::unique_ptr<Browser>> browsers_; ///< made when first needed
    std::vector<uint32_t> free_; ///< users who may begin a visit; unused in logs
    std::priority_queue<Resting> resting_;
    Nanos stop_ = INT64_MAX; ///< what is due later does not begin
    Nanos deadline_ = 0;
    Nanos nextTick_ = 0;
    asio::steady_timer timer_;
    Nanos alarm_ = 0; ///< of the timer
    asio::signal_set signals_; ///< that end the run
    bool interrupted_ = false; ///< by one of them
    uint64_t begun_ = 0;
    uint64_t underWay_ = 0; ///< visits, and users who rest
    bool exhausted_ = false; ///< no more visits are to begin
};

} // namespace WebBench

#endif
