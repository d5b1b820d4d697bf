// SPDX-License-Identifier: GPL-2.0-or-later
/* The store in the process that has its device. */

#ifndef SQUID_SRC_FS_CLUSTER_API_ENGINE_H
#define SQUID_SRC_FS_CLUSTER_API_ENGINE_H

#include "fs/cluster/api/Chore.h"
#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/GroupOrders.h"
#include "fs/cluster/api/ObjectStore.h"
#include "fs/cluster/api/SharedTables.h"
#include "fs/cluster/api/Stats.h"

#include <functional>
#include <string>
#include <vector>

namespace ClusterFs {

struct MemoryRoom;
struct Superblock;

/// The store as the process sees it that has the device: what happens at the end, groups, figures. No call but close()
/// waits for the device, unless Device::asynchronous() is false. \see openEngine(), formatDevice()
class Engine : public ObjectStore
{
public:
    /// Packs all staged objects, writes a checkpoint and a clean superblock, and
    /// blocks for that, at most so long. Afterwards the engine is closed, whatever
    /// the result: it still has its figures, but finds and stores nothing.
    /// \returns ok; aborted when the start was not over or objects were left in
    /// staging; or ioError when the checkpoint was not written
    virtual Status close(unsigned maxMilliseconds) = 0;

    /* Groups of callers who know better than the tracker. They need Config::localityMb. Squid's module uses none of these. */

    /// From now on the members lie with the leader (Hummingbird's
    /// collocate_files, section 3.3). Neither needs to be stored yet. As what the tracker has learned, it is kept until room is
    /// needed for others, and after a restart for objects that are stored.
    virtual void collocate(const Key &leader, const std::vector<Key> &members) = 0;

    /// Puts an object into a group that the caller numbers (Damelo's groups), and takes it out of another one; it
    /// need not be stored yet. A group has any number of members. Those that are stored are kept over restarts, and so is all that
    /// is said of groups below.
    /// \returns ok; busy when there is no memory for another member; unsupported without Config::localityMb
    virtual Status assign(uint64_t group, const Key &) = 0;

    /// takes an object out of its group
    /// \returns whether it had one
    virtual bool unassign(const Key &) = 0;

    /// forgets a group, but none of its objects, and all that was said of it
    /// \returns whether there was one
    virtual bool dissolve(uint64_t group) = 0;

    /// whether the start is over, and the groups that an earlier run has saved are known
    virtual bool groupsLoaded() const = 0;

    /// \returns the number of an object's group, 0 = none
    virtual uint64_t groupOf(const Key &) const = 0;

    /// Walks the members of a group in the order in which they came, whether they are stored or not.
    /// \param cursor 0 to start; moved on by each call
    /// \returns false when there are no more
    virtual bool nextOfGroup(uint64_t group, uint64_t &cursor, Key &) const = 0;

    /// How memory treats the members of a group from now on. Those that are in memory now follow soon.
    /// \returns as assign()
    virtual Status setFavour(uint64_t group, Favour) = 0;

    /// Objects that are stored in a group from now on survive a power cut
    /// after so many seconds, or when they happen to, instead of Config::persist (Damelo's setCheckpoint).
    /// \param seconds 0 ends it; or neverPersist
    /// \returns as assign()
    virtual Status setPersist(uint64_t group, uint32_t seconds) = 0;

    /// the order of a walk
    enum class Walk : uint8_t {
        ripe, ///< what would make room first comes first
        hot ///< what was used last comes first
    };
    /// Walks objects that are on the device, in the order of their clusters, when Config::list is on. It ends early if the cluster that
    /// it is at has left its place meanwhile.
    /// \param cursor 0 to start; moved on by each call
    /// \param looks how many records may be looked at; receives how many are left
    /// \returns false when there are no more objects, or when looks is 0: then call again
    virtual bool nextInOrder(Walk, uint64_t &cursor, Key &, ObjectInfo &, unsigned &looks) const = 0;

    /// takes the options of another valid configuration whose effect is live
    virtual void reconfigure(const Config &) = 0;

    /// Tells how much memory there is for this process, now and then. When it is nearly used up, the read cache gives way, as the page
    /// cache of other stores does, down to Config::leastMb(), and grows again slowly when there is room. Where nobody tells, it
    /// takes all that Config lets it take.
    virtual void noteMemory(const MemoryRoom &) = 0;

    /// makes a checkpoint begin soon
    virtual void requestCheckpoint() = 0;

    /// Does housekeeping now, instead of when it is due. It goes on in poll(), in turns, and in the background class but for the flush.
    /// \param bytes \see Chore
    /// \param done is called once, from poll(); not when the engine is closed before. ok: it is done, and what sync has
    /// done survives a power cut; busy: the rest of the memory is in use, or too many calls wait; full: no more of the disk can be
    /// made free; ioError: the device takes no writes; offline
    virtual void run(Chore, uint64_t bytes, std::function<void(Status)> done) = 0;

    /// objects that were removed or replaced, and of which the journal on the device does not know yet
    virtual std::vector<Key> removalsPending() const = 0;

    virtual Stats stats() const = 0; ///< after close(): as they were at its end
    /// the superblock as it was written last; nil when closed
    virtual const Superblock *superblock() const = 0;
    /// all statistics as aligned text with stable names
    virtual std::string report() const = 0;

    /// Lets other processes look objects up, and copy those that are in memory, while this one changes all of it, as long as the
    /// engine lives. From now on, what comes into the read cache comes into memory that they can map. \see EngineView
    /// \param tables receives what they need
    /// \param error receives the reason when it fails
    /// \returns false when the process may not have the descriptors or the memory
    virtual bool share(SharedTables &tables, std::string &error) = 0;

    /// Another process has read an object by itself: counts that, and keeps the object's bytes in memory as if it were read here.
    virtual void noteRead(const Key &) = 0;
};

} // namespace ClusterFs

#endif
