// SPDX-License-Identifier: GPL-2.0-or-later
/* The value that GreedyDual-Size gives to a cache. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_INFLATION_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_INFLATION_H

#include <array>
#include <cstdint>

namespace ClusterFs {

/// Grows with each eviction, and remembers its value at the last 256 heat ticks, so that the date of an object's last use
/// tells its value then. It begins anew with each start: what was used before counts as used then.
class Inflation
{
public:
    /// time goes on
    /// \param tick StoreContext::heatTick()
    void advance(const uint32_t tick) {
        while (tick_ != tick) {
            tick_ = (tick_ + 1) & 0xff;
            at_[tick_] = now_;
        }
    }

    void grow(const double by) { now_ += by; }

    /// \param tick the last one of advance(), or an older one
    float since(const uint32_t tick) const { return static_cast<float>(now_ - at_[tick & 0xff]); }

private:
    std::array<double, 256> at_{}; ///< by heat tick: its value when that began
    double now_ = 0;
    uint32_t tick_ = 0;
};

} // namespace ClusterFs

#endif
