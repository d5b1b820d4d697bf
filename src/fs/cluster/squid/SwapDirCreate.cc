// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "debug/Stream.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/device/Preallocation.h"
#include "fs/cluster/recovery/Format.h"
#include "fs/cluster/squid/SwapDir.h"

#include <algorithm>
#include <cerrno>
#include <sys/random.h>
#include <sys/stat.h>

/// squid -z: leaves alone what is ours, formats what is blank, refuses the rest.
/// A refusal costs this cache_dir only: the others are made, and Squid starts.
void
ClusterFs::SwapDir::create()
{
    std::string error;
    Preallocation file;
    if (makeFile(file, error) && formatBlank(file, error))
        return;

    // then a better size, say, is as welcome as if nothing had happened
    if (!file.undo())
        error += "; what was made of it is left: remove it";
    debugs(47, DBG_CRITICAL, "ERROR: cache_dir " << type() << " was not made, and Squid does without it: " << named(error));
}

/// Sees to it that a file is there, and as long as configured, where there may
/// be one. All of this is done as the user that will use the file.
bool
ClusterFs::SwapDir::makeFile(Preallocation &file, std::string &error) const
{
    const auto wanted = sizeMb_ << 20;
    struct stat name;
    if (lstat(path, &name) != 0 && errno == ENOENT) {
        if (sizeMb_)
            return file.create(path, wanted, error);
        error = "it does not exist: name an existing device or file, or write a size in MB after the path to have a file made";
        return false;
    }
    const auto verdict = examine(path);
    if (!verdict.file || !verdict.blank || verdict.bytes >= wanted) {
        error = verdict.usable ? std::string() : verdict.reason;
        return verdict.usable;
    }
    return file.extend(path, verdict.id, wanted, error);
}

/// formats what may be formatted without asking
bool
ClusterFs::SwapDir::formatBlank(const Preallocation &file, std::string &error) const
{
    const auto verdict = examine(path);
    if (verdict.ours) {
        debugs(47, DBG_IMPORTANT, "cache_dir " << type() << ' ' << path << " holds a cache already and was left as it is");
        return true;
    }
    if (!verdict.blank || !verdict.usable) {
        error = verdict.reason;
        return false;
    }
    if (file.id().known() && file.id() != verdict.id) {
        error = "replaced by something else while it was made; try again";
        return false;
    }
    auto config = config_;
    resolveDefaults(config);

    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) {
        error = std::string("no randomness: ") + xstrerr(errno);
        return false;
    }
    AioDevice::OpenOptions options;
    options.path = path;
    options.id = verdict.id;
    options.depth = config.depth;
    const auto device = AioDevice::Open(clock_, options, log(), error);
    if (!device)
        return false;

    const auto available = device->size();
    const auto wanted = sizeMb_ ? sizeMb_ << 20 : available;
    if (wanted >> 20 != available >> 20) {
        debugs(47, DBG_IMPORTANT, "WARNING: cache_dir " << type() << ' ' << path << " is configured with " << sizeMb_ <<
               " MB, but has " << (available >> 20) << " MB" << (wanted < available ? "; the rest stays unused" : ""));
    }
    const auto status = formatDevice(*device, config, seed, error, std::min(wanted, available));
    if (status == Status::ok)
        debugs(47, DBG_IMPORTANT, "cache_dir " << type() << ' ' << path << " was formatted");
    else if (error.empty())
        error = statusText(status);
    return status == Status::ok;
}

/// \returns what squid -z could do about a failed start; maybe nothing
std::string
ClusterFs::SwapDir::advice() const
{
    struct stat found;
    if (lstat(path, &found) != 0)
        return errno == ENOENT && sizeMb_ ? "; run squid -z to have a file made" : "";
    const auto verdict = examine(path);
    return verdict.blank && (verdict.usable || (verdict.file && sizeMb_)) ? "; run squid -z to format it" : "";
}

/// an error that mentions what it is about
std::string
ClusterFs::SwapDir::named(const std::string &error) const
{
    return error.find(path) == std::string::npos ? std::string(path) + ": " + error : error;
}
