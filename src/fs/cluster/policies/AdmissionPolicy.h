// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which objects are worth storing. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_ADMISSIONPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_ADMISSIONPOLICY_H

#include <cstdint>

namespace ClusterFs {

/// Decides which objects are stored at all. It has no state: Admission counts the requests.
class AdmissionPolicy
{
public:
    /// whether earlier requests matter; if not, all objects are stored, and no requests are counted
    /// \param from the option admit
    virtual bool counts(uint32_t from) const = 0;

    /// whether to store an object that is not in the store; if not, this request of it is counted
    /// \param earlier requests of it that were counted and are remembered
    /// \param from the option admit
    virtual bool admits(unsigned earlier, uint32_t from) const = 0;

protected:
    ~AdmissionPolicy() = default; ///< nobody owns a policy
};

/// an object is stored from its Nth request on
class NthRequestAdmission final : public AdmissionPolicy
{
public:
    bool counts(const uint32_t from) const override { return from > 1; }
    bool admits(const unsigned earlier, const uint32_t from) const override { return earlier + 1 >= from; }
};

inline constexpr NthRequestAdmission nthRequestAdmission;

} // namespace ClusterFs

#endif
