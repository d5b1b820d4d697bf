// SPDX-License-Identifier: GPL-2.0-or-later
/* Which cluster is written next. */

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

    /// a cluster that may be written once the journal has got that far
    struct Taken {
        ClusterNo cluster; ///< in state announced, or noCluster
        Journal::Ticket ticket;
    };

    /// \param wanted whether it is for what is likely to be read again
    /// \returns a cluster in state announced that may be written now, or noCluster
    ClusterNo take(bool wanted = false);

    /// the next cluster, although its announcement may still be on its way
    Taken takeSoon();

    /// gives back a cluster that was taken and not written
    void giveBack(ClusterNo);

    /// frees an announced cluster that is needed for something else
    void takeBack(ClusterNo);

    /// keeps enough announced
    void poll();

    /// how many clusters can still be taken before somebody makes room
    uint32_t available() const { return static_cast<uint32_t>(announced_.size()) + context_.catalog.free().size(); }
    /// how many can be taken now
    uint32_t ready() const;
    /// how many should always be available
    uint32_t reserve() const;

    /// the layout goes on behind the cluster that was written last
    void goOnBehind(const ClusterNo c) { lastChosen_ = c; }

    /// a cluster was used, to which the next ones may be close
    void noteAccess(const ClusterNo c) { lastAccess_ = c; }

private:
    LayoutView view(size_t count) const;
    Taken takeOf(size_t first, bool wanted);

    StoreContext &context_;
    Journal &journal_;
    std::deque<Taken> announced_;
    ClusterNo lastChosen_{0};
    ClusterNo lastAccess_{0};
};

} // namespace ClusterFs

#endif
