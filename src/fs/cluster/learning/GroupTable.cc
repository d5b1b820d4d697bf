// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of objects, groups, memberships and guests. */

#include "fs/cluster/learning/GroupTable.h"

namespace {

/// The sizes of the tables: an object is expected to have 1.25 memberships on
/// average, and a page five objects or more, style sheets counted as pages.
constexpr uint32_t membershipsOf(const uint32_t objects) { return objects + objects / 4; }
constexpr uint32_t groupsOf(const uint32_t objects) { return objects / 5; }

/// one guest for every other object
constexpr uint32_t guestsOf(const uint32_t objects) { return objects / 2; }

constexpr unsigned pagesTried = 64; ///< pages looked at when guests have to make room

} // namespace

ClusterFs::GroupTable::GroupTable(const uint32_t objects, const uint64_t seed):
    objects_(objects, seed),
    groups_(groupsOf(objects), seed),
    memberships_(membershipsOf(objects)),
    guests_(guestsOf(objects))
{
}

uint64_t
ClusterFs::GroupTable::BytesEach()
{
    constexpr uint32_t hundred = 100;
    return (hundred * decltype(objects_)::bytesEach + groupsOf(hundred) * decltype(groups_)::bytesEach +
            membershipsOf(hundred) * sizeof(Membership) + guestsOf(hundred) * sizeof(Guest) + hundred - 1) / hundred;
}

/* objects */

uint32_t
ClusterFs::GroupTable::objectFor(const Key &key)
{
    if (const auto known = objects_.find(key))
        return known;
    if (objects_.full())
        forgetObject(objects_.victim());
    return objects_.add(key);
}

uint32_t
ClusterFs::GroupTable::objectIfRoom(const Key &key)
{
    const auto known = objects_.find(key);
    if (known || objects_.full())
        return known;
    const auto object = objects_.add(key);
    objects_[object].marked = true;
    return object;
}

void
ClusterFs::GroupTable::forgetObject(const uint32_t object)
{
    while (const auto m = objects_[object].memberships)
        leave(m);
    objects_.remove(object);
}

uint32_t
ClusterFs::GroupTable::homeOf(const uint32_t object) const
{
    auto m = objects_[object].memberships;
    while (m && !alive(m))
        m = memberships_[m].nextOfObject;
    return m ? memberships_[m].group : nothing;
}

bool
ClusterFs::GroupTable::isDocument(const uint32_t object) const
{
    const auto led = objects_[object].leads;
    return led && groups_[led].kind == GroupKind::page && !groups_[led].sheet;
}

bool
ClusterFs::GroupTable::isShared(const uint32_t object) const
{
    const auto home = object ? homeOf(object) : nothing;
    return home && groups_[home].kind == GroupKind::site;
}

uint32_t
ClusterFs::GroupTable::sequenceOf(const uint32_t object) const
{
    const auto isSequence = [this](const uint32_t g) { return g && groups_[g].kind == GroupKind::sequence; };
    const auto led = objects_[object].leads;
    if (isSequence(led))
        return led;
    const auto home = homeOf(object);
    return isSequence(home) ? home : nothing;
}

/* groups */

uint32_t
ClusterFs::GroupTable::groupFor(const uint64_t name, const uint64_t site, const GroupKind kind)
{
    if (const auto known = groups_.find(name)) {
        if (!groups_[known].site)
            groups_[known].site = site;
        return known;
    }
    if (groupsFull())
        drop(groups_.victim());
    const auto made = groups_.add(name);
    auto &group = groups_[made];
    group.site = site;
    group.kind = kind;
    group.serial = ++serial_;
    return made;
}

void
ClusterFs::GroupTable::rename(const uint32_t group, const uint64_t name)
{
    const auto other = groups_.find(name);
    if (other && other != group)
        drop(other);
    groups_.rename(group, name);
}

void
ClusterFs::GroupTable::lead(const uint32_t group, const uint32_t object)
{
    if (const auto former = leaderOf(group))
        objects_[former].leads = nothing;
    if (const auto member = scan(object, group).member)
        leave(member); // the leader is not its own member
    objects_[object].leads = group;
    groups_[group].leader = object;
}

uint32_t
ClusterFs::GroupTable::leaderOf(const uint32_t group) const
{
    // another object may have the number by now, or the object may lead another group
    const auto leader = groups_[group].leader;
    return leader && objects_[leader].used && objects_[leader].leads == group ? leader : nothing;
}

bool
ClusterFs::GroupTable::forgetGroup(const uint32_t keep)
{
    const auto victim = groups_.victim(keep);
    if (victim)
        drop(victim);
    return victim;
}

void
ClusterFs::GroupTable::drop(const uint32_t group)
{
    while (const auto m = groups_[group].first)
        leave(m);
    guests_.clear(groups_[group].guests);
    if (const auto leader = leaderOf(group))
        objects_[leader].leads = nothing;
    groups_.remove(group);
}

