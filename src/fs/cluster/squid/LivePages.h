// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages of the cache manager that show and remove objects while Squid runs. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_LIVEPAGES_H
#define SQUID_SRC_FS_CLUSTER_SQUID_LIVEPAGES_H

namespace ClusterFs {

/// Registers mgr:clusterfs_find, clusterfs_list, clusterfs_map, clusterfs_purge, clusterfs_clear and clusterfs_job. Those that
/// change something, and the list, need a password in squid.conf (cachemgr_passwd), as Squid's own do. Parameters are a query, name=value&..., with values that
/// are percent-encoded: Squid lets no = through, and reads digits as numbers. Answers are lines "name: value", or
/// "error: reason".
void registerLivePages();

} // namespace ClusterFs

#endif
