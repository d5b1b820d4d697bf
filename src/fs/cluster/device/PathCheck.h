// SPDX-License-Identifier: GPL-2.0-or-later
/* Which paths may be a device at all. */

#ifndef SQUID_SRC_FS_CLUSTER_DEVICE_PATHCHECK_H
#define SQUID_SRC_FS_CLUSTER_DEVICE_PATHCHECK_H

#include <sys/stat.h>

#include <string>

namespace ClusterFs {

/// the identity of a file or device, to see whether a path leads to another one later
struct FileId {
    FileId() = default;
    explicit FileId(const struct stat &found): device(found.st_dev), inode(found.st_ino) {}

    bool known() const { return inode != 0; }
    bool operator ==(const FileId &other) const { return device == other.device && inode == other.inode; }
    bool operator !=(const FileId &other) const { return !(*this == other); }

    dev_t device = 0;
    ino_t inode = 0; ///< no file has number 0
};

/// "a directory", "a named pipe" and so on
const char *fileKind(mode_t);

/// Accepts block devices, symlinks to them (/dev/disk/by-id/...) and regular
/// files. A symlink to a regular file is refused: whoever can change the link
/// could have Squid overwrite any file.
/// \param found describes what the path leads to, when accepted
/// \param error names the path, what it is, and the way out, when refused
bool checkPath(const std::string &path, struct stat &found, std::string &error);

/// a text that says who else may read the cache there, and the way out; empty when nobody may
std::string exposureOf(const std::string &path);

} // namespace ClusterFs

#endif
