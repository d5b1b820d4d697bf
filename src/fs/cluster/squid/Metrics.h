// SPDX-License-Identifier: GPL-2.0-or-later
/* The statistics in Prometheus' text format. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_METRICS_H
#define SQUID_SRC_FS_CLUSTER_SQUID_METRICS_H

#include "fs/cluster/squid/SquidStatistics.h"

#include <optional>
#include <string>
#include <vector>

namespace ClusterFs {

/* The rules: https://prometheus.io/docs/practices/naming/ and
 * https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4 */

/// A statistic's name in Prometheus. It follows from the row of the table of statistics: the name in snake case, the base
/// unit (seconds, bytes, ratio) behind it, and _total behind a counter. A text is a label of clusterfs_info. Metrics.cc has
/// the few exceptions.
struct MetricName {
    std::string family; ///< of all that share HELP and TYPE; empty when Prometheus does not get the statistic
    std::string label; ///< tells the statistic from others of its family; empty when it is alone
    std::string labelValue; ///< of the label; empty when it is the statistic's value

    std::string text() const; ///< for documents: family{label="value"}
};

/// \returns the name of any row, also of one that is not in the table
MetricName metricName(const Statistic &);

/// the value of the label `state` while a cache_dir has no engine; the other values are those of Engine::stateText()
inline constexpr const char *unusedState = "unused";

/// a cache_dir, as the page shows it
struct MetricsDir {
    std::string path; ///< as configured
    std::optional<SquidSnapshot> snapshot; ///< nothing while the device is not in use: then the page has only the state
};

/// The page: each family once, with the samples of all cache_dirs.
std::string metricsText(const std::vector<MetricsDir> &);

/// one page of several: each family once, as metricsText() has them
std::string mergedMetrics(const std::vector<std::string> &pages);

} // namespace ClusterFs

#endif
