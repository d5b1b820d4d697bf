// SPDX-License-Identifier: GPL-2.0-or-later
/* Hands out the clusters that are written next. */

#ifndef SQUID_SRC_FS_CLUSTER_PACKING_ALLOCATOR_H
#define SQUID_SRC_FS_CLUSTER_PACKING_ALLOCATOR_H

#include "fs/cluster/recovery/Journal.h"

#include <deque>

namespace ClusterFs {

/// Announces free clusters in the journal before anybody writes to them, and
/// hands them out, in the order of the layout policy.
class Allocator
{
public:
    Allocator(StoreContext &, Journal &);

    /// a cluster, and the journal's ticket of its announcement
    struct Taken {
        ClusterNo cluster; ///< in state announced, or noCluster
        Journal::Ticket ticket; ///< the cluster may be written once Journal::written() is not below it
    };

    /// takes a cluster whose announcement is on the device
    /// \param wanted whether its objects are likely to be read again
    /// \returns a cluster in state announced that may be written now, or noCluster
    ClusterNo take(bool wanted = false);

    /// takes the next cluster, even if its announcement is still on its way
    /// \returns noCluster in it when nothing is free
    Taken takeSoon();

    /// Takes clusters for the next parts of a large object, side by side where there is room, so that the disk reads them in one
    /// go. Clusters that others need soon stay: then it is one.
    /// \param behind the cluster of the object's last part, or noCluster
    /// \param most clusters, above 0
    /// \returns them, in their order; their announcements may be on their way; nothing when no cluster is free
    std::deque<Taken> takeRun(ClusterNo behind, uint32_t most);

    /// gives back a cluster that was taken and not written
    void giveBack(const Taken &);

    /// withdraws an announced cluster whose place the index log needs; does nothing if it was taken
    void takeBack(ClusterNo);

    /// announces clusters when few are announced; called each turn
    void poll();

    /// how many clusters can still be taken before somebody makes room
    uint32_t available() const { return static_cast<uint32_t>(announced_.size()) + context_.catalog.free().size(); }
    /// how many take() can hand out now
    uint32_t ready() const;
    /// how many should always be available: an evictor makes room when there are fewer
    uint32_t reserve() const;

    /// at a start: the layout goes on behind the cluster that was written last
    void goOnBehind(const ClusterNo c) { lastChosen_ = c; }

    /// an object of this cluster was used; the layout may choose the next cluster close to it
    void noteAccess(const ClusterNo c) { lastAccess_ = c; }

private:
    LayoutView view(size_t count) const;
    ClusterNo firstForRuns() const;
    bool mayBeInRun(ClusterNo) const;
    ClusterNo beginOfRun() const;
    Taken announce(ClusterNo);
    Taken takeOf(size_t first, bool wanted);

    StoreContext &context_;
    Journal &journal_;
    std::deque<Taken> announced_; ///< and not taken; in the order of their tickets
    ClusterNo lastChosen_{0};
    ClusterNo lastAccess_{0};
};

} // namespace ClusterFs

#endif
