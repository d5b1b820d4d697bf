// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs setup. */

#include "Commands.h"
#include "Formatting.h"
#include "Image.h"
#include "UdevRule.h"

#include "fs/cluster/base/SystemMemory.h"
#include "fs/cluster/catalog/ClusterTable.h"
#include "fs/cluster/catalog/Record.h"
#include "fs/cluster/device/Disk.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

namespace ClusterFs::Cli {
namespace {

/// what setup was asked for, and what it has found out
struct Plan {
    FormatOrder order;
    std::string rules; ///< folder for udev's rule; empty = where udev looks, as far as it runs
    bool apply = false;

    Disk disk;
    Geometry geometry;
    bool missing = false; ///< a file that is to be made
    bool already = false; ///< a cache, which stays
    std::string name; ///< the path for squid.conf
};

/// \returns false when help was asked for
bool
understand(const Words &words, Plan &plan)
{
    std::string owner;
    Line line("setup");
    const FormatOptions options(line);
    line.text("owner", owner, "USER", "Squid's cache_effective_user (default: proxy or squid, whichever there is)");
    line.text("rules", plan.rules, "FOLDER", "for udev's rule, instead of /etc/udev/rules.d");
    line.flag("apply", plan.apply, "do it; needs root");
    if (!line.read(words))
        return false;
    options.fill(line, plan.order);
    for (const char *name: {"proxy", "squid"}) {
        if (owner.empty() && getpwnam(name))
            owner = name;
    }
    if (owner.empty())
        throw BadRequest("there is no user proxy or squid: name Squid's cache_effective_user with --owner=USER");
    plan.order.owner = userNamed(owner);
    plan.order.asOwner = true;
    return true;
}

/// A name that stays when disks are found in another order.
/// \returns the path itself when there is none
std::string
lastingName(const std::string &path, const Disk &disk)
{
    auto whole = fs::absolute(path).lexically_normal().string();
    struct stat wanted;
    if (!disk.block || whole.rfind("/dev/disk/", 0) == 0 || whole.rfind("/dev/mapper/", 0) == 0 || stat(path.c_str(), &wanted) != 0)
        return whole;
    std::vector<std::string> names;
    std::error_code error;
    for (const char *folder: {"/dev/disk/by-id", "/dev/mapper"}) {
        for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
            struct stat other;
            if (stat(i->path().c_str(), &other) == 0 && S_ISBLK(other.st_mode) && other.st_rdev == wanted.st_rdev)
                names.push_back(i->path().string());
        }
    }
    // a model and a serial number say more to people than a number alone
    const auto bare = [](const std::string &name) { return name.find("/wwn-") != std::string::npos || name.find("/nvme-eui.") != std::string::npos; };
    std::sort(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
        return bare(a) != bare(b) ? bare(b) : a < b;
    });
    return names.empty() ? whole : names.front();
}

/// Finds out all that there is to say; changes nothing.
/// \returns false when setup refuses, with the reason
bool
examineAll(Plan &plan, std::string &error)
{
    auto &order = plan.order;
    struct stat found;
    plan.missing = lstat(order.path.c_str(), &found) != 0 && errno == ENOENT && order.bytes;
    plan.name = lastingName(order.path, Disk());
    if (plan.missing) {
        if (plan.geometry.plan(order.bytes, order.config.clusterBytes(), order.config.objectKb << 10, error))
            return true;
        error = order.path + ": " + error;
        return false;
    }

    if (!permitted(order, plan.already, error))
        return false;
    if (stat(order.path.c_str(), &found) != 0) {
        error = order.path + ": " + strerror(errno);
        return false;
    }
    if (!lookAt(order.path, found, plan.disk, error))
        return false;
    plan.name = lastingName(order.path, plan.disk);
    const auto image = Image::Open(order.path, false, complaints(order.path), error); // not while somebody has it open
    if (!image)
        return false;
    if (plan.already) {
        Superblock superblock;
        if (image->choose(superblock, error) != Status::ok) {
            error = order.path + ": " + error + "; clusterfs format --force makes a new cache of it";
            return false;
        }
        plan.geometry = superblock.geometry;
        return true;
    }
    if (order.bytes > image->device().size()) {
        error = order.path + ": has fewer than the " + std::to_string(order.bytes >> 20) + " MB of --size";
        return false;
    }
    if (plan.geometry.plan(order.bytes ? order.bytes : image->device().size(), order.config.clusterBytes(), order.config.objectKb << 10, error))
        return true;
    error = order.path + ": " + error;
    return false;
}

