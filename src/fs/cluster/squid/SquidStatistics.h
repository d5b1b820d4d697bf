// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics, as Squid shows it. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_SQUIDSTATISTICS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_SQUIDSTATISTICS_H

#include "fs/cluster/engine/Statistics.h"

#include <vector>

namespace ClusterFs {

/// The engine's table, with the meaning in Squid of those figures that follow from the way in which Squid calls the engine.
/// For the documents and for Prometheus.
const std::vector<Statistic> &squidStatistics();

} // namespace ClusterFs

#endif
