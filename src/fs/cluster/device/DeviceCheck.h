// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device may be taken: what is on it, and who uses it. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_DEVICECHECK_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_DEVICECHECK_H

#include "fs/cluster/device/PathCheck.h"

#include <cstdint>
#include <string>

namespace ClusterFs {

/// what examine() found
struct Verdict {
    bool blank = false; ///< holds zeros as far as was looked: both ends and samples between
    bool ours = false; ///< has a clusterfs superblock and nothing foreign
    bool usable = false; ///< may be formatted without asking: blank or ours, and not in use
    bool file = false; ///< a regular file
    uint64_t bytes = 0; ///< its size, where it was looked at
    FileId id; ///< the file or device that was looked at
    bool forceable = false; ///< may be formatted when the administrator insists
    std::string reason; ///< what it is; when not usable, with the way out
};

/// the smallest device worth looking at, bytes
constexpr uint64_t smallestDevice = 4 << 20;

/// Looks, and changes nothing. Blocks for some disk reads.
/// \param root goes in front of /proc and /sys, for tests
Verdict examine(const std::string &path, const std::string &root = std::string());

} // namespace ClusterFs

#endif
