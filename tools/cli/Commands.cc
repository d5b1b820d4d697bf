// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands, and the help that is made of it. */

#include "Commands.h"

namespace ClusterFs::Cli {

/* each is defined where it is done, in a file of its name */
extern const Command setupCommand;
extern const Command formatCommand;
extern const Command growCommand;
extern const Command probeCommand;
extern const Command inspectCommand;
extern const Command checkCommand;
extern const Command dumpCommand;
extern const Command mapCommand;
extern const Command listCommand;
extern const Command findOfSquidCommand;
extern const Command clearCommand;
extern const Command purgeCommand;
extern const Command reportCommand;
extern const Command ringCommand;
extern const Command topCommand;
extern const Command whatifCommand;
extern const Command accelerateCommand;

const std::vector<Command> &
commands()
{
    static const std::vector<Command> table = {
        setupCommand,
        formatCommand,
        growCommand,
        probeCommand,
        inspectCommand,
        checkCommand,
        dumpCommand,
        mapCommand,
        listCommand,
        findOfSquidCommand,
        clearCommand,
        purgeCommand,
        reportCommand,
        ringCommand,
        topCommand,
        whatifCommand,
        accelerateCommand,
    };
    return table;
}

const Command *
findCommand(const std::string &name)
{
    for (const auto &command: commands()) {
        if (name == command.name)
            return &command;
    }
    return nullptr;
}

static std::string
usageOf(const Command &command)
{
    return std::string("clusterfs ") + command.name + " " + command.usage;
}

std::string
overview()
{
    std::string text = "clusterfs: makes, checks and reads the disks of Squid's cache_dir clusterfs\n\n";
    for (const auto &command: commands())
        text += "  " + usageOf(command) + "\n";
    return text +
           "  clusterfs help [SUBCOMMAND]\n"
           "  clusterfs --version\n"
           "\n"
           "PATH is a block device or a file that no running Squid uses, and SQUID is the address\n"
           "of a running one, http://HOST:PORT. Exit status: 0 done, 1 done but something is\n"
           "damaged, 2 refused.\n"
           "\n"
           "Subcommands that go through the objects take as much memory as Squid for the\n"
           "index: 36 bytes an object, 64 a cluster. Each subcommand has a manual page, such as\n"
           "clusterfs-check(8).\n";
}

Line::Line(const char *const command):
    CommandLine(usageOf(*findCommand(command)) + "\n\n" + findCommand(command)->purpose)
{
    words(paths_);
}

bool
Line::read(const Words &given)
{
    if (!CommandLine::read(given))
        return false;
    if (paths_.empty())
        throw BadRequest("there is no path. Name a block device or a file, or the address of a running Squid");
    if (paths_.size() > 1)
        throw BadRequest("one path at a time: there are " + paths_[0] + " and " + paths_[1]);
    if (path().empty())
        throw BadRequest("the path is empty");
    return true;
}

} // namespace ClusterFs::Cli
