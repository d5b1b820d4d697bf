// SPDX-License-Identifier: GPL-2.0-or-later
/* From staging to the device, a cluster at a time. */

#ifndef SQUID_SRC_FS_CLUSTER_PACKING_PACKER_H
#define SQUID_SRC_FS_CLUSTER_PACKING_PACKER_H

#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/GroupAdvisor.h"
#include "fs/cluster/packing/PackingQueue.h"
#include "fs/cluster/policies/PackingPolicy.h"

#include <deque>
#include <map>
#include <vector>

namespace ClusterFs {

/// The pack files daemon of Hummingbird 3.5. Packs as late as memory and
/// Config::persist allow: the object used least recently first, then its group
/// as far as it is staged, then the next, until the cluster is full. A turn of the event loop
/// does a part of the work at most; the next ones go on.
class Packer final : public PackingQueue
{
public:
    Packer(StoreContext &, Allocator &, WindowStore &, GroupAdvisor &, const PackingPolicy & = wholeGroups);

    /* PackingQueue API */
    void noteComplete(StageNo) override;

    /// Goes on with what was begun, and starts what is due.
    /// \param mayStart else only the former
    void poll(bool mayStart = true);

    /// whether poll() has something to go on with, and waits for nobody
    bool hasWork() const { return (preparing_ && !waitsForCluster_) || !settling_.empty(); }

    /// arrivals that are remembered, of objects that are gone, too
    size_t arrivals() const { return arrivals_.size(); }

    /// packs everything from now on, or stops doing so
    void packAll(const bool all) { all_ = all; }

    /// no pack is under way, and, when packing all, nothing is left
    bool idle() const { return inFlight_ == 0; }

    /// bytes written since the last flush of the device
    bool dirty() const { return dirty_; }
    void flushed() { dirty_ = false; }
    void flushFailed() { dirty_ = true; }

    static constexpr unsigned maxInFlight = 4;

    /* what a turn may do; it ends with the object, or its group, by which it gets there */
    static constexpr unsigned turnObjects = 512; ///< chosen, copied or given their new place
    static constexpr uint64_t turnBytes = 768 * 1024; ///< copied

private:
    struct Pack;
    using PackPointer = std::shared_ptr<Pack>;

    StageNo due();
    StageNo oldestArrival();
    StageNo hurriedArrival();
    void start(StageNo seed);
    bool prepare(const PackPointer &);
    bool choose(Pack &);
    bool addGroup(Pack &, StageNo seed);
    bool add(Pack &, StageNo, bool joined);
    bool isWanted(const Pack &);
    bool take(Pack &);
    bool fillImage(Pack &);
    void addToImage(Pack &, size_t item);
    void seal(Pack &);
    void write(const PackPointer &);
    void giveUp(const Pack &);
    static std::vector<std::pair<uint32_t, uint32_t>> runsOf(const Pack &);
    void written(const PackPointer &, Status);
    bool settle(Pack &);
    void failed(const PackPointer &);
    bool turnIsOver() const { return !objects_ || !bytes_; }
    void spend(uint64_t objects, uint64_t bytes);

    StoreContext &context_;
    Allocator &allocator_;
    WindowStore &windows_;
    GroupAdvisor &groups_;
    const PackingPolicy &policy_;
    struct Arrival {
        StageNo stage;
        uint64_t id;
    };
    std::vector<StageNo> group_; ///< used by addGroup()
    PackPointer preparing_; ///< the one that is not on its way to the device yet, or nil
    std::deque<PackPointer> settling_; ///< those that have arrived there
    bool waitsForCluster_ = false; ///< what is prepared
    uint64_t objects_ = 0; ///< left of the turn
    uint64_t bytes_ = 0; ///< left of the turn
    std::deque<Arrival> arrivals_; ///< completed objects in order of completion
    std::multimap<uint64_t, Arrival> hurried_; ///< those that must survive sooner than Config::persist says, by when to pack them
    double usedShare_ = 0; ///< of the bytes that were packed lately, those that were used before
    unsigned inFlight_ = 0; ///< packs, from the first object chosen to the last one in its place
    bool all_ = false;
    bool dirty_ = false;
};

} // namespace ClusterFs

#endif