/// a line of the answer
void
show(const char *const about, const std::string &text)
{
    printf("%-11s %s\n", about, text.c_str());
}

std::string
megabytes(const uint64_t bytes)
{
    return std::to_string(bytes >> 20) + " MB";
}

/// memory of this machine, bytes; 0 = not known
uint64_t
machineMemory()
{
    return SystemMemory().ofMachine().all;
}

/// how many objects a full device has
uint64_t
objectsOf(const Geometry &g)
{
    return std::min(g.deviceBytes / g.objectBytes, g.maxObjects);
}

/// memory of the index of a full device, bytes
uint64_t
indexOf(const Geometry &g)
{
    const auto objects = objectsOf(g);
    return objects * sizeof(Record) + objects / 2 * sizeof(uint32_t) + uint64_t(g.clusterCount) * sizeof(ClusterEntry) + g.clusterCount / 4;
}

/// A quarter of this machine's memory, but no more than could hold the whole device.
/// \returns MB
uint64_t
usefulMemory(const Plan &plan)
{
    constexpr uint64_t least = 64;
    const auto &g = plan.geometry;
    return std::max(least, std::min(machineMemory() / 4, indexOf(g) + g.deviceBytes) >> 20);
}

/// what docs/operations.md says of memory, of a full device
void
showMemory(const Plan &plan)
{
    const auto &g = plan.geometry;
    const auto &config = plan.order.config;
    const auto index = indexOf(g);
    const auto least = config.memoryMb ? config.leastMb() : config.readCacheMb; // memory= leaves the read cache what the others don't take
    const auto options = uint64_t(config.stagingMb + least + config.localityMb) << 20;
    const auto total = std::max(index + options, uint64_t(config.memoryMb) << 20);
    show("memory", megabytes(total) + " when it is full, and up to 25 MB for what is under way: " + megabytes(index) + " for the index of " +
         std::to_string(objectsOf(g)) + " objects of " + std::to_string(g.objectBytes >> 10) + " KB, " + megabytes(options) +
         " for staging, read-cache and locality");
    const auto machine = machineMemory();
    if (machine && total > machine / 2) {
        show("", "That is more than half of the " + megabytes(machine) + " of this machine: use less of the device (--size), or state a larger mean "
             "size if the objects are larger (--object-size)");
    }
}

void
showDisk(const Plan &plan)
{
    const auto &disk = plan.disk;
    std::string text = plan.missing ? "a file that will be made, " : disk.block ? "" : "a file, ";
    text += megabytes(plan.geometry.deviceBytes);
    if (disk.block)
        text += disk.rotational ? ", rotating" : ", not rotating";
    if (!disk.scheduler.empty())
        text += ", scheduler " + disk.scheduler;
    show("device", plan.order.path + ": " + text);
    if (disk.rotational && disk.hasDeadline && disk.scheduler != "mq-deadline")
        show("", "mq-deadline suits rotating disks: echo mq-deadline >/sys/block/" + disk.name + "/queue/scheduler");
    show("content", plan.already ? "a clusterfs cache, which stays as it is" : "blank, to be formatted: " + std::to_string(plan.geometry.clusterCount) +
         " clusters of " + std::to_string(plan.geometry.clusterBytes >> 10) + " KB");
}

/// the name of a path as a unit of systemd: what systemd-escape --path prints
std::string
unitName(const std::string &path)
{
    std::string name;
    for (size_t i = 1; i < path.size(); ++i) {
        const char c = path[i];
        char code[8];
        snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        const bool plain = isalnum(static_cast<unsigned char>(c)) || c == ':' || c == '_' || (c == '.' && i > 1);
        name += c == '/' ? "-" : plain ? std::string(1, c) : code;
    }
    return name;
}

bool
udevRuns()
{
    return access("/run/udev/control", F_OK) == 0;
}

