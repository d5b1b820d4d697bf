// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups as the caller wants them. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_GROUPCONTROL_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_GROUPCONTROL_H

#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/learning/Tracker.h"
#include "fs/cluster/packing/GroupAdvisor.h"
#include "fs/cluster/recovery/LearnedGroups.h"

#include <map>

namespace ClusterFs {

/// What those say who know better than the tracker: Hummingbird's
/// collocate_files() (section 3.3), and Damelo's numbered groups with love(),
/// hate() and setCheckpoint().
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

    /// \returns the least that persistOf() may return
    uint32_t leastPersist() const;

    static constexpr size_t maxPersist = 1024; ///< groups with a time of their own

private:
    template <class Staged, class Packed>
    void eachMember(uint64_t group, Staged &&staged, Packed &&packed);

    StoreContext &context_;
    Tracker &tracker_;
    WindowStore &windows_;
    std::map<uint64_t, uint32_t> persist_; ///< seconds, by Tracker::NameOf() the group
    std::vector<Key> members_; ///< used while a call lasts
};

} // namespace ClusterFs

#endif
