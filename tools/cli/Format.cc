// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs format. */

#include "Commands.h"
#include "Formatting.h"
#include "Image.h"

#include <cstdio>

namespace ClusterFs::Cli {
namespace {

/// \returns false when help was asked for
bool
understand(const Words &words, FormatOrder &order)
{
    std::string owner;
    Line line("format");
    const FormatOptions options(line);
    line.text("owner", owner, "USER", "give the device or file to this user (cache_effective_user); needs root");
    line.flag("force", order.force, "overwrite whatever is there, unless it is in use");
    if (!line.read(words))
        return false;
    options.fill(line, order);
    order.owner = owner.empty() ? nullptr : userNamed(owner);
    return true;
}

int
describe(const FormatOrder &order, std::string &error)
{
    const auto image = Image::Open(order.path, false, Log(), error);
    Superblock superblock;
    if (!image || image->choose(superblock, error) != Status::ok)
        return exitProblems;
    const auto &g = superblock.geometry;
    printf("%s: formatted: %llu MB, %u clusters of %u KB, planned for %llu objects, UUID %s\n", order.path.c_str(),
           static_cast<unsigned long long>(g.deviceBytes >> 20), g.clusterCount, g.clusterBytes / 1024,
           static_cast<unsigned long long>(g.objectsExpected), uuidText(superblock.uuid).c_str());
    return exitFine;
}

/// does it all; \returns an exit code, with the reason in error unless it is fine
int
format(FormatOrder &order, std::string &error)
{
    bool already = false;
    if (makeCache(order, already, error) != Status::ok)
        return exitCannot;
    if (!already)
        return describe(order, error);
    printf("%s: is a clusterfs device already and was left as it is; --force would empty it\n", order.path.c_str());
    return exitFine;
}

int
runFormat(const Words &words)
{
    FormatOrder order;
    if (!understand(words, order))
        return exitFine;
    std::string error;
    const int result = format(order, error);
    if (!error.empty())
        complain(error);
    return result;
}

} // namespace

extern const Command formatCommand = {
    "format", &runFormat,
    "PATH [--size=MB] [--cluster-size=KB] [--object-size=KB]\n"
    "                        [--owner=USER] [--force]",
    "Makes an empty cache on a block device or in a file."
};

} // namespace ClusterFs::Cli
