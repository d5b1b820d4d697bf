// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the regions of a device are. See docs/format.md. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_GEOMETRY_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_GEOMETRY_H

#include "fs/cluster/base/Types.h"

#include <string>

namespace ClusterFs {

/// Sizes and places of the regions, in bytes. Fixed by formatting; the
/// superblock stores what plan() was given, and plan() gives the same again.
struct Geometry {
    uint64_t deviceBytes = 0; ///< of the device when it was formatted
    uint32_t clusterBytes = 0;
    uint32_t objectBytes = 0; ///< expected mean object size
    uint64_t indexCapacity = 0; ///< objects at most
    uint64_t bucketCount = 0; ///< of the index
    uint64_t checkpointStart[2] = {0, 0};
    uint64_t checkpointBytes = 0; ///< of each
    uint64_t journalStart[2] = {0, 0};
    uint64_t journalBytes = 0; ///< of each
    uint64_t clusterStart = 0;
    uint32_t clusterCount = 0;

    /// \returns the place of a cluster on the device
    uint64_t clusterOffset(const ClusterNo n) const { return clusterStart + uint64_t(n) * clusterBytes; }

    /// \returns the place of a chunk of a checkpoint on the device
    uint64_t chunkOffset(uint64_t checkpoint, uint32_t chunk) const;

    /// Divides a device. \returns false with the reason when it is too small
    /// or the sizes make no sense
    bool plan(uint64_t deviceBytes, uint32_t clusterBytes, uint32_t objectBytes, std::string &error);
};

constexpr uint64_t superblockSpacing = 1 << 20; ///< the second copy's offset, bytes
constexpr uint32_t superblockBytes = 4096;
constexpr uint64_t probeOffset = 2 * superblockSpacing - superblockBytes; ///< of a block for trying to write, never read
constexpr uint32_t checkpointChunkBytes = 256 * 1024;
constexpr uint32_t journalBlockBytes = 4096;

inline uint64_t
Geometry::chunkOffset(const uint64_t checkpoint, const uint32_t chunk) const
{
    return checkpointStart[checkpoint % 2] + uint64_t(chunk) * checkpointChunkBytes;
}

} // namespace ClusterFs

#endif
