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

/// Makes an empty store; whatever the device holds is lost. Blocks until the device has it.
/// \param seed random number, from which the UUID and the secret of the store are made
/// \param error receives the reason unless ok is returned
/// \param bytes how much of the device to use, 0 = all
/// \returns ok, unsupported (the options or the device do not suit), corrupt (read back otherwise), or an error of the device
Status formatDevice(Device &, const Config &, uint64_t seed, std::string &error, uint64_t bytes = 0);

} // namespace ClusterFs

#endif
