// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/base/Clock.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/recovery/Format.h"
#include "fs/cluster/squid/CacheLog.h"
#include "fs/cluster/squid/StoreMaker.h"

#include <algorithm>
#include <cerrno>
#include <sys/random.h>
#include <sys/stat.h>

ClusterFs::StoreMaker::StoreMaker(const std::string &path, const uint64_t sizeMb, const Config &config, const Log &log):
    path_(path),
    sizeMb_(sizeMb),
    config_(config),
    log_(log)
{
}

bool
ClusterFs::StoreMaker::make(std::string &error)
{
    if (makeFile(error) && formatBlank(error))
        return true;
    if (!file_.undo())
        error += "; what was made of it is left: remove it";
    return false;
}

/// creates a file if nothing has this path, and extends a blank one that is shorter than configured
bool
ClusterFs::StoreMaker::makeFile(std::string &error)
{
    const auto wanted = sizeMb_ << 20;
    struct stat found;
    if (lstat(path_.c_str(), &found) != 0 && errno == ENOENT) {
        if (sizeMb_)
            return file_.create(path_, wanted, error);
        error = "it does not exist: name an existing device or file, or write a size in MB after the path to have a file made";
        return false;
    }
    const auto verdict = examine(path_);
    if (!verdict.file || !verdict.blank || verdict.bytes >= wanted) {
        error = verdict.usable ? std::string() : verdict.reason;
        return verdict.usable;
    }
    return file_.extend(path_, verdict.id, wanted, error);
}

/// formats a blank device or file, and leaves a store of ours as it is
bool
ClusterFs::StoreMaker::formatBlank(std::string &error) const
{
    const auto verdict = examine(path_);
    if (verdict.ours) {
        say<Message::isOurs>(toCacheLog, path_);
        return true;
    }
    if (!verdict.blank || !verdict.usable) {
        error = verdict.reason;
        return false;
    }
    if (file_.id().known() && file_.id() != verdict.id) {
        error = "replaced by something else while it was made; try again";
        return false;
    }

    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) {
        error = std::string("no randomness: ") + xstrerr(errno);
        return false;
    }
    SystemClock clock;
    AioDevice::OpenOptions options;
    options.path = path_;
    options.id = verdict.id;
    options.depth = config_.depth;
    const auto device = AioDevice::Open(clock, options, log_, error);
    if (!device)
        return false;

    const auto available = device->size();
    const auto wanted = sizeMb_ ? sizeMb_ << 20 : available;
    if (wanted >> 20 < available >> 20)
        say<Message::partUnused>(toCacheLog, path_, sizeMb_, available >> 20);
    else if (wanted >> 20 > available >> 20)
        say<Message::deviceShorter>(toCacheLog, path_, sizeMb_, available >> 20);
    const auto status = formatDevice(*device, config_, seed, error, std::min(wanted, available));
    if (status == Status::ok)
        say<Message::formatted>(toCacheLog, path_);
    else if (error.empty())
        error = statusText(status);
    return status == Status::ok;
}

std::string
ClusterFs::StoreMaker::Advice(const std::string &path, const uint64_t sizeMb)
{
    struct stat found;
    if (lstat(path.c_str(), &found) != 0)
        return errno == ENOENT && sizeMb ? "; run squid -z to have a file made" : "";
    const auto verdict = examine(path);
    return verdict.blank && (verdict.usable || (verdict.file && sizeMb)) ? "; run squid -z to format it" : "";
}
