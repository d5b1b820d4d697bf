// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether a device whose requests fail is dead. */

#ifndef SQUID_SRC_FS_CLUSTER_CONTEXT_HEALTHPROBE_H
#define SQUID_SRC_FS_CLUSTER_CONTEXT_HEALTHPROBE_H

#include "fs/cluster/context/SingleIo.h"

namespace ClusterFs {

/// When many writes have failed, it writes to a block that nobody reads. When many
/// requests have failed, it reads a superblock, and the other one if that fails, too.
/// Has one request under way at a time. \see Health
class HealthProbe
{
public:
    explicit HealthProbe(StoreContext &);

    void poll(); ///< asks the device if Health suspects it; called each turn

private:
    void write();
    void read(unsigned copy);
    /// \param then is told the answer, unless the device was busy
    void submit(IoOp, uint64_t offset, std::function<void(Status)> then);

    StoreContext &context_;
    SingleIo io_;
};

} // namespace ClusterFs

#endif
