// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which staged objects go into one cluster. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_PACKINGPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_PACKINGPOLICY_H

#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// several staged objects that belong together
struct GroupView {
    size_t objects;
    uint64_t bytes; ///< bytes that they take in a cluster, with their entries in its directory
};

/// a cluster that is being filled
struct PackView {
    size_t objects; ///< how many it has, at least one
    uint64_t bytesLeft;
};

/// Decides how clusters are filled (Hummingbird 3.1 and 3.5). It has no state: the packer goes over the objects from that on
/// which leaves first, each with its group in the order of fetch.
class PackingPolicy
{
public:
    /// whether objects leave staging by GreedyDual-Size, \see Staging::orderBySize(); else in the order of their last use
    virtual bool bySize() const { return false; }

    /// Whether a group goes into a cluster; if it does not fit, its first objects do. Else the group waits for the next
    /// cluster, and objects that were used more recently fill the gap. An empty cluster takes any group.
    virtual bool takes(const GroupView &, const PackView &) const = 0;

protected:
    ~PackingPolicy() = default; ///< nobody owns a policy
};

/// a group that fits into a cluster is not torn apart
class WholeGroups final : public PackingPolicy
{
public:
    bool takes(const GroupView &group, const PackView &pack) const override {
        return group.bytes <= pack.bytesLeft;
    }
};

/// The same in another order, in which small objects wait longer: more requests are answered from staging, and fewer bytes.
class WholeGroupsBySize final : public PackingPolicy
{
public:
    bool bySize() const override { return true; }
    bool takes(const GroupView &group, const PackView &pack) const override {
        return group.bytes <= pack.bytesLeft;
    }
};

inline constexpr WholeGroups wholeGroups;
inline constexpr WholeGroupsBySize wholeGroupsBySize;

} // namespace ClusterFs

#endif
