// SPDX-License-Identifier: GPL-2.0-or-later
/* From staging to the device, a cluster at a time. */

#ifndef SQUID_SRC_FS_CLUSTER_WRITING_PACKER_H
#define SQUID_SRC_FS_CLUSTER_WRITING_PACKER_H

#include "fs/cluster/reading/ReadCache.h"
#include "fs/cluster/writing/Allocator.h"

#include <deque>
#include <map>
#include <vector>

namespace ClusterFs {

/// The pack files daemon of Hummingbird 3.5. Packs as late as memory and
/// Config::persist allow: the object used least recently first, then its group
/// as far as it is staged, then the next, until the cluster is full.
class Packer
{
public:
    /// names the complete staged objects of a group in the order in which they
    /// are wanted, the given one among them; or none
    using GroupOf = std::function<void(StageNo, std::vector<StageNo> &)>;

    Packer(Shared &, Allocator &, ReadCache &);

    /// an object was completed and may be packed
    /// \param persist seconds within which it must survive a power cut
    void noteComplete(StageNo, uint32_t persist);

    /// starts what is due
    void poll();

    /// packs everything from now on, or stops doing so
    void packAll(const bool all) { all_ = all; }

    /// no pack is under way, and, when packing all, nothing is left
    bool idle() const { return inFlight_ == 0; }

    /// bytes written since the last flush of the device
    bool dirty() const { return dirty_; }
    void flushed() { dirty_ = false; }
    void flushFailed() { dirty_ = true; }

    GroupOf groupOf; ///< may be nil

    static constexpr unsigned inFlightMost = 4;

private:
    struct Pack;
    using PackPointer = std::shared_ptr<Pack>;

    StageNo due();
    StageNo oldestArrival();
    StageNo hurriedArrival();
    bool start(StageNo seed);
    void choose(Pack &, StageNo seed);
    bool addGroup(Pack &, StageNo seed);
    bool add(Pack &, StageNo, bool joined);
    bool isWanted(const Pack &);
    void fillImage(Pack &);
    static std::vector<std::pair<uint32_t, uint32_t>> runsOf(const Pack &);
    void written(const PackPointer &, Status);
    void failed(const PackPointer &);

    Shared &shared_;
    Allocator &allocator_;
    ReadCache &cache_;
    struct Arrival {
        StageNo stage;
        uint64_t id;
    };
    std::vector<StageNo> group_; ///< used by addGroup()
    std::deque<Arrival> arrivals_; ///< completed objects in order of completion
    std::multimap<uint64_t, Arrival> hurried_; ///< those that must survive sooner than Config::persist says, by when to pack them
    double usedShare_ = 0; ///< of the bytes that were packed lately, those that were used before
    unsigned inFlight_ = 0;
    bool all_ = false;
    bool dirty_ = false;
};

} // namespace ClusterFs

#endif
