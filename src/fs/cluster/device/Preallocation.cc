// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that can serve as a device. */

#include "fs/cluster/device/Preallocation.h"

#include <climits>
#include <cstdlib>
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

/// refuses a size that cannot work before anything is created
/// \param place descriptor of the folder, or of the file that is extended
/// \param bytes of the whole file
/// \param more bytes that it takes beyond those that it has
static bool
fits(const std::string &path, const int place, const uint64_t bytes, const uint64_t more, std::string &error)
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
    if (fstatvfs(place, &space) != 0) {
        error = path + ": cannot find out how much space there is: " + strerror(errno);
        return false;
    }
    const auto available = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
    if (more > available) {
        error = path + ": needs " + std::to_string(more) + " bytes, but the file system has only " + std::to_string(available) + " available; give a smaller size or make room";
        return false;
    }
    return true;
}

/// reserves the space and makes it survive a power cut
/// \returns an errno value, 0 on success
static int
fill(const int fd, const uint64_t bytes)
{
    // glibc writes zeros itself where the file system cannot reserve space
    int result = EINTR;
    for (unsigned i = 0; i < 100 && result == EINTR; ++i)
        result = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    if (result != 0)
        return result;
    return fsync(fd) == 0 ? 0 : errno;
}

/// makes the name of a new file survive a power cut
/// \returns an errno value, 0 on success
static int
syncFolder(const int fd)
{
    const int result = fsync(fd) == 0 ? 0 : errno;
    return result == EINVAL ? 0 : result; // some file systems cannot, and need not
}

/// whether a file there would take memory instead of disk: the name of a device was mistyped
static bool
amongDevices(const std::string &folder)
{
    char resolved[PATH_MAX];
    if (!realpath(folder.c_str(), resolved))
        return false;
    const std::string place = std::string(resolved) + "/";
    return place.compare(0, 5, "/dev/") == 0 && place.compare(0, 9, "/dev/shm/") != 0;
}

Preallocation::~Preallocation()
{
    for (const auto fd: {folder_, file_}) {
        if (fd >= 0)
            close(fd);
    }
}

bool
Preallocation::openFolder(const std::string &path, std::string &error)
{
    const auto folder = folderOf(path);
    if (amongDevices(folder)) {
        error = path + ": there is no such device, and files are not made among devices; check the name";
        return false;
    }
    folder_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) {
        const int errnum = errno;
        error = folder + ": " + strerror(errnum) + (errnum == ENOENT ? "; create this directory first" : "; this user must be able to read and write this directory");
        return false;
    }
    const auto slash = path.rfind('/');
    name_ = slash == std::string::npos ? path : path.substr(slash + 1);
    return true;
}

bool
Preallocation::create(const std::string &path, const uint64_t bytes, std::string &error)
{
    if (!openFolder(path, error) || !fits(path, folder_, bytes, bytes, error))
        return false;

    file_ = openat(folder_, name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file_ < 0) {
        const int errnum = errno;
        error = path + ": cannot create: " + strerror(errnum);
        if (errnum == EEXIST)
            error += "; use it as it is, remove it, or give another name";
        else if (errnum == EACCES)
            error += "; give this user a directory to write to, or let root make the file: clusterfs format --size=MB --owner=USER PATH";
        return false;
    }
    return reserve(path, bytes, error);
}

bool
Preallocation::extend(const std::string &path, const FileId &known, const uint64_t bytes, std::string &error)
{
    file_ = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat found;
    if (file_ < 0 || fstat(file_, &found) != 0) {
        error = path + ": cannot open: " + strerror(errno);
        return false;
    }
    bytesBefore_ = static_cast<uint64_t>(found.st_size);
    if (!S_ISREG(found.st_mode) || FileId(found) != known || bytesBefore_ > bytes) {
        error = path + ": replaced by something else while it was examined; try again";
        return false;
    }
    return fits(path, file_, bytes, bytes - bytesBefore_, error) && reserve(path, bytes, error);
}

/// gives the open file its space
bool
Preallocation::reserve(const std::string &path, const uint64_t bytes, std::string &error)
{
    struct stat made;
    int errnum = fstat(file_, &made) == 0 ? 0 : errno;
    if (!errnum)
        id_ = FileId(made);
    if (!errnum && folder_ >= 0 && fchmod(file_, 0600) != 0) // whatever the umask
        errnum = errno;
    if (!errnum)
        errnum = fill(file_, bytes);
    if (!errnum && folder_ >= 0)
        errnum = syncFolder(folder_);
    if (!errnum)
        return true;

    error = path + ": cannot reserve " + std::to_string(bytes) + " bytes: " + strerror(errnum);
    error += undo() ? "; nothing was left behind" : "; what was made of it is left: remove it";
    return false;
}

bool
Preallocation::undo()
{
    if (file_ < 0)
        return true;
    if (folder_ < 0)
        return ftruncate(file_, static_cast<off_t>(bytesBefore_)) == 0;

    struct stat now;
    if (fstatat(folder_, name_.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    return FileId(now) == id_ && unlinkat(folder_, name_.c_str(), 0) == 0;
}

} // namespace ClusterFs
