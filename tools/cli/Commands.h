// SPDX-License-Identifier: GPL-2.0-or-later
/* The subcommands. */

#ifndef CLUSTERFS_TOOLS_CLI_COMMANDS_H
#define CLUSTERFS_TOOLS_CLI_COMMANDS_H

#include "tools/base/CommandLine.h"

namespace ClusterFs::Cli {

using Tools::BadRequest;
using Tools::CommandLine;

enum ExitCode {
    exitFine = 0,
    exitProblems = 1, ///< done, but something is damaged or did not work out
    exitCannot = 2 ///< wrong usage, not a clusterfs device, in use
};

/// what follows the name of a subcommand
using Words = std::vector<std::string>;

/// A subcommand. A new one is a file that does it and ends with this, a row in Commands.cc, and a manual page.
struct Command {
    const char *name;
    int (*run)(const Words &); ///< \returns an ExitCode, \throws BadRequest, and knows --help
    const char *usage; ///< its path and options
    const char *purpose; ///< several lines
};

/// The command line of one subcommand: options, and one path.
class Line: public CommandLine
{
public:
    /// \param command in the table
    explicit Line(const char *command);

    /// \copydoc CommandLine::read
    bool read(const Words &);

    const std::string &path() const { return paths_.front(); }

private:
    std::vector<std::string> paths_;
};

const std::vector<Command> &commands();

/// \returns nil when there is none of that name
const Command *findCommand(const std::string &name);

/// what "clusterfs help" prints
std::string overview();

} // namespace ClusterFs::Cli

#endif
