// SPDX-License-Identifier: GPL-2.0-or-later
/* What memory keeps of each cluster: 64 bytes. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_CLUSTERTABLE_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_CLUSTERTABLE_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/catalog/Changes.h"

namespace ClusterFs {

/// On the media: never renumber. Which state follows which, and why, is in Catalog.h.
enum class ClusterState : uint8_t {
    unknown = 0, ///< not yet seen by a scan
    free = 1,
    announced = 2, ///< in the journal as about to be written
    writing = 3,
    packed = 4, ///< holds several objects
    part = 5, ///< holds a piece of a large object
    draining = 6, ///< forgotten, but somebody still reads it
    bad = 7, ///< the device failed here; never used again until formatted
    log = 8 ///< belongs to the index log
};
constexpr unsigned clusterStateCount = 9;

/// The number of a cluster or of a slot, of which noCluster or noSlot is zero in memory: a table of
/// millions of clusters needs no pages until something is known of them.
template <class Number>
class Link
{
public:
    operator Number() const { return Number(~inverse_); }
    Link &operator =(const Number number) {
        inverse_ = ~number.value();
        return *this;
    }

private:
    uint32_t inverse_;
};

/// a cluster's line in the table
struct ClusterEntry {
    static constexpr uint8_t unwritable = 255; ///< of errors: not to be used again

    Sequence sequence; ///< of what it holds
    uint64_t total; ///< first part of an object: the object's stored bytes
    Link<SlotNo> first; ///< a slot; packed: first record, linked by Record::sibling; part: the owner's slot
    uint32_t live; ///< records that are not dead
    uint32_t liveBytes; ///< extents of those
    uint32_t end; ///< bytes written
    uint32_t pins; ///< readers and requests that need the bytes to stay
    uint32_t heat; ///< write clock at the last use
    Link<ClusterNo> previous; ///< neighbour in the list of its state
    Link<ClusterNo> next;
    Link<ClusterNo> nextPart; ///< the object's next part
    uint32_t headBytes; ///< first part of an object: payload in its extent
    uint32_t written; ///< seconds since 1970, low 32 bits
    ClusterState state;
    uint8_t errors; ///< read errors seen here; or unwritable
    uint16_t relocated; ///< objects that are staged again, but not on the device elsewhere yet; and one for the relocator until that is flushed
};
static_assert(sizeof(ClusterEntry) == 64, "a cluster table entry takes 64 bytes");

/// All clusters, and a list in order of use over the packed ones, which are the victims.
class ClusterTable
{
public:
    /// \param changes is told of each new state
    ClusterTable(uint32_t count, Changes &changes);

    ClusterEntry &operator [](const ClusterNo n) { return entries_[n]; }
    const ClusterEntry &operator [](const ClusterNo n) const { return entries_[n]; }
    uint32_t count() const { return static_cast<uint32_t>(entries_.count()); }
    bool has(const ClusterNo n) const { return n.value() < count(); }
    /// the next one on the device, the first one behind the last
    ClusterNo after(const ClusterNo n) const { return has(n + 1) ? n + 1 : ClusterNo(0); }

    /// whether a cluster may go from one state to another
    static bool MayFollow(ClusterState from, ClusterState to);

    /// Changes the state. What is packed is put at the head of the list.
    void enter(ClusterNo, ClusterState);
    /// the same as the last checkpoint has it, so that the next one need not
    void enterKnown(ClusterNo, ClusterState);
    /// another field changed that a checkpoint has to name
    void noteChange(const ClusterNo n) { changes_.cluster(n); }
    uint32_t inState(const ClusterState s) const { return states_[static_cast<unsigned>(s)]; }

    /* the list of victims: head = used last, tail = first to go */
    void toHead(ClusterNo);
    void toTail(ClusterNo);
    ClusterNo tail() const { return tail_; }
    /// the next one towards the head, or noCluster
    ClusterNo towardsHead(const ClusterNo n) const { return entries_[n].previous; }
    bool linked(ClusterNo) const;

private:
    void pushHead(ClusterNo);
    void unlink(ClusterNo);

    Changes &changes_;
    Table<ClusterEntry, ClusterNo> entries_;
    uint32_t states_[clusterStateCount] = {};
    ClusterNo head_ = noCluster;
    ClusterNo tail_ = noCluster;
};

} // namespace ClusterFs

#endif
