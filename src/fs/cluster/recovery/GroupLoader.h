// SPDX-License-Identifier: GPL-2.0-or-later
/* Loading the groups that an earlier run has saved. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPLOADER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPLOADER_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/layout/SavedGroups.h"

namespace ClusterFs {

/// Reads the chunks of SavedGroups that were written last, one after the other, while
/// requests are served. Ends at the first chunk that is not whole: missing groups are
/// learned again.
class GroupLoader
{
public:
    explicit GroupLoader(StoreContext &context): context_(context) {}

    /// takes a group; set by the owner before start()
    /// \returns false when there is no room for any more
    std::function<bool(const SavedGroups::GroupRecord &)> onGroup;

    /// begins to read, in the background
    /// \param generation Superblock::groups; 0 = nothing was saved
    void start(uint64_t generation);

    bool loading() const { return loading_; }

private:
    void read();
    bool take(const char *bytes);

    StoreContext &context_;
    uint64_t generation_ = 0;
    uint32_t chunk_ = 0; ///< the next one to read
    bool loading_ = false;
};

} // namespace ClusterFs

#endif
