// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/Stats.h"
#include "fs/cluster/squid/SwapDir.h"
#include "SquidMath.h"
#include "Store.h"

void
ClusterFs::ReportStats(StoreEntry * const e)
{
    SwapDir::ForEach([e](const SwapDir &dir) {
        storeAppendPrintf(e, "cache_dir #%d: %s %s\n", dir.index, dir.type(), dir.path);
        const auto report = dir.report();
        if (report.empty())
            storeAppendPrintf(e, "state: %s\n", dir.stateText().c_str());
        else // may be longer than a formatting buffer
            e->append(report.data(), static_cast<int>(report.size()));
        storeAppendPrintf(e, "objects listed: %s\n", dir.lists() ? "yes" : "no (list=off): neither by mgr:objects nor in digests");
        storeAppendPrintf(e, "\n");
    });
}

std::string
ClusterFs::SwapDir::stateText() const
{
    if (!trouble_.empty())
        return "not used: " + trouble_;
    if (stopped_)
        return "stopped";
    if (!engine_) // added by a reconfiguration, or not our business
        return active() ? "not used before a restart" : "not used by this process";
    return engine_->stateText();
}

std::string
ClusterFs::SwapDir::report() const
{
    return started() ? engine_->report() : std::string();
}

void
ClusterFs::SwapDir::statfs(StoreEntry &e) const
{
    storeAppendPrintf(&e, "State: %s\n", stateText().c_str());
    storeAppendPrintf(&e, "Maximum Size: %" PRIu64 " KB\n", maxSize() >> 10);
    storeAppendPrintf(&e, "Current Size: %.2f KB %.2f%%\n", static_cast<double>(currentSize()) / 1024.0,
                      Math::doublePercent(static_cast<double>(currentSize()), static_cast<double>(maxSize())));
    if (started()) {
        const auto stats = engine_->stats();
        storeAppendPrintf(&e, "Maximum entries: %9" PRIu64 "\n", stats.indexCapacity);
        storeAppendPrintf(&e, "Current entries: %9" PRIu64 " %.2f%%\n", stats.objects,
                          Math::doublePercent(static_cast<double>(stats.objects), static_cast<double>(stats.indexCapacity)));
        storeAppendPrintf(&e, "Clusters: %" PRIu64 " used, %" PRIu64 " free, %" PRIu64 " bad\n",
                          stats.clustersPacked + stats.clustersPart, stats.clustersFree, stats.clustersBad);
    }
    storeAppendPrintf(&e, "Pending operations: %zu\n", openStates);
    storeAppendPrintf(&e, "Flags:");
    if (flags.selected)
        storeAppendPrintf(&e, " SELECTED");
    if (flags.read_only)
        storeAppendPrintf(&e, " READ-ONLY");
    storeAppendPrintf(&e, "\n");
}
