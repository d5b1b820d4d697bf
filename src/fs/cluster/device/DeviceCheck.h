// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device may be taken: its content, and who uses it. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_DEVICECHECK_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_DEVICECHECK_H

#include "fs/cluster/device/PathCheck.h"

#include <cstdint>
#include <string>

namespace ClusterFs {

/// the answer of examine()
struct Verdict {
    bool blank = false; ///< both ends and the samples between them hold only zeros
    bool ours = false; ///< has the magic of a clusterfs superblock, and nothing foreign
    bool usable = false; ///< may be formatted without asking: blank or ours, and not in use
    bool file = false; ///< a regular file
    uint64_t bytes = 0; ///< its size; 0 when it was refused before
    FileId id; ///< the file or device that the path led to; unknown when it was refused before
    bool forceable = false; ///< may be formatted when the administrator insists
    std::string reason; ///< a sentence that says what it is, and the way out when it is not usable
};

/// bytes of the smallest device that examine() accepts
constexpr uint64_t smallestDevice = 4 << 20;

/// Examines a path and changes nothing. Blocks for some disk reads.
/// \param root goes in front of /proc and /sys, for tests
Verdict examine(const std::string &path, const std::string &root = std::string());

} // namespace ClusterFs

#endif
