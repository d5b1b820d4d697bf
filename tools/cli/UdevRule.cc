// SPDX-License-Identifier: GPL-2.0-or-later
/* The rule of udev that gives a cache's disk to Squid's user. */

#include "UdevRule.h"

#include <fstream>
#include <iterator>

namespace {

// The number of the file is behind those of 60-persistent-storage.rules and 63-md-raid-arrays.rules, which find out what
// else is on a disk. A partition inherits ID_PART_TABLE_TYPE from its disk.
const char text[] = R"(# SPDX-License-Identifier: GPL-2.0-or-later
# Gives each disk, partition or volume that holds a clusterfs cache to Squid's user, and a link in /dev/disk/by-clusterfs.
# The superblock tells, so the disk may move to another port. For another user, copy this file to /etc/udev/rules.d.

SUBSYSTEM!="block", GOTO="clusterfs_end"
ACTION=="remove", GOTO="clusterfs_end"
KERNEL!="loop*|mmcblk*[0-9]|nvme*|sd*|vd*|xvd*|bcache*|dasd*|dm-*|md*|nbd*|pmem*|rbd*", GOTO="clusterfs_end"

# a file system, a RAID or a partition table has come since, or the volume cannot be read now
ENV{ID_FS_TYPE}=="?*", GOTO="clusterfs_end"
ENV{DEVTYPE}=="disk", ENV{ID_PART_TABLE_TYPE}=="?*", GOTO="clusterfs_end"
ENV{DM_UDEV_DISABLE_OTHER_RULES_FLAG}=="1", GOTO="clusterfs_end"
ENV{SYSTEMD_READY}=="0", GOTO="clusterfs_end"

IMPORT{program}!="@PROGRAM@ probe --udev $devnode", GOTO="clusterfs_end"
ENV{CLUSTERFS_UUID}!="?*", GOTO="clusterfs_end"
OWNER="@USER@", MODE="0600", SYMLINK+="disk/by-clusterfs/$env{CLUSTERFS_UUID}"

# A rotating disk is served best by mq-deadline, which most kernels choose by themselves. For one that has another scheduler:
#ENV{DEVTYPE}=="disk", ATTR{queue/rotational}=="1", ATTR{queue/scheduler}="mq-deadline"

LABEL="clusterfs_end"
)";

/// in the order in which udev looks for a file of some name
const char *const folders[] = {"/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"};

void
put(std::string &rule, const std::string &name, const std::string &value)
{
    rule.replace(rule.find(name), name.size(), value);
}

/// \returns false when there is no such file
bool
readFile(const std::string &path, std::string &content)
{
    std::ifstream in(path);
    content.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    return in.good() || in.eof();
}

} // namespace

std::string
ClusterFs::Cli::ruleText(const std::string &user, const std::string &program)
{
    std::string rule(text);
    put(rule, "@PROGRAM@", program);
    put(rule, "@USER@", user);
    return rule;
}

std::string
ClusterFs::Cli::ruleFor(const std::string &user, const std::string &folder)
{
    const auto matches = [&](const std::string &path, bool &there) {
        std::string content;
        there = readFile(path, content);
        return there && content.find("\nOWNER=\"" + user + "\",") != std::string::npos;
    };
    bool there = false;
    if (!folder.empty())
        return matches(folder + "/" + ruleName, there) ? folder + "/" + ruleName : std::string();
    for (const char *const place: folders) {
        auto path = std::string(place) + "/" + ruleName;
        if (matches(path, there))
            return path;
        if (there)
            break; // it hides those of the folders behind
    }
    return std::string();
}
