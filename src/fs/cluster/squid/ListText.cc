// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/squid/EngineContext.h"
#include "fs/cluster/squid/ListText.h"
#include "fs/cluster/squid/ObjectText.h"
#include "fs/cluster/squid/SwapDir.h"
#include "time/gadgets.h"

#include <utility>

namespace {

/// seconds between lines that say how far the list is: a client that gets nothing for a minute gives up
const int64_t ProgressSeconds = 10;

} // namespace

bool ClusterFs::ListText::running_ = false;

ClusterFs::ListText::ListText(SwapDir &dir):
    dir_(dir),
    told_(squid_curtime),
    search_(dir, ClusterSearch::Follows::nothing, turns_, [this](const ClusterSearch::Met &met) { list(met); })
{
    running_ = true;
}

double
ClusterFs::ListText::work(std::string &text)
{
    const auto pause = search_.go();
    text += std::exchange(lines_, std::string());
    if (squid_curtime >= told_ + ProgressSeconds) {
        told_ = squid_curtime;
        text += "clusters listed: " + std::to_string(search_.clustersDone()) + " of " + std::to_string(search_.clusters()) + "\n";
    }
    endWith(search_, text);
    return pause;
}

/// adds a line for an object that Squid finds in this place
void
ClusterFs::ListText::list(const ClusterSearch::Met &met)
{
    ObjectInfo info;
    if (!dir_.peekObject(met.key, info))
        return;
    const auto &index = contextOf(*dir_.engine()).catalog.index();
    const auto &record = index[index.find(met.key)];
    const auto isStaged = met.cluster == stagedCluster;
    if (record.cluster != met.cluster || (isStaged ? !staged_.insert(met.key).second : record.offset() != met.offset || staged_.count(met.key)))
        return; // an older copy, or listed already
    ObjectLine line;
    line.key = met.key.hex();
    line.url = printable(met.url);
    line.info = info;
    line.cluster = isStaged ? noCluster : met.cluster;
    line.offset = met.offset;
    lines_ += "object: " + line.text() + "\n";
}
