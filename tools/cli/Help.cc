// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands and what they say of themselves. */

#include "Commands.h"

namespace ClusterFs::Cli {
namespace {

const char formatHelp[] =
    "clusterfs format PATH [--size=MB] [--cluster-size=KB] [--object-size=KB]\n"
    "                      [--owner=USER] [--force]\n"
    "\n"
    "Makes an empty cache on a block device or in a file.\n"
    "\n"
    "  --size=MB          make a file of that size, if there is none; of what exists,\n"
    "                     use only so much\n"
    "  --cluster-size=KB  unit of disk space and of writes: a power of two from 16 to\n"
    "                     16384 (default: 1024)\n"
    "  --object-size=KB   mean size to expect of objects; plans the index (default: 13)\n"
    "  --owner=USER       give the device or file to this user (Squid's), as root\n"
    "  --force            overwrite whatever is there, unless it is in use\n";

const char inspectHelp[] =
    "clusterfs inspect PATH [--cluster=N] [--json]\n"
    "\n"
    "Shows superblocks, regions, index log, groups and journals. Changes nothing.\n"
    "\n"
    "  --cluster=N  show the directory of this cluster instead\n"
    "  --json       print one JSON object\n";

const char checkHelp[] =
    "clusterfs check PATH [--json]\n"
    "\n"
    "Reads superblocks, index log, journals, and all clusters in use, compares every\n"
    "checksum, and says what a start would do. Changes nothing.\n"
    "Ends with 0 when all is well, 1 when something is damaged, 2 when it cannot tell.\n"
    "\n"
    "  --json  print one JSON object\n";

const char dumpHelp[] =
    "clusterfs dump PATH [--json]\n"
    "\n"
    "Lists the objects that a start would find, a line each: key, URL, size, time of\n"
    "the response, expiry, last modification, flags, cluster, offset, state; separated\n"
    "by tabs. Times are seconds since 1970, -1 when unknown. Changes nothing.\n"
    "\n"
    "  --json  print a JSON object for each\n";

const char mapHelp[] =
    "clusterfs map PATH\n"
    "\n"
    "Prints a picture of the device as SVG: where groups, single and large objects are,\n"
    "and of each cluster how long ago it was written and used, and how much of it is\n"
    "still needed. Changes nothing.\n";

const char purgeHelp[] =
    "clusterfs purge PATH (--url=URL | --prefix=TEXT | --pattern=REGEX) [--dry-run]\n"
    "\n"
    "Removes objects from a cache that no Squid has open: lists them, a line each (key,\n"
    "size, URL, separated by tabs), and says at the end how many were removed.\n"
    "\n"
    "  --url=URL        all versions of exactly this URL\n"
    "  --prefix=TEXT    all URLs that begin with this\n"
    "  --pattern=REGEX  all URLs in which this POSIX extended regular expression matches\n"
    "  --dry-run        only list them; changes nothing\n";

} // namespace

const std::vector<Command> &
commands()
{
    static const std::vector<Command> table = {
        {   "format", &runFormat, {
                {"size", "MB"}, {"cluster-size", "KB"}, {"object-size", "KB"}, {"owner", "USER"}, {"force", nullptr}
            }, formatHelp
        },
        {"inspect", &runInspect, {{"cluster", "N"}, {"json", nullptr}}, inspectHelp},
        {"check", &runCheck, {{"json", nullptr}}, checkHelp},
        {"dump", &runDump, {{"json", nullptr}}, dumpHelp},
        {"map", &runMap, {}, mapHelp},
        {   "purge", &runPurge, {
                {"url", "URL"}, {"prefix", "TEXT"}, {"pattern", "REGEX"}, {"dry-run", nullptr}
            }, purgeHelp
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

std::string
overview()
{
    return "clusterfs: makes, checks and reads the disks of Squid's cache_dir clusterfs\n"
           "\n"
           "  clusterfs format PATH [--size=MB] [--cluster-size=KB] [--object-size=KB]\n"
           "                        [--owner=USER] [--force]\n"
           "  clusterfs inspect PATH [--cluster=N] [--json]\n"
           "  clusterfs check PATH [--json]\n"
           "  clusterfs dump PATH [--json]\n"
           "  clusterfs map PATH\n"
           "  clusterfs purge PATH (--url=URL | --prefix=TEXT | --pattern=REGEX) [--dry-run]\n"
           "  clusterfs help [SUBCOMMAND]\n"
           "  clusterfs --version\n"
           "\n"
           "PATH is a block device or a file that no running Squid uses. Exit codes: 0 fine,\n"
           "1 done but something is damaged, 2 refused.\n"
           "\n"
           "Check, dump, map and purge take as much memory as Squid for the index: 36 bytes an\n"
           "object, 64 a cluster.\n";
}

} // namespace ClusterFs::Cli
