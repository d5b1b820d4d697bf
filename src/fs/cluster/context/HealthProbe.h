// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a device that fails is dead. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_HEALTHPROBE_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_HEALTHPROBE_H

#include "fs/cluster/context/StoreContext.h"

namespace ClusterFs {

/// Writes to a block that means nothing when many writes have failed, and reads a
/// superblock when many requests have, and the other one if that fails, too. One
/// request at a time. \see Health
class HealthProbe
{
public:
    explicit HealthProbe(StoreContext &context): context_(context) {}

    void poll();

private:
    void write();
    void read(unsigned copy);
    /// \param then for the answer
    void submit(IoOp, uint64_t offset, std::function<void(Status)> then);

    StoreContext &context_;
    bool busy_ = false;
};

} // namespace ClusterFs

#endif
