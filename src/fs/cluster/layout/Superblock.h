// SPDX-License-Identifier: GPL-2.0-or-later
/* The superblock: the device is ours, how it is divided, and which checkpoint counts. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_SUPERBLOCK_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_SUPERBLOCK_H

#include "fs/cluster/base/HashedKey.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/layout/Geometry.h"
#include "fs/cluster/layout/LogPosition.h"

#include <array>
#include <iterator>
#include <string>

namespace ClusterFs {

/// the usual text form, 8-4-4-4-12 hexadecimal digits
std::string uuidText(const Uuid &);

/// a version of the on-disk format
struct FormatChange {
    const char *since; ///< the release that came with it
    const char *what; ///< the change, for docs/format.md
};

/// Each change of the on-disk format is a row at the end: the first one is version 1.
constexpr FormatChange formatHistory[] = {
    {"0.1", "first"},
    {"0.1", "saved groups behind the end of a checkpoint"},
    {"0.1", "saved groups name their page's guests. Versions 1 and 2 are used as they are, and a device says 3 from its next "
            "checkpoint on"},
    {"0.1", "an index log instead of whole checkpoints, groups in regions of their own, keys hashed with a secret of the store. "
            "For versions 1 to 3, a start scans all clusters once, Squid revalidates the objects before use, and a device says 4 "
            "from its next checkpoint on. Clusters stay where they are"},
    {"0.1", "the index log keeps dates of modification up to 68 years before the timestamp, instead of 34, and expiry up to 388 days "
            "after it, instead of 776; it goes past bad clusters. Version 4 is used as it is, and a device says 5 from its next "
            "checkpoint on"},
    {"0.1", "the superblock counts objects. Versions 4 and 5 are used as they are, and a device says 6 from its next checkpoint on"},
    {"0.1", "the superblock counts the bytes written to the device, and a device can grow. Versions 4 to 6 are used as they are, and a device says 7 from its "
            "next checkpoint on"},
    {"0.1", "saved groups may be numbered by the caller, and the bytes that were in memory are beside them. Versions 4 to 7 are used as they are, and a device says 8 "
            "from its next checkpoint on"},
};
constexpr uint32_t formatVersion = std::size(formatHistory);
constexpr uint32_t oldestVersion = 1; ///< the oldest that can be read; the first write makes it formatVersion
constexpr uint32_t objectsVersion = 6; ///< the first version whose superblock counts objects
constexpr uint32_t indexLogVersion = 4; ///< the first version that has an index log; a start scans all clusters of older stores

/// One copy of the superblock. Two copies are written in turn; the one with
/// the higher update number that is whole is the valid one.
struct Superblock {
    static constexpr char magic[] = "clusterfs device"; ///< without the final NUL: 16 bytes

    uint32_t version = formatVersion;
    Uuid uuid{};
    Geometry geometry;
    uint64_t update = 0; ///< counts superblock writes
    bool clean = false; ///< stopped in order, nothing written since
    Sequence lastSequence{0}; ///< no cluster has a higher one at the time of writing
    uint64_t checkpoint = 0; ///< number of the newest checkpoint, 0 = none; its journal is in region number % 2
    LogExtent log; ///< the blocks of the index log that count
    uint32_t logClusters = 0; ///< how many of the first clusters belong to the index log, those of Geometry::logSkips counted
    uint64_t serial = 0; ///< of the newest checkpoint, see IndexBlock
    LogPosition checkpointStart; ///< where in the log the newest checkpoint begins
    uint32_t removalBlocks = 0; ///< blocks of removals of the newest checkpoint, at its beginning and as many at its end
    uint32_t turn = 0; ///< counts how often the log has gone through all clusters
    ClusterNo turnCursor{0}; ///< the cluster with which the turn goes on at the next checkpoint
    uint64_t groups = 0; ///< generation of the SavedGroups that count, 0 = none
    HashSecret secret{};
    uint64_t written = 0; ///< bytes that were written to the device since it was formatted, when this copy was made; without those just before a crash
    uint64_t objects = 0; ///< how many there were at the newest checkpoint, so that a start knows the size of the index; 0 = not known

    /// Empties the index log and all that belongs to it (groups, secret, objects). The geometry must have been planned.
    void startLog();

    /// \param buffer superblockBytes long
    void encode(char *buffer) const;

    /// \param buffer superblockBytes long
    /// \param error receives the reason unless ok is returned
    /// \returns ok, notOurs (no magic), corrupt, unsupported
    Status decode(const char *buffer, std::string &error);
};

/// the place of the copy with that update number, bytes
inline uint64_t
superblockOffset(const uint64_t update)
{
    return update % 2 * superblockSpacing;
}

} // namespace ClusterFs

#endif
