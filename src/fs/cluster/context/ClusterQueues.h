// SPDX-License-Identifier: GPL-2.0-or-later
/* The queues of S3-FIFO, over clusters. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_CLUSTERQUEUES_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_CLUSTERQUEUES_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"

#include <deque>
#include <utility>

namespace ClusterFs {

/// Which clusters are on trial, since when each of the others is in its queue, and which objects failed their trial. This is
/// the state of S3-FIFO (Yang, Zhang, Qiu, Yue and Vigfusson, SOSP 2023). It takes no memory under other policies.
/// A start knows nothing of it: then no cluster is on trial.
class ClusterQueues
{
public:
    /// \param clusters on the device
    /// \param objects expected in the store: about as many are remembered, in 4 bytes each
    ClusterQueues(uint32_t clusters, uint64_t objects): placed_(clusters), failed_(objects + 1) {}

    /// A cluster was written.
    /// \param onTrial whether it holds new objects
    /// \param tick StoreContext::heatTick()
    void noteWritten(ClusterNo, Sequence, bool onTrial, uint32_t tick);

    /// a cluster goes to the end of its queue once more
    void noteRound(const ClusterNo n, const uint32_t tick) { placed_[n] = static_cast<uint16_t>(tick + 1); }

    /// whether a cluster with that sequence number is on trial
    bool isOnTrial(Sequence) const;

    /// Takes clusters off the front that are no more what they were.
    /// \param isThere tells whether a cluster is, with that sequence number
    /// \returns the cluster that is on trial for longest, or noCluster
    template <class Test>
    ClusterNo oldestOnTrial(const Test &isThere) {
        while (!trial_.empty() && !isThere(trial_.front().second, trial_.front().first))
            trial_.pop_front();
        return trial_.empty() ? noCluster : trial_.front().second;
    }
    void endTrial() { trial_.pop_front(); } ///< of the cluster that oldestOnTrial() found
    size_t onTrial() const { return trial_.size(); } ///< clusters, some of which may be gone

    /// whether an object was used since its cluster came into its queue
    /// \param tick StoreContext::heatTick()
    /// \param age see ObjectView
    bool isUsed(ClusterNo, uint32_t tick, uint32_t age, uint32_t uses) const;

    /// an object leaves that nobody used in its trial
    /// \param tag Record::tag
    void noteFailed(const uint32_t tag) { failed_[tag % failed_.count()] = tag; }

    /// whether an object failed not long ago: it is not new, and needs no trial; it is forgotten here
    bool takeFailed(uint32_t tag);

private:
    std::deque<std::pair<Sequence, ClusterNo>> trial_; ///< the oldest first; at most as many as there are clusters
    Table<uint16_t, ClusterNo> placed_; ///< the tick in which each cluster came into its queue, and 1; 0 = unknown
    Table<uint32_t> failed_; ///< tags, each at its place, where a later one takes it
};

} // namespace ClusterFs

#endif
