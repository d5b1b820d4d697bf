// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine's counters as text. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_REPORT_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_REPORT_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/device/Device.h"

namespace ClusterFs {

/// "name: value" lines, values aligned; names are stable, for scripts
std::string reportText(const Engine &, const Device &);

} // namespace ClusterFs

#endif
