// SPDX-License-Identifier: GPL-2.0-or-later
/* Staging as another process sees it. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_STAGINGVIEW_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_STAGINGVIEW_H

#include "fs/cluster/catalog/Staging.h"

#include <cstdint>

namespace ClusterFs {

/// Copies staged objects out of memory that another process changes meanwhile. It believes nothing: whatever the memory has,
/// it stays within its bounds, and comes to an end. The copy is right if the index led to the object before and afterwards:
/// the bytes of an object that has a record do not change. \see IndexView::stays()
class StagingView
{
public:
    /// the memories, which belong to the caller
    struct Tables {
        const char *bytes;
        const uint32_t *nextChunks;
        uint64_t chunks; ///< that both of these have
        const Staged *objects;
        uint64_t objectsAtMost;
    };
    explicit StagingView(const Tables &tables): tables_(tables) {}

    /// Copies a whole object.
    /// \param size its bytes
    /// \param to room for them; it has anything when the call fails
    /// \returns false when the slot has another object, or something that can't be
    bool copy(StageNo, const Key &, uint32_t size, char *to) const;

private:
    const Tables tables_;
};

} // namespace ClusterFs

#endif
