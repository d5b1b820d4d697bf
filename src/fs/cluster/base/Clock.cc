// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine's clocks. */

#include "fs/cluster/base/Clock.h"

#include <ctime>

uint64_t
ClusterFs::SystemClock::micros() const
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000 + static_cast<uint64_t>(t.tv_nsec) / 1000;
}

int64_t
ClusterFs::SystemClock::wallSeconds() const
{
    return time(nullptr);
}
