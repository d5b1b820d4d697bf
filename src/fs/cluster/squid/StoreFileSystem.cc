// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 92    Storage File System */

#include "squid.h"
#include "fs/cluster/squid/LivePages.h"
#include "fs/cluster/squid/Search.h"
#include "fs/cluster/squid/Stats.h"
#include "fs/cluster/squid/StoreFileSystem.h"
#include "fs/cluster/squid/SwapDir.h"
#include "mgr/Registration.h"
#include "store/LocalSearch.h"

ClusterFs::StoreFileSystem::StoreFileSystem()
{
    FsAdd(*this); // nothing else: main() may not have begun
}

::SwapDir *
ClusterFs::StoreFileSystem::createSwapDir()
{
    if (!registered_) {
        registered_ = true;
        Mgr::RegisterAction("clusterfs", "Clustered Store Statistics", &ReportStats, 0, 1);
        registerLivePages();
#if HAVE_FS_CLUSTER // a Squid with our patches asks
        Store::AddSearch(&Search::Make);
#endif
    }
    return new SwapDir;
}
