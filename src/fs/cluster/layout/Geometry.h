// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the regions of a device are. See docs/format.md. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_GEOMETRY_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_GEOMETRY_H

#include "fs/cluster/base/Types.h"

#include <string>
#include <vector>

namespace ClusterFs {

constexpr uint64_t superblockSpacing = 1 << 20; ///< the second copy's offset, bytes
constexpr uint32_t superblockBytes = 4096;
constexpr uint64_t probeOffset = 2 * superblockSpacing - superblockBytes; ///< of a block for trying to write, never read
constexpr uint32_t indexBlockBytes = 4096;
constexpr uint32_t groupsChunkBytes = 256 * 1024;
constexpr uint32_t journalBlockBytes = 4096;
constexpr size_t maxLogSkips = 512; ///< bad clusters that the index log can go past

/// Sizes and places of the regions, in bytes. All but logSkips is fixed by formatting; the
/// superblock stores what plan() was given, and plan() gives the same again.
struct Geometry {
    uint64_t deviceBytes = 0; ///< of the device when it was formatted
    uint32_t clusterBytes = 0;
    uint32_t objectBytes = 0; ///< expected mean object size
    uint64_t objectsExpected = 0; ///< at that size
    uint64_t maxObjects = 0; ///< that fit if they are as small as can be, as far as the index can count
    uint32_t baseBuckets = 0; ///< of the index when it is empty
    uint64_t logStart = 0; ///< of the index log, which goes on in the first clusters
    uint32_t logBlocks = 0; ///< of the index log's own region
    uint64_t groupsStart[2] = {0, 0};
    uint64_t groupsBytes = 0; ///< of each
    uint64_t journalStart[2] = {0, 0};
    uint64_t journalBytes = 0; ///< of each
    uint64_t clusterStart = 0;
    uint32_t clusterCount = 0;
    /// Bad clusters among the first ones, which the index log goes past, in order. Only longer ever after, at its
    /// end: no block of the log moves.
    std::vector<ClusterNo> logSkips;

    bool has(const ClusterNo n) const { return n.value() < clusterCount; }
    /// \returns the place of a cluster on the device
    uint64_t clusterOffset(const ClusterNo n) const { return clusterStart + uint64_t(n.value()) * clusterBytes; }

    /// how many of the first clusters, of which there are that many, the index log goes past
    uint32_t logSkipsIn(uint32_t clusters) const;
    /// whether a cluster belongs to the index log, which has the first ones
    bool inLog(const ClusterNo n, const uint32_t clusters) const { return n.value() < clusters && logSkipsIn(n.value()) == logSkipsIn(n.value() + 1); }

    /// blocks of the index log in its region and in that many of the first clusters
    uint32_t logBlocksWith(const uint32_t clusters) const {
        return logBlocks + (clusters - logSkipsIn(clusters)) * (clusterBytes / indexBlockBytes);
    }

    /// \returns the place of a block of the index log on the device
    uint64_t logOffset(uint32_t block) const;
    /// \returns the first block behind one of the index log that does not lie behind the one before it
    uint32_t logRunEnd(uint32_t block) const;

    /// \returns the place of a chunk of what is known of groups on the device
    uint64_t groupsOffset(const uint64_t generation, const uint32_t chunk) const {
        return groupsStart[generation % 2] + uint64_t(chunk) * groupsChunkBytes;
    }

    /// Divides a device. \returns false with the reason when it is too small
    /// or the sizes make no sense
    bool plan(uint64_t deviceBytes, uint32_t clusterBytes, uint32_t objectBytes, std::string &error);
};

} // namespace ClusterFs

#endif
