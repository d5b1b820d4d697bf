// SPDX-License-Identifier: GPL-2.0-or-later
/* From Squid's client requests to those that the engine learns from. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CLIENTREQUEST_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CLIENTREQUEST_H

#include "base/CodeContext.h"
#include "fs/cluster/api/Request.h"

#include <optional>

namespace ClusterFs {

/// Describes the client request that Squid handles now, as its code context names it.
/// \param key of the object that it asks for
/// \returns false when there is none, or one that is no GET or Squid's own
bool describeRequest(const Key &key, Request &);

/// Whether Squid handles a client request and has not made up its mind whether that is a hit.
bool isUndecided();

/// Whether Squid handles a PURGE. It looks for what is to be removed, and calls nobody when it finds nothing.
bool isPurge();

/// Whether Squid handles a request for which a stored object is welcome: no PURGE, no reload. Another one of whom nothing was
/// asked before the response came is none.
bool wantsHit();

/// Whether Squid handles a client request of which it has asked nobody before. Of a request that Squid asks several cache_dirs
/// for, this is true for the first one.
bool isNewRequest();

/// \returns a number of the client request that Squid handles now, which no other one has; 0 when there is none
uint64_t requestNumber();

/// \returns the code context of the client request that Squid handles now; nil when describeRequest() would return false
CodeContext::Pointer clientRequest();

/// the store's part in the response to a client request, as far as Squid has decided
enum class Answer {
    hit, ///< it comes from the store, and nobody has asked the origin server
    miss, ///< it comes from the origin server or another cache
    other, ///< neither, not decided, a revalidation, or a request that waited for the response to another one
};

/// \param request what clientRequest() has returned, not nil
Answer answerTo(const CodeContext &request);

/// The microseconds since Squid had the whole header of a request. Reads the clock of the day, as Squid did then.
/// \param request what clientRequest() has returned, not nil
/// \returns nothing when somebody has set the clock back since
std::optional<uint64_t> waited(const CodeContext &request);

} // namespace ClusterFs

#endif
