// SPDX-License-Identifier: GPL-2.0-or-later
/* A request, as the tracker hears of it. */

#ifndef SQUID_SRC_FS_CLUSTER_API_REQUEST_H
#define SQUID_SRC_FS_CLUSTER_API_REQUEST_H

#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// the cause of a request, if the proxy can tell
enum class RequestKind : uint8_t {
    unknown,
    page, ///< a document that a person opened
    member ///< an object that a page embeds
};

/// One request as the proxy saw it. Ids are 64-bit hashes of the caller's choice
/// (RequestText makes some), 0 = unknown.
struct Request {
    Key key; ///< of the object in the store; nil when it has none, such as an uncachable page
    uint64_t client = 0; ///< id of the client
    uint64_t url = 0; ///< id of the URL
    uint64_t site = 0; ///< id of scheme and host of the URL; equals the id of the site's root URL
    uint64_t referer = 0; ///< id of the Referer's URL, when it has a path
    uint64_t refererSite = 0; ///< id of scheme and host of the Referer
    RequestKind kind = RequestKind::unknown;
    bool sheet = false; ///< a style sheet, script or frame: its own members (fonts, images) belong to its page
};

} // namespace ClusterFs

#endif
