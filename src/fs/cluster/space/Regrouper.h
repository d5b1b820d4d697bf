// SPDX-License-Identifier: GPL-2.0-or-later
/* Bringing together what turned out to belong together. */

#ifndef SQUID_SRC_FS_CLUSTER_SPACE_REGROUPER_H
#define SQUID_SRC_FS_CLUSTER_SPACE_REGROUPER_H

#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/cache/ReadWatcher.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/learning/Tracker.h"
#include "fs/cluster/space/Relocator.h"

#include <unordered_map>

namespace ClusterFs {

/// A visit of a page that took several reads has brought the page's objects
/// into memory: they are staged again then, so that they get packed side by
/// side. What the pages of a site share is never wanted all at once; the rest
/// of that is read first. Where most of a group lies together already, only
/// what is scattered is brought together: two reads instead of many, for few
/// bytes. Within a budget of bytes written.
class Regrouper final : public ReadWatcher
{
public:
    Regrouper(StoreContext &, const Tracker &, ReadCache &, Relocator &);

    /// an object was read from the device for a caller, or before one asked
    void noteRead(const Key &) override;

    /// handles a visit that is over: one at a time, since looking at all members
    /// of all groups that were read from takes long enough for callers to notice
    void poll();

    /// whether so many bytes may be written again now
    bool affordable(uint64_t bytes) const;

    static constexpr size_t maxVisits = 256; ///< visits watched at a time
    static constexpr uint64_t visitMicros = 3000000; ///< how long a visit lasts at most
    static constexpr size_t maxHeld = 64; ///< clusters that objects are being moved from at a time; an eighth of all on small devices
    static constexpr unsigned maxGathering = 4; ///< groups whose missing objects are being read

private:
    struct Visit {
        Key member; ///< one of the group
        unsigned reads = 0;
        uint64_t since = 0; ///< Clock::micros()
        uint64_t last = 0; ///< of the last read
        uint64_t notBefore = 0; ///< to be looked at again
        bool gathering = false; ///< waits for what is missing
    };
    using Visits = std::unordered_map<uint64_t, Visit>;
    /// what can be moved from one cluster
    struct Source {
        Sequence sequence{0};
        Relocation::Candidates objects;
        uint32_t from = 0xffffffffU; ///< of these objects
        uint32_t to = 0;
        uint64_t bytes = 0; ///< of them
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
    std::vector<Key> group_; ///< used while a call lasts
    uint64_t nextLook_ = 0; ///< Clock::micros()
    unsigned gathering_ = 0; ///< groups
};

} // namespace ClusterFs

#endif
