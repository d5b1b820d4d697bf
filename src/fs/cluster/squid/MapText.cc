// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/squid/EngineContext.h"
#include "fs/cluster/squid/MapText.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/SwapDir.h"

namespace {

/// seconds between two pieces, so that requests have most of the processor
const double Pause = 0.001;

} // namespace

ClusterFs::MapText::MapText(const SwapDir &dir):
    dir_(dir),
    starts_(dir.starts()),
    cells_(contextOf(*dir.engine()).catalog)
{
}

double
ClusterFs::MapText::work(std::string &text)
{
    if (!dir_.started() || dir_.starts() != starts_) {
        fail("cache_dir " + std::string(dir_.path) + " is " + dir_.stateText());
        return 0;
    }
    if (!begun_) {
        const auto &catalog = contextOf(*dir_.engine()).catalog;
        text += "cache_dir: " + printable(dir_.path) + "\n"
                "objects: " + std::to_string(catalog.objects()) + "\n"
                "clusters: " + std::to_string(catalog.clusters().count()) + "\n"
                "cluster bytes: " + std::to_string(dir_.engine()->superblock()->geometry.clusterBytes) + "\n"
                "columns: " + MapCell::columns + "\n";
        begun_ = true;
    }
    const auto more = cells_.work();
    for (; written_ < cells_.cells().size(); ++written_)
        text += "cell: " + cells_.cells()[written_].text() + "\n";
    if (more)
        return Pause;
    for (const auto &age: cells_.ages())
        text += "age: " + age.text() + "\n";
    finish(text);
    return 0;
}
