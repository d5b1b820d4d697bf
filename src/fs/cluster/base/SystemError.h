// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages about system calls that have failed. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_SYSTEMERROR_H
#define SQUID_SRC_FS_CLUSTER_BASE_SYSTEMERROR_H

#include <cerrno>
#include <cstring>
#include <string>

namespace ClusterFs {

/// \returns a message with the reason that errno has
inline std::string
systemError(const std::string &what)
{
    return what + ": " + strerror(errno);
}

} // namespace ClusterFs

#endif
