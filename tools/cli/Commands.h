// SPDX-License-Identifier: GPL-2.0-or-later
/* The subcommands. */

#ifndef CLUSTERFS_TOOLS_CLI_COMMANDS_H
#define CLUSTERFS_TOOLS_CLI_COMMANDS_H

#include "Arguments.h"

namespace ClusterFs::Cli {

enum ExitCode {
    exitFine = 0,
    exitProblems = 1, ///< done, but something is damaged or did not work out
    exitCannot = 2 ///< wrong usage, not a clusterfs device, in use
};

int runFormat(const Arguments &);
int runInspect(const Arguments &);
int runCheck(const Arguments &);
int runDump(const Arguments &);
int runMap(const Arguments &);
int runPurge(const Arguments &);

/// a subcommand's line in the table of all
struct Command {
    const char *name;
    int (*run)(const Arguments &);
    std::vector<OptionRule> options;
    const char *help; ///< several lines
};

const std::vector<Command> &commands();

/// \returns nil when there is none of that name
const Command *findCommand(const std::string &name);

/// what "clusterfs help" prints
std::string overview();

} // namespace ClusterFs::Cli

#endif
