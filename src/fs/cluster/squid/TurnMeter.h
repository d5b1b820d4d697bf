// SPDX-License-Identifier: GPL-2.0-or-later
/* How long work of ours holds up Squid. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_TURNMETER_H
#define SQUID_SRC_FS_CLUSTER_SQUID_TURNMETER_H

#include <algorithm>
#include <chrono>
#include <string>

namespace ClusterFs {

/// The longest turn of some work: Squid's event loop does nothing else meanwhile. As Counters::longestTurn is for the engine.
class TurnMeter
{
public:
    using Clock = std::chrono::steady_clock;

    /// a turn, from its construction to its end
    class Turn
    {
    public:
        explicit Turn(TurnMeter &meter): meter_(meter), begin_(Clock::now()) {}
        ~Turn() { meter_.longest_ = std::max(meter_.longest_, Clock::now() - begin_); }
        Turn(Turn &&) = delete; // no copying or moving of any kind

    private:
        TurnMeter &meter_;
        const Clock::time_point begin_;
    };

    /// a line of a page
    std::string line() const {
        return "longest turn: " + std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(longest_).count()) + "\n";
    }

private:
    Clock::duration longest_{0};
};

} // namespace ClusterFs

#endif
