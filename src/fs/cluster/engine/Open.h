// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a store. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_OPEN_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_OPEN_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/base/Clock.h"

namespace ClusterFs {

class Device;

/// Opens the store on a device that formatDevice() has formatted: reads the
/// superblock (waiting) and starts recovery (not waiting).
/// Device and clock must outlive the engine.
/// \param engine receives it, nil on errors
/// \returns ok, or why not, with the reason in error
Status openEngine(Device &, const Clock &, const Config &, const Log &, std::unique_ptr<Engine> &engine, std::string &error);

} // namespace ClusterFs

#endif
