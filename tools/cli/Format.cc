// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs format. */

#include "Commands.h"
#include "Image.h"

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/api/Options.h"
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
#include <map>
#include <sstream>

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

/// what the table says of an option, in lines that suit the help
std::string
helpOf(const Option &option)
{
    constexpr size_t width = 52;
    std::istringstream words(option.brief + std::string("; from ") + std::to_string(option.least) + " to " + std::to_string(option.most) +
                             " (default: " + option.defaultValue() + ")");
    std::string text;
    size_t used = 0;
    for (std::string word; words >> word; used += 1 + word.size()) {
        const bool fits = used + word.size() < width;
        text += (text.empty() ? "" : fits ? " " : "\n") + word;
        used = fits ? used : 0;
    }
    return text;
}

/// \returns false when help was asked for
bool
understand(const Words &words, FormatOrder &order)
{
    std::string size, owner, error;
    Line line("format");
    line.text("size", size, "MB", "make a file of that size, if there is none; of an existing\ndevice or file, use only that much");
    std::map<const Option *, std::string> values;
    for (const auto &option: options()) {
        if (option.effect == Option::Effect::format)
            line.text(option.name, values[&option], option.unit, helpOf(option));
    }
    line.text("owner", owner, "USER", "give the device or file to this user (cache_effective_user); needs root");
    line.flag("force", order.force, "overwrite whatever is there, unless it is in use");
    if (!line.read(words))
        return false;
    order.path = line.path();
    for (const auto &[option, value]: values) {
        if (!value.empty() && !option->take(order.config, value, error))
            throw BadRequest("--" + error + " (" + option->unit + ")");
    }
    if (!order.config.validate(error))
        throw BadRequest(error);
    if (!size.empty())
        order.bytes = Tools::wholeFrom("--size", size, smallestDevice >> 20, uint64_t(1) << 40) << 20;
    order.owner = owner.empty() ? nullptr : getpwnam(owner.c_str());
    if (!owner.empty() && !order.owner)
        throw BadRequest("--owner=" + owner + ": there is no such user");
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

int
runFormat(const Words &words)
{
    FormatOrder order;
    if (!understand(words, order))
        return exitFine;
    std::string error;
    const int result = format(order, error);
    if (!error.empty())
        complain(error);
    return result;
}

} // namespace

extern const Command formatCommand = {
    "format", &runFormat,
    "PATH [--size=MB] [--cluster-size=KB] [--object-size=KB]\n"
    "                        [--owner=USER] [--force]",
    "Makes an empty cache on a block device or in a file."
};

} // namespace ClusterFs::Cli
