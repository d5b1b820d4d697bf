// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 47    Store Directory Routines */

#include "squid.h"
#include "fs/cluster/squid/Stats.h"
#include "fs/cluster/squid/SwapDir.h"
#include "Store.h"

void
ClusterFs::ReportStats(StoreEntry * const e)
{
    SwapDir::ForEach([e](const SwapDir &dir) {
        if (!dir.active())
            return; // of the coordinator, and of diskers of other cache_dirs
        storeAppendPrintf(e, "cache_dir #%d: %s %s\n", dir.index, dir.type(), dir.path);
        const auto report = dir.report();
        if (report.empty())
            storeAppendPrintf(e, "state: %s\n%s", dir.stateText().c_str(), dir.workerReport().c_str());
        else // may be longer than a formatting buffer
            e->append(report.data(), static_cast<int>(report.size()));
        if (dir.isHome())
            storeAppendPrintf(e, "objects listed: %s\n", dir.lists() ? "yes" : "no (list=off, or a Squid that cannot ask): neither by mgr:objects nor in digests");
        storeAppendPrintf(e, "\n");
    });
}
