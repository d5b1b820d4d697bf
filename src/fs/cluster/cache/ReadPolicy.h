// SPDX-License-Identifier: GPL-2.0-or-later
/* How much one read fetches. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_READPOLICY_H
#define SQUID_SRC_FS_CLUSTER_CACHE_READPOLICY_H

#include "fs/cluster/device/CostMeter.h"

namespace ClusterFs {

/// Decides what is read beyond what somebody waits for. It remembers nothing: what reads
/// cost is measured by the device, and which of them are of use by a UseMeter.
class ReadPolicy
{
public:
    virtual ~ReadPolicy() = default;

    /// whether to read an object together with its group
    /// \param useful share of such mates that are wanted before they leave memory, 0 to 1
    /// \param mates other objects of the group, at least one
    /// \param bytes of those
    virtual bool readsGroup(const CostMeter &, double useful, unsigned mates, uint64_t bytes) const = 0;

    /// whether to read what a page is expected to need, before anybody asks
    /// \param useful share of such reads that are of use to the client who opened it, 0 to 1
    virtual bool readsAhead(double useful) const = 0;
};

/// A group is read when the requests that this is expected to save cost more than the bytes
/// that are read more. A read ahead saves no request, and costs one when nobody wants it:
/// that most of them are wanted is enough.
class LeastCostReads final : public ReadPolicy
{
public:
    bool readsGroup(const CostMeter &cost, const double useful, const unsigned mates, const uint64_t bytes) const override {
        return useful * mates * cost.requestMicros() > static_cast<double>(bytes) * cost.byteMicros();
    }
    bool readsAhead(const double useful) const override { return useful > leastAhead; }

private:
    static constexpr double leastAhead = 0.75; ///< of the reads ahead, so many are to be wanted
};

} // namespace ClusterFs

#endif
