// SPDX-License-Identifier: GPL-2.0-or-later
/* Bringing together what turned out to belong together. */

#ifndef SQUID_SRC_FS_CLUSTER_LOCALITY_REGROUPER_H
#define SQUID_SRC_FS_CLUSTER_LOCALITY_REGROUPER_H

#include "fs/cluster/index/Shared.h"
#include "fs/cluster/locality/Tracker.h"
#include "fs/cluster/reading/ReadCache.h"
#include "fs/cluster/replacement/Carrier.h"

#include <unordered_map>

namespace ClusterFs {

/// A visit of a page that took several reads has brought the page's objects
/// into memory: they are staged again then, so that they get packed side by
/// side. Within a budget of bytes written.
class Regrouper
{
public:
    Regrouper(Shared &, const Tracker &, ReadCache &, Carrier &);

    /// an object was read from the device for a caller
    void noteRead(const Key &);

    /// handles the visits that are over
    void poll();

    static constexpr size_t visitsMost = 256; ///< visits watched at a time
    static constexpr uint64_t visitMicros = 3000000; ///< how long a visit lasts

private:
    struct Visit {
        unsigned reads = 0;
        uint64_t since = 0; ///< Clock::micros()
    };
    /// what can be moved from one cluster
    struct Source {
        Sequence sequence = 0;
        std::vector<Carrier::Wanted> objects;
    };

    bool regroup(const Key &leader);
    uint64_t collect(const std::vector<Key> &group, std::unordered_map<ClusterNo, Source> &) const;

    Shared &shared_;
    const Tracker &tracker_;
    ReadCache &cache_;
    Carrier &carrier_;
    std::unordered_map<Key, Visit, KeyHash> visits_; ///< by the first object of the group
    std::vector<Key> group_; ///< used while a call lasts
    uint64_t nextLook_ = 0; ///< Clock::micros()
};

} // namespace ClusterFs

#endif
