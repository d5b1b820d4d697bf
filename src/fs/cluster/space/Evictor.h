// SPDX-License-Identifier: GPL-2.0-or-later
/* Making room. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_EVICTOR_H
#define SQUID_SRC_FS_CLUSTER_SPACE_EVICTOR_H

#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/RoomMaker.h"
#include "fs/cluster/space/Relocator.h"

#include <vector>

namespace ClusterFs {

/// The free disk space daemon of Hummingbird 3.5. Forgets whole clusters;
/// objects in them that were used lately are staged again first, within a
/// budget. Clusters that deletes and regrouping have left holes in, or that were written half empty
/// because Config::persist ran out, go before full ones, several at once, and
/// all their objects move (merging): that costs a write, but no object.
class Evictor final : public RoomMaker
{
public:
    Evictor(StoreContext &, Journal &, Allocator &, Relocator &);

    /// Makes room when there is little, and applies lifetimes; called each turn. Goes over turnRecords
    /// records at most, and a large cluster of small objects takes several turns.
    void poll();

    /* RoomMaker API */
    void hurry() override;

    /// Makes room from now on until so many bytes of clusters are free, if that is more than otherwise.
    void want(const uint64_t bytes) {
        const auto &g = context_.geometry;
        wanted_ = static_cast<uint32_t>(std::min<uint64_t>(bytes / g.clusterBytes + (bytes % g.clusterBytes ? 1 : 0), g.clusterCount));
    }
    /// whether the last turn wanted to make room, and nothing could go
    bool stuck() const { return stuck_; }

    /// at a start: the overwrite layout goes on behind the cluster that was written last
    void goOnBehind(ClusterNo c) { cyclic_ = c; }

    /// records that the last turn went over
    unsigned lastRecords() const { return turnRecords - std::min(turnRecords, relocator_.records); }
    static constexpr unsigned turnRecords = 512; ///< records of the index that a turn may go over

    /// so many clusters that are put out of use are logged one by one; then only the 32nd, the 64th and so on
    static constexpr unsigned retiredShown = 16;

    /// a hit: the object, and with it its cluster, was used
    void touch(SlotNo);

private:
    bool isShort() const;
    bool needsClusters() const;
    ClusterNo victim();
    ClusterNo nextOnDisk();
    void claimForLog();
    bool dropStaged();
    void dropRelocated();
    void drop(StageNo);
    bool mayGo(ClusterNo) const;
    bool isRecent(ClusterNo) const;
    bool holdsLittle(ClusterNo, uint32_t most) const;
    bool isSparse(ClusterNo) const;
    bool isUnderfilled(ClusterNo) const;
    void noteUnderfilled(ClusterNo);
    void merge();
    ClusterNo leastValuable();
    ClusterNo firstInQueue();
    void giveRound(ClusterNo);
    template <class Weight>
    uint64_t sumOver(ClusterNo, const Weight &);
    uint64_t lossOf(ClusterNo);
    uint64_t usedBytes(ClusterNo);
    void evict(ClusterNo);
    void retire(ClusterNo);
    void sweep();
    void sweepCluster(ClusterNo);
    bool expireRecords(ClusterNo);

    StoreContext &context_;
    Journal &journal_;
    Allocator &allocator_;
    Relocator &relocator_;
    uint32_t wanted_ = 0; ///< clusters, see want()
    bool stuck_ = false; ///< see stuck()
    ClusterNo hand_{0}; ///< the cluster that the sweep looked at last
    uint32_t sample_ = 0; ///< state of the generator by which leastValuable() picks clusters
    ClusterNo cyclic_{0}; ///< the cluster that nextOnDisk() looked at last
    uint64_t nextSweep_ = 0; ///< Clock::micros()
    uint64_t retired_ = 0; ///< clusters put out of use since the start
    unsigned sweepLeft_ = 0; ///< clusters that the sweep under way has still to look at
    unsigned sweepRecords_ = 0; ///< records that it may still go over in this turn
    SlotNo sweepNext_ = noSlot; ///< the record of the hand's cluster to go on with; noSlot when it is done with the cluster
    Sequence sweepSequence_{0}; ///< of that cluster
    std::vector<ClusterNo> toMerge_; ///< underfilled clusters that the sweep found for merge()
};

} // namespace ClusterFs

#endif
