// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache manager's pages. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_STATS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_STATS_H

#include "store/forward.h"

namespace ClusterFs {

/// writes the page mgr:clusterfs: a section for each cache_dir
void ReportStats(StoreEntry *);

} // namespace ClusterFs

#endif
