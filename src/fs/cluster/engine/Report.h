// SPDX-License-Identifier: GPL-2.0-or-later
/* The statistics as text. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_REPORT_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_REPORT_H

#include "fs/cluster/engine/Statistics.h"

namespace ClusterFs {

/// "name: value" lines, values aligned; names are stable, for scripts
std::string reportText(const Snapshot &);

} // namespace ClusterFs

#endif
