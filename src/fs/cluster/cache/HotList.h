// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what was in memory before a restart. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_HOTLIST_H
#define SQUID_SRC_FS_CLUSTER_CACHE_HOTLIST_H

#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/layout/SavedGroups.h"

#include <vector>

namespace ClusterFs {

/// Hummingbird's list of hot clusters (section 3.4): checkpoints save which bytes of clusters are in memory, and a start
/// reads them again, so that the cache is warm, and not only known. It reads while the device has nothing else to do, in the order
/// of their places, and until the read cache is full but for a quarter.
class HotList
{
public:
    HotList(StoreContext &, ReadCache &);

    /// Appends records for the next run.
    /// \param again whether to begin with those that are in memory now; else it goes on
    /// \param bytes that all records in out may have
    SavedGroups::Saved save(bool again, size_t bytes, std::vector<SavedGroups::GroupRecord> &out);

    /// takes back a record of an earlier run
    void restore(const SavedGroups::GroupRecord &);

    /// reads on, if the device is idle; called each turn
    void poll();

    uint64_t windowsRead() const { return windowsRead_; } ///< since the start

    static constexpr size_t most = 16384; ///< ranges

private:
    bool isThere(const ClusterRange &) const;
    bool next(ClusterRange &);

    StoreContext &context_;
    ReadCache &cache_;
    std::vector<ClusterRange> toSave_; ///< of this checkpoint, the hottest first
    size_t saved_ = 0; ///< of toSave_
    std::vector<ClusterRange> toRead_; ///< the last one is the next, once they are sorted
    bool sorted_ = false;
    bool reading_ = false; ///< one is under way
    uint64_t windowsRead_ = 0;
};

} // namespace ClusterFs

#endif
