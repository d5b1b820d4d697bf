// SPDX-License-Identifier: GPL-2.0-or-later
/* What the loader calls in the module. */

#include "squid.h"
#include "fs/cluster/squid/StoreFileSystem.h"
#include "packaging/module/Fit.h"

/// Makes "cache_dir clusterfs" known to the Squid around us, if we fit into it. May be called before main().
/// \returns nil, or the reason why not
extern "C" const char *
clusterfs_register()
{
    static std::string why;
    if (!ClusterFs::fits(why))
        return why.c_str();
    new ClusterFs::StoreFileSystem(); // Squid keeps it for good
    return nullptr;
}
