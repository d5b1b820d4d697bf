// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups that the caller numbers, and the groups that packing asks for. */

#ifndef SQUID_SRC_FS_CLUSTER_ENGINE_GROUPCONTROL_H
#define SQUID_SRC_FS_CLUSTER_ENGINE_GROUPCONTROL_H

#include "fs/cluster/cache/WindowStore.h"
#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/layout/SavedGroups.h"
#include "fs/cluster/learning/Tracker.h"
#include "fs/cluster/packing/GroupAdvisor.h"

#include <deque>
#include <vector>

namespace ClusterFs {

/// What groups that callers number mean for memory and packing, the answers of the tracker for packing, and what a store keeps
/// of groups. (Hummingbird's collocate_files() and the members of numbered groups are the tracker's.)
class GroupControl final : public GroupAdvisor
{
public:
    GroupControl(StoreContext &, Tracker &, WindowStore &);

    Status assign(uint64_t group, const Key &); ///< \see Engine::assign()
    Status setFavour(uint64_t group, Favour); ///< \see Engine::setFavour()
    Status setPersist(uint64_t group, uint32_t seconds); ///< \see Engine::setPersist()

    /// goes on with the members of groups that got another favour, and with those of dissolved groups
    void poll();

    /* GroupAdvisor API */
    void stagedGroup(StageNo, std::vector<StageNo> &) override;
    void sharedOf(StageNo, std::vector<Key> &) const override;
    uint32_t persistOf(const Key &) const override;
    bool leavesFirst(const Key &key) const override { return tracker_.numbered().favourOf(key) == Favour::hated; }

    /// appends records of groups, those of objects that are in the store \see LearnedGroups::save()
    SavedGroups::Saved save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &);
    /// takes a record of an earlier run back
    /// \returns false when there is no room for any more
    bool load(const SavedGroups::GroupRecord &);

    /// \returns the least that persistOf() may return, seconds
    uint32_t leastPersist() const;

private:
    /// a group whose members get their place in memory
    struct Change {
        uint64_t group;
        bool first; ///< to leave it; else last
        uint64_t cursor = 0; ///< of NumberedGroups::next()
    };
    static constexpr size_t maxChanges = 64; ///< that wait: what is beyond counts with the next use of a member
    static constexpr unsigned turnMembers = 256; ///< whose place is changed in a turn

    bool usable() const { return context_.config.localityMb > 0; }
    bool isKept(const Key &key) const { return context_.catalog.index().find(key) != noSlot; }
    void applyChanges();
    void putIntoPlace(const Key &, bool first);

    StoreContext &context_;
    Tracker &tracker_;
    WindowStore &windows_;
    std::deque<Change> changes_;
    std::vector<Key> members_; ///< scratch memory of stagedGroup()
};

} // namespace ClusterFs

#endif
