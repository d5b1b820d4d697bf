// SPDX-License-Identifier: GPL-2.0-or-later
/* From the text of a request to the ids and kinds that the tracker works with. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_REQUESTTEXT_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_REQUESTTEXT_H

#include "fs/cluster/api/Request.h"

#include <string_view>

namespace ClusterFs {

/// The parts of a request that tell its purpose; empty when absent. The caller
/// owns the text, which is not needed after the call.
struct RequestText {
    std::string_view url; ///< absolute
    std::string_view referer; ///< value of the Referer header
    std::string_view destination; ///< value of Sec-Fetch-Dest
    std::string_view mode; ///< value of Sec-Fetch-Mode
    std::string_view accept; ///< value of Accept
};

/// Sets url, site, referer, refererSite, kind and sheet; leaves key and client
/// alone. Any text is accepted: fields stay 0 or unknown if it can't be understood.
void describe(const RequestText &, Request &);

/// \returns the id of an absolute URL without its fragment, scheme and host in
/// lower case; 0 when the text is none
uint64_t urlId(std::string_view url);

/// \returns the id of scheme, host and port of an absolute URL, which is the id
/// of the site's root (http://host/); 0 when the text is none
uint64_t siteId(std::string_view url);

/// \returns an id for bytes of any kind, such as a client's address; never 0
uint64_t bytesId(const void *, size_t);

} // namespace ClusterFs

#endif
