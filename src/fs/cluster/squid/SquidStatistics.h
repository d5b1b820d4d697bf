// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics, as Squid shows it. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_SQUIDSTATISTICS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_SQUIDSTATISTICS_H

#include "fs/cluster/engine/Statistics.h"

#include <string>
#include <vector>

namespace ClusterFs {

/// The engine's table, with the meaning in Squid of those figures that follow from the way in which Squid calls the engine; and
/// behind it a section "squid" with figures of this process, which are the same for all cache_dirs.
const std::vector<Statistic> &squidStatistics();

/// the section "squid" as lines of mgr:clusterfs, which follow those of the engine's report
std::string squidReport();

/// counts a page that a client opens
void countOpenedPage();

} // namespace ClusterFs

#endif
