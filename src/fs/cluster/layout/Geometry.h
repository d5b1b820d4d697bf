// SPDX-License-Identifier: GPL-2.0-or-later
/* The places of a device's regions. See docs/format.md. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_GEOMETRY_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_GEOMETRY_H

#include "fs/cluster/base/Types.h"

#include <string>
#include <vector>

namespace ClusterFs {

constexpr uint64_t superblockSpacing = 1 << 20; ///< the second copy's offset, bytes
constexpr uint32_t superblockBytes = 4096;
constexpr uint64_t probeOffset = 2 * superblockSpacing - superblockBytes; ///< of superblockBytes that HealthProbe writes, and nobody reads
constexpr uint32_t indexBlockBytes = 4096;
constexpr uint32_t groupsChunkBytes = 256 * 1024;
constexpr uint32_t journalBlockBytes = 4096;
constexpr size_t maxLogSkips = 512; ///< most bad clusters that the index log can skip: the superblock lists them

/// Sizes and places of the regions, in bytes. Formatting fixes all but logSkips and those that grow()
/// changes: the superblock stores the arguments of plan(), which computes the same from them at each start.
struct Geometry {
    uint64_t formattedBytes = 0; ///< of the device that were used when it was formatted
    uint64_t deviceBytes = 0; ///< of the device that are used; more than formattedBytes if it has grown
    uint32_t clusterBytes = 0;
    uint32_t objectBytes = 0; ///< expected mean object size
    uint64_t objectsExpected = 0; ///< objects of that size, and an eighth more
    uint64_t maxObjects = 0; ///< objects of 128 bytes that fit, at most the 2^30 that the index can count
    uint32_t baseBuckets = 0; ///< buckets of the smallest index
    uint64_t logStart = 0; ///< of the index log's own region; the log goes on in the first clusters
    uint32_t logBlocks = 0; ///< of the index log's own region
    uint64_t groupsStart[2] = {0, 0};
    uint64_t groupsBytes = 0; ///< of each
    uint64_t journalStart[2] = {0, 0};
    uint64_t journalBytes = 0; ///< of each
    uint64_t clusterStart = 0;
    uint32_t clusterCount = 0;
    /// Bad clusters among the first ones, in order. The index log skips them. The list only grows, and at its end, so
    /// that no block of the log moves.
    std::vector<ClusterNo> logSkips;

    bool has(const ClusterNo n) const { return n.value() < clusterCount; }
    /// \returns the place of a cluster on the device
    uint64_t clusterOffset(const ClusterNo n) const { return clusterStart + uint64_t(n.value()) * clusterBytes; }

    /// how many of the first clusters the index log skips
    /// \param clusters how many first clusters there are
    uint32_t logSkipsIn(uint32_t clusters) const;
    /// whether a cluster belongs to the index log
    /// \param clusters how many of the first ones the log has, bad ones included
    bool inLog(const ClusterNo n, const uint32_t clusters) const { return n.value() < clusters && logSkipsIn(n.value()) == logSkipsIn(n.value() + 1); }

    /// blocks of the index log in its own region and in the first clusters
    /// \param clusters how many of the first ones the log has, bad ones included
    uint32_t logBlocksWith(const uint32_t clusters) const {
        return logBlocks + (clusters - logSkipsIn(clusters)) * (clusterBytes / indexBlockBytes);
    }

    /// \returns the place of a block of the index log on the device
    uint64_t logOffset(uint32_t block) const;
    /// \returns the end of the blocks that lie in one piece on the device from a block of the index log on: the first
    /// block of the next piece; ~0 in the last one
    uint32_t logRunEnd(uint32_t block) const;

    /// \returns the place of a chunk of SavedGroups on the device
    uint64_t groupsOffset(const uint64_t generation, const uint32_t chunk) const {
        return groupsStart[generation % 2] + uint64_t(chunk) * groupsChunkBytes;
    }

    /// Divides a device. All sizes are in bytes.
    /// \param objectBytes expected mean size of an object
    /// \param error receives the reason
    /// \returns false when the device is too small or a size is out of its bounds
    bool plan(uint64_t deviceBytes, uint32_t clusterBytes, uint32_t objectBytes, std::string &error);

    /// Adds clusters behind the others. The regions stay as they are, and so groups, journal and the log's own region
    /// have no more room than before.
    /// \param bytes of the device that are to be used, at least deviceBytes and at most mostGrowth times formattedBytes
    /// \param error receives the reason
    /// \returns false when that cannot be, and nothing is changed
    bool grow(uint64_t bytes, std::string &error);

    static constexpr uint64_t mostGrowth = 16;

private:
    void countObjects();
};

} // namespace ClusterFs

#endif
