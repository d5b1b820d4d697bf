// SPDX-License-Identifier: GPL-2.0-or-later
/* Which staged objects go into one cluster. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_PACKINGPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_PACKINGPOLICY_H

#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// several staged objects that belong together
struct GroupView {
    size_t objects;
    uint64_t bytes; ///< that they take in a cluster, with their entries in its directory
};

/// a cluster that is being filled
struct PackView {
    size_t objects; ///< that it has, at least one
    uint64_t bytesLeft;
};

/// Decides how clusters are filled. It remembers nothing: the packer goes over the objects, the one first that was used
/// least recently, each with its group in the order of fetch.
class PackingPolicy
{
public:
    /// Whether a group goes into a cluster, as far as it fits. Else it waits for another one, and what was used more
    /// recently fills the gap. An empty cluster takes any group.
    virtual bool takes(const GroupView &, const PackView &) const = 0;

protected:
    ~PackingPolicy() = default; ///< nobody owns a policy
};

/// no group is torn apart that fits into a cluster
class WholeGroups final : public PackingPolicy
{
public:
    bool takes(const GroupView &group, const PackView &pack) const override {
        return group.bytes <= pack.bytesLeft;
    }
};

inline constexpr WholeGroups wholeGroups;

} // namespace ClusterFs

#endif
