// SPDX-License-Identifier: GPL-2.0-or-later
/* Further places of objects that several groups want. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_REPLICAS_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_REPLICAS_H

#include "fs/cluster/catalog/Listeners.h"

#include <unordered_map>
#include <vector>

namespace ClusterFs {

/// Replicas of objects: an object that several groups want lies in a cluster of each (Hummingbird, section 3.3). Its record
/// names one place, the original; a replica is an extent with the same bytes in another cluster. No directory has it, so a
/// start knows no replicas, and their room comes back with their clusters. What lies at a place never changes until its
/// cluster is released, and then all replicas end that have to do with the cluster. Nobody has to tell when an object is deleted or moved:
/// no record leads to its old place any more.
class Replicas final : public ReleaseListener
{
public:
    /// where an extent is
    struct Place {
        ClusterNo cluster = noCluster;
        uint32_t offset = 0; ///< bytes from the cluster's start
        bool operator ==(const Place &o) const { return cluster == o.cluster && offset == o.offset; }
    };
    /// a replica, as its own cluster has it
    struct Replica {
        uint32_t offset; ///< bytes from the cluster's start
        uint32_t bytes; ///< of the extent
        Place original;
    };

    /// \param most replicas that may be known
    explicit Replicas(const uint64_t most): most_(most) {}

    /// \param bytes of the extent
    /// \returns false when there are too many
    bool add(const Place &original, const Place &replica, uint32_t bytes);

    /// calls visitor(place) for each replica of the object at a place, until that returns true
    /// \returns whether it did
    template <class Visitor>
    bool any(const Place &original, Visitor &&visitor) const {
        const auto found = byOriginal_.find(original.cluster);
        if (found == byOriginal_.end())
            return false;
        for (const auto &e: found->second) {
            if (e.offset == original.offset && visitor(e.replica))
                return true;
        }
        return false;
    }

    /// \returns the replicas in a cluster, in the order of their places
    const std::vector<Replica> &in(ClusterNo) const;

    /// an object lies somewhere else now
    void moved(const Place &from, const Place &to);
    /// a replica is damaged
    void forget(const Place &replica);
    void released(ClusterNo) override;

    bool empty() const { return !count_; }
    uint64_t count() const { return count_; } ///< replicas that are known
    static constexpr uint64_t bytesEach = 96; ///< of memory for one, about

private:
    /// where an object of a cluster has a replica
    struct Elsewhere {
        uint32_t offset; ///< of the original, bytes from the cluster's start
        Place replica;
    };

    void eraseOriginal(const Place &original, const Place &replica);
    void eraseReplica(const Place &replica);

    std::unordered_map<ClusterNo, std::vector<Elsewhere>> byOriginal_; ///< by the cluster of the original
    std::unordered_map<ClusterNo, std::vector<Replica>> byCluster_; ///< by the cluster that they are in
    uint64_t most_;
    uint64_t count_ = 0;
};

} // namespace ClusterFs

#endif
