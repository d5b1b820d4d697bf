// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups that the caller numbers, and the groups that packing asks for. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_GROUPCONTROL_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_GROUPCONTROL_H

#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/learning/Tracker.h"
#include "fs/cluster/packing/GroupAdvisor.h"
#include "fs/cluster/recovery/LearnedGroups.h"

#include <map>

namespace ClusterFs {

/// Damelo's love(), hate() and setCheckpoint() for the groups that callers number,
/// the answers of the tracker for packing, and what a store keeps of groups.
/// (Hummingbird's collocate_files() and the members of numbered groups are the tracker's.)
class GroupControl final : public GroupAdvisor, public LearnedGroups
{
public:
    GroupControl(StoreContext &, Tracker &, WindowStore &);

    void love(uint64_t group); ///< \see Engine::love()
    void hate(uint64_t group); ///< \see Engine::hate()
    bool setPersist(uint64_t group, uint32_t seconds); ///< \see Engine::setPersist()

    /* GroupAdvisor API */
    void stagedGroup(StageNo, std::vector<StageNo> &) override;
    uint32_t persistOf(const Key &) const override;

    /* LearnedGroups API */
    SavedGroups::Saved save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &) override;
    bool load(const SavedGroups::GroupRecord &group) override { return tracker_.restore(group); }

    /// \returns the least that persistOf() may return, seconds
    uint32_t leastPersist() const;

    static constexpr size_t maxPersist = 1024; ///< groups with a time of their own

private:
    template <class Staged, class Packed>
    void eachMember(uint64_t group, Staged &&staged, Packed &&packed);

    StoreContext &context_;
    Tracker &tracker_;
    WindowStore &windows_;
    std::map<uint64_t, uint32_t> persist_; ///< seconds, by Tracker::NameOf() of the group
    std::vector<Key> members_; ///< scratch memory of stagedGroup() and eachMember()
};

} // namespace ClusterFs

#endif
