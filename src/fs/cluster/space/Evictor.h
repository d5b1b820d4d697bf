// SPDX-License-Identifier: GPL-2.0-or-later
/* Making room. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_EVICTOR_H
#define SQUID_SRC_FS_CLUSTER_SPACE_EVICTOR_H

#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/packing/Allocator.h"
#include "fs/cluster/packing/Packer.h"
#include "fs/cluster/space/Relocator.h"

#include <deque>
#include <memory>
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
    Evictor(StoreContext &, Journal &, Allocator &, ReadCache &, Relocator &);

    /// Makes room when there is little, applies lifetimes. Goes over so many records at most; what is
    /// left of a large cluster of small objects then is for the next turns.
    void poll();

    /// poll() where somebody needs a cluster at once, however long it takes
    void hurry();

    /// the overwrite layout goes on behind the cluster that was written last
    void goOnBehind(ClusterNo c) { cyclic_ = c; }

    /// whether poll() has something to go on with, and waits for nobody
    bool hasWork() const { return !leaving_.empty(); }

    /// records that the last turn went over
    unsigned lastRecords() const { return turnRecords - std::min(turnRecords, records_); }
    static constexpr unsigned turnRecords = 512;

    /// so many clusters that are put out of use have a line of the log each; then those at powers of two
    static constexpr unsigned retiredShown = 16;

    /// a hit: the object, and with it its cluster, was used
    void touch(SlotNo);

    /// whether an object is past its lifetime
    bool expired(SlotNo) const;

    /// Relocating reads from the first object to the last. Leaves out those at either end
    /// that lie so far from the others that it would read much for little.
    /// \param bytes of all
    /// \returns bytes of those that are left
    static uint64_t KeepNear(std::vector<Relocator::Wanted> &, uint64_t bytes);

private:
    /// a cluster that is to go, as far as it was gone over
    struct Leaving {
        enum class Step : uint8_t { look, relocate, empty };

        ClusterNo cluster;
        Sequence sequence; ///< when it was chosen
        Step step;
        bool compact; ///< all that is in use moves, since the cluster holds little
        bool mayRelocate; ///< else room must not depend on packing
        SlotNo next; ///< record to look at
        uint64_t bytes = 0; ///< of the list
        std::vector<Relocator::Wanted> list = {};
        std::vector<double> worth = {}; ///< of the list before it was cut to the budget
        size_t relocated = 0; ///< of the list
        bool begun = false; ///< relocating
        WindowPointer window = nullptr; ///< with the bytes of the list
        unsigned reads = 0; ///< that were in vain
        bool oneByOne = false; ///< what can't be read together is read object by object
        bool isRead = false; ///< the next object, when one by one
    };
    using LeavingPointer = std::shared_ptr<Leaving>;

    bool isShort() const;
    bool needsClusters() const;
    ClusterNo victim();
    ClusterNo nextOnDisk();
    void claimForLog();
    bool dropStaged();
    void dropRelocated();
    void drop(StageNo);
    bool isRecent(ClusterNo) const;
    bool isUnderfilled(ClusterNo) const;
    void merge();
    bool hasRoomFor(uint64_t bytes) const;
    ClusterNo leastValuable();
    uint64_t valueOf(ClusterNo);
    bool wanted(const Record &) const;
    uint64_t relocationBudget() const;
    static void KeepBest(Leaving &, uint64_t budget);
    void evict(ClusterNo);
    void work();
    bool goOn(const LeavingPointer &);
    bool look(const LeavingPointer &);
    void load(const LeavingPointer &);
    bool loadNext(const LeavingPointer &);
    bool relocate(const LeavingPointer &);
    bool fits(ClusterNo) const;
    void retire(ClusterNo);
    void finish(ClusterNo);
    void beginEmptying(Leaving &);
    bool empty(const Leaving &);
    void spend(unsigned records) { records_ -= std::min(records_, records); }
    void sweep();
    void sweepCluster(ClusterNo);
    bool expireRecords(ClusterNo);

    StoreContext &context_;
    Journal &journal_;
    Allocator &allocator_;
    ReadCache &cache_;
    Relocator &relocator_;
    ClusterNo hand_{0}; ///< of the sweep
    uint32_t sample_ = 0; ///< of the generator by which leastValuable() picks clusters
    ClusterNo cyclic_{0}; ///< next victim of the overwrite layout
    std::deque<LeavingPointer> leaving_; ///< what could go on now
    size_t emptying_ = 0; ///< of these
    unsigned records_ = turnRecords; ///< that may still be gone over in this turn
    uint64_t nextSweep_ = 0; ///< Clock::micros()
    uint64_t retired_ = 0; ///< clusters put out of use since the start
    unsigned sweepLeft_ = 0; ///< clusters of the sweep that is under way
    unsigned sweepRecords_ = 0; ///< that it may still go over in this turn
    SlotNo sweepNext_ = noSlot; ///< where it goes on in the cluster of the hand; noSlot: behind it
    Sequence sweepSequence_{0}; ///< of that cluster
    std::vector<ClusterNo> underfilled_; ///< candidates that the sweep found
};

} // namespace ClusterFs

#endif