void
ClusterFs::GroupTable::list(const uint32_t group, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    if (!group)
        return;
    if (const auto leader = leaderOf(group))
        out.push_back(keyOf(leader));
    // confirmed ones first: a client that sends junk with the Referer of a page must not push its members out
    listMembers(group, true, out, most);
    listMembers(group, false, out, most);
}

/// adds the members that are at home in a group
/// \param confirmed whether to add those fetched in more than one visit, or the others
void
ClusterFs::GroupTable::listMembers(const uint32_t group, const bool confirmed, std::vector<Key> &out, const size_t most) const
{
    for (auto m = groups_[group].first; m && out.size() < most; m = memberships_[m].nextInGroup) {
        const auto object = memberships_[m].object;
        if (memberships_[m].confirmed == confirmed && alive(m) && homeOf(object) == group)
            out.push_back(keyOf(object));
    }
}

/* memberships */

ClusterFs::GroupTable::Found
ClusterFs::GroupTable::scan(const uint32_t object, const uint32_t group)
{
    Found found;
    for (auto m = objects_[object].memberships; m;) {
        const auto next = memberships_[m].nextOfObject;
        const auto in = memberships_[m].group;
        if (!alive(m))
            leave(m);
        else if (in == group)
            found.member = m;
        else if (groups_[in].kind == GroupKind::page) {
            ++found.otherPages;
            found.otherSites |= groups_[in].site != groups_[group].site;
        }
        m = next;
    }
    return found;
}

uint32_t
ClusterFs::GroupTable::join(const uint32_t object, const uint32_t group)
{
    unsigned count = 0;
    auto *end = &objects_[object].memberships;
    for (; *end; end = &memberships_[*end].nextOfObject)
        ++count;
    if (count >= maxMemberships) {
        const auto home = objects_[object].memberships;
        leave(memberships_[home].nextOfObject);
        for (end = &objects_[object].memberships; *end;)
            end = &memberships_[*end].nextOfObject;
    }

    const auto m = memberships_.add();
    if (!m)
        return nothing;
    *end = m;
    memberships_[m].object = object;
    memberships_[m].group = group;
    append(group, m);
    counts_.groups += groups_[group].members++ == 0;
    return m;
}

void
ClusterFs::GroupTable::leave(const uint32_t m)
{
    detach(m);
    counts_.groups -= --groups_[memberships_[m].group].members == 0;
    auto *at = &objects_[memberships_[m].object].memberships;
    while (*at != m)
        at = &memberships_[*at].nextOfObject;
    *at = memberships_[m].nextOfObject;
    memberships_.remove(m);
    ++counts_.forgotten;
}

void
ClusterFs::GroupTable::moveHome(const uint32_t m)
{
    auto &first = objects_[memberships_[m].object].memberships;
    if (first == m)
        return;
    auto *at = &first;
    while (*at != m)
        at = &memberships_[*at].nextOfObject;
    *at = memberships_[m].nextOfObject;
    memberships_[m].nextOfObject = first;
    first = m;
    ++counts_.moved;
}

void
ClusterFs::GroupTable::putLast(const uint32_t m)
{
    detach(m);
    append(memberships_[m].group, m);
}

/// puts a membership at the end of its group's list
void
ClusterFs::GroupTable::append(const uint32_t group, const uint32_t m)
{
    auto &g = groups_[group];
    memberships_[m].previousInGroup = g.last;
    memberships_[m].nextInGroup = nothing;
    (g.last ? memberships_[g.last].nextInGroup : g.first) = m;
    g.last = m;
}

/// takes a membership out of its group's list
void
ClusterFs::GroupTable::detach(const uint32_t m)
{
    const auto &member = memberships_[m];
    auto &g = groups_[member.group];
    (member.previousInGroup ? memberships_[member.previousInGroup].nextInGroup : g.first) = member.nextInGroup;
    (member.nextInGroup ? memberships_[member.nextInGroup].previousInGroup : g.last) = member.previousInGroup;
}

void
ClusterFs::GroupTable::sweep(const uint32_t group)
{
    for (auto m = groups_[group].first; m;) {
        const auto next = memberships_[m].nextInGroup;
        if (!alive(m))
            leave(m);
        m = next;
    }
}

/* guests */

void
ClusterFs::GroupTable::noteGuest(const uint32_t page, const uint32_t object, const uint16_t visit)
{
    guests_.note(groups_[page].guests, object, guestTagOf(object), visit);
}

void
ClusterFs::GroupTable::makeGuestRoom(const uint32_t page)
{
    for (unsigned tried = 1; guests_.full() && tried <= pagesTried; ++tried) {
        guestsHand_ = guestsHand_ < maxGroup() ? guestsHand_ + 1 : 1;
        auto &other = groups_[guestsHand_];
        if (guestsHand_ != page && (!other.marked || tried == pagesTried))
            guests_.clear(other.guests);
    }
}

ClusterFs::TrackerStats
ClusterFs::GroupTable::report() const
{
    auto stats = counts_;
    stats.members = memberships_.used();
    stats.objects = objects_.used();
    stats.bytes = objects_.bytes() + groups_.bytes() + memberships_.bytes() + guests_.bytes();
    return stats;
}
