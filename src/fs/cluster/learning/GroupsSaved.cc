// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups: what the next run is told of them. */

#include "fs/cluster/learning/Groups.h"
#include "fs/cluster/learning/Weights.h"

#include <algorithm>

namespace {

/// groups, members and what was found of them that are looked at in one call: less than a millisecond
constexpr unsigned looksAtOnce = 4096;

} // namespace

ClusterFs::SavedGroups::Saved
ClusterFs::Groups::save(uint32_t &at, const std::function<bool(const Key &)> &kept, const size_t bytes,
                        std::vector<SavedGroups::GroupRecord> &out) const
{
    size_t used = 0;
    for (const auto &record: out)
        used += record.bytes();
    for (unsigned looked = 0; at < groups_.touched(); ++at) {
        if (looked >= looksAtOnce)
            return SavedGroups::Saved::some;
        looked += 1 + groups_[at + 1].members;
        auto record = recordOf(at + 1, kept);
        looked += static_cast<unsigned>(record.members.size()); // guests have been looked at, too
        if (record.members.size() + !isNil(record.leader) < 2)
            continue;
        used += record.bytes();
        if (used > bytes)
            return SavedGroups::Saved::full;
        out.push_back(std::move(record));
    }
    return SavedGroups::Saved::all;
}

ClusterFs::SavedGroups::GroupRecord
ClusterFs::Groups::recordOf(const uint32_t number, const std::function<bool(const Key &)> &kept) const
{
    SavedGroups::GroupRecord record;
    const auto &group = groups_[number];
    if (!group.used)
        return record;
    record.name = group.name;
    record.site = group.site;
    record.kind = static_cast<uint8_t>(group.kind);
    record.sheet = group.sheet;
    const auto leader = leaderOf(number);
    if (leader && kept(keyOf(leader)))
        record.leader = keyOf(leader);
    for (auto m = group.first; m; m = memberships_[m].nextInGroup) {
        const auto &member = memberships_[m];
        if (!alive(m) || !kept(keyOf(member.object)))
            continue;
        SavedGroups::MemberRecord saved;
        saved.key = keyOf(member.object);
        saved.weight = member.until == forever ? saved.forever : static_cast<uint8_t>(std::min(member.until - group.faded, weightAtMost));
        saved.evidence = static_cast<uint8_t>(member.evidence);
        saved.home = objects_[member.object].memberships == m;
        saved.candidate = member.candidate;
        saved.confirmed = member.confirmed;
        record.members.push_back(saved);
    }
    for (auto g = group.guests; g; g = guests_[g].next) {
        const auto object = guestOf(guests_[g]);
        if (!object || !expected(group.visit, guests_[g].visit) || !kept(keyOf(object)))
            continue;
        SavedGroups::MemberRecord saved;
        saved.key = keyOf(object);
        saved.guest = true;
        record.members.push_back(saved);
    }
    return record;
}

bool
ClusterFs::Groups::restore(const SavedGroups::GroupRecord &record)
{
    if (record.kind > static_cast<uint8_t>(GroupKind::chosen))
        return true; // of another program
    const auto known = groups_.find(record.name);
    if ((!known && groups_.used() == groups_.capacity()) || memberships_.full())
        return false;
    const auto number = groupFor(record.name, record.site, static_cast<GroupKind>(record.kind));
    const auto seen = groups_[number].seen;
    groups_[number].marked = true;
    if (!known)
        groups_[number].sheet = record.sheet;
    const auto leader = isNil(record.leader) ? nothing : restored(record.leader);
    if (leader && !objects_[leader].leads && !leaderOf(number))
        lead(number, leader);
    for (const auto &member: record.members)
        restore(number, member);
    groups_[number].seen = seen; // nobody has fetched them
    ++counts_.restored;
    return true;
}

/// \returns the object of that key; nothing when it would cost another one its place
uint32_t
ClusterFs::Groups::restored(const Key &key)
{
    const auto known = objects_.find(key);
    if (known || objects_.used() == objects_.capacity())
        return known;
    const auto object = objects_.add(key);
    objects_[object].marked = true;
    return object;
}

void
ClusterFs::Groups::restore(const uint32_t group, const SavedGroups::MemberRecord &saved)
{
    const auto before = groups_[group].visit > 0; // fetched in a visit before the first one of this run
    if (saved.guest) {
        if (const auto object = restored(saved.key))
            guests_.note(groups_[group].guests, object, guestTagOf(object), static_cast<uint16_t>(groups_[group].visit - before));
        return;
    }
    if (memberships_.full() || groups_[group].members >= maxMembers || saved.evidence > static_cast<uint8_t>(Evidence::sharing))
        return;
    const auto object = restored(saved.key);
    if (!object || leaderOf(group) == object || scan(object, group).member)
        return; // what was learned since is newer
    const auto evidence = static_cast<Evidence>(saved.evidence);
    const auto mark = static_cast<uint16_t>(markOf(groups_[group], group) - before);
    const auto m = join(object, group, evidence, mark);
    if (!m)
        return;
    auto &member = memberships_[m];
    member.until = saved.weight == saved.forever ? forever : groups_[group].faded + std::min<uint32_t>(saved.weight, weightAtMost);
    member.confirmed = saved.confirmed;
    member.candidate = saved.candidate;
    const auto home = objects_[object].memberships;
    if (saved.home && (memberships_[home].evidence != Evidence::explicitly || evidence == Evidence::explicitly))
        moveHome(object, m);
}
