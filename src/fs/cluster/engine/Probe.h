// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device that fails is dead. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_PROBE_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_PROBE_H

#include "fs/cluster/index/Shared.h"

namespace ClusterFs {

/// Reads a superblock when many other requests have failed, and the other one if
/// that fails, too. \see Health
class Probe
{
public:
    explicit Probe(Shared &shared): shared_(shared) {}

    void poll();

private:
    void read(unsigned copy);

    Shared &shared_;
    bool reading_ = false;
};

} // namespace ClusterFs

#endif
