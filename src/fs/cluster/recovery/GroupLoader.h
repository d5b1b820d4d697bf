// SPDX-License-Identifier: GPL-2.0-or-later
/* Loading the groups that an earlier run has saved. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPLOADER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPLOADER_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/recovery/LearnedGroups.h"

namespace ClusterFs {

/// Reads the chunks of SavedGroups that were written last, one after the other, while
/// requests are served. Ends at the first chunk that is not whole: missing groups are
/// learned again.
class GroupLoader
{
public:
    /// \param learned takes the groups back
    GroupLoader(StoreContext &context, LearnedGroups &learned): context_(context), learned_(learned) {}


    /// begins to read, in the background
    /// \param generation Superblock::groups; 0 = nothing was saved
    void start(uint64_t generation);

    bool loading() const { return loading_; }

private:
    void read();
    bool take(const char *bytes);

    StoreContext &context_;
    LearnedGroups &learned_;
    uint64_t generation_ = 0;
    uint32_t chunk_ = 0; ///< the next one to read
    bool loading_ = false;
};

} // namespace ClusterFs

#endif
