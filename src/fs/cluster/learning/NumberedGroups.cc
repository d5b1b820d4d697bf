// SPDX-License-Identifier: GPL-2.0-or-later
/* The groups that callers number. */

#include "fs/cluster/learning/NumberedGroups.h"

#include "fs/cluster/learning/Records.h"

#include <algorithm>
#include <utility>

namespace {

constexpr unsigned looksForRoom = 64; ///< members that makeRoom() looks at
constexpr unsigned looksAtOnce = 4096; ///< members and groups that one call of save() looks at
constexpr unsigned sweptAtOnce = 512; ///< members that one call of sweep() forgets

} // namespace

ClusterFs::NumberedGroups::NumberedGroups(const uint64_t bytes, const uint64_t seed):
    limit_(std::min<uint64_t>(bytes / bytesEach, UINT32_MAX - 1)),
    members_(static_cast<uint32_t>(std::max<uint64_t>(limit_, 1)), seed)
{
}

ClusterFs::NumberedGroups::Group *
ClusterFs::NumberedGroups::find(const uint64_t group) const
{
    const auto found = groups_.find(group);
    return found == groups_.end() ? nullptr : found->second.get();
}

/// \returns nil when there is no room for another one
ClusterFs::NumberedGroups::Group *
ClusterFs::NumberedGroups::findOrMake(const uint64_t group)
{
    const auto known = find(group);
    if (known || full(groupTakes))
        return known;
    auto &made = groups_[group] = std::make_unique<Group>(members_);
    made->number = group;
    return made.get();
}

/// \returns nil when an object has no group
const ClusterFs::NumberedGroups::Member *
ClusterFs::NumberedGroups::memberOf(const Key &key) const
{
    const auto n = members_.find(key);
    return !n || members_[n].group->dissolved ? nullptr : &members_[n];
}

ClusterFs::Status
ClusterFs::NumberedGroups::assign(const uint64_t group, const Key &key, const IsKept &isKept)
{
    if (groupOf(key) == group)
        return Status::ok;
    if (!members_.find(key) && full() && !makeRoom(isKept))
        return Status::busy;
    (void)leave(key); // which makes room for a group, if there was none
    const auto found = findOrMake(group);
    if (!found || !enter(*found, key)) {
        if (found)
            forgetIfEmpty(*found);
        return Status::busy;
    }
    return Status::ok;
}

/// Makes an object a member, which is none of another group unless that is dissolved.
/// \returns false when there is no room
bool
ClusterFs::NumberedGroups::enter(Group &group, const Key &key)
{
    if (const auto left = members_.find(key))
        forget(left);
    const auto n = full() ? nothing : members_.add(key);
    if (!n)
        return false;
    members_[n].group = &group;
    members_[n].serial = ++lastSerial_;
    group.members.append(n);
    return true;
}

void
ClusterFs::NumberedGroups::forget(const uint32_t n)
{
    members_[n].group->members.erase(n);
    members_.remove(n);
}

bool
ClusterFs::NumberedGroups::leave(const Key &key)
{
    const auto n = members_.find(key);
    if (!n || members_[n].group->dissolved)
        return false;
    const auto &group = *members_[n].group;
    forget(n);
    forgetIfEmpty(group);
    return true;
}

void
ClusterFs::NumberedGroups::forgetIfEmpty(const Group &group)
{
    if (group.members.empty() && group.favour == Favour::none && !group.persist)
        groups_.erase(group.number);
}

bool
ClusterFs::NumberedGroups::dissolve(const uint64_t number)
{
    if (!find(number))
        return false;
    (void)setPersist(number, 0); // which may be all that kept it
    const auto found = groups_.find(number);
    if (found == groups_.end())
        return true;
    found->second->dissolved = true;
    leaving_.push_back(std::move(found->second));
    groups_.erase(found);
    return true;
}

bool
ClusterFs::NumberedGroups::sweep()
{
    for (unsigned left = sweptAtOnce; left && !leaving_.empty(); --left) {
        if (const auto first = leaving_.front()->members.after(0))
            forget(first);
        else
            leaving_.pop_front();
    }
    return !leaving_.empty();
}

/// forgets a member that is not in the store, or goes on with what is dissolved
/// \returns whether there is room for one more
bool
ClusterFs::NumberedGroups::makeRoom(const IsKept &isKept)
{
    (void)sweep();
    for (unsigned looks = 0; full() && looks < looksForRoom && !groups_.empty(); ++looks) {
        const auto at = groups_.lower_bound(room_.group);
        if (at == groups_.end()) {
            room_ = Hand();
            continue;
        }
        const auto &group = *at->second;
        if (group.number != room_.group)
            room_ = {group.number, 0};
        const auto n = group.members.after(room_.serial);
        if (!n) {
            room_ = {group.number + 1, 0}; // there is none behind the highest number: then it begins anew
            continue;
        }
        room_.serial = members_[n].serial;
        if (!isKept(members_[n].name))
            (void)leave(Key(members_[n].name));
    }
    return !full();
}

uint64_t
ClusterFs::NumberedGroups::groupOf(const Key &key) const
{
    const auto member = memberOf(key);
    return member ? member->group->number : 0;
}

