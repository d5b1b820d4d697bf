// SPDX-License-Identifier: GPL-2.0-or-later
/* The store in the process that has its device. */

#ifndef SQUID_SRC_FS_CLUSTER_API_ENGINE_H
#define SQUID_SRC_FS_CLUSTER_API_ENGINE_H

#include "fs/cluster/api/Config.h"
#include "fs/cluster/api/ObjectStore.h"
#include "fs/cluster/api/SharedTables.h"
#include "fs/cluster/api/Stats.h"

#include <functional>
#include <string>
#include <vector>

namespace ClusterFs {

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

    /* Groups of callers who know better than the tracker. They need Config::localityMb, and are
     * kept like all groups: until room is needed for others, and after a restart for objects
     * that are stored. Squid's module uses none of these. */

    /// From now on the members lie with the leader (Hummingbird's
    /// collocate_files, section 3.3). Neither needs to be stored yet.
    virtual void collocate(const Key &leader, const std::vector<Key> &members) = 0;

    /// Puts an object into a group that the caller numbers (Damelo's groups);
    /// it need not be stored yet.
    virtual void assign(uint64_t group, const Key &) = 0;

    /// The members of a numbered group will be wanted soon (Damelo's love): those
    /// that are in memory leave it as late as if they were used now.
    virtual void love(uint64_t group) = 0;

    /// The members of a numbered group will not be wanted soon (Damelo's hate):
    /// those that are in memory are the first to leave it.
    virtual void hate(uint64_t group) = 0;

    /// Objects that are stored in a numbered group from now on survive a power cut
    /// after so many seconds, instead of Config::persist when that is longer
    /// (Damelo's setCheckpoint). 0 ends it.
    /// \returns false when too many groups have a time of their own
    virtual bool setPersist(uint64_t group, uint32_t seconds) = 0;

    /// takes the options of another valid configuration whose effect is live
    virtual void reconfigure(const Config &) = 0;

    /// makes a checkpoint begin soon
    virtual void requestCheckpoint() = 0;

    /// Packs what is finished now, writes the deletes until now to the journal, and flushes the disk, at once instead
    /// of after Config::persist and Config::deleteTime.
    /// \param done is called once, from poll(); not when the engine is closed before. ok: all of it survives a power
    /// cut; ioError: the device takes no writes; offline
    virtual void sync(std::function<void(Status)> done) = 0;

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
