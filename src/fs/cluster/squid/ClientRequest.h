// SPDX-License-Identifier: GPL-2.0-or-later
/* From Squid's client requests to those that the engine learns from. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CLIENTREQUEST_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CLIENTREQUEST_H

#include "fs/cluster/api/Request.h"

namespace ClusterFs {

/// Describes the client request that Squid handles now, as its code context names it.
/// \param key of the object that it asks for
/// \returns false when there is none, or one that is no GET or Squid's own
bool describeRequest(const Key &key, Request &);

/// Whether Squid handles a client request of which it has asked nobody before. Of a request that Squid asks several cache_dirs
/// for, this is true for the first one.
bool isNewRequest();

} // namespace ClusterFs

#endif