bool
ClusterFs::NumberedGroups::next(const uint64_t number, uint64_t &cursor, Key &key) const
{
    const auto group = find(number);
    if (!group)
        return false;
    const auto n = group->members.after(cursor);
    if (!n)
        return false;
    cursor = members_[n].serial;
    key = members_[n].name;
    return true;
}

void
ClusterFs::NumberedGroups::around(const Key &key, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    const auto member = memberOf(key);
    if (!member || !most)
        return;
    const auto &members = member->group->members;
    auto first = member->serial;
    auto before = most / 2;
    for (auto n = members.before(first); before && n; n = members.before(first), --before)
        first = members_[n].serial;
    for (auto n = members.after(first - 1); n && out.size() < most; n = members.after(members_[n].serial))
        out.push_back(members_[n].name);
}

/* what is said of groups */

ClusterFs::Status
ClusterFs::NumberedGroups::setFavour(const uint64_t number, const Favour favour)
{
    const auto group = favour == Favour::none ? find(number) : findOrMake(number);
    if (!group)
        return favour == Favour::none ? Status::ok : Status::busy;
    group->favour = favour;
    forgetIfEmpty(*group);
    return Status::ok;
}

ClusterFs::Favour
ClusterFs::NumberedGroups::favourOf(const Key &key) const
{
    const auto member = memberOf(key);
    return member ? member->group->favour : Favour::none;
}

ClusterFs::Status
ClusterFs::NumberedGroups::setPersist(const uint64_t number, const uint32_t seconds)
{
    const auto group = seconds ? findOrMake(number) : find(number);
    if (!group)
        return seconds ? Status::busy : Status::ok;
    if (group->persist)
        persists_.erase(persists_.find(group->persist));
    group->persist = seconds;
    if (seconds)
        persists_.insert(seconds);
    forgetIfEmpty(*group);
    return Status::ok;
}

uint32_t
ClusterFs::NumberedGroups::persistOf(const Key &key) const
{
    const auto member = persists_.empty() ? nullptr : memberOf(key);
    return member ? member->group->persist : 0;
}

uint32_t
ClusterFs::NumberedGroups::leastPersist() const
{
    return persists_.empty() ? neverPersist : *persists_.begin();
}

/* for the next run */

ClusterFs::SavedGroups::Saved
ClusterFs::NumberedGroups::save(const bool again, const IsKept &isKept, const size_t bytes, std::vector<SavedGroups::GroupRecord> &out)
{
    if (again) {
        saved_ = Hand();
        begun_ = false;
    }
    size_t used = 0;
    for (const auto &record: out)
        used += record.bytes();
    unsigned looks = 0;
    for (auto at = groups_.lower_bound(saved_.group); at != groups_.end(); at = groups_.lower_bound(saved_.group)) {
        const auto &group = *at->second;
        if (group.number != saved_.group) {
            saved_ = {group.number, 0};
            begun_ = false;
        }
        SavedGroups::GroupRecord record;
        if (used + record.bytes() + SavedGroups::MemberRecord::encodedBytes > bytes)
            return SavedGroups::Saved::full;
        record.kind = SavedGroups::numbered;
        record.name = group.number;
        record.site = uint64_t(group.persist) << 8 | static_cast<uint8_t>(group.favour);
        auto n = group.members.after(saved_.serial);
        for (; n && looks < looksAtOnce; n = group.members.after(saved_.serial), ++looks) {
            if (used + record.bytes() + SavedGroups::MemberRecord::encodedBytes > bytes)
                break;
            const auto &member = members_[n];
            saved_.serial = member.serial;
            if (!isKept(member.name))
                continue;
            SavedGroups::MemberRecord one;
            one.key = member.name;
            one.weight = one.forever;
            one.evidence = static_cast<uint8_t>(Evidence::explicitly);
            one.home = true;
            record.members.push_back(one);
        }
        if (!record.members.empty() || (record.site && !begun_)) {
            used += record.bytes();
            out.push_back(std::move(record));
            begun_ = true;
        }
        if (n)
            return looks < looksAtOnce ? SavedGroups::Saved::full : SavedGroups::Saved::some;
        if (group.number == UINT64_MAX)
            break;
        saved_ = {group.number + 1, 0};
        begun_ = false;
        if (++looks >= looksAtOnce)
            return SavedGroups::Saved::some;
    }
    return SavedGroups::Saved::all;
}

bool
ClusterFs::NumberedGroups::restore(const SavedGroups::GroupRecord &record)
{
    const auto group = findOrMake(record.name);
    if (!group)
        return false;
    const auto favour = static_cast<uint8_t>(record.site & 0xff);
    const auto persist = static_cast<uint32_t>(record.site >> 8);
    if (group->favour == Favour::none && favour <= static_cast<uint8_t>(Favour::hated))
        group->favour = static_cast<Favour>(favour);
    if (!group->persist && persist)
        (void)setPersist(record.name, persist);
    for (const auto &member: record.members) {
        if (memberOf(member.key))
            continue; // this run was told where it is
        if (!enter(*group, member.key)) {
            forgetIfEmpty(*group);
            return false;
        }
    }
    forgetIfEmpty(*group);
    return true;
}
