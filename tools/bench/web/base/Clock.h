// SPDX-License-Identifier: GPL-2.0-or-later
/* The clock that client and origin share. */

#ifndef CLUSTERFS_BENCH_WEB_BASE_CLOCK_H
#define CLUSTERFS_BENCH_WEB_BASE_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace WebBench {

/// a point in time, or a span of it, in nanoseconds of CLOCK_MONOTONIC
using Nanos = int64_t;

constexpr Nanos oneSecond = 1000000000;

inline Nanos
now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return Nanos(t.tv_sec) * oneSecond + t.tv_nsec;
}

inline double
toSeconds(const Nanos span)
{
    return static_cast<double>(span) / 1e9;
}

/// at most 73 years either way, so that sums and differences of two are numbers, too
inline Nanos
fromSeconds(const double seconds)
{
    constexpr double most = 1LL << 61;
    return static_cast<Nanos>(std::clamp(seconds * 1e9, -most, most));
}

} // namespace WebBench

#endif
