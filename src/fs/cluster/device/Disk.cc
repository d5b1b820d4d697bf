// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel says of a disk. */

#include "fs/cluster/device/Disk.h"

#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace fs = std::filesystem;

namespace ClusterFs {
namespace {

/// the only line of a file; \returns false when it can't be read, with errno
bool
readLine(const fs::path &path, std::string &line)
{
    errno = 0;
    std::ifstream in(path);
    line.clear();
    return in && std::getline(in, line);
}

/// the word in brackets of a line such as "none [mq-deadline]"
std::string
chosen(const std::string &line)
{
    const auto from = line.find('[');
    const auto to = line.find(']');
    return from == std::string::npos || to == std::string::npos ? std::string() : line.substr(from + 1, to - from - 1);
}

} // namespace
} // namespace ClusterFs

bool
ClusterFs::lookAt(const std::string &path, const struct stat &found, Disk &disk, std::string &error, const std::string &root)
{
    disk.block = S_ISBLK(found.st_mode);
    if (!disk.block)
        return true;

    const fs::path link(root + "/sys/dev/block/" + std::to_string(major(found.st_rdev)) + ":" + std::to_string(minor(found.st_rdev)));
    std::error_code missing;
    auto folder = fs::canonical(link, missing);
    if (missing && missing != std::errc::no_such_file_or_directory) {
        error = path + ": cannot find out whether it has zones: " + link.string() + ": " + missing.message();
        return false;
    }
    if (missing)
        return true; // a kernel or a container that shows nothing of it
    if (fs::exists(folder / "partition", missing))
        folder = folder.parent_path();
    disk.name = folder.filename().string();

    if (!readLine(folder / "queue/zoned", disk.zoned) && errno != ENOENT) {
        error = path + ": cannot find out whether it has zones: " + (folder / "queue/zoned").string() + ": " + strerror(errno ? errno : EIO);
        return false;
    }
    std::string line;
    disk.rotational = readLine(folder / "queue/rotational", line) && line == "1";
    if (readLine(folder / "queue/scheduler", line)) {
        disk.scheduler = chosen(line);
        disk.hasDeadline = line.find("mq-deadline") != std::string::npos;
    }
    return true;
}

bool
ClusterFs::suits(const std::string &path, const Disk &disk, std::string &error)
{
    if (disk.zoned != "host-managed")
        return true;
    error = path + " is a zoned disk (host-managed, such as SMR disks for servers and ZNS): each of its zones takes writes only "
            "from its beginning to its end, and clusterfs writes anywhere; give another disk, or one that hides its zones";
    return false;
}
