// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "debug/Stream.h"
#include "fatal.h"
#include "fs/cluster/device/Ownership.h"
#include "fs/cluster/SwapDir.h"
#include "SquidConfig.h"
#include "tools.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/// squid -z: leaves alone what is ours, formats what is blank, refuses the rest
void
ClusterFs::SwapDir::create()
{
    struct stat found;
    const auto known = lstat(path, &found) == 0;
    const auto missing = !known && errno == ENOENT;
    const auto empty = known && S_ISREG(found.st_mode) && !found.st_size;

    std::string error;
    const auto made = (missing || empty) && makeFile(missing, error);
    if (error.empty())
        formatBlank(error);
    if (error.empty())
        return;

    if (made) { // then a better size, say, is as welcome as if nothing had happened
        enter_suid();
        if ((missing ? unlink(path) : truncate(path, 0)) != 0)
            debugs(47, DBG_IMPORTANT, "WARNING: cannot undo the creation of " << path << ": " << xstrerr(errno));
        leave_suid();
    }
    fatalf("cache_dir %s was not made: %s\n", type(), named(error).c_str());
}

/// Gives a file the configured size, so that Squid can use it after dropping
/// root privileges.
/// \param anew whether there is no file yet, or an empty one
/// \returns whether there is something to undo
bool
ClusterFs::SwapDir::makeFile(const bool anew, std::string &error) const
{
    if (!sizeMb_) {
        error = std::string(anew ? "it does not exist" : "it is empty") +
                ": name an existing device or file, or write a size in MB after the path to have a file made";
        return false;
    }
    const auto bytes = sizeMb_ << 20;
    if (bytes < smallestDevice) {
        error = "a size of " + std::to_string(sizeMb_) + " MB is too small: at least " +
                std::to_string(smallestDevice >> 20) + " MB are needed";
        return false;
    }
    enter_suid(); // the folder may be one that only root can write to
    const auto made = anew ? preallocate(path, bytes, error) : fillFile(bytes, error);
    if (made && anew && geteuid() == 0 && chown(path, Config2.effectiveUserID, Config2.effectiveGroupID) != 0)
        error = std::string("cannot give the new file to the cache_effective_user: ") + xstrerr(errno);
    leave_suid();
    return made;
}

/// reserves space for a file that is there and empty
bool
ClusterFs::SwapDir::fillFile(const uint64_t bytes, std::string &error) const
{
    const auto fd = ::open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        error = std::string("cannot open: ") + xstrerr(errno);
        return false;
    }
    auto problem = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    if (!problem && fsync(fd) != 0)
        problem = errno;
    if (problem) {
        error = "cannot reserve " + std::to_string(sizeMb_) + " MB: " + xstrerr(problem);
        if (ftruncate(fd, 0) != 0)
            error += "; the file is not empty any more";
    }
    close(fd);
    return !problem;
}

/// formats what may be formatted without asking
void
ClusterFs::SwapDir::formatBlank(std::string &error) const
{
    const auto verdict = examine(path);
    if (verdict.ours) {
        debugs(47, DBG_IMPORTANT, "cache_dir " << type() << ' ' << path << " holds a cache already and was left as it is");
        return;
    }
    if (!verdict.blank || !verdict.usable) {
        error = verdict.reason;
        return;
    }
    auto config = config_;
    resolveDefaults(config);

    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) {
        error = std::string("no randomness: ") + xstrerr(errno);
        return;
    }
    AioDevice::OpenOptions options;
    options.path = path;
    options.depth = config.depth;
    const auto device = AioDevice::Open(clock_, options, log(), error);
    if (!device)
        return;

    const auto available = device->size();
    const auto wanted = sizeMb_ ? sizeMb_ << 20 : available;
    if (wanted >> 20 != available >> 20) {
        debugs(47, DBG_IMPORTANT, "WARNING: cache_dir " << type() << ' ' << path << " is configured with " << sizeMb_ <<
               " MB, but has " << (available >> 20) << " MB" << (wanted < available ? "; the rest stays unused" : ""));
    }
    const auto status = Engine::Format(*device, config, seed, error, std::min(wanted, available));
    if (status == Status::ok)
        debugs(47, DBG_IMPORTANT, "cache_dir " << type() << ' ' << path << " was formatted");
    else if (error.empty())
        error = statusText(status);
}

/// \returns what squid -z could do about a failed start; maybe nothing
std::string
ClusterFs::SwapDir::advice() const
{
    struct stat found;
    if (lstat(path, &found) != 0)
        return errno == ENOENT && sizeMb_ ? "; run squid -z to have a file made" : "";
    const auto empty = S_ISREG(found.st_mode) && !found.st_size;
    return empty || examine(path).blank ? "; run squid -z to format it" : "";
}

/// an error that mentions what it is about
std::string
ClusterFs::SwapDir::named(const std::string &error) const
{
    return error.find(path) == std::string::npos ? std::string(path) + ": " + error : error;
}
