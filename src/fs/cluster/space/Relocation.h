// SPDX-License-Identifier: GPL-2.0-or-later
/* A cluster that objects move out of. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_RELOCATION_H
#define SQUID_SRC_FS_CLUSTER_SPACE_RELOCATION_H

#include "fs/cluster/cache/Window.h"
#include "fs/cluster/catalog/Record.h"

#include <memory>
#include <vector>

namespace ClusterFs {

class Relocator;

/* The states of a relocation; any other transition asserts (Relocation::MayFollow). docs/pictures/relocation.svg is
 * the picture of it.
 *
 *  chosen -> reading               some of its objects are worth keeping, and there is room for them
 *  chosen -> staging               a group is brought together whose bytes are in memory
 *  chosen -> emptying              nothing is worth keeping, or there is no room for it
 *  chosen -> over                  deletes have emptied the cluster, or a later sweep comes back to it
 *  reading -> staging              the bytes are in memory, or can't be read
 *  reading -> over                 deletes have emptied the cluster
 *  staging -> readingNext          the cluster has bad places: the next object is read alone
 *  readingNext -> staging          it was read, or can't be
 *  staging -> packing              all copies are staged
 *  packing -> settled              all copies are packed elsewhere, or gone
 *  settled -> flushing             a flush of the device begins
 *  flushing -> emptying            the copies survive a power cut
 *  flushing -> over                the same, and the cluster stays
 *  emptying -> over                the cluster is free, or deletes have emptied it
 */

/// A cluster that is to be emptied, or that a group is moved out of, from the choice to the end: its objects are looked
/// at, read, staged again, and packed once more, somewhere else. Until they are, and the device was flushed, the cluster
/// stays as it is: a crash loses none of them. \see Relocator, which has all of them
class Relocation : public std::enable_shared_from_this<Relocation>
{
public:
    enum class State : uint8_t { chosen, reading, readingNext, staging, packing, settled, flushing, emptying, over };

    enum class Purpose : uint8_t {
        evict, ///< the objects that are worth most move, and all that remains is forgotten
        merge, ///< the same, but all that are in use move, and stay as old as they were: the cluster holds little
        forget, ///< no object moves
        regroup ///< the given objects move, and the cluster stays
    };

    /// an object of the cluster, as it was when it was chosen
    struct Candidate {
        SlotNo slot;
        uint32_t tag;
        uint32_t offset;
        uint32_t payload; ///< bytes
    };
    using Candidates = std::vector<Candidate>;

    /// of a packed cluster that no other relocation has
    Relocation(Relocator &, ClusterNo, Purpose);

    ClusterNo cluster() const { return cluster_; }
    State state() const { return state_; }
    bool evicts() const { return purpose_ != Purpose::regroup; } ///< whether all that remains is to go afterwards
    Sequence since() const { return since_; } ///< what is packed from the cluster has a higher one

    /// goes on as far as the turn allows
    /// \returns false when the next turn is to go on; else there is nothing to do now
    bool goOn();

    /// stages objects whose bytes are in the read cache; for regrouping
    /// \returns bytes staged
    uint64_t regroup(const Candidates &);

    /// some copies have left staging
    /// \returns whether they were the last ones
    bool settle();
    void beginFlush() { enter(State::flushing); }
    /// the device has all copies
    void flushed();

    /// whether a state may follow another one
    static bool MayFollow(State from, State to);

    /// A cluster is read from the first object to the last one. Leaves out those at either end
    /// that lie so far from the others that it would read much for little.
    /// \param bytes of all
    /// \returns bytes of those that are left
    static uint64_t KeepNear(Candidates &, uint64_t bytes);

private:
    void enter(State);
    bool end();
    bool isGone() const;
    bool look();
    void keepBest(uint64_t budget);
    void read();
    void arrived(const ClusterRange &, bool well);
    bool readNext();
    bool stage();
    uint64_t copy(const Candidate &, const Window *);
    bool stageCopy(const Candidate &, const Window &);
    void beginEmptying();
    bool empty();

    Relocator &relocator_;
    const ClusterNo cluster_;
    const Purpose purpose_;
    const Sequence sequence_; ///< of the cluster when it was chosen
    const bool mayMove_; ///< else room must not depend on packing
    State state_ = State::chosen;
    Sequence since_;
    SlotNo nextSlot_; ///< record to look at
    Candidates candidates_;
    std::vector<double> worth_; ///< of the candidates before they were cut to the budget
    uint64_t bytes_ = 0; ///< of the candidates
    size_t next_ = 0; ///< candidate to copy
    WindowPointer window_; ///< with their bytes, or nil
    unsigned readsInVain_ = 0;
    bool oneByOne_ = false; ///< they can't be read together, and so are read object by object
};

using RelocationPointer = std::shared_ptr<Relocation>;

} // namespace ClusterFs

#endif
