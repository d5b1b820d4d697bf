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
struct Superblock;

/// Makes an empty store; whatever the device holds is lost. Blocks until the device has it.
/// \param seed random number, from which the UUID and the secret of the store are made
/// \param error receives the reason unless ok is returned
/// \param bytes how much of the device to use, 0 = all
/// \returns ok, unsupported (the options or the device do not suit), corrupt (read back otherwise), or an error of the device
Status formatDevice(Device &, const Config &, uint64_t seed, std::string &error, uint64_t bytes = 0);

/// Lets a store use more of its device, which has become larger. The store may not be open; its contents stay.
/// Blocks until the device has it. A crash leaves the store as it was, or grown.
/// \param error receives the reason unless ok is returned
/// \param bytes how much of the device to use, 0 = all
/// \param superblock receives the superblock that counts from now on
/// \returns ok, also if it has that size already; unsupported (its format is too old, the device is smaller, the growth too large),
/// or an error of the device
Status growDevice(Device &, Superblock &superblock, std::string &error, uint64_t bytes = 0);

} // namespace ClusterFs

#endif
