// SPDX-License-Identifier: GPL-2.0-or-later
/* Saving groups for the next run. */

#include "fs/cluster/learning/GroupArchive.h"

#include <algorithm>

namespace {

/// groups, members and records that one call of save() looks at: it takes less than a millisecond
constexpr unsigned looksAtOnce = 4096;

} // namespace

ClusterFs::SavedGroups::Saved
ClusterFs::GroupArchive::save(uint32_t &at, const std::function<bool(const Key &)> &kept, const size_t bytes,
                              std::vector<SavedGroups::GroupRecord> &out) const
{
    size_t used = 0;
    for (const auto &record: out)
        used += record.bytes();
    for (unsigned looked = 0; at < table_.maxGroup(); ++at) {
        if (looked >= looksAtOnce)
            return SavedGroups::Saved::some;
        looked += 1 + table_[at + 1].members;
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
ClusterFs::GroupArchive::recordOf(const uint32_t number, const std::function<bool(const Key &)> &kept) const
{
    SavedGroups::GroupRecord record;
    const auto &group = table_[number];
    if (!group.used)
        return record;
    record.name = group.name;
    record.site = group.site;
    record.kind = static_cast<uint8_t>(group.kind);
    record.sheet = group.sheet;
    const auto leader = table_.leaderOf(number);
    if (leader && kept(table_.keyOf(leader)))
        record.leader = table_.keyOf(leader);
    for (auto m = group.first; m; m = table_.membership(m).nextInGroup) {
        const auto &member = table_.membership(m);
        if (!table_.alive(m) || !kept(table_.keyOf(member.object)))
            continue;
        SavedGroups::MemberRecord saved;
        saved.key = table_.keyOf(member.object);
        saved.weight = member.until == forever ? saved.forever : static_cast<uint8_t>(std::min(member.until - group.faded, weightAtMost));
        saved.evidence = static_cast<uint8_t>(member.evidence);
        saved.home = table_.object(member.object).memberships == m;
        saved.candidate = member.candidate;
        saved.confirmed = member.confirmed;
        record.members.push_back(saved);
    }
    table_.eachGuestOf(number, [&](const uint32_t object, const uint16_t visit) {
        if (Groups::Expected(group.visit, visit) && kept(table_.keyOf(object))) {
            SavedGroups::MemberRecord saved;
            saved.key = table_.keyOf(object);
            saved.guest = true;
            record.members.push_back(saved);
        }
        return true;
    });
    return record;
}

bool
ClusterFs::GroupArchive::restore(const SavedGroups::GroupRecord &record)
{
    if (record.kind > static_cast<uint8_t>(GroupKind::chosen))
        return true; // a kind that this program does not know: leave it out
    const auto known = table_.find(record.name);
    if ((!known && table_.groupsFull()) || table_.membershipsFull())
        return false;
    const auto number = table_.groupFor(record.name, record.site, static_cast<GroupKind>(record.kind));
    auto &group = table_[number];
    const auto seen = group.seen;
    group.marked = true;
    if (!known)
        group.sheet = record.sheet;
    const auto leader = isNil(record.leader) ? nothing : table_.objectIfRoom(record.leader);
    if (leader && !table_.object(leader).leads && !table_.leaderOf(number))
        table_.lead(number, leader);
    for (const auto &member: record.members)
        restore(number, member);
    group.seen = seen; // join() counted the restored members, but nobody has fetched them in this visit
    ++table_.counts().restored;
    return true;
}

void
ClusterFs::GroupArchive::restore(const uint32_t number, const SavedGroups::MemberRecord &saved)
{
    const auto &group = table_[number];
    const auto before = group.visit > 0; // this run has a visit: the saved ones were before it
    if (saved.guest) {
        if (const auto object = table_.objectIfRoom(saved.key))
            table_.noteGuest(number, object, static_cast<uint16_t>(group.visit - before));
        return;
    }
    if (table_.membershipsFull() || group.members >= Groups::maxMembers || saved.evidence > static_cast<uint8_t>(Evidence::sharing))
        return;
    const auto object = table_.objectIfRoom(saved.key);
    if (!object || table_.leaderOf(number) == object || table_.scan(object, number).member)
        return; // this run has learned it already, and that is newer
    const auto evidence = static_cast<Evidence>(saved.evidence);
    const auto mark = static_cast<uint16_t>(markOf(group, number) - before);
    const auto m = groups_.join(object, number, evidence, mark);
    if (!m)
        return;
    auto &member = table_.membership(m);
    member.until = saved.weight == saved.forever ? forever : group.faded + std::min<uint32_t>(saved.weight, weightAtMost);
    member.confirmed = saved.confirmed;
    member.candidate = saved.candidate;
    const auto home = table_.object(object).memberships;
    if (saved.home && (table_.membership(home).evidence != Evidence::explicitly || evidence == Evidence::explicitly))
        table_.moveHome(m);
}
