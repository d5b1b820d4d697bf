// SPDX-License-Identifier: GPL-2.0-or-later
/* Who uses a disk or a file right now, according to the kernel. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_DEVICEINUSE_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_DEVICEINUSE_H

#include <sys/stat.h>

#include <string>

namespace ClusterFs {

/// Looks for mounts, swap, RAID, LVM, partitions and loop devices.
/// \param file a block device or a regular file
/// \param root goes in front of /proc and /sys, for tests
/// \param unknown unless nil, receives the place that can't be read, and why, when a use may be overlooked; else an empty text
/// \returns a text like "is mounted on /srv", or an empty one when no use was found
std::string findUsage(const struct stat &file, const std::string &root = std::string(), std::string *unknown = nullptr);

} // namespace ClusterFs

#endif
