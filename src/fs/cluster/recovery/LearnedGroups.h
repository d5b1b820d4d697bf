// SPDX-License-Identifier: GPL-2.0-or-later
/* What is kept beside the index, as checkpoints and starts see it. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_LEARNEDGROUPS_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_LEARNEDGROUPS_H

#include "fs/cluster/layout/SavedGroups.h"

namespace ClusterFs {

/// knows which objects are fetched together, and which are in memory, and can tell the next run
class LearnedGroups
{
public:
    virtual ~LearnedGroups() = default;

    /// Appends records of what is known, as far as a chunk has room for it.
    /// \param at where to go on, 0 = at the beginning; is moved
    virtual SavedGroups::Saved save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &) = 0;

    /// takes a record back that an earlier run has saved
    /// \returns false when there is no room for any more
    virtual bool load(const SavedGroups::GroupRecord &) = 0;
};

} // namespace ClusterFs

#endif
