// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics, as Squid shows it. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_SQUIDSTATISTICS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_SQUIDSTATISTICS_H

#include "fs/cluster/engine/Statistics.h"
#include "fs/cluster/squid/ClientWaits.h"

#include <string>
#include <vector>

namespace ClusterFs {

/// the figures of a cache_dir in Squid, at one moment
struct SquidSnapshot: Snapshot {
    ClientWaits waits;
};

/// The engine's table, with the meaning in Squid of those figures that follow from the way in which Squid calls the engine; and
/// behind it a section "squid" with figures that the glue counts. The functions of that section want a SquidSnapshot.
const std::vector<Statistic> &squidStatistics();

/// \param histogram a value of squidStatistics(), of that snapshot
/// \returns the sum of its times, microseconds
uint64_t sumOf(const Histogram *histogram, const SquidSnapshot &);

/// the section "squid" as lines of mgr:clusterfs, which follow those of the engine's report
std::string squidReport(const SquidSnapshot &);

/// counts pages that clients open
void countOpenedPages(uint64_t);

} // namespace ClusterFs

#endif
