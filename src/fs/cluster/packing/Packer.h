// SPDX-License-Identifier: GPL-2.0-or-later
/* From staging to the device, a cluster at a time. */

#ifndef SQUID_SRC_FS_CLUSTER_PACKING_PACKER_H
#define SQUID_SRC_FS_CLUSTER_PACKING_PACKER_H

#include "fs/cluster/api/GroupOrders.h"
#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/GroupAdvisor.h"
#include "fs/cluster/packing/PackingQueue.h"

#include <deque>
#include <map>
#include <vector>

namespace ClusterFs {

/// The pack files daemon of Hummingbird 3.5. Packs as late as memory and
/// Config::persist allow: the object used least recently first, then the staged
/// objects of its group, then the next one, until the cluster is full. A turn
/// has a limit of work, and the next turn goes on. Objects that were moved out of
/// other clusters get clusters of their own, as long as they fill them: they are alike
/// in their use, and a cluster of theirs has few objects that have to move once more.
/// Behind a group come replicas of what it shares with others, as far as the option replicas allows.
class Packer final : public PackingQueue
{
public:
    Packer(StoreContext &, Allocator &, ReadCache &, GroupAdvisor &);

    /* PackingQueue API */
    void noteComplete(StageNo) override;
    void hurryMoved() override { movedAreDue_ = true; }

    /// Goes on with packs that were begun, and starts new ones when objects are due. Called each turn.
    /// \param mayStart whether new ones may be started
    void poll(bool mayStart = true);

    /// whether poll() could go on at once, so that the next turn should come soon
    bool hasWork() const { return (preparing_ && !waitsForCluster_) || !settling_.empty(); }

    /// how many arrivals are remembered, those of objects that are gone included
    size_t arrivals() const { return arrivals_.size(); }

    enum class All : uint8_t {
        no, ///< as late as possible
        fromTail, ///< as soon as there is an object, the one used least recently first
        fromHead ///< the same with the one used last first
    };
    /// how objects are packed from now on
    /// \param downTo bytes of memory of objects that may wait all the same
    void packAll(const All all, const uint64_t downTo = 0) {
        all_ = all;
        downTo_ = downTo;
    }

    /// whether no pack is under way; objects may wait in staging all the same
    bool nothingInFlight() const { return inFlight_ == 0; }

    /// whether a cluster was written that no disk flush covers
    bool dirty() const { return dirty_; }
    void flushed() { dirty_ = false; } ///< a disk flush begins
    void flushFailed() { dirty_ = true; }

    static constexpr unsigned maxInFlight = 4; ///< packs at a time

    /* limits of a turn; the object or group with which it reaches one is finished in it */
    static constexpr unsigned turnObjects = 512; ///< chosen, copied or given their new place
    static constexpr uint64_t turnBytes = 768 * 1024; ///< bytes copied

private:
    struct Pack;
    using PackPointer = std::shared_ptr<Pack>;
    /// objects that get a window of their own
    struct Run {
        std::pair<uint32_t, uint32_t> span; ///< begin and end, bytes from the start of the cluster
        bool leavesFirst; ///< all of them do, see GroupAdvisor
    };

    StageNo due();
    uint64_t fullCluster() const;
    StageNo oldestArrival();
    StageNo timedArrival();
    void start(StageNo seed);
    bool prepare(const PackPointer &);
    bool choose(Pack &);
    bool addGroup(Pack &, StageNo seed);
    bool add(Pack &, StageNo, bool joined);
    void addReplicas(Pack &, StageNo seed);
    bool addReplica(Pack &, const Key &);
    bool isWanted(const Pack &);
    bool take(Pack &);
    bool fillImage(Pack &);
    void addToImage(Pack &, size_t item);
    void addReplicaToImage(Pack &, size_t item);
    bool isThere(const Key &, const ClusterRange &) const;
    void settleReplica(Pack &, size_t item);
    void seal(Pack &);
    void write(const PackPointer &);
    void giveUp(const Pack &);
    static std::vector<Run> runsOf(const Pack &);
    void written(const PackPointer &, Status);
    bool settle(Pack &);
    void failed(const PackPointer &);
    bool turnIsOver() const { return !objects_ || !bytes_; }
    void spend(uint64_t objects, uint64_t bytes);

    StoreContext &context_;
    Allocator &allocator_;
    WindowStore &windows_;
    Replicas &replicas_;
    GroupAdvisor &groups_;
    struct Arrival {
        StageNo stage;
        uint64_t id; ///< Staged::id, because another object may have the slot by now
    };
    std::vector<StageNo> group_; ///< the group that addGroup() looked at last
    std::vector<Key> shared_; ///< scratch memory of addReplicas()
    PackPointer preparing_; ///< the pack that is not on its way to the device yet, or nil
    std::deque<PackPointer> settling_; ///< packs that are on the device, but not all of their objects have their new place
    bool waitsForCluster_ = false; ///< preparing_ is chosen, and no cluster is ready
    uint64_t objects_ = 0; ///< how many this turn may still handle, see turnObjects
    uint64_t bytes_ = 0; ///< how many this turn may still copy
    std::deque<Arrival> arrivals_; ///< completed objects in order of completion
    /// objects that must survive at another time than Config::persist says, by the time to pack them, Clock::micros()
    std::multimap<uint64_t, Arrival> timed_;
    double usedShare_ = 0; ///< share of the bytes packed lately whose objects had been used before, 0 to 1
    unsigned inFlight_ = 0; ///< packs, from the first object chosen to the last one in its place
    All all_ = All::no; ///< see packAll()
    uint64_t downTo_ = 0; ///< see packAll()
    bool movedAreDue_ = false; ///< see hurryMoved(); until they are packed
    bool dirty_ = false; ///< see dirty()
};

} // namespace ClusterFs

#endif
