// SPDX-License-Identifier: GPL-2.0-or-later
/* Further places of objects that several groups want. */

#include "fs/cluster/catalog/Replicas.h"

#include <algorithm>

namespace ClusterFs {
namespace {

/// erases from the list of a cluster what fits, and the list when it is empty
template <class Lists, class Fits>
void
eraseFrom(Lists &lists, const ClusterNo cluster, const Fits &fits)
{
    const auto found = lists.find(cluster);
    if (found == lists.end())
        return;
    auto &list = found->second;
    list.erase(std::remove_if(list.begin(), list.end(), fits), list.end());
    if (list.empty())
        lists.erase(found);
}

} // namespace
} // namespace ClusterFs

bool
ClusterFs::Replicas::add(const Place &original, const Place &replica, const uint32_t bytes)
{
    if (count_ >= most_)
        return false;
    byOriginal_[original.cluster].push_back({original.offset, replica});
    auto &there = byCluster_[replica.cluster];
    const auto at = std::upper_bound(there.begin(), there.end(), replica.offset, [](const uint32_t offset, const Replica &r) {
        return offset < r.offset;
    });
    there.insert(at, {replica.offset, bytes, original});
    ++count_;
    return true;
}

const std::vector<ClusterFs::Replicas::Replica> &
ClusterFs::Replicas::in(const ClusterNo cluster) const
{
    static const std::vector<Replica> none;
    const auto found = byCluster_.find(cluster);
    return found == byCluster_.end() ? none : found->second;
}

/// erases a replica from the list of its object's cluster
void
ClusterFs::Replicas::eraseOriginal(const Place &original, const Place &replica)
{
    eraseFrom(byOriginal_, original.cluster, [&](const Elsewhere &e) { return e.replica == replica; });
}

/// erases a replica from the list of the cluster that it is in
void
ClusterFs::Replicas::eraseReplica(const Place &replica)
{
    eraseFrom(byCluster_, replica.cluster, [&](const Replica &r) { return r.offset == replica.offset; });
}

void
ClusterFs::Replicas::moved(const Place &from, const Place &to)
{
    std::vector<Place> found;
    any(from, [&found](const Place &replica) {
        found.push_back(replica);
        return false;
    });
    for (const auto &replica: found) {
        if (replica.cluster == to.cluster) {
            forget(replica);
            continue;
        }
        eraseOriginal(from, replica);
        byOriginal_[to.cluster].push_back({to.offset, replica});
        for (auto &r: byCluster_[replica.cluster]) {
            if (r.offset == replica.offset)
                r.original = to;
        }
    }
}

void
ClusterFs::Replicas::forget(const Place &replica)
{
    for (const auto &r: in(replica.cluster)) {
        if (r.offset != replica.offset)
            continue;
        eraseOriginal(Place(r.original), replica);
        eraseReplica(replica); // r is gone with it
        --count_;
        return;
    }
}

void
ClusterFs::Replicas::released(const ClusterNo cluster)
{
    // no replica is in the cluster of its original, so the lists that are gone over do not change
    if (const auto found = byOriginal_.find(cluster); found != byOriginal_.end()) {
        for (const auto &e: found->second)
            eraseReplica(e.replica);
        count_ -= found->second.size();
        byOriginal_.erase(found);
    }
    if (const auto found = byCluster_.find(cluster); found != byCluster_.end()) {
        for (const auto &r: found->second)
            eraseOriginal(r.original, {cluster, r.offset});
        count_ -= found->second.size();
        byCluster_.erase(found);
    }
}
