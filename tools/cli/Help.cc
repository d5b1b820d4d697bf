// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands and what they say of themselves. */

#include "Commands.h"

namespace ClusterFs::Cli {

const std::vector<Command> &
commands()
{
    static const std::vector<Command> table = {
        {   "format", &runFormat,
            "PATH [--size=MB] [--cluster-size=KB] [--object-size=KB]\n"
            "                        [--owner=USER] [--force]",
            "Makes an empty cache on a block device or in a file."
        },
        {   "inspect", &runInspect, "PATH [--cluster=N] [--json]",
            "Shows superblocks, regions, index log, groups and journals, or the directory of one\n"
            "cluster. Changes nothing."
        },
        {   "check", &runCheck, "PATH [--json]",
            "Reads superblocks, index log, journals, and all clusters in use. Compares every\n"
            "checksum, and says what a start would do. Changes nothing.\n"
            "Ends with 0 when nothing is damaged, 1 when something is, 2 when it could not check."
        },
        {   "dump", &runDump, "PATH [--json]",
            "Lists the objects that a start would find, a line each, separated by tabs: key, URL,\n"
            "size, time of the response, expiry, last modification, flags, cluster, offset, state.\n"
            "Times are seconds since 1970, -1 when unknown. Changes nothing."
        },
        {   "map", &runMap, "PATH",
            "Prints a picture of the device as SVG: the places of groups, single and large\n"
            "objects, the age and last use of each cluster, and the share of it that is still\n"
            "needed. Changes nothing."
        },
        {   "purge", &runPurge, "PATH (--url=URL | --prefix=TEXT | --pattern=REGEX) [--dry-run]",
            "Removes objects from a cache that no Squid has open. Lists them, a line each (key,\n"
            "size, URL, separated by tabs), and says at the end how many were removed."
        },
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
           "PATH is a block device or a file that no running Squid uses. Exit status: 0 done,\n"
           "1 done but something is damaged, 2 refused.\n"
           "\n"
           "Check, dump, map and purge take as much memory as Squid for the index: 36 bytes an\n"
           "object, 64 a cluster. Each subcommand has a manual page, such as clusterfs-check(8).\n";
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
        throw BadRequest("there is no path. Name a block device or a file");
    if (paths_.size() > 1)
        throw BadRequest("one path at a time: there are " + paths_[0] + " and " + paths_[1]);
    if (path().empty())
        throw BadRequest("the path is empty");
    return true;
}

} // namespace ClusterFs::Cli
