// SPDX-License-Identifier: GPL-2.0-or-later
/* DEBUG: section 92    Storage File System */

#include "squid.h"
#include "fs/cluster/squid/Search.h"
#include "fs/cluster/squid/Stats.h"
#include "fs/cluster/squid/StoreFileSystem.h"
#include "fs/cluster/squid/SwapDir.h"
#include "mgr/Registration.h"
#include "store/LocalSearch.h"

ClusterFs::StoreFileSystem::StoreFileSystem()
{
    FsAdd(*this);
    Mgr::RegisterAction("clusterfs", "Clustered Store Statistics", &ReportStats, 0, 1);
    Store::AddSearch(&Search::Make);
}

::SwapDir *
ClusterFs::StoreFileSystem::createSwapDir()
{
    return new SwapDir;
}
