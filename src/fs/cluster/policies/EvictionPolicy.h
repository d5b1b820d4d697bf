// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which cluster makes room, and which of its objects stay. */

#ifndef SQUID_SRC_FS_CLUSTER_POLICIES_EVICTIONPOLICY_H
#define SQUID_SRC_FS_CLUSTER_POLICIES_EVICTIONPOLICY_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ClusterFs {

/// an object of a cluster, as a policy sees it
struct ObjectView {
    uint32_t bytes; ///< its payload in the cluster
    uint32_t age; ///< heat ticks since its last use, below EvictionPolicy::oldest
    uint32_t uses; ///< since it was written; 7 = 7 or more
    float inflation = 0; ///< by which the value of GreedyDual-Size has grown since its last use
};

/// Gives each object a worth (the delete cluster policy of Hummingbird 3.5). It has no state. The evictor
/// forgets the cluster with the fewest bytes of worth, and a relocation moves the objects that are worth most. \see KeepMark
class EvictionPolicy
{
public:
    static constexpr uint32_t oldest = 128; ///< heat ticks since the last use from which on an object is worth nothing; the device is written over once in 64

    /// whether the cluster goes that was written first, and all of its objects with it; else clusters are compared by
    /// the worth of their objects
    virtual bool inOrderOfWriting() const { return false; }

    /// Whether clusters of new objects wait in a queue of their own (see ClusterQueues), and an object stays if it was used
    /// since its cluster came into its queue, whatever it is worth. Implies inOrderOfWriting().
    virtual bool triesNewOnes() const { return false; }

    static constexpr float worthless = -34; ///< the least worth that is told from others

    /// whether ObjectView::inflation is needed: it grows by what a byte of an evicted cluster was worth
    virtual bool inflates() const { return false; }

    /// The binary logarithm of the worth of one byte of an object: how likely it is to be used again soon. Its unit is the policy's own.
    /// \param sizeWeight the exponent of an object's size, 0 to 1, from the option size-weight
    virtual float worth(const ObjectView &, float sizeWeight) const = 0;

protected:
    ~EvictionPolicy() = default; ///< nobody owns a policy

    /// The worth that time takes from an object. An object that was just used differs little from one that was used a tick
    /// ago, because the order of the uses in a tick is not known.
    static float fading(const ObjectView &object) { return std::log2(static_cast<float>(object.age) + 4); }
    /// the worth that uses give
    static float frequency(const ObjectView &object) { return std::log2(static_cast<float>(object.uses) + 1); }
};

/// An object is worth its uses, divided by a power of its size and by its age. This is GreedyDual-Size with Frequency
/// (Cherkasova, HPL-98-69R1, 1998) with one difference: there, an object's value is a sum of its uses and of an age of the
/// whole cache, which each eviction raises. A quotient needs no such age, because 11 bits on the device are all
/// that it is made of (it is a form of Hyperbolic Caching; Blankstein, Sen and Freedman, USENIX ATC 2017).
class GdsfEviction final : public EvictionPolicy
{
public:
    float worth(const ObjectView &object, const float sizeWeight) const override {
        return frequency(object) - fading(object) - sizeWeight * std::log2(static_cast<float>(object.bytes) + 1);
    }
};

/// GreedyDual-Size itself (Cao and Irani, 1997), with a cost of 1 for each object: it is worth the reciprocal of its size
/// when it is used, and loses what the value of the cache gains until it is worth nothing. There, each eviction raises that value to the
/// worth of the one object that goes. Here, objects go with their cluster, and it grows by their mean.
class GdsEviction final : public EvictionPolicy
{
public:
    bool inflates() const override { return true; }
    float worth(const ObjectView &object, const float sizeWeight) const override {
        const auto left = std::exp2(-sizeWeight * std::log2(static_cast<float>(object.bytes) + 1)) - object.inflation;
        return left > 0 ? std::max(std::log2(left), worthless) : worthless;
    }
};

/// GreedyDual-Size with Frequency without sizes: Least Frequently Used with Dynamic Aging, of the same report
class LfudaEviction final : public EvictionPolicy
{
public:
    float worth(const ObjectView &object, float) const override { return frequency(object) - fading(object); }
};

/// only the last use counts
class LruEviction final : public EvictionPolicy
{
public:
    float worth(const ObjectView &object, float) const override { return -fading(object); }
};

/// the oldest cluster goes
class FifoEviction final : public EvictionPolicy
{
public:
    bool inOrderOfWriting() const override { return true; }
    float worth(const ObjectView &, float) const override { return 0; } // never compared
};

/// S3-FIFO (Yang, Zhang, Qiu, Yue and Vigfusson, SOSP 2023): clusters of new objects have a tenth of the device, and objects
/// stay that are used there. The others go; if they come back soon after that, they are not new. What stays goes
/// when it is not used for a round of its queue. A cluster with more in use than may move stays as a whole, for nothing.
class S3FifoEviction final : public EvictionPolicy
{
public:
    bool inOrderOfWriting() const override { return true; }
    bool triesNewOnes() const override { return true; }
    /// decides which of the used objects stay when the budget is not enough for all
    float worth(const ObjectView &object, float) const override { return frequency(object) - fading(object); }
};

inline constexpr GdsfEviction gdsfEviction;
inline constexpr GdsEviction gdsEviction;
inline constexpr LfudaEviction lfudaEviction;
inline constexpr LruEviction lruEviction;
inline constexpr FifoEviction fifoEviction;
inline constexpr S3FifoEviction s3FifoEviction;

} // namespace ClusterFs

#endif
