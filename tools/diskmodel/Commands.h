// SPDX-License-Identifier: GPL-2.0-or-later
/* The subcommands of diskmodel. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_COMMANDS_H
#define CLUSTERFS_TOOLS_DISKMODEL_COMMANDS_H

#include <string>
#include <vector>

namespace DiskModel {

// each \returns what to exit with, \throws BadRequest, and knows --help
int runServe(const std::vector<std::string> &words);
int runReplay(const std::vector<std::string> &words);
int runPredict(const std::vector<std::string> &words);

} // namespace DiskModel

#endif
