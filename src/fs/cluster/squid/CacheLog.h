// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages in cache.log. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CACHELOG_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CACHELOG_H

#include "fs/cluster/base/Messages.h"

namespace ClusterFs {

/// Writes a line that the administrator should see. A Log.
void toCacheLog(LogLevel, const std::string &line);

} // namespace ClusterFs

#endif
