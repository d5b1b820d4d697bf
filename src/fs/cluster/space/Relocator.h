// SPDX-License-Identifier: GPL-2.0-or-later
/* All relocations of an engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_RELOCATOR_H
#define SQUID_SRC_FS_CLUSTER_SPACE_RELOCATOR_H

#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/packing/PackingQueue.h"
#include "fs/cluster/recovery/Journal.h"
#include "fs/cluster/space/KeepMark.h"
#include "fs/cluster/space/Relocation.h"

#include <deque>

namespace ClusterFs {

/// All relocations of an engine, the parts of the engine that they work with, and the limit of their
/// work in a turn. A cluster has one relocation at a time, and nobody else evicts it or moves objects
/// out of it meanwhile.
class Relocator : public RelocationListener
{
public:
    Relocator(StoreContext &, ReadCache &, Journal &, PackingQueue &);

    /// Begins to empty a packed cluster that no other relocation has.
    /// \param purpose not regroup
    void begin(ClusterNo, Relocation::Purpose);

    /// Begins to move objects, whose bytes are in the read cache, out of a packed cluster that no other relocation has.
    /// \param sequence of the cluster when they were chosen
    /// \returns bytes staged
    uint64_t regroup(ClusterNo, Sequence, const Relocation::Candidates &);

    /// goes on with queued relocations while the turn has records left
    void work();

    /// whether work() could go on at once
    bool hasWork() const { return !queue_.empty(); }
    size_t queued() const { return queue_.size(); } ///< relocations that work() could go on with

    /// under policies that try new objects: whether one was used since its cluster came into its queue, or, on trial, since it was stored
    bool isUsed(const ClusterNo c, const bool onTrial, const ObjectView &object) const {
        return onTrial ? object.uses > 0 : context.queues.isUsed(c, context.heatTick(), object.age, object.uses);
    }

    bool holds(ClusterNo) const; ///< whether a cluster has a relocation
    size_t held() const { return all_.size(); } ///< clusters that have one
    size_t evicting() const; ///< of these clusters, those that are to become free
    size_t emptying() const; ///< of these clusters, those that wait for nobody to become free
    bool full() const { return evicting() >= mostEvicting(); } ///< whether further victims have to go without moving objects
    bool waitsForPacking() const; ///< whether there are relocations, and all wait for packing
    /// Whether there are enough clusters for copies to wait until they fill one of their own. On a device of few clusters, each
    /// that waits is a large part of the room.
    bool separates() const { return mostEvicting() == maxEvicting; }
    /// whether objects of a packed cluster may have come from a cluster that is still held, where a start would find them
    bool copied(ClusterNo) const;

    /// whether a disk flush would let enough clusters go
    /// \param urgent whether clusters are needed: then a single one is enough
    bool wantsFlush(bool urgent) const;
    /// a disk flush begins
    /// \returns the relocations whose copies it covers, for flushed()
    std::vector<RelocationPointer> beginFlush();
    /// the disk flush is done
    void flushed(const std::vector<RelocationPointer> &);

    /// whether so many bytes may be staged without taking the room of new objects
    bool hasRoomFor(uint64_t bytes) const;
    /// whether an empty staging would have room for all objects of a cluster
    bool fits(ClusterNo) const;

    /* for Relocation */

    StoreContext &context;
    ReadCache &cache;
    Journal &journal;
    PackingQueue &packing;
    KeepMark mark;
    unsigned records = 0; ///< how many this turn may still go over
    void spend(const unsigned n) { records -= std::min(records, n); }
    const ClusterEntry &entry(const ClusterNo c) const { return context.catalog.clusters()[c]; }
    void queue(const RelocationPointer &r) { queue_.push_back(r); } ///< work() is to go on with it
    void remove(const Relocation &); ///< the relocation is over

    /* RelocationListener API */
    void copySettled(ClusterNo origin) override;

    static constexpr unsigned maxEvicting = 16; ///< most clusters that objects move out of to make room; on small devices an eighth of all, at least 2

private:
    size_t mostEvicting() const;

    std::vector<RelocationPointer> all_;
    std::vector<RelocationPointer> settled_; ///< those of them that wait for a disk flush
    std::deque<RelocationPointer> queue_; ///< those of them that work() goes on with
};

} // namespace ClusterFs

#endif
