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

/// whether an object is past a lifetime; looks at the clock only where there is one
/// \param timestamp of the object, seconds since 1970; 0 or less = unknown
/// \param lifetime seconds; 0 = no limit
inline bool
pastLifetime(const int64_t timestamp, const uint32_t lifetime, const Clock &clock)
{
    return lifetime && timestamp > 0 && timestamp + int64_t(lifetime) < clock.wallSeconds();
}

} // namespace ClusterFs

#endif
