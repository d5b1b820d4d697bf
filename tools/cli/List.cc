// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs list. */

#include "Commands.h"
#include "Manager.h"
#include "Objects.h"

#include <cstdio>
#include <cstdlib>

using namespace Tools;

namespace ClusterFs::Cli {

static int
runList(const Words &words)
{
    std::string dir;
    std::string passwordFile;
    bool json = false;
    Line line("list");
    line.text("dir", dir, "PATH", "the cache_dir, as squid.conf names it; needed when there are several");
    line.flag("json", json, "print a JSON object for each object");
    declarePassword(line, passwordFile);
    if (!line.read(words))
        return exitFine;
    const Manager squid(line.path(), passwordFile);
    Json asJson;
    uint64_t unread = 0;
    auto ended = false;
    const auto answered = squid.ask("clusterfs_list", dir.empty() ? "" : "dir", dir, [&](const std::string &name, const std::string &value) {
        ObjectLine object;
        ended = name == "end";
        if (name == "clusters unread")
            unread = strtoull(value.c_str(), nullptr, 10);
        else if (name == "object" && object.parse(value))
            printObject(object, json ? &asJson : nullptr);
    });
    if (!answered)
        return exitCannot;
    if (unread)
        complain(squid.address() + ": " + std::to_string(unread) + " clusters could not be read; Squid gets no object of theirs, either");
    return squid.whole(ended) && !unread ? exitFine : exitProblems;
}

extern const Command listCommand = {
    "list", &runList,
    "SQUID [--dir=PATH] [--json] [--password-file=FILE]",
    "Lists the objects of a cache_dir of a running Squid, as dump does of a stopped one. The\n"
    "URLs are in the clusters, so Squid reads these in the background, at most 64 MB a second."
};

} // namespace ClusterFs::Cli
