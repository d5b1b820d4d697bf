// SPDX-License-Identifier: GPL-2.0-or-later
/* Saving groups for the next run. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_GROUPARCHIVE_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_GROUPARCHIVE_H

#include "fs/cluster/layout/SavedGroups.h"
#include "fs/cluster/learning/Groups.h"

#include <functional>
#include <vector>

namespace ClusterFs {

/// Makes records of groups for the next run, and groups from the records of an earlier run.
class GroupArchive
{
public:
    /// \param table and groups must outlive this
    GroupArchive(GroupTable &table, Groups &groups): table_(table), groups_(groups) {}

    /// \see Tracker::save()
    SavedGroups::Saved save(uint32_t &at, const std::function<bool(const Key &)> &kept, size_t bytes,
                           std::vector<SavedGroups::GroupRecord> &) const;

    /// \see Tracker::restore()
    bool restore(const SavedGroups::GroupRecord &);

private:
    SavedGroups::GroupRecord recordOf(uint32_t group, const std::function<bool(const Key &)> &kept) const;
    void restore(uint32_t group, const SavedGroups::MemberRecord &);

    GroupTable &table_;
    Groups &groups_;
};

} // namespace ClusterFs

#endif
