// SPDX-License-Identifier: GPL-2.0-or-later
/* Making an empty cache, with all that is looked at before. */

#include "lib/Formatting.h"

#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/device/DeviceCheck.h"
#include "fs/cluster/device/Preallocation.h"
#include "fs/cluster/recovery/Format.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ClusterFs::Library {
namespace {

/// Acts as a user while it lives, when root has started the program.
class Disguise
{
public:
    /// \param user nil = nobody else
    explicit Disguise(const struct passwd *user) {
        if (!user || geteuid() != 0)
            return;
        groups_.resize(static_cast<size_t>(getgroups(0, nullptr)));
        groups_.resize(static_cast<size_t>(getgroups(static_cast<int>(groups_.size()), groups_.data())));
        group_ = getegid();
        worn_ = true;
        failed_ = initgroups(user->pw_name, user->pw_gid) != 0 || setegid(user->pw_gid) != 0 || seteuid(user->pw_uid) != 0;
    }
    ~Disguise() {
        // root may always be root again: only a defect could keep us from it
        if (worn_ && (seteuid(0) != 0 || setegid(group_) != 0 || setgroups(groups_.size(), groups_.data()) != 0))
            abort();
    }
    Disguise(const Disguise &) = delete;
    Disguise &operator =(const Disguise &) = delete;

    bool failed() const { return failed_; }

private:
    std::vector<gid_t> groups_; ///< those that root had
    gid_t group_ = 0;
    bool worn_ = false;
    bool failed_ = false;
};

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

/// writes the superblocks and sees to it that nothing foreign is left
bool
writeSuperblocks(const FormatOrder &order, std::string &error)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) {
        error = std::string("no randomness: ") + strerror(errno);
        return false;
    }
    const Disguise disguise(order.asOwner ? order.owner : nullptr);
    if (disguise.failed()) {
        error = order.path + ": cannot act as " + order.owner->pw_name + ": " + strerror(errno);
        return false;
    }
    const SystemClock clock;
    AioDevice::OpenOptions options;
    options.path = order.path;
    options.id = order.id;
    const auto device = AioDevice::Open(clock, options, order.log, error);
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

} // namespace

bool
permitted(FormatOrder &order, bool &already, std::string &error)
{
    const auto verdict = examine(order.path);
    order.id = verdict.id;
    already = verdict.ours && !order.force;
    order.foreign = !verdict.usable && verdict.forceable && !order.force;
    if (!verdict.usable && !(verdict.forceable && order.force)) {
        error = verdict.reason;
        struct stat found;
        if (lstat(order.path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && !found.st_size)
            error += "; remove the empty file, and give " + order.sizeName + " to have one made";
        return false;
    }
    return true;
}

Status
makeCache(FormatOrder &order, bool &already, std::string &error)
{
    struct stat found;
    const bool missing = lstat(order.path.c_str(), &found) != 0 && errno == ENOENT;
    if (missing && !order.bytes) {
        error = order.path + ": does not exist; give " + order.sizeName + " to have a file made, or an existing block device or file";
        return Status::ioError;
    }
    Preallocation file;
    if (missing && !file.create(order.path, order.bytes, error))
        return Status::ioError;

    already = false;
    bool done = permitted(order, already, error);
    if (done && file.id().known() && file.id() != order.id) {
        error = order.path + ": replaced by something else while it was made; try again";
        done = false;
    }
    if (order.asOwner)
        done = done && giveAway(order, error) && (already || writeSuperblocks(order, error));
    else
        done = done && (already || writeSuperblocks(order, error)) && giveAway(order, error);
    if (done)
        return Status::ok;
    if (!file.undo()) // a better try is as welcome as if nothing had happened
        error += "; what was made of it is left: remove it";
    return order.foreign ? Status::notOurs : Status::ioError;
}

} // namespace ClusterFs::Library
