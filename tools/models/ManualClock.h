// SPDX-License-Identifier: GPL-2.0-or-later
/* Time for models and tests. */

#ifndef SQUID_TOOLS_MODELS_MANUALCLOCK_H
#define SQUID_TOOLS_MODELS_MANUALCLOCK_H

#include "fs/cluster/base/Clock.h"

namespace ClusterFs {

/// a clock that moves when told
class ManualClock final : public Clock
{
public:
    uint64_t micros() const override { return micros_ += tick_; }
    int64_t wallSeconds() const override { return wallStart_ + static_cast<int64_t>(micros_ / 1000000); }
    void advance(const uint64_t us) { micros_ += us; }
    void stepWall(const int64_t seconds) { wallStart_ += seconds; } ///< somebody sets the clock
    void tick(const uint64_t us) { tick_ = us; } ///< each look takes so long, as on a slow processor

private:
    mutable uint64_t micros_ = 1000000;
    uint64_t tick_ = 0;
    int64_t wallStart_ = 1700000000;
};

} // namespace ClusterFs

#endif
