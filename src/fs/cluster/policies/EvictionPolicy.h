// SPDX-License-Identifier: GPL-2.0-or-later
/* Which cluster makes room, and what of it is kept. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_EVICTIONPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_EVICTIONPOLICY_H

#include <cstdint>

namespace ClusterFs {

/// an object of a cluster, as it looks to those who make room
struct ObjectView {
    uint32_t bytes; ///< of its payload in the cluster
    uint32_t age; ///< heat ticks since its last use; in 64 of them the device is written over once
    uint32_t uses; ///< 7 = so many or more
};

/// Decides which cluster goes (Hummingbird 3.5: free disk space daemon), and which of its objects move instead.
/// It remembers nothing: the evictor finds clusters to compare, and a relocation moves what it has a budget for.
class EvictionPolicy
{
public:
    static constexpr uint32_t oldest = 128; ///< ticks since the last use from which on an object is worth nothing

    /// whether the cluster goes that was written first, however much it is used; else values are compared
    virtual bool inOrderOfWriting() const { return false; }

    /// what is lost with an object: of the clusters that are compared, the one goes whose objects have the least in all
    /// \param object that is younger than oldest
    virtual uint64_t value(const ObjectView &object) const = 0;

    /// whether an object is worth moving when its cluster goes
    virtual bool keeps(const ObjectView &object) const { return object.uses && object.age < keptAge; }

    /// which of those objects move first, should the budget not do for all: those with more, likely to be used
    /// again for their size
    virtual double worth(const ObjectView &object) const {
        return (1.0 + object.uses) / (object.age + 4.0) / (object.bytes + 2000.0);
    }

protected:
    ~EvictionPolicy() = default; ///< nobody owns a policy

private:
    static constexpr uint32_t keptAge = 48; ///< ticks within which a used object is wanted
};

/// bytes count, the later they were used the more
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

/// small objects count as much as large ones (GreedyDual-Size, Cao and Irani, 1997, without costs and inflation)
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
