// SPDX-License-Identifier: GPL-2.0-or-later
/* Getting back what was learned of groups. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPLOADER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPLOADER_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/recovery/LearnedGroups.h"

namespace ClusterFs {

/// Reads the chunks that were saved last, one after the other, while requests are
/// served. Nothing depends on them: the first that is not whole is the last one.
class GroupLoader
{
public:
    /// \param learned takes the groups back
    GroupLoader(StoreContext &context, LearnedGroups &learned): context_(context), learned_(learned) {}

    /// \param generation of what was saved; 0 = nothing was
    void start(uint64_t generation);

    bool loading() const { return loading_; }

private:
    void read();
    bool take(const char *bytes);

    StoreContext &context_;
    LearnedGroups &learned_;
    uint64_t generation_ = 0;
    uint32_t chunk_ = 0; ///< to be read
    bool loading_ = false;
};

} // namespace ClusterFs

#endif
