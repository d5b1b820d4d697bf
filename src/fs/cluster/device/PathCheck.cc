// SPDX-License-Identifier: GPL-2.0-or-later
/* Which paths may be a device at all. */

#include "fs/cluster/device/PathCheck.h"

#include "fs/cluster/base/Messages.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ClusterFs {

const char *
fileKind(const mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "a regular file";
    case S_IFBLK:
        return "a block device";
    case S_IFDIR:
        return "a directory";
    case S_IFCHR:
        return "a character device";
    case S_IFIFO:
        return "a named pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFLNK:
        return "a symbolic link";
    default:
        return "of an unknown kind";
    }
}

bool
checkPath(const std::string &path, struct stat &found, std::string &error)
{
    struct stat name;
    if (lstat(path.c_str(), &name) != 0 || stat(path.c_str(), &found) != 0) {
        const int errnum = errno;
        error = path + ": " + strerror(errnum);
        if (errnum == ENOENT)
            error += "; give an existing block device or file";
        return false;
    }

    if (S_ISBLK(found.st_mode) || S_ISREG(name.st_mode))
        return true;

    if (S_ISLNK(name.st_mode))
        error = path + " is a symbolic link to " + fileKind(found.st_mode) + "; only links to block devices are followed, give the real path";
    else
        error = path + " is " + fileKind(name.st_mode) + "; give a block device or a regular file";
    return false;
}

std::string
exposureOf(const std::string &path)
{
    struct stat found;
    if (stat(path.c_str(), &found) != 0)
        return std::string();
    // a block device belongs to the group of those who manage disks: its members may read it
    const auto others = S_ISBLK(found.st_mode) ? S_IROTH : S_IRGRP | S_IROTH;
    if (!(found.st_mode & others))
        return std::string();
    char mode[8];
    snprintf(mode, sizeof(mode), "%04o", static_cast<unsigned>(found.st_mode & 07777));
    return messageText<Message::exposed>(mode, path);
}

} // namespace ClusterFs
