// SPDX-License-Identifier: GPL-2.0-or-later
/* Making an empty store. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_FORMAT_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_FORMAT_H

#include "fs/cluster/base/Types.h"

#include <cstdint>
#include <string>

namespace ClusterFs {

class Device;
struct Config;

/// Makes an empty store; overwrites whatever the device holds. Waits for the device.
/// \param seed randomness for the device UUID
/// \param bytes how much of the device to use, 0 = all
Status formatDevice(Device &, const Config &, uint64_t seed, std::string &error, uint64_t bytes = 0);

} // namespace ClusterFs

#endif
