// SPDX-License-Identifier: GPL-2.0-or-later
/* Which objects are worth storing. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_ADMISSIONPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_ADMISSIONPOLICY_H

#include <cstdint>

namespace ClusterFs {

/// Decides which objects are stored at all. It remembers nothing: Admission counts requests.
class AdmissionPolicy
{
public:
    /// whether earlier requests matter; if not, all objects are stored, and nothing is counted
    /// \param from option admit
    virtual bool counts(uint32_t from) const = 0;

    /// whether to store an object that is not in the store; if not, this request of it is counted
    /// \param earlier requests that were counted, as far as they are remembered
    /// \param from option admit
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
