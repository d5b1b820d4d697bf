// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups that the caller numbers, and the groups that packing asks for. */

#include "fs/cluster/engine/GroupControl.h"

#include <algorithm>

ClusterFs::GroupControl::GroupControl(StoreContext &context, Tracker &tracker, WindowStore &windows):
    context_(context),
    tracker_(tracker),
    windows_(windows)
{
}

/// calls staged(StageNo) or packed(ClusterRange) for each member that is in the store
template <class Staged, class Packed>
void
ClusterFs::GroupControl::eachMember(const uint64_t group, Staged &&staged, Packed &&packed)
{
    const auto &catalog = context_.catalog;
    tracker_.membersOf(group, members_, Groups::maxMembers);
    for (const auto &key: members_) {
        const auto slot = catalog.index().find(key);
        if (slot == noSlot)
            continue;
        const auto &record = catalog.index()[slot];
        if (record.staged())
            staged(record.stage());
        else
            packed(ClusterRange{record.cluster, catalog.clusters()[record.cluster].sequence, record.offset(),
                                Catalog::ExtentBytes(catalog.payloadBytes(slot))});
    }
}

void
ClusterFs::GroupControl::love(const uint64_t group)
{
    eachMember(group, [this](const StageNo s) {
        context_.catalog.staging().touch(s);
    }, [this](const ClusterRange &extent) {
        windows_.touch(extent);
    });
}

void
ClusterFs::GroupControl::hate(const uint64_t group)
{
    eachMember(group, [this](const StageNo s) {
        context_.catalog.staging().putLast(s);
    }, [this](const ClusterRange &extent) {
        windows_.putFirst(extent);
    });
}

bool
ClusterFs::GroupControl::setPersist(const uint64_t group, const uint32_t seconds)
{
    const auto name = Tracker::NameOf(group);
    if (!seconds)
        return persist_.erase(name) > 0;
    if (persist_.size() >= maxPersist && !persist_.count(name))
        return false;
    persist_[name] = seconds;
    return true;
}

void
ClusterFs::GroupControl::stagedGroup(const StageNo seed, std::vector<StageNo> &group)
{
    const auto &catalog = context_.catalog;
    members_.clear();
    tracker_.groupOf(catalog.staging()[seed].key, members_, Groups::maxMembers);
    bool seen = false;
    for (const auto &key: members_) {
        const auto slot = catalog.index().find(key);
        if (slot == noSlot || !catalog.index()[slot].staged())
            continue;
        const auto s = catalog.index()[slot].stage();
        if (catalog.staging()[s].state != StageState::complete || catalog.staging()[s].key != key)
            continue;
        group.push_back(s);
        seen = seen || s == seed;
    }
    if (!seen)
        group.clear();
}

uint32_t
ClusterFs::GroupControl::persistOf(const Key &key) const
{
    const auto usual = context_.config.persist;
    if (persist_.empty())
        return usual;
    const auto found = persist_.find(tracker_.groupNumber(key));
    return found == persist_.end() ? usual : std::min(usual, found->second);
}

/// of objects that are in the store
ClusterFs::SavedGroups::Saved
ClusterFs::GroupControl::save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &records)
{
    const auto kept = [this](const Key &key) { return context_.catalog.index().find(key) != noSlot; };
    return tracker_.save(at, kept, SavedGroups::BytesInChunk(), records);
}

uint32_t
ClusterFs::GroupControl::leastPersist() const
{
    auto least = context_.config.persist;
    for (const auto &own: persist_)
        least = std::min(least, own.second);
    return least;
}
