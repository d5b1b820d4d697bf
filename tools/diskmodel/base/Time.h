// SPDX-License-Identifier: GPL-2.0-or-later
/* Time as the disk model counts it. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_BASE_TIME_H
#define CLUSTERFS_TOOLS_DISKMODEL_BASE_TIME_H

#include <cstdint>
#include <ctime>

namespace DiskModel {

/// nanoseconds of CLOCK_MONOTONIC, or a distance of two such times
using Nanos = int64_t;

constexpr Nanos never = INT64_MAX;
constexpr double nanosPerSecond = 1e9;
constexpr double nanosPerMilli = 1e6;
constexpr double nanosPerMicro = 1e3;

inline Nanos
now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return Nanos(t.tv_sec) * 1000000000 + t.tv_nsec;
}

inline double
seconds(const Nanos t)
{
    return static_cast<double>(t) / nanosPerSecond;
}

} // namespace DiskModel

#endif
