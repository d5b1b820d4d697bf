// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs clear. */

#include "Commands.h"
#include "Manager.h"

namespace ClusterFs::Cli {

static int
runClear(const Words &words)
{
    std::string dir;
    std::string passwordFile;
    bool json = false;
    Line line("clear");
    line.text("dir", dir, "PATH", "the cache_dir to empty, as squid.conf names it");
    line.flag("json", json, "print JSON");
    declarePassword(line, passwordFile);
    if (!line.read(words))
        return exitFine;
    if (dir.empty())
        throw BadRequest("give --dir=PATH");
    return Manager(line.path(), passwordFile).run("clusterfs_clear", "dir", dir, json);
}

extern const Command clearCommand = {
    "clear", &runClear,
    "SQUID --dir=PATH [--password-file=FILE] [--json]",
    "Removes all objects of a cache_dir of a running Squid, waits for the end, and says how\n"
    "many there were."
};

} // namespace ClusterFs::Cli
