// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a store. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_OPEN_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_OPEN_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/base/Clock.h"

namespace ClusterFs {

class Device;

/// Opens the store on a device that formatDevice() has formatted. Reads and writes
/// the superblock, which blocks, and starts recovery, which goes on in
/// Engine::poll(). Device and clock must outlive the engine.
/// \param engine receives it, nil on errors
/// \param error receives the reason unless ok is returned
/// \returns ok, unsupported (options, format version, geometry or memory), notOurs,
/// corrupt, or an error of the device
Status openEngine(Device &, const Clock &, const Config &, const Log &, std::unique_ptr<Engine> &engine, std::string &error);

} // namespace ClusterFs

#endif
