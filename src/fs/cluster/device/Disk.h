// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel says of a disk. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_DISK_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_DISK_H

#include <sys/stat.h>

#include <string>

namespace ClusterFs {

/// Properties of a block device, from /sys. A partition has those of its disk.
struct Disk {
    bool block = false; ///< else a file, of which all that follows is empty
    std::string name; ///< of the disk, such as sdb
    std::string zoned; ///< "none", "host-aware", "host-managed"; empty where the kernel knows of no zones
    bool rotational = false;
    std::string scheduler; ///< the one in use; empty where there is none to choose
    bool hasDeadline = false; ///< mq-deadline could be chosen
};

/// Reads the properties of what a path leads to.
/// \param found of stat()
/// \param error receives the reason when a property that matters can't be read
/// \param root goes in front of /sys, for tests
bool lookAt(const std::string &path, const struct stat &found, Disk &, std::string &error, const std::string &root = std::string());

/// Whether clusterfs can use a disk of that kind: it must take writes at any place.
/// \param error receives the reason and the way out
bool suits(const std::string &path, const Disk &, std::string &error);

} // namespace ClusterFs

#endif
