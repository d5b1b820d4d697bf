// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store keeps beside the index. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_LEARNEDSTATE_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_LEARNEDSTATE_H

#include "fs/cluster/cache/HotList.h"
#include "fs/cluster/engine/GroupControl.h"
#include "fs/cluster/recovery/LearnedGroups.h"

namespace ClusterFs {

/// The hot list, which a start wants first, and then the groups.
class LearnedState final : public LearnedGroups
{
public:
    LearnedState(HotList &hotList, GroupControl &groups): hotList_(hotList), groups_(groups) {}

    /* LearnedGroups API */
    SavedGroups::Saved save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &) override;
    bool load(const SavedGroups::GroupRecord &) override;

private:
    HotList &hotList_;
    GroupControl &groups_;
};

} // namespace ClusterFs

#endif
