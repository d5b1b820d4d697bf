// SPDX-License-Identifier: GPL-2.0-or-later
/* Time as all programs measure it. */

#ifndef CLUSTERFS_TOOLS_BASE_CLOCK_H
#define CLUSTERFS_TOOLS_BASE_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace Tools {

/// a point in time, or a span of it, in nanoseconds
using Nanos = int64_t;

constexpr Nanos oneSecond = 1000000000;

inline Nanos
now(const clockid_t clock = CLOCK_MONOTONIC)
{
    timespec t;
    clock_gettime(clock, &t);
    return Nanos(t.tv_sec) * oneSecond + t.tv_nsec;
}

inline double
toSeconds(const Nanos span)
{
    return static_cast<double>(span) / 1e9;
}

/// \param start by now()
inline double
secondsSince(const Nanos start)
{
    return toSeconds(now() - start);
}

/// processor time of this process
inline double
cpuSeconds()
{
    return toSeconds(now(CLOCK_PROCESS_CPUTIME_ID));
}

/// at most 73 years either way, so that sums and differences of two are numbers, too
inline Nanos
fromSeconds(const double seconds)
{
    constexpr double most = 1LL << 61;
    return static_cast<Nanos>(std::clamp(seconds * 1e9, -most, most));
}

} // namespace Tools

#endif
