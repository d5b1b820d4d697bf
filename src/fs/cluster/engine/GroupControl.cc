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

ClusterFs::Status
ClusterFs::GroupControl::assign(const uint64_t group, const Key &key)
{
    return usable() ? tracker_.numbered().assign(group, key, [this](const Key &other) { return isKept(other); }) : Status::unsupported;
}

ClusterFs::Status
ClusterFs::GroupControl::setFavour(const uint64_t group, const Favour favour)
{
    const auto status = usable() ? tracker_.numbered().setFavour(group, favour) : Status::unsupported;
    if (status == Status::ok && favour != Favour::none && changes_.size() < maxChanges) {
        changes_.push_back({group, favour == Favour::hated});
        applyChanges();
    }
    return status;
}

ClusterFs::Status
ClusterFs::GroupControl::setPersist(const uint64_t group, const uint32_t seconds)
{
    return usable() ? tracker_.numbered().setPersist(group, seconds) : Status::unsupported;
}

void
ClusterFs::GroupControl::poll()
{
    const auto more = tracker_.numbered().sweep();
    applyChanges();
    if (more || !changes_.empty())
        context_.device.pollAgain();
}

/// as far as a turn may
void
ClusterFs::GroupControl::applyChanges()
{
    for (unsigned left = turnMembers; left && !changes_.empty(); --left) {
        auto &change = changes_.front();
        Key key;
        if (tracker_.numbered().next(change.group, change.cursor, key))
            putIntoPlace(key, change.first);
        else
            changes_.pop_front();
    }
}

/// makes an object the first or the last to leave memory, if it is there
void
ClusterFs::GroupControl::putIntoPlace(const Key &key, const bool first)
{
    auto &catalog = context_.catalog;
    const auto slot = catalog.index().find(key);
    if (slot == noSlot)
        return;
    const auto &r = catalog.index()[slot];
    if (r.staged()) {
        first ? catalog.staging().putLast(r.stage()) : catalog.staging().touch(r.stage());
        return;
    }
    const ClusterRange extent{r.cluster, catalog.clusters()[r.cluster].sequence, r.offset(), Catalog::ExtentBytes(catalog.payloadBytes(slot))};
    first ? windows_.putFirst(extent) : windows_.touch(extent);
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

void
ClusterFs::GroupControl::sharedOf(const StageNo seed, std::vector<Key> &keys) const
{
    tracker_.sharedOf(context_.catalog.staging()[seed].key, keys, Groups::maxMembers);
}

uint32_t
ClusterFs::GroupControl::persistOf(const Key &key) const
{
    const auto own = tracker_.numbered().persistOf(key);
    return own ? own : context_.config.persist;
}

ClusterFs::SavedGroups::Saved
ClusterFs::GroupControl::save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &records)
{
    return tracker_.save(at, [this](const Key &key) { return isKept(key); }, SavedGroups::BytesInChunk(), records);
}

bool
ClusterFs::GroupControl::load(const SavedGroups::GroupRecord &record)
{
    return !usable() || tracker_.restore(record);
}

uint32_t
ClusterFs::GroupControl::leastPersist() const
{
    return std::min(context_.config.persist, tracker_.numbered().leastPersist());
}
