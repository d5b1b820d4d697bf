// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device that fails is dead. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_PROBE_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_PROBE_H

#include "fs/cluster/index/Shared.h"

namespace ClusterFs {

/// Writes to a block that means nothing when many writes have failed, and reads a
/// superblock when many requests have, and the other one if that fails, too. One
/// request at a time. \see Health
class Probe
{
public:
    explicit Probe(Shared &shared): shared_(shared) {}

    void poll();

private:
    void write();
    void read(unsigned copy);
    /// \param then for the answer
    void submit(IoOp, uint64_t offset, std::function<void(Status)> then);

    Shared &shared_;
    bool busy_ = false;
};

} // namespace ClusterFs

#endif
