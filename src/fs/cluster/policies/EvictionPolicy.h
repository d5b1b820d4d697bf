// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which cluster makes room, and which of its objects stay. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_EVICTIONPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_EVICTIONPOLICY_H

#include <cstdint>

namespace ClusterFs {

/// an object of a cluster, as a policy sees it
struct ObjectView {
    uint32_t bytes; ///< its payload in the cluster
    uint32_t age; ///< heat ticks since its last use; the device is written over once in 64 of them
    uint32_t uses; ///< since it was written; 7 = 7 or more
};

/// Decides which cluster goes (the delete cluster policy of Hummingbird 3.5), and which of its objects are worth
/// moving. It has no state: the evictor finds clusters to compare, and a relocation moves what the budget allows.
class EvictionPolicy
{
public:
    static constexpr uint32_t oldest = 128; ///< heat ticks since the last use from which on an object is worth nothing

    /// whether the cluster goes that was written first, however much it is used; else values are compared
    virtual bool inOrderOfWriting() const { return false; }

    /// the loss when an object goes, in a unit of the policy's own: of the clusters that are compared, the one goes whose
    /// objects have the smallest sum
    /// \param object its age is less than oldest
    virtual uint64_t value(const ObjectView &object) const = 0;

    /// whether an object is worth moving when its cluster goes
    virtual bool keeps(const ObjectView &object) const { return object.uses && object.age < keptAge; }

    /// The order in which these objects move when the budget does not do for all: the highest first. It estimates how
    /// likely an object is used again, for each byte that moves.
    virtual double worth(const ObjectView &object) const {
        return (1.0 + object.uses) / (object.age + 4.0) / (object.bytes + 2000.0);
    }

protected:
    ~EvictionPolicy() = default; ///< nobody owns a policy

private:
    static constexpr uint32_t keptAge = 48; ///< heat ticks since its last use from which on a used object is not worth moving
};

/// an object's value is its bytes, the more the later it was used
class LruEviction final : public EvictionPolicy
{
public:
    uint64_t value(const ObjectView &object) const override { return uint64_t(object.bytes) * (oldest - object.age); }
};

/// the oldest cluster goes
class FifoEviction final : public EvictionPolicy
{
public:
    bool inOrderOfWriting() const override { return true; }
    uint64_t value(const ObjectView &) const override { return 1; } // never compared
};

/// Small objects count as much as large ones. This is GreedyDual-Size (Cao and Irani, 1997) without costs and inflation.
class GdsEviction final : public EvictionPolicy
{
public:
    uint64_t value(const ObjectView &object) const override { return oldest - object.age; }
};

inline constexpr LruEviction lruEviction;
inline constexpr FifoEviction fifoEviction;
inline constexpr GdsEviction gdsEviction;

} // namespace ClusterFs

#endif
