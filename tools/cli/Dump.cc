// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs dump. */

#include "Commands.h"
#include "Objects.h"
#include "SwapMeta.h"

#include <cinttypes>
#include <cstdio>

namespace ClusterFs::Cli {
namespace {

void
printJson(const FoundObject &object, const std::string *url)
{
    std::string flags;
    for (const auto &name: flagNames(object.info.flags))
        flags += (flags.empty() ? "" : ",") + quoted(name);
    const auto &info = object.info;
    printf("{\"key\":%s,\"url\":%s,\"size\":%" PRIu64 ",\"timestamp\":%" PRId64 ",\"expires\":%" PRId64
           ",\"last_modified\":%" PRId64 ",\"flags\":[%s],\"cluster\":%u,\"offset\":%u,\"state\":\"%s\"}\n",
           object.named ? quoted(object.key.hex()).c_str() : "null", url ? quoted(*url).c_str() : "null", info.size,
           info.timestamp, info.expires, info.lastModified, flags.c_str(), object.cluster, object.offset,
           object.status == Status::ok ? "whole" : "damaged");
}

void
printText(const FoundObject &object, const std::string *url)
{
    std::string flags;
    for (const auto &name: flagNames(object.info.flags))
        flags += (flags.empty() ? "" : ",") + name;
    const auto &info = object.info;
    printf("%s\t%s\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%u\t%u\t%s\n",
           object.named ? object.key.hex().c_str() : "-", url ? printable(*url).c_str() : "-", info.size,
           info.timestamp, info.expires, info.lastModified, flags.empty() ? "-" : flags.c_str(),
           object.cluster, object.offset, object.status == Status::ok ? "whole" : "damaged");
}

} // namespace

int
runDump(const Arguments &arguments)
{
    OpenedIndex opened;
    if (!openIndex(arguments.path(), false, opened))
        return exitCannot;
    const bool json = arguments.has("json");
    uint64_t damaged = 0;
    const auto count = opened.view->catalog().clusters.count();
    for (ClusterNo n = 0; n < count && !ferror(stdout); ++n) {
        if (!opened.view->holdsObjects(n))
            continue;
        FoundCluster cluster;
        opened.view->examine(n, cluster);
        for (const auto &object: cluster.objects) {
            std::string url;
            const bool known = object.status == Status::ok && findUrl(object.bytes, object.size, url);
            damaged += object.status != Status::ok;
            if (json)
                printJson(object, known ? &url : nullptr);
            else
                printText(object, known ? &url : nullptr);
        }
    }
    if (damaged)
        complain(arguments.path() + ": " + std::to_string(damaged) + " objects are damaged; Squid would not serve them");
    return damaged ? exitProblems : exitFine;
}

} // namespace ClusterFs::Cli
