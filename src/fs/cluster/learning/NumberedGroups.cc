// SPDX-License-Identifier: GPL-2.0-or-later
/* The groups that callers number. */

#include "fs/cluster/learning/NumberedGroups.h"

#include "fs/cluster/learning/Records.h"

#include <utility>

namespace {

constexpr unsigned looksForRoom = 64; ///< members that makeRoom() looks at
constexpr unsigned looksAtOnce = 4096; ///< members and groups that one call of save() looks at
constexpr unsigned sweptAtOnce = 512; ///< members that one call of sweep() forgets

} // namespace

ClusterFs::NumberedGroups::NumberedGroups(const uint64_t bytes):
    limit_(static_cast<size_t>(bytes / bytesEach))
{
}

ClusterFs::NumberedGroups::GroupPointer
ClusterFs::NumberedGroups::find(const uint64_t group) const
{
    const auto found = groups_.find(group);
    return found == groups_.end() ? nullptr : found->second;
}

/// \returns nil when there is no room for another one
ClusterFs::NumberedGroups::GroupPointer
ClusterFs::NumberedGroups::findOrMake(const uint64_t group)
{
    auto known = find(group);
    if (known || full())
        return known;
    auto made = std::make_shared<Group>();
    made->number = group;
    groups_[group] = made;
    return made;
}

const ClusterFs::NumberedGroups::Place *
ClusterFs::NumberedGroups::placeOf(const Key &key) const
{
    const auto found = places_.find(key);
    return found == places_.end() || found->second.group->dissolved ? nullptr : &found->second;
}

ClusterFs::Status
ClusterFs::NumberedGroups::assign(const uint64_t group, const Key &key, const IsKept &isKept)
{
    if (groupOf(key) == group)
        return Status::ok;
    if (!places_.count(key) && full() && !makeRoom(isKept))
        return Status::busy;
    (void)leave(key); // which makes room for a group, if there was none
    const auto found = findOrMake(group);
    if (!found)
        return Status::busy;
    enter(found, key);
    return Status::ok;
}

void
ClusterFs::NumberedGroups::enter(const GroupPointer &group, const Key &key)
{
    const auto serial = ++lastSerial_;
    group->members.emplace(serial, key);
    places_[key] = {group, serial};
}

bool
ClusterFs::NumberedGroups::leave(const Key &key)
{
    const auto place = placeOf(key);
    if (!place)
        return false;
    const auto group = place->group;
    group->members.erase(place->serial);
    places_.erase(key);
    forgetIfEmpty(group);
    return true;
}

void
ClusterFs::NumberedGroups::forgetIfEmpty(const GroupPointer &group)
{
    if (group->members.empty() && group->favour == Favour::none && !group->persist)
        groups_.erase(group->number);
}

bool
ClusterFs::NumberedGroups::dissolve(const uint64_t number)
{
    const auto group = find(number);
    if (!group)
        return false;
    (void)setPersist(number, 0);
    group->dissolved = true;
    groups_.erase(number);
    leaving_.push_back(group);
    return true;
}

bool
ClusterFs::NumberedGroups::sweep()
{
    for (unsigned left = sweptAtOnce; left && !leaving_.empty(); --left) {
        const auto &group = leaving_.front();
        const auto first = group->members.begin();
        if (first == group->members.end()) {
            leaving_.pop_front();
            continue;
        }
        const auto place = places_.find(first->second);
        if (place != places_.end() && place->second.group == group)
            places_.erase(place);
        group->members.erase(first);
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
        auto at = groups_.lower_bound(room_.group);
        if (at == groups_.end()) {
            room_ = Hand();
            continue;
        }
        const auto group = at->second;
        if (group->number != room_.group)
            room_ = {group->number, 0};
        const auto member = group->members.upper_bound(room_.serial);
        if (member == group->members.end()) {
            room_ = {group->number + 1, 0}; // there is none behind the highest number: then it begins anew
            continue;
        }
        room_.serial = member->first;
        if (!isKept(member->second))
            (void)leave(Key(member->second));
    }
    return !full();
}

uint64_t
ClusterFs::NumberedGroups::groupOf(const Key &key) const
{
    const auto place = placeOf(key);
    return place ? place->group->number : 0;
}

bool
ClusterFs::NumberedGroups::next(const uint64_t number, uint64_t &cursor, Key &key) const
{
    const auto group = find(number);
    if (!group)
        return false;
    const auto member = group->members.upper_bound(cursor);
    if (member == group->members.end())
        return false;
    cursor = member->first;
    key = member->second;
    return true;
}

void
ClusterFs::NumberedGroups::around(const Key &key, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    const auto place = placeOf(key);
    if (!place || !most)
        return;
    const auto &members = place->group->members;
    auto at = members.find(place->serial);
    for (auto before = most / 2; before && at != members.begin(); --before)
        --at;
    for (; at != members.end() && out.size() < most; ++at)
        out.push_back(at->second);
}

/* what is said of groups */

ClusterFs::Status
ClusterFs::NumberedGroups::setFavour(const uint64_t number, const Favour favour)
{
    const auto group = favour == Favour::none ? find(number) : findOrMake(number);
    if (!group)
        return favour == Favour::none ? Status::ok : Status::busy;
    group->favour = favour;
    forgetIfEmpty(group);
    return Status::ok;
}

ClusterFs::Favour
ClusterFs::NumberedGroups::favourOf(const Key &key) const
{
    const auto place = placeOf(key);
    return place ? place->group->favour : Favour::none;
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
    forgetIfEmpty(group);
    return Status::ok;
}

uint32_t
ClusterFs::NumberedGroups::persistOf(const Key &key) const
{
    const auto place = persists_.empty() ? nullptr : placeOf(key);
    return place ? place->group->persist : 0;
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
        auto member = group.members.upper_bound(saved_.serial);
        for (; member != group.members.end() && looks < looksAtOnce; ++member, ++looks) {
            if (used + record.bytes() + SavedGroups::MemberRecord::encodedBytes > bytes)
                break;
            saved_.serial = member->first;
            if (!isKept(member->second))
                continue;
            SavedGroups::MemberRecord one;
            one.key = member->second;
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
        if (member != group.members.end())
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
        if (placeOf(member.key))
            continue; // this run was told where it is
        if (full())
            return false;
        enter(group, member.key);
    }
    forgetIfEmpty(group);
    return true;
}
