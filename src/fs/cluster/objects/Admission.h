// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts requests, to find the objects that are worth storing. */

#ifndef SQUID_SRC_FS_CLUSTER_OBJECTS_ADMISSION_H
#define SQUID_SRC_FS_CLUSTER_OBJECTS_ADMISSION_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/policies/AdmissionPolicy.h"

namespace ClusterFs {

/// Counts how often objects were to be stored and were not, so that a policy can admit only
/// objects that are asked for repeatedly (Einziger, Friedman and Manes, TinyLFU, 2017).
/// The counts are approximate and fade: a refusal is remembered while at least half as
/// many others come as objects are expected. At most one new object in twenty-five is
/// taken for a known one.
class Admission
{
public:
    /// \param objects that are expected in the store; counting takes 4 bytes for
    /// each, but no memory before the first request is counted
    explicit Admission(uint64_t objects, const AdmissionPolicy & = nthRequestAdmission);

    /// Whether to store an object that is not in the store; if not, this
    /// request of it is counted.
    /// \param from the option admit: the number of the request that is stored, 1 = the first; at most Config::maxAdmit
    bool admits(const Key &, uint32_t from);

private:
    /// Two counters of 4 bits in each byte. A request counts two, of which one
    /// is left when it fades for the first time.
    static constexpr size_t bytesEach = 4; ///< for each expected object
    static constexpr size_t fadingBytes = 8; ///< bytes whose counters fade with each refusal

    unsigned at(size_t counter) const { return counters_[counter / 2] >> (counter % 2 * 4) & 15; }
    void raise(size_t counter, unsigned value);
    void fade();

    const AdmissionPolicy &policy_;
    Table<uint8_t> counters_;
    size_t hand_ = 0; ///< the byte that fades next
};

} // namespace ClusterFs

#endif
