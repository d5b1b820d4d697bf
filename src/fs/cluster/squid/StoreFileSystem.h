// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers the cache_dir type. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_STOREFILESYSTEM_H
#define SQUID_SRC_FS_CLUSTER_SQUID_STOREFILESYSTEM_H

#include <StoreFileSystem.h> // Squid's; quotes would find this file again

namespace ClusterFs {

/// The factory of "cache_dir clusterfs". Made once: by Fs::Init(), or when the module is loaded into a Squid
/// that was built without it. Such a Squid has none of our patches; HAVE_FS_CLUSTER says so when compiling.
class StoreFileSystem: public ::StoreFileSystem
{
public:
    StoreFileSystem();

    /* StoreFileSystem API */
    char const *type() const override { return "clusterfs"; }
    ::SwapDir *createSwapDir() override;

private:
    bool registered_ = false; ///< our page of the cache manager
};

} // namespace ClusterFs

#endif
