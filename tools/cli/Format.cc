// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs format. */

#include "Commands.h"
#include "Image.h"

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/device/Preallocation.h"
#include "fs/cluster/recovery/Format.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ClusterFs::Cli {
namespace {

/// what was asked for, understood
struct FormatOrder {
    std::string path;
    Config config;
    uint64_t bytes = 0; ///< 0 = all there is
    bool force = false;
    const struct passwd *owner = nullptr; ///< nil = leave it
    FileId id; ///< what the path led to when it was examined
};

bool
understand(const Arguments &arguments, FormatOrder &order, std::string &error)
{
    order.path = arguments.path();
    order.force = arguments.has("force");
    for (const char *name: {"cluster-size", "object-size"}) {
        if (arguments.has(name) && !order.config.set(name, arguments.text(name), error)) {
            error = "--" + error + " (KB)";
            return false;
        }
    }
    if (!order.config.validate(error))
        return false;
    uint64_t megabytes = 0;
    if (!arguments.number("size", smallestDevice >> 20, uint64_t(1) << 40, megabytes, error))
        return false;
    order.bytes = megabytes << 20;
    if (arguments.has("owner")) {
        order.owner = getpwnam(arguments.text("owner").c_str());
        if (!order.owner) {
            error = "--owner=" + arguments.text("owner") + ": there is no such user";
            return false;
        }
    }
    return true;
}

/// gives what was examined to the user that was named, wherever the path leads by now
bool
giveAway(const FormatOrder &order, std::string &error)
{
    if (!order.owner)
        return true;
    const int fd = open(order.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat opened;
    bool done = fd >= 0 && fstat(fd, &opened) == 0;
    if (done && FileId(opened) != order.id) {
        error = order.path + ": replaced by something else meanwhile, and given to nobody; try again";
        close(fd);
        return false;
    }
    done = done && fchown(fd, order.owner->pw_uid, order.owner->pw_gid) == 0;
    if (!done)
        error = order.path + ": cannot give it to " + order.owner->pw_name + ": " + strerror(errno);
    if (fd >= 0)
        close(fd);
    return done;
}

/// \returns whether it may be formatted; already: it is ours and shall stay as it is
bool
permitted(FormatOrder &order, const Preallocation &file, bool &already, std::string &error)
{
    const auto verdict = examine(order.path);
    if (file.id().known() && file.id() != verdict.id) {
        error = order.path + ": replaced by something else while it was made; try again";
        return false;
    }
    order.id = verdict.id;
    already = verdict.ours && !order.force;
    if (verdict.usable || (verdict.forceable && order.force))
        return true;
    error = verdict.reason;
    struct stat found;
    if (lstat(order.path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && !found.st_size)
        error += "; remove the empty file, and format will make one of --size=MB";
    return false;
}

/// writes the superblocks and sees to it that nothing foreign is left
bool
writeSuperblocks(const FormatOrder &order, std::string &error)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) {
        error = std::string("no randomness: ") + strerror(errno);
        return false;
    }
    const SystemClock clock;
    AioDevice::OpenOptions options;
    options.path = order.path;
    options.id = order.id;
    const auto device = AioDevice::Open(clock, options, complaints(order.path), error);
    if (!device)
        return false;
    if (formatDevice(*device, order.config, seed, error, order.bytes) != Status::ok) {
        error = order.path + ": " + error;
        return false;
    }
    const auto verdict = examine(order.path);
    if (!verdict.ours)
        error = "formatted, but what was there before still shows: " + verdict.reason;
    return verdict.ours;
}

int
describe(const FormatOrder &order, std::string &error)
{
    const auto image = Image::Open(order.path, false, Log(), error);
    Superblock superblock;
    if (!image || image->choose(superblock, error) != Status::ok)
        return exitProblems;
    const auto &g = superblock.geometry;
    printf("%s: formatted: %llu MB, %u clusters of %u KB, planned for %llu objects, UUID %s\n", order.path.c_str(),
           static_cast<unsigned long long>(g.deviceBytes >> 20), g.clusterCount, g.clusterBytes / 1024,
           static_cast<unsigned long long>(g.objectsExpected), uuidText(superblock.uuid).c_str());
    return exitFine;
}

/// does it all; \returns an exit code, with the reason in error unless it is fine
int
format(FormatOrder &order, std::string &error)
{
    struct stat found;
    const bool missing = lstat(order.path.c_str(), &found) != 0 && errno == ENOENT;
    if (missing && !order.bytes) {
        error = order.path + ": does not exist; give --size=MB to have a file made, or an existing block device or file";
        return exitCannot;
    }
    Preallocation file;
    if (missing && !file.create(order.path, order.bytes, error))
        return exitCannot;

    bool already = false;
    bool done = permitted(order, file, already, error);
    if (done && !already)
        done = writeSuperblocks(order, error);
    done = done && giveAway(order, error);
    if (!done) {
        if (!file.undo()) // a better try is as welcome as if nothing had happened
            error += "; what was made of it is left: remove it";
        return exitCannot;
    }
    if (!already)
        return describe(order, error);
    printf("%s: is a clusterfs device already and was left as it is; --force would empty it\n", order.path.c_str());
    return exitFine;
}

} // namespace

int
runFormat(const Arguments &arguments)
{
    FormatOrder order;
    std::string error;
    int result = exitCannot;
    if (understand(arguments, order, error))
        result = format(order, error);
    if (!error.empty())
        complain(error);
    return result;
}

} // namespace ClusterFs::Cli
