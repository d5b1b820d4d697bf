// SPDX-License-Identifier: GPL-2.0-or-later
/* Moving objects from where they are to other clusters. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_RELOCATOR_H
#define SQUID_SRC_FS_CLUSTER_SPACE_RELOCATOR_H

#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/packing/PackingQueue.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/space/Relocation.h"

#include <deque>

namespace ClusterFs {

/// All relocations of an engine, what they have in common, and how far they go in a turn. A cluster
/// has one relocation at a time, and nobody else evicts it or moves objects out of it meanwhile.
class Relocator : public RelocationListener
{
public:
    Relocator(StoreContext &, ReadCache &, Journal &, PackingQueue &);

    /// Lets a packed cluster go that no other relocation has.
    /// \param purpose not regroup
    void begin(ClusterNo, Relocation::Purpose);

    /// Stages objects of a packed cluster whose bytes are in the read cache.
    /// \param sequence of the cluster when they were chosen
    /// \returns bytes staged
    uint64_t regroup(ClusterNo, Sequence, const Relocation::Candidates &);

    /// goes on with what could go on, as far as the turn may
    void work();

    /// whether work() has something to go on with, and waits for nobody
    bool hasWork() const { return !queue_.empty(); }
    size_t queued() const { return queue_.size(); } ///< relocations that work() could go on with

    bool holds(ClusterNo) const; ///< whether a cluster has a relocation
    size_t held() const { return all_.size(); } ///< clusters that have one
    size_t evicting() const; ///< of these, those that are to go
    size_t emptying() const; ///< of these, those that wait for nobody
    bool full() const { return evicting() >= mostEvicting(); } ///< no more should be evicted by way of relocation
    bool waitsForPacking() const; ///< all relocations do, and there are some
    /// whether objects of a packed cluster may have come from one that is still held, and so be there, too
    bool copied(ClusterNo) const;

    /// A flush of the device would let clusters go.
    /// \param urgent clusters are needed
    bool wantsFlush(bool urgent) const;
    /// \returns the relocations whose copies were written before now, for flushed()
    std::vector<RelocationPointer> beginFlush();
    /// the flush is done
    void flushed(const std::vector<RelocationPointer> &);

    /// whether so much may be staged without being in the way of what is stored
    bool hasRoomFor(uint64_t bytes) const;
    /// whether there could ever be room to move all of a cluster
    bool fits(ClusterNo) const;

    /* for Relocation */

    StoreContext &context;
    ReadCache &cache;
    Journal &journal;
    PackingQueue &packing;
    unsigned records = 0; ///< that may still be gone over in this turn
    void spend(const unsigned n) { records -= std::min(records, n); }
    const ClusterEntry &entry(const ClusterNo c) const { return context.catalog.clusters()[c]; }
    void queue(const RelocationPointer &r) { queue_.push_back(r); } ///< it could go on now
    void remove(const Relocation &); ///< others may have its cluster

    /* RelocationListener API */
    void copySettled(ClusterNo origin) override;

    static constexpr unsigned maxEvicting = 8; ///< clusters; on small devices an eighth of all, and two

private:
    size_t mostEvicting() const;

    std::vector<RelocationPointer> all_;
    std::vector<RelocationPointer> settled_; ///< those of them that only wait for a flush
    std::deque<RelocationPointer> queue_; ///< those of them that could go on now
};

} // namespace ClusterFs

#endif
