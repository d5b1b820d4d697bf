// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs dump. */

#include "Commands.h"
#include "Objects.h"

#include <cstdio>

using namespace Tools;

namespace ClusterFs::Cli {
namespace {

/// what dump shows of an object
ObjectLine
lineOf(const FoundObject &object, const std::string *url)
{
    return {object.named ? object.key.hex() : "", url ? std::make_optional(printable(*url)) : std::nullopt, object.info, object.cluster, object.offset,
            object.status == Status::ok ? "whole" : "damaged"};
}

int
runDump(const Words &words)
{
    bool json = false;
    Line line("dump");
    line.flag("json", json, "print a JSON object for each object");
    if (!line.read(words))
        return exitFine;
    OpenedIndex opened;
    if (!openIndex(line.path(), false, opened))
        return exitCannot;
    uint64_t damaged = 0;
    Json asJson;
    const auto &clusters = opened.view->catalog().clusters();
    for (ClusterNo n{0}; clusters.has(n) && !ferror(stdout); ++n) {
        if (!opened.view->holdsObjects(n))
            continue;
        FoundCluster cluster;
        opened.view->examine(n, cluster);
        for (const auto &object: cluster.objects) {
            std::string url;
            const bool known = object.status == Status::ok && findStoredUrl(object.bytes, object.size, url);
            damaged += object.status != Status::ok;
            printObject(lineOf(object, known ? &url : nullptr), json ? &asJson : nullptr);
        }
    }
    if (damaged)
        complain(line.path() + ": " + std::to_string(damaged) + " objects are damaged; Squid would not serve them");
    return damaged ? exitProblems : exitFine;
}

} // namespace

extern const Command dumpCommand = {
    "dump", &runDump,
    "PATH [--json]",
    "Lists the objects that a start would find, a line each, separated by tabs: key, URL,\n"
    "size, time of the response, expiry, last modification, flags, cluster, offset, state.\n"
    "Times are seconds since 1970, -1 when unknown. Changes nothing."
};

} // namespace ClusterFs::Cli
