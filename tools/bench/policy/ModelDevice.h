// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in memory that takes as long as a real one would. */

#ifndef CLUSTERFS_BENCH_POLICY_MODELDEVICE_H
#define CLUSTERFS_BENCH_POLICY_MODELDEVICE_H

#include "tools/models/ManualClock.h"
#include "tools/models/MemoryDevice.h"

namespace PolicyBench {

/// what requests cost
struct Costs {
    double request = 0; ///< microseconds, whatever its size
    double byte = 0; ///< microseconds for each byte
};

/// Carries out one request after the other and puts the clock forward by what
/// each of them costs.
class ModelDevice final : public ClusterFs::MemoryDevice
{
public:
    /// \param clock is also the engine's
    /// \param size in bytes, a multiple of 4096
    /// \throws std::system_error when there is not enough address space
    ModelDevice(ClusterFs::ManualClock &clock, uint64_t size, const Costs &);

    /// prints each request
    void show() { showing_ = true; }

private:
    void carryOut(const ClusterFs::Io &) override;

    ClusterFs::ManualClock &time_;
    Costs costs_;
    bool showing_ = false;
};

} // namespace PolicyBench

#endif
