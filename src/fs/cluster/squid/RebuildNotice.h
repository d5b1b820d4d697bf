// SPDX-License-Identifier: GPL-2.0-or-later
/* Tells Squid's core that a cache_dir has its index. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_REBUILDNOTICE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_REBUILDNOTICE_H

#include "fs/cluster/api/Engine.h"

#include <sys/time.h>

namespace ClusterFs {

/// Tells the core, once for each cache_dir, that its index is loaded, or that there will be none; a
/// scan of all clusters may still find more. All of Squid waits for that: WCCP, other stores'
/// housekeeping, digests.
class RebuildNotice
{
public:
    /// notes the time of the start
    void begin();

    /// whether the core has been told
    bool given() const { return given_; }

    /// Tells the core how far the index is, and when it is complete; does nothing after that. Must
    /// not be called in Store::Disk::init(): the core resets its counters after all dirs are
    /// initialized.
    /// \param dirIndex of the cache_dir
    /// \param engine nil when there is none: then there is nothing to wait for
    void update(int dirIndex, const Engine *engine);

private:
    timeval startTime_ = {}; ///< of begin()
    bool given_ = false; ///< see given()
};

} // namespace ClusterFs

#endif
