// SPDX-License-Identifier: GPL-2.0-or-later
/* Making room. */

#ifndef SQUID_SRC_FS_CLUSTER_REPLACEMENT_EVICTOR_H
#define SQUID_SRC_FS_CLUSTER_REPLACEMENT_EVICTOR_H

#include "fs/cluster/reading/ReadCache.h"
#include "fs/cluster/writing/Allocator.h"
#include "fs/cluster/writing/Packer.h"

#include <vector>

namespace ClusterFs {

/// The free disk space daemon of Hummingbird 3.5. Forgets whole clusters;
/// objects in them that were used lately are staged again first, within a
/// budget. Clusters that deletes have emptied go before full ones, with all
/// that is left in them.
class Evictor
{
public:
    Evictor(Shared &, Allocator &, ReadCache &);

    /// makes room when there is little, applies lifetimes
    void poll();

    /// a hit: the object, and with it its cluster, was used
    void touch(SlotNo);

    /// room in the index is needed, too
    void needSlots() { needSlots_ = true; }

    /// whether an object is past its lifetime
    bool expired(SlotNo) const;

    std::function<void(StageNo)> onComplete; ///< an object was staged again

    /// A flush of the device would let clusters go.
    bool wantsFlush() const;
    /// clusters whose carried objects were written before now
    std::vector<ClusterNo> takeSettled();
    /// a flush that began after takeSettled() is done
    void flushed(const std::vector<ClusterNo> &);

    static constexpr unsigned leavingMost = 8; ///< clusters that are being carried from

private:
    struct Wanted {
        SlotNo slot;
        uint32_t tag;
        uint32_t offset;
        uint32_t payload;
    };
    bool isShort() const;
    ClusterNo victim();
    bool dropStaged();
    ClusterNo sparse();
    ClusterNo worstOfTail() const;
    uint64_t wantedBytes(ClusterNo, std::vector<Wanted> *, bool all) const;
    bool wanted(const Record &) const;
    bool evict(ClusterNo);
    void carry(ClusterNo, const std::vector<Wanted> &);
    bool carryOne(ClusterNo, const Wanted &, const Window &);
    bool isLeaving(ClusterNo) const;
    void settled(ClusterNo);
    void finish(ClusterNo);
    void sweep();
    void sweepCluster(ClusterNo);

    Shared &shared_;
    Allocator &allocator_;
    ReadCache &cache_;
    bool needSlots_ = false;
    ClusterNo hand_ = 0; ///< of the sweep
    ClusterNo cyclic_ = 0; ///< next victim of the overwrite layout
    uint64_t nextSweep_ = 0; ///< Clock::micros()
    std::vector<ClusterNo> sparse_; ///< candidates that the sweep found
    std::vector<ClusterNo> leaving_; ///< clusters being read for carrying, or waiting for carried objects to be safe elsewhere
    std::vector<ClusterNo> settled_; ///< those of leaving_ that only wait for a flush
};

} // namespace ClusterFs

#endif
