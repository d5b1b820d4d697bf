// SPDX-License-Identifier: GPL-2.0-or-later
/* Brings objects of a group together that lie apart. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_REGROUPER_H
#define SQUID_SRC_FS_CLUSTER_SPACE_REGROUPER_H

#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/cache/ReadWatcher.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/learning/Tracker.h"
#include "fs/cluster/space/Relocator.h"

#include <unordered_map>

namespace ClusterFs {

/// A visit to a page that took several reads has brought the page's objects into
/// memory: they are staged again then, so that they get packed side by side. The
/// objects that a site's pages share are never wanted all at once; those that are
/// not in memory are read first. If most of a group lies together already, only
/// its scattered objects are brought together: then it takes two reads instead of
/// many, for few bytes written. RewriteBudget bounds these.
class Regrouper final : public ReadWatcher
{
public:
    Regrouper(StoreContext &, const Tracker &, ReadCache &, Relocator &);

    /// an object was read from the device for a caller, or before one asked
    void noteRead(const Key &) override;

    /// Handles visits that are over; called each turn. One at a time, because to
    /// look at the members of many groups takes long enough for callers to notice.
    void poll();

    /// whether so many bytes may be staged and written again now
    bool affordable(uint64_t bytes) const;

    static constexpr size_t maxVisits = 256; ///< visits watched at a time
    static constexpr uint64_t visitMicros = 3000000; ///< microseconds that a visit lasts at most
    static constexpr size_t maxHeld = 64; ///< clusters with a relocation at a time; on small devices an eighth of all
    static constexpr unsigned maxGathering = 4; ///< groups whose missing objects are being read

private:
    /// reads of a group's objects in the last seconds; times are Clock::micros()
    struct Visit {
        Key member; ///< of an object of the group
        unsigned reads = 0; ///< of the device
        uint64_t since = 0; ///< when the first read was noted
        uint64_t last = 0; ///< when the last one was
        uint64_t notBefore = 0; ///< when it may be looked at again
        bool gathering = false; ///< its missing objects are being read
    };
    using Visits = std::unordered_map<uint64_t, Visit>;
    /// the objects that can be moved from one cluster
    struct Source {
        Sequence sequence{0}; ///< of the cluster
        Relocation::Candidates objects;
        uint32_t from = 0xffffffffU; ///< begin of the first of these extents, bytes from the cluster's start
        uint32_t to = 0; ///< end of the last one
        uint64_t bytes = 0; ///< payload of the objects
        bool missing = false; ///< some are not in memory
    };
    using Sources = std::unordered_map<ClusterNo, Source>;

    static bool over(const Visit &, uint64_t now);
    bool finish(Visits::iterator);
    bool gather(uint64_t group, const Sources &);
    void gathered(uint64_t group);
    void move(const Sources &);
    uint64_t collect(const std::vector<Key> &group, bool missingToo, Sources &) const;
    static uint64_t leaveTogether(Sources &, uint64_t bytes);
    size_t maxPlaces() const;

    StoreContext &context_;
    const Tracker &tracker_;
    ReadCache &cache_;
    Relocator &relocator_;
    Visits visits_; ///< by the group's number
    std::vector<Key> group_; ///< scratch memory of finish() and gathered()
    uint64_t nextLook_ = 0; ///< when poll() has something to do, Clock::micros()
    unsigned gathering_ = 0; ///< groups whose missing objects are being read
};

} // namespace ClusterFs

#endif
