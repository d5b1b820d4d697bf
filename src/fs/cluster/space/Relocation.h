// SPDX-License-Identifier: GPL-2.0-or-later
/* A relocation: objects move out of a cluster. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_RELOCATION_H
#define SQUID_SRC_FS_CLUSTER_SPACE_RELOCATION_H

#include "fs/cluster/cache/Window.h"
#include "fs/cluster/catalog/Record.h"
#include "fs/cluster/policies/EvictionPolicy.h"
#include "fs/cluster/space/KeepMark.h"

#include <memory>
#include <vector>

namespace ClusterFs {

class Relocator;

/* The states of a relocation; any other transition asserts (Relocation::MayFollow). docs/pictures/relocation.svg is
 * the picture of it.
 *
 *  chosen -> reading               some of its objects are worth keeping, and there is room for them
 *  chosen -> staging               a group is brought together whose bytes are in memory
 *  chosen -> emptying              no object is worth moving, there is no room for them, or all are to be forgotten
 *  chosen -> over                  deletes have emptied the cluster, or a later sweep comes back to it
 *  reading -> staging              the bytes are in memory, or can't be read
 *  reading -> over                 deletes have emptied the cluster
 *  staging -> readingNext          the cluster has bad places: the next object is read alone
 *  readingNext -> staging          it was read, or can't be
 *  staging -> packing              all copies are staged
 *  packing -> settled              all copies are packed elsewhere, or gone
 *  settled -> flushing             a disk flush begins
 *  flushing -> emptying            the disk flush is done, and the copies survive a power cut
 *  flushing -> over                the same, and the cluster stays
 *  emptying -> over                the cluster is free, or deletes have emptied it
 */

/// A cluster that is to be emptied, or that a group is moved out of, from the choice to the end: its objects are looked
/// at, read, staged again, and packed once more, somewhere else. The cluster stays as it is until a disk flush covers
/// the copies, so that a crash loses none of them. \see Relocator, which has all relocations
class Relocation : public std::enable_shared_from_this<Relocation>
{
public:
    enum class State : uint8_t { chosen, reading, readingNext, staging, packing, settled, flushing, emptying, over };

    enum class Purpose : uint8_t {
        evict, ///< the objects that are worth it move, within the budget, and the others are forgotten
        merge, ///< all objects that are not too old move, whatever the budget; the others are forgotten
        forget, ///< no object moves, and all are forgotten
        regroup ///< the given objects move, and the cluster stays
    };

    /// an object that is to move; slot, tag and offset tell later whether it is still there
    struct Candidate {
        SlotNo slot;
        uint32_t tag; ///< Record::tag
        uint32_t offset; ///< of its extent, bytes from the cluster's start
        uint32_t payload; ///< bytes
    };
    using Candidates = std::vector<Candidate>;

    /// begins with a packed cluster that no other relocation has
    Relocation(Relocator &, ClusterNo, Purpose);

    ClusterNo cluster() const { return cluster_; }
    State state() const { return state_; }
    bool evicts() const { return purpose_ != Purpose::regroup; } ///< whether the cluster is to become free
    Sequence since() const { return since_; } ///< clusters that its copies are packed into have a higher number

    /// goes on while the turn has records left
    /// \returns false when the next turn has to go on; true when it is over or waits for somebody
    bool goOn();

    /// stages objects whose bytes are in the read cache; for regrouping
    /// \returns bytes staged
    uint64_t regroup(const Candidates &);

    /// some copies have left staging
    /// \returns whether they were the last ones
    bool settle();
    void beginFlush() { enter(State::flushing); }
    /// The disk flush is done. If it failed, this goes on all the same, because the space is needed.
    void flushed();

    /// whether a state may follow another one
    static bool MayFollow(State from, State to);

    /// A cluster is read from the first candidate to the last one. Leaves out candidates at either
    /// end that lie far from the others, until less than 32 bytes, or so, are read for one that moves.
    /// \param bytes payload of all
    /// \returns payload of those that are left
    static uint64_t KeepNear(Candidates &, uint64_t bytes);

private:
    void enter(State);
    bool end();
    bool isGone() const;
    bool look();
    bool stays(const ObjectView &, float worth, uint32_t tag) const;
    void keepBest(uint64_t budget);
    void read();
    void arrived(const ClusterRange &, bool well);
    bool readNext();
    bool stage();
    uint64_t copy(const Candidate &, const Window *);
    bool stageCopy(const Candidate &, const Window &);
    void beginEmptying();
    void noteAge() const;
    bool empty();

    Relocator &relocator_;
    const ClusterNo cluster_;
    const Purpose purpose_;
    const Sequence sequence_; ///< of the cluster when it was chosen
    const bool mayMove_; ///< false when enough relocations wait for packing: this one must make room without
    const bool onTrial_; ///< see ClusterQueues
    State state_ = State::chosen;
    Sequence since_; ///< see since()
    SlotNo nextSlot_; ///< the next record to look at
    Candidates candidates_;
    double worthSum_ = 0; ///< of all bytes that look() found
    uint64_t looked_ = 0; ///< how many these were
    std::vector<float> worth_; ///< EvictionPolicy::worth() of the candidates that look() found
    std::unique_ptr<KeepMark::Tally> tally_; ///< while look() goes over the objects of an eviction
    uint64_t bytes_ = 0; ///< payload of the candidates
    size_t next_ = 0; ///< the next candidate to copy
    WindowPointer window_; ///< with their bytes, or with those of the next one; or nil
    unsigned readsInVain_ = 0; ///< reads that brought nothing
    bool oneByOne_ = false; ///< the cluster has bad places, so that each candidate is read alone
};

using RelocationPointer = std::shared_ptr<Relocation>;

} // namespace ClusterFs

#endif
