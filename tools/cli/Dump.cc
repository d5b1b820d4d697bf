// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs dump. */

#include "Commands.h"
#include "Objects.h"
#include "SwapMeta.h"

#include <cinttypes>
#include <cstdio>

using namespace Tools;

namespace ClusterFs::Cli {
namespace {

/// one at a time, since there may be more of them than fit into memory
/// \param json of the object before: its fields are used again, which takes half the time
void
printJson(const FoundObject &object, const std::string *url, Json &json)
{
    const auto &info = object.info;
    json["key"] = object.named ? Json(object.key.hex()) : Json();
    json["url"] = url ? Json(bytesText(*url)) : Json();
    json["size"] = info.size;
    json["timestamp"] = info.timestamp;
    json["expires"] = info.expires;
    json["last_modified"] = info.lastModified;
    json["flags"] = flagNames(info.flags);
    json["cluster"] = object.cluster.value();
    json["offset"] = object.offset;
    json["state"] = object.status == Status::ok ? "whole" : "damaged";
    puts(jsonText(json).c_str());
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
           object.cluster.value(), object.offset, object.status == Status::ok ? "whole" : "damaged");
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
            const bool known = object.status == Status::ok && findUrl(object.bytes, object.size, url);
            damaged += object.status != Status::ok;
            if (json)
                printJson(object, known ? &url : nullptr, asJson);
            else
                printText(object, known ? &url : nullptr);
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
