// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides how much one read fetches. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_READPOLICY_H
#define SQUID_SRC_FS_CLUSTER_CACHE_READPOLICY_H

#include "fs/cluster/device/CostMeter.h"

namespace ClusterFs {

/// Decides about reads that nobody waits for: the mates of a wanted object, and prefetches.
/// It has no state: a CostMeter measures the cost of reads, and a UseMeter their use.
class ReadPolicy
{
public:
    virtual ~ReadPolicy() = default;

    /// whether to read an object together with its group
    /// \param useful share of mates that are wanted before they leave memory, 0 to 1
    /// \param mates other objects of the group, at least one
    /// \param bytes that are read more for them
    /// \param displaced requests that the windows would have saved which so many bytes push out of memory
    virtual bool readsGroup(const CostMeter &, double useful, unsigned mates, uint64_t bytes, double displaced) const = 0;

    /// whether to prefetch objects of a page
    /// \param useful share of the prefetches for the client that were of use, 0 to 1
    virtual bool prefetches(double useful) const = 0;
};

/// A group is read when the requests that this is expected to save, less those that the displaced windows would
/// have saved, cost more than the bytes that are read more. A prefetch saves no request, and costs one if nobody wants its objects:
/// so most prefetches must be of use.
class LeastCostReads final : public ReadPolicy
{
public:
    bool readsGroup(const CostMeter &cost, const double useful, const unsigned mates, const uint64_t bytes, const double displaced) const override {
        return (useful * mates - displaced) * cost.requestMicros() > static_cast<double>(bytes) * cost.byteMicros();
    }
    bool prefetches(const double useful) const override { return useful > leastUseful; }

private:
    static constexpr double leastUseful = 0.75; ///< share of the prefetches that must be of use
};

} // namespace ClusterFs

#endif