/// Runs a program and waits for it.
/// \returns false when it could not be started, or failed
bool
runProgram(const std::vector<const char *> &words)
{
    std::vector<char *> arguments;
    arguments.reserve(words.size() + 1);
    for (const char *word: words)
        arguments.push_back(const_cast<char *>(word));
    arguments.push_back(nullptr);
    pid_t child = 0;
    int status = 0;
    return posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0 &&
           waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Writes a file in one step, so that nobody reads half of it.
bool
writeRule(const std::string &path, const std::string &text, std::string &error)
{
    const auto fresh = path + ".new";
    std::ofstream out(fresh, std::ios::trunc);
    out << text;
    out.close();
    if (out && rename(fresh.c_str(), path.c_str()) == 0)
        return true;
    error = path + ": cannot write it: " + strerror(errno);
    (void)unlink(fresh.c_str());
    return false;
}

/// Sees to it that udev gives the disk to its user at each start of the machine; says what there is to do, or does it.
/// \returns false when that failed, with the reason
bool
arrangeUdev(const Plan &plan, std::string &error)
{
    const std::string user(plan.order.owner->pw_name);
    if (!plan.disk.block || !plan.order.owner->pw_uid)
        return true;
    const auto rule = ruleFor(user, plan.rules);
    if (rule.empty() && plan.rules.empty() && !udevRuns()) {
        show("udev", "does not run here: something else must give the device to " + user + " at each start, in a container the host");
        return true;
    }
    const auto path = (plan.rules.empty() ? std::string("/etc/udev/rules.d") : plan.rules) + "/" + ruleName;
    show("udev", !rule.empty() ? rule + " gives it to " + user : path + (plan.apply ? " was" : " will be") + " written, and gives it to " + user);
    if (!plan.apply)
        return true;
    std::error_code problem;
    const auto self = fs::read_symlink("/proc/self/exe", problem).string();
    if (rule.empty() && !writeRule(path, ruleText(user, self), error))
        return false;
    if (!udevRuns())
        return true;
    if (runProgram({"udevadm", "control", "--reload"}) &&
            runProgram({"udevadm", "trigger", "--action=change", "--settle", ("--name-match=" + plan.order.path).c_str()}))
        return true;
    error = "udev was not told: run udevadm control --reload, and udevadm trigger " + plan.order.path;
    return false;
}

void
showWay(const Plan &plan)
{
    if (plan.disk.block) {
        const auto unit = unitName(plan.name) + ".device";
        show("systemd", "if the disk is slow to appear: systemctl edit squid, and there");
        show("", "[Unit]");
        show("", "Wants=" + unit);
        show("", "After=" + unit);
    }
    show("squid.conf", "cache_dir clusterfs " + plan.name + (plan.order.bytes ? " " + std::to_string(plan.order.bytes >> 20) : "") +
         " memory=" + std::to_string(usefulMemory(plan)));
    if (plan.disk.block && plan.name.rfind("/dev/disk/", 0) != 0 && plan.name.rfind("/dev/mapper/", 0) != 0)
        show("", "This name may be another disk's after the next start of the machine: see /dev/disk/by-path and by-partuuid");
    if (!plan.apply)
        puts("Nothing is changed yet: --apply does it.");
}

/// does it all; \returns an exit code, with the reason in error unless it is fine
int
setUp(Plan &plan, std::string &error)
{
    if (!plan.order.config.objectKb)
        plan.order.config.objectKb = Config::usualObjectKb;
    if (!examineAll(plan, error))
        return exitCannot;
    if (plan.apply && makeCache(plan.order, plan.already, error) != Status::ok)
        return exitCannot;
    showDisk(plan);
    showMemory(plan);
    show("owner", plan.order.owner->pw_name + std::string(plan.apply ? "" : ", from then on"));
    const bool arranged = arrangeUdev(plan, error);
    showWay(plan);
    return arranged ? exitFine : exitProblems;
}

int
runSetup(const Words &words)
{
    Plan plan;
    if (!understand(words, plan))
        return exitFine;
    std::string error;
    const int result = setUp(plan, error);
    if (!error.empty())
        complain(error);
    return result;
}

} // namespace

extern const Command setupCommand = {
    "setup", &runSetup,
    "PATH [--size=MB] [--cluster-size=KB] [--object-size=KB]\n"
    "                       [--owner=USER] [--rules=FOLDER] [--apply]",
    "Looks at a disk or file for a cache, says what it will take, and with --apply makes\n"
    "it: formats what is blank, gives it to Squid's user, and tells udev."
};

} // namespace ClusterFs::Cli
