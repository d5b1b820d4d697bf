// SPDX-License-Identifier: GPL-2.0-or-later
/* What Squid writes in front of each response in its store. */

#ifndef CLUSTERFS_TOOLS_CLI_SWAPMETA_H
#define CLUSTERFS_TOOLS_CLI_SWAPMETA_H

#include <cstddef>
#include <string>

namespace ClusterFs::Cli {

/// Finds the URL in an object's first bytes: a byte 3, the size of all metadata,
/// then fields of a type byte, a size and a value; sizes are native ints.
/// \returns false when these are no such bytes or have no URL
bool findUrl(const char *object, size_t size, std::string &url);

} // namespace ClusterFs::Cli

#endif
