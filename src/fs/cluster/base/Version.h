// SPDX-License-Identifier: GPL-2.0-or-later
/* The version of the project. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_VERSION_H
#define SQUID_SRC_FS_CLUSTER_BASE_VERSION_H

namespace ClusterFs {

/// Of module, tool and documents: configure.ac reads it here, because the module is compiled within Squid, too.
/// The newest heading of CHANGELOG.md has the same.
constexpr char projectVersion[] = "0.1";

} // namespace ClusterFs

#endif
