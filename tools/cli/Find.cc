// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs find. */

#include "Commands.h"
#include "Manager.h"

namespace ClusterFs::Cli {

static int
runFind(const Words &words)
{
    std::string url;
    bool json = false;
    Line line("find");
    line.text("url", url, "URL", "the URL to look for");
    line.flag("json", json, "print JSON");
    if (!line.read(words))
        return exitFine;
    if (url.empty())
        throw BadRequest("give --url=URL");
    const Manager manager(line.path());
    Manager::Lines lines;
    if (!manager.ask("clusterfs_find", "url", url, lines))
        return exitCannot;
    Output out(json);
    putLines(out, lines);
    out.finish();
    return valueOf(lines, "cache_dir").empty() ? exitProblems : exitFine;
}

extern const Command findOfSquidCommand = {
    "find", &runFind,
    "SQUID --url=URL [--json]",
    "Says whether a running Squid has a URL in a cache_dir clusterfs, and in memory: where,\n"
    "its key, size, times and flags. Exit status 1 when no cache_dir has it."
};

} // namespace ClusterFs::Cli
