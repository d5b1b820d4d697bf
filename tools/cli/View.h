// SPDX-License-Identifier: GPL-2.0-or-later
/* Subcommands that are written in Python, because they draw. */

#ifndef CLUSTERFS_TOOLS_CLI_VIEW_H
#define CLUSTERFS_TOOLS_CLI_VIEW_H

#include "Commands.h"

namespace ClusterFs::Cli {

/// Runs a command of tools/view, which is installed beside the programs in share/clusterfs/view, in the place of this process.
/// \param words of the command line, checked
/// \param input becomes its standard input, unless it is empty
/// \returns only when that was not possible: an ExitCode, with the reason printed
int runView(const std::string &command, const Words &words, const std::string &input = "");

} // namespace ClusterFs::Cli

#endif
