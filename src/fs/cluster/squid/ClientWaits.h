// SPDX-License-Identifier: GPL-2.0-or-later
/* How long clients wait for a hit, and how long for a miss. Includes nothing of Squid: unit tests use it, too. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CLIENTWAITS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CLIENTWAITS_H

#include "fs/cluster/base/Histogram.h"

#include <sys/time.h>

#include <optional>

namespace ClusterFs {

/// Times of one kind, in microseconds.
class WaitTimes
{
public:
    void add(const uint64_t micros) {
        times_.add(micros);
        sum_ += micros;
    }

    const Histogram &times() const { return times_; }
    uint64_t sum() const { return sum_; } ///< of all times, microseconds

private:
    Histogram times_;
    uint64_t sum_ = 0;
};

/// The waits for the first bytes of the objects of one cache_dir. SquidStatistics.cc says when a wait begins and ends.
struct ClientWaits {
    WaitTimes hits;
    WaitTimes misses;
};

/// The microseconds from one time of the day to another one.
/// \returns nothing when `begin` was never set, or when somebody has set the clock back meanwhile
inline std::optional<uint64_t>
microsBetween(const timeval &begin, const timeval &end)
{
    const auto micros = (static_cast<int64_t>(end.tv_sec) - begin.tv_sec) * 1000000 + end.tv_usec - begin.tv_usec;
    if (!begin.tv_sec || micros < 0)
        return {};
    return static_cast<uint64_t>(micros);
}

} // namespace ClusterFs

#endif
