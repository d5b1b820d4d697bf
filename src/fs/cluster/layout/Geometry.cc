// SPDX-License-Identifier: GPL-2.0-or-later
/* Division of a device into regions. */

#include "fs/cluster/layout/Geometry.h"

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/layout/Checkpoint.h"

#include <algorithm>

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
    if (device / cluster > (uint64_t(1) << 28)) {
        error = "device of " + std::to_string(device) + " bytes has more than 2^28 clusters of " +
                std::to_string(cluster) + " bytes; take larger clusters";
        return false;
    }
    deviceBytes = device;
    clusterBytes = cluster;
    objectBytes = object;

    // room for an eighth more objects than the mean size makes one expect
    indexCapacity = std::max<uint64_t>(1024, device / object + device / object / 8);
    indexCapacity = std::min<uint64_t>(indexCapacity, uint64_t(1) << 30);
    bucketCount = std::max<uint64_t>(512, indexCapacity / 2);

    checkpointBytes = Checkpoint::BytesNeeded(device / cluster, indexCapacity);
    // each cluster can be announced and freed several times, a part of the
    // objects deleted, and each log write takes a block
    journalBytes = roundUp(std::max<uint64_t>(1 << 20, device / cluster * 64 + indexCapacity * 2), 1 << 20);

    uint64_t at = 2 * superblockSpacing;
    for (auto &start: checkpointStart) {
        start = at;
        at += checkpointBytes;
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
