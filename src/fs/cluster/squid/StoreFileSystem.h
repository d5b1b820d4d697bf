// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers the cache_dir type. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_STOREFILESYSTEM_H
#define SQUID_SRC_FS_CLUSTER_SQUID_STOREFILESYSTEM_H

#include <StoreFileSystem.h> // Squid's; quotes would find this file again

namespace ClusterFs {

/// the factory of "cache_dir clusterfs"; made once, by Fs::Init()
class StoreFileSystem: public ::StoreFileSystem
{
public:
    StoreFileSystem();

    /* StoreFileSystem API */
    char const *type() const override { return "clusterfs"; }
    ::SwapDir *createSwapDir() override;
};

} // namespace ClusterFs

#endif
