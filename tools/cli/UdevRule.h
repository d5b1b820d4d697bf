// SPDX-License-Identifier: GPL-2.0-or-later
/* The rule of udev that gives a cache's disk to Squid's user. */

#ifndef CLUSTERFS_TOOLS_CLI_UDEVRULE_H
#define CLUSTERFS_TOOLS_CLI_UDEVRULE_H

#include <string>

namespace ClusterFs::Cli {

constexpr char ruleName[] = "65-clusterfs.rules"; ///< of the file

/// The text of the file. It finds the disks by their superblock, so one rule is enough for all of them.
/// packaging/udev has it as the package installs it.
/// \param program the path of clusterfs
std::string ruleText(const std::string &user, const std::string &program);

/// Looks for the rule where udev does.
/// \param folder instead of those of udev; empty = those
/// \returns the file that udev would take and that gives disks to this user; empty when there is none
std::string ruleFor(const std::string &user, const std::string &folder);

} // namespace ClusterFs::Cli

#endif
