// SPDX-License-Identifier: GPL-2.0-or-later
/* The superblock: who the device belongs to and where the index is. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_SUPERBLOCK_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_SUPERBLOCK_H

#include "fs/cluster/base/Types.h"
#include "fs/cluster/layout/Geometry.h"

#include <array>
#include <string>

namespace ClusterFs {

using Uuid = std::array<uint8_t, 16>;

/// the usual text form, 8-4-4-4-12 hexadecimal digits
std::string uuidText(const Uuid &);

/// bumped with each change of what is on the media; docs/format.md has the history
constexpr uint32_t formatVersion = 3;
constexpr uint32_t oldestVersion = 1; ///< that can be read, and becomes formatVersion with the first write

/// One copy of the superblock. Two copies are written in turn; the one with
/// the higher update number that is whole is the valid one.
struct Superblock {
    static constexpr char magic[] = "clusterfs device"; ///< without the final NUL: 16 bytes

    uint32_t version = formatVersion;
    Uuid uuid{};
    Geometry geometry;
    uint64_t update = 0; ///< counts superblock writes
    bool clean = false; ///< stopped in order, nothing written since
    Sequence lastSequence = 0; ///< no cluster has a higher one at the time of writing
    uint64_t checkpoint = 0; ///< number of the newest checkpoint, 0 = none; its region is number % 2

    /// \param buffer superblockBytes long
    void encode(char *buffer) const;

    /// \returns ok, notOurs (no magic), corrupt, or unsupported, with the reason
    Status decode(const char *buffer, std::string &error);
};

} // namespace ClusterFs

#endif
