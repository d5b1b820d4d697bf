// SPDX-License-Identifier: GPL-2.0-or-later
/* A walk over the entries that Squid has in memory. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_ENTRYWALK_H
#define SQUID_SRC_FS_CLUSTER_SQUID_ENTRYWALK_H

#include "store/forward.h"

#include "fs/cluster/squid/EventWork.h"

#include <functional>

namespace ClusterFs {

/// Walks store_table in slices, and releases the public entries that a function chooses, as Squid's PURGE does: from
/// memory and from each cache_dir. Entries that come up meanwhile may be left out. Those that are only in a shared
/// memory cache are not in the table.
class EntryWalk
{
public:
    /// walks over one slice
    /// \param chosen must not change the store
    /// \param released receives how many entries were released, too
    /// \returns false when there is no more
    bool next(const std::function<bool(StoreEntry &)> &chosen, uint64_t &released);

private:
    static constexpr int sliceBuckets = 2000;
    static constexpr unsigned sliceEntries = 500; ///< entries of a slice; its last bucket is walked to its end

    int bucket_ = 0; ///< the next one of the table
};

/// Releases all entries of a cache_dir, beside the requests.
class DirRelease final : public EventWork
{
public:
    /// \param dir index of the cache_dir
    explicit DirRelease(const int dir): dir_(dir) { schedule(0); }
    ~DirRelease() override { cancel(); }

private:
    void go() override;

    const int dir_;
    EntryWalk walk_;
    uint64_t released_ = 0;
};

} // namespace ClusterFs

#endif
