// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of all clusters, with 64 bytes for each. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_CLUSTERTABLE_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_CLUSTERTABLE_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/catalog/Changes.h"

namespace ClusterFs {

/// On the media: never renumber. Which state follows which, and why, is in Catalog.h.
enum class ClusterState : uint8_t {
    unknown = 0, ///< not yet seen by a scan
    free = 1, ///< holds nothing that counts
    announced = 2, ///< in the journal as about to be written
    writing = 3, ///< its write as a packed cluster is under way
    packed = 4, ///< holds several objects
    part = 5, ///< holds a piece of a large object
    draining = 6, ///< forgotten, but somebody still reads it
    bad = 7, ///< the device failed here; never used again until formatted
    log = 8 ///< belongs to the index log
};
constexpr unsigned clusterStateCount = 9;

/// The number of a cluster or of a slot. noCluster and noSlot are zero in memory, so that an empty table
/// of millions of clusters, a mapping filled with zeros, takes no pages.
template <class Number>
class StoredNumber
{
public:
    operator Number() const { return Number(~inverse_); }
    StoredNumber &operator =(const Number number) {
        inverse_ = ~number.value();
        return *this;
    }

private:
    uint32_t inverse_;
};

/// a cluster's line in the table
struct ClusterEntry {
    static constexpr uint8_t unwritable = 255; ///< value of errors: the cluster is out of use

    Sequence sequence; ///< of its contents; announced: the new contents will have a higher one
    uint64_t total; ///< first part of an object: the object's stored bytes
    StoredNumber<SlotNo> first; ///< packed: the first record, linked by Record::sibling; part: the owner's record
    uint32_t live; ///< packed: records that are not dead
    uint32_t liveBytes; ///< packed: bytes of the extents of those
    uint32_t end; ///< bytes written, from the cluster's start
    uint32_t pins; ///< readers and requests that need the bytes to stay
    uint32_t heat; ///< the newest sequence number at the last use, low 32 bits
    StoredNumber<ClusterNo> previous; ///< packed: the next one in the list that was used later
    StoredNumber<ClusterNo> next; ///< packed: the next one in the list that was used earlier
    StoredNumber<ClusterNo> nextPart; ///< part: the object's next part
    uint32_t headBytes; ///< first part of an object: payload bytes in the extent of its head
    uint32_t written; ///< when, seconds since 1970, low 32 bits
    ClusterState state;
    uint8_t errors; ///< read errors seen here; or unwritable
    uint16_t relocated; ///< objects staged again whose new copy is not on the device yet, and one more between beginRelocating() and endRelocating()
};
static_assert(sizeof(ClusterEntry) == 64, "a cluster table entry takes 64 bytes");

/// All clusters, and a list of the packed ones in the order of their use, from which victims are chosen.
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

    const Region &memory() const { return entries_.region(); } ///< for IndexView in another process

    /// whether a cluster may go from one state to another
    static bool MayFollow(ClusterState from, ClusterState to);

    /// Changes the state, which the next checkpoint says. A cluster that becomes packed goes to the head of the list.
    void enter(ClusterNo, ClusterState);
    /// the same, to a state that the last checkpoint has: the next one need not say it
    void enterKnown(ClusterNo, ClusterState);
    /// another member changed that a checkpoint has to say
    void noteChange(const ClusterNo n) { changes_.cluster(n); }
    /// how many clusters are in a state
    uint32_t inState(const ClusterState s) const { return states_[static_cast<unsigned>(s)]; }

    /* the list of packed clusters: head = used last, tail = first to go */
    void toHead(ClusterNo);
    void toTail(ClusterNo);
    ClusterNo tail() const { return tail_; }
    ClusterNo head() const { return head_; }
    /// the next one towards the tail, or noCluster
    ClusterNo towardsTail(const ClusterNo n) const { return entries_[n].next; }
    /// the next one towards the head, or noCluster
    ClusterNo towardsHead(const ClusterNo n) const { return entries_[n].previous; }
    bool linked(ClusterNo) const; ///< whether a cluster is in the list

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
