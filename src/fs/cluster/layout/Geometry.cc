// SPDX-License-Identifier: GPL-2.0-or-later
/* Division of a device into regions. */

#include "fs/cluster/layout/Geometry.h"

#include "fs/cluster/base/Memory.h"

#include <algorithm>

namespace ClusterFs {
namespace {

/// Bytes of the index log's region and the regions of groups together. Up to version 3, two regions for
/// whole checkpoints were there, in chunks of 256 KB with records of 48 bytes. The room is the same as
/// then, so that the clusters of older stores are where they were.
uint64_t
indexBytes(const uint64_t clusters, const uint64_t objects)
{
    constexpr uint64_t records = (256 * 1024 - 80) / 48;
    const auto objectChunks = objects / records;
    return 2 * (clusters / records + 1 + objectChunks + objectChunks / 16 + 3) * (256 * 1024);
}

constexpr uint64_t leastObjectBytes = 128; ///< bytes of the device that the smallest object takes, with its entry in the directory

/// whether a device has no more clusters than can be counted
bool
countable(const uint64_t device, const uint32_t cluster, std::string &error)
{
    if (device / cluster <= (uint64_t(1) << 28))
        return true;
    error = "device of " + std::to_string(device) + " bytes has more than 2^28 clusters of " + std::to_string(cluster) +
            " bytes; take larger clusters";
    return false;
}

} // namespace
} // namespace ClusterFs

bool
ClusterFs::Geometry::plan(const uint64_t device, const uint32_t cluster, const uint32_t object, std::string &error)
{
    if (cluster < 16 * 1024 || cluster > 16 * 1024 * 1024 || (cluster & (cluster - 1))) {
        error = "cluster size of " + std::to_string(cluster) + " bytes is not a power of two from 16 KB to 16 MB";
        return false;
    }
    if (object < 128 || object > 16 * 1024 * 1024) {
        error = "mean object size of " + std::to_string(object) + " bytes is not between 128 bytes and 16 MB";
        return false;
    }
    if (!countable(device, cluster, error))
        return false;
    formattedBytes = deviceBytes = device;
    clusterBytes = cluster;
    objectBytes = object;
    countObjects();
    baseBuckets = static_cast<uint32_t>(std::max<uint64_t>(512, objectsExpected / 16));

    const auto together = indexBytes(device / cluster, objectsExpected);
    groupsBytes = roundDown(together / 4, groupsChunkBytes);
    // each cluster can be announced and freed several times, a part of the
    // objects deleted, and each log write takes a block
    journalBytes = roundUp(std::max<uint64_t>(1 << 20, device / cluster * 64 + objectsExpected * 2), 1 << 20);

    uint64_t at = 2 * superblockSpacing;
    logStart = at;
    logBlocks = static_cast<uint32_t>((together - 2 * groupsBytes) / indexBlockBytes);
    at += together - 2 * groupsBytes;
    for (auto &start: groupsStart) {
        start = at;
        at += groupsBytes;
    }
    for (auto &start: journalStart) {
        start = at;
        at += journalBytes;
    }
    clusterStart = roundUp(at, std::max<uint64_t>(cluster, 1 << 20));
    constexpr uint64_t fewest = 8;
    if (clusterStart + fewest * cluster > device) {
        error = "device of " + std::to_string(device) + " bytes is too small: clusters of " + std::to_string(cluster) +
                " bytes need at least " + std::to_string(clusterStart + fewest * cluster) + " bytes";
        return false;
    }
    clusterCount = static_cast<uint32_t>((device - clusterStart) / cluster);
    return true;
}

bool
ClusterFs::Geometry::grow(const uint64_t bytes, std::string &error)
{
    if (bytes < deviceBytes) {
        error = "a device cannot become smaller: " + std::to_string(deviceBytes) + " of its bytes are used";
        return false;
    }
    if (bytes / mostGrowth > formattedBytes) {
        error = "it was formatted with " + std::to_string(formattedBytes) + " bytes, and can grow to " + std::to_string(mostGrowth) +
                " times as many; format it anew for more";
        return false;
    }
    if (!countable(bytes, clusterBytes, error))
        return false;
    deviceBytes = bytes;
    clusterCount = static_cast<uint32_t>((bytes - clusterStart) / clusterBytes);
    countObjects();
    return true;
}

/// counts the objects that deviceBytes have room for
void
ClusterFs::Geometry::countObjects()
{
    // room for an eighth more objects than the mean size makes one expect
    objectsExpected = std::max<uint64_t>(1024, deviceBytes / objectBytes + deviceBytes / objectBytes / 8);
    objectsExpected = std::min<uint64_t>(objectsExpected, uint64_t(1) << 30);
    maxObjects = std::min<uint64_t>(std::max(objectsExpected, deviceBytes / leastObjectBytes), uint64_t(1) << 30);
}

uint32_t
ClusterFs::Geometry::logSkipsIn(const uint32_t clusters) const
{
    return static_cast<uint32_t>(std::lower_bound(logSkips.begin(), logSkips.end(), ClusterNo(clusters)) - logSkips.begin());
}

uint64_t
ClusterFs::Geometry::logOffset(const uint32_t block) const
{
    if (block < logBlocks)
        return logStart + uint64_t(block) * indexBlockBytes;
    auto at = clusterStart + uint64_t(block - logBlocks) * indexBlockBytes;
    for (const auto skip: logSkips) {
        if (at < clusterOffset(skip))
            break;
        at += clusterBytes;
    }
    return at;
}

uint32_t
ClusterFs::Geometry::logRunEnd(const uint32_t block) const
{
    if (block < logBlocks)
        return logBlocks;
    for (const auto skip: logSkips) {
        if (logBlocksWith(skip.value()) > block)
            return logBlocksWith(skip.value());
    }
    return ~0U;
}
