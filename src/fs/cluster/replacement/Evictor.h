// SPDX-License-Identifier: GPL-2.0-or-later
/* Making room. */

#ifndef SQUID_SRC_FS_CLUSTER_REPLACEMENT_EVICTOR_H
#define SQUID_SRC_FS_CLUSTER_REPLACEMENT_EVICTOR_H

#include "fs/cluster/reading/ReadCache.h"
#include "fs/cluster/replacement/Carrier.h"
#include "fs/cluster/writing/Allocator.h"
#include "fs/cluster/writing/Packer.h"

#include <vector>

namespace ClusterFs {

/// The free disk space daemon of Hummingbird 3.5. Forgets whole clusters;
/// objects in them that were used lately are staged again first, within a
/// budget. Clusters that deletes have emptied, or that were written half empty
/// because Config::persist ran out, go before full ones, several at once, with
/// all that is left in them: nothing is lost by that but a write.
class Evictor
{
public:
    Evictor(Shared &, Journal &, Allocator &, ReadCache &, Carrier &);

    /// makes room when there is little, applies lifetimes
    void poll();

    /// a hit: the object, and with it its cluster, was used
    void touch(SlotNo);

    /// whether an object is past its lifetime
    bool expired(SlotNo) const;

    /// Carrying reads from the first object to the last. Leaves out those at either end
    /// that lie so far from the others that it would read much for little.
    /// \param bytes of all
    /// \returns bytes of those that are left
    static uint64_t KeepNear(std::vector<Carrier::Wanted> &, uint64_t bytes);

private:
    bool isShort() const;
    bool needsClusters() const;
    ClusterNo victim();
    bool dropStaged();
    void dropCarried();
    void drop(StageNo);
    bool isSparse(ClusterNo) const;
    void merge();
    bool hasRoomFor(uint64_t bytes) const;
    ClusterNo leastValuable();
    uint64_t valueOf(ClusterNo) const;
    uint64_t wantedBytes(ClusterNo, std::vector<Carrier::Wanted> *, bool all) const;
    bool wanted(const Record &) const;
    uint64_t carryBudget() const;
    uint64_t keepBest(std::vector<Carrier::Wanted> &, uint64_t bytes, uint64_t budget) const;
    bool evict(ClusterNo);
    void finish(ClusterNo);
    void sweep();
    void sweepCluster(ClusterNo);

    Shared &shared_;
    Journal &journal_;
    Allocator &allocator_;
    ReadCache &cache_;
    Carrier &carrier_;
    ClusterNo hand_ = 0; ///< of the sweep
    uint32_t sample_ = 0; ///< of the generator by which leastValuable() picks clusters
    ClusterNo cyclic_ = 0; ///< next victim of the overwrite layout
    uint64_t nextSweep_ = 0; ///< Clock::micros()
    std::vector<ClusterNo> sparse_; ///< candidates that the sweep found
};

} // namespace ClusterFs

#endif
