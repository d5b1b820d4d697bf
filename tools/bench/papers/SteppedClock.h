// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine's clock, which can be put forward. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_STEPPEDCLOCK_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_STEPPEDCLOCK_H

#include "fs/cluster/base/Clock.h"

namespace Papers {

/// The engine writes what is staged when it has waited long enough. Putting its
/// clock forward makes it do so at once.
class SteppedClock final : public ClusterFs::Clock
{
public:
    uint64_t micros() const override { return system_.micros() + ahead_; }
    int64_t wallSeconds() const override { return system_.wallSeconds(); }
    void step(const uint64_t micros) { ahead_ += micros; }

private:
    ClusterFs::SystemClock system_;
    uint64_t ahead_ = 0;
};

} // namespace Papers

#endif
