// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine's only source of time. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_CLOCK_H
#define SQUID_SRC_FS_CLUSTER_BASE_CLOCK_H

#include <cstdint>

namespace ClusterFs {

/// Time as the engine sees it. Passed in, so that a simulation can own it.
class Clock
{
public:
    virtual ~Clock() = default;

    /// microseconds of a clock that never steps; its zero means nothing
    virtual uint64_t micros() const = 0;
    /// seconds since 1970; may step
    virtual int64_t wallSeconds() const = 0;
};

/// the machine's clocks
class SystemClock final : public Clock
{
public:
    uint64_t micros() const override;
    int64_t wallSeconds() const override;
};

} // namespace ClusterFs

#endif
