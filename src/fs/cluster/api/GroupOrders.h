// SPDX-License-Identifier: GPL-2.0-or-later
/* The orders that a caller can give for a group. */

#ifndef SQUID_SRC_FS_CLUSTER_API_GROUPORDERS_H
#define SQUID_SRC_FS_CLUSTER_API_GROUPORDERS_H

#include <cstdint>

namespace ClusterFs {

/// How the memory of a store treats a group that a caller has numbered, until it says something else (Damelo's love and hate).
enum class Favour : uint8_t {
    none,
    loved, ///< its members leave memory in the order of their use, and now later than all others
    hated ///< its members are the first to leave memory, each time that they were used
};

constexpr uint32_t neverPersist = 0xffffffff; ///< instead of seconds: objects need not survive a power cut

} // namespace ClusterFs

#endif
