// SPDX-License-Identifier: GPL-2.0-or-later
/* Making a file that can serve as a device. */

#include "fs/cluster/device/Ownership.h"

#include <cstdlib>
#include <climits>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

namespace ClusterFs {

static std::string
folderOf(const std::string &path)
{
    const auto slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash ? path.substr(0, slash) : "/";
}

/// refuses what cannot work before anything is created
static bool
fits(const std::string &path, const uint64_t bytes, std::string &error)
{
    if (!bytes || bytes > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) {
        error = path + ": a file cannot have " + std::to_string(bytes) + " bytes; give another size";
        return false;
    }

    // beyond this limit, the kernel would end the process
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
        error = path + ": " + std::to_string(bytes) + " bytes are more than the file size limit of " + std::to_string(limit.rlim_cur) + " bytes; raise it with ulimit -f";
        return false;
    }

    struct statvfs space;
    if (statvfs(folderOf(path).c_str(), &space) != 0) {
        error = folderOf(path) + ": " + strerror(errno) + "; create this directory first";
        return false;
    }
    const auto available = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
    if (bytes > available) {
        error = path + ": needs " + std::to_string(bytes) + " bytes, but the file system has only " + std::to_string(available) + " available; give a smaller size or make room";
        return false;
    }
    return true;
}

/// reserves the space and makes it survive a power cut; \returns an errno value
static int
fill(const int fd, const uint64_t bytes)
{
    if (fchmod(fd, 0600) != 0) // whatever the umask
        return errno;

    // glibc writes zeros itself where the file system cannot reserve space
    int result = EINTR;
    for (unsigned i = 0; i < 100 && result == EINTR; ++i)
        result = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    if (result != 0)
        return result;
    return fsync(fd) == 0 ? 0 : errno;
}

static int
syncFolder(const std::string &folder)
{
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const int result = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return result == EINVAL ? 0 : result; // some file systems cannot, and need not
}

/// whether a file there would take memory instead of disk, as after a mistyped device name
static bool
amongDevices(const std::string &folder)
{
    char resolved[PATH_MAX];
    if (!realpath(folder.c_str(), resolved))
        return false;
    const std::string place = std::string(resolved) + "/";
    return place.compare(0, 5, "/dev/") == 0 && place.compare(0, 9, "/dev/shm/") != 0;
}

bool
preallocate(const std::string &path, const uint64_t bytes, std::string &error)
{
    if (amongDevices(folderOf(path))) {
        error = path + ": there is no such device, and files are not made among devices; check the name";
        return false;
    }
    if (!fits(path, bytes, error))
        return false;

    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        const int errnum = errno;
        error = path + ": cannot create: " + strerror(errnum);
        if (errnum == EEXIST)
            error += "; use it as it is, remove it, or give another name";
        return false;
    }

    int errnum = fill(fd, bytes);
    if (close(fd) != 0 && !errnum)
        errnum = errno;
    if (!errnum)
        errnum = syncFolder(folderOf(path));
    if (!errnum)
        return true;

    (void)unlink(path.c_str());
    error = path + ": cannot reserve " + std::to_string(bytes) + " bytes: " + strerror(errnum) + "; nothing was left behind";
    return false;
}

} // namespace ClusterFs
