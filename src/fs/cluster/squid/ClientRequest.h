// SPDX-License-Identifier: GPL-2.0-or-later
/* What Squid's requests tell the engine. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CLIENTREQUEST_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CLIENTREQUEST_H

#include "fs/cluster/api/Request.h"

namespace ClusterFs {

/// Describes the client request that is being handled now.
/// \param key of the object that it is about
/// \returns false when there is no such request
bool describeRequest(const Key &key, Request &);

} // namespace ClusterFs

#endif
