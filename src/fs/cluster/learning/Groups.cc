// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects and groups: found, made, listed and forgotten. */

#include "fs/cluster/learning/Groups.h"

namespace {

/// how long the same request may be reported again: a lookup, later a store
constexpr uint64_t repeatMicros = 10 * 1000000;

/// an object has a group, and a quarter more on average; a page has five objects
/// or more, style sheets counted as pages
constexpr uint32_t membershipsOf(const uint32_t objects) { return objects + objects / 4; }
constexpr uint32_t groupsOf(const uint32_t objects) { return objects / 5; }

/// every other one is wanted by one page of many
constexpr uint32_t guestsOf(const uint32_t objects) { return objects / 2; }


constexpr unsigned whenShift = 16;
constexpr uint32_t whenMask = 0xfffffff;

} // namespace

ClusterFs::Groups::Groups(const uint32_t objects, const uint64_t seed):
    objects_(objects, seed),
    groups_(groupsOf(objects), seed),
    memberships_(membershipsOf(objects)),
    guests_(guestsOf(objects))
{
}

uint64_t
ClusterFs::Groups::BytesEach()
{
    constexpr uint32_t hundred = 100;
    return (hundred * decltype(objects_)::bytesEach + groupsOf(hundred) * decltype(groups_)::bytesEach +
            membershipsOf(hundred) * sizeof(Membership) + guestsOf(hundred) * sizeof(Guest) + hundred - 1) / hundred;
}

uint32_t
ClusterFs::Groups::objectFor(const Key &key)
{
    if (const auto known = objects_.find(key))
        return known;
    if (objects_.used() == objects_.capacity())
        forgetObject(objects_.victim());
    return objects_.add(key);
}

bool
ClusterFs::Groups::noteRepeat(const uint32_t object, const uint64_t client, const uint64_t micros)
{
    auto &o = objects_[object];
    const auto who = static_cast<uint32_t>(client) | 1; // never that of a new object
    const auto now = static_cast<uint32_t>(micros >> whenShift) & whenMask;
    if (client && o.client == who && ((now - o.when) & whenMask) < (repeatMicros >> whenShift))
        return true;
    o.marked = o.client != 0; // what was asked for only once makes room first
    o.client = who;
    o.when = now & whenMask;
    return false;
}

bool
ClusterFs::Groups::noteSuccession(const uint32_t object, const uint32_t successor)
{
    auto &o = objects_[object];
    const auto tag = tagOf(successor);
    if (o.succeeded && o.successor == tag) {
        if (o.succeeded < 3)
            ++o.succeeded;
        return true;
    }
    if (o.succeeded > 1) { // one stranger in between does not matter
        --o.succeeded;
        return false;
    }
    o.successor = tag;
    o.succeeded = 1;
    return false;
}

uint32_t
ClusterFs::Groups::sequenceOf(const uint32_t object) const
{
    const auto isSequence = [this](const uint32_t g) { return g && groups_[g].kind == GroupKind::sequence; };
    const auto led = objects_[object].leads;
    if (isSequence(led))
        return led;
    const auto home = homeOf(object);
    return isSequence(home) ? home : nothing;
}

bool
ClusterFs::Groups::isDocument(const uint32_t object) const
{
    const auto led = objects_[object].leads;
    return led && groups_[led].kind == GroupKind::page && !groups_[led].sheet;
}

bool
ClusterFs::Groups::hasGroup(const uint32_t object) const
{
    return objects_[object].leads || homeOf(object);
}

uint32_t
ClusterFs::Groups::groupFor(const uint64_t name, const uint64_t site, const GroupKind kind)
{
    if (const auto known = groups_.find(name)) {
        if (!groups_[known].site)
            groups_[known].site = site;
        return known;
    }
    if (groups_.used() == groups_.capacity())
        forgetGroup(groups_.victim());
    const auto made = groups_.add(name);
    auto &group = groups_[made];
    group.site = site;
    group.kind = kind;
    group.serial = ++serial_;
    return made;
}

uint32_t
ClusterFs::Groups::pageOf(const uint64_t name, const uint64_t site, const uint32_t object)
{
    // a group that was made before the page's URL was known gets it now
    const auto led = object ? objects_[object].leads : nothing;
    if (led && groups_[led].kind == GroupKind::chosen) {
        const auto other = groups_.find(name);
        if (other && other != led)
            forgetGroup(other);
        groups_.rename(led, name);
        groups_[led].kind = GroupKind::page;
        groups_[led].site = site;
        return led;
    }
    const auto page = groupFor(name, site, GroupKind::page);
    if (object)
        lead(page, object);
    return page;
}

void
ClusterFs::Groups::lead(const uint32_t group, const uint32_t object)
{
    if (const auto former = leaderOf(group))
        objects_[former].leads = nothing;
    if (const auto member = scan(object, group).member)
        leave(member); // the container is not its own member
    objects_[object].leads = group;
    groups_[group].leader = object;
}

uint32_t
ClusterFs::Groups::leaderOf(const uint32_t group) const
{
    // the entry may belong to another object by now, or the object to another group
    const auto leader = groups_[group].leader;
    return leader && objects_[leader].used && objects_[leader].leads == group ? leader : nothing;
}

void
ClusterFs::Groups::noteSheet(const uint64_t name, const uint64_t site, const uint32_t object)
{
    const auto led = objects_[object].leads;
    if (led && groups_[led].kind != GroupKind::page)
        return;
    const auto known = groups_.find(name);
    const auto sheet = known ? known : groupFor(name, site, GroupKind::page);
    groups_[sheet].sheet = true;
    groups_[sheet].marked = known != nothing;
    lead(sheet, object);
}

uint32_t
ClusterFs::Groups::homeOf(const uint32_t object) const
{
    auto m = objects_[object].memberships;
    while (m && !alive(m))
        m = memberships_[m].nextOfObject;
    return m ? memberships_[m].group : nothing;
}

bool
ClusterFs::Groups::isGuest(const Key &key, std::vector<Key> &company, const size_t most) const
{
    const auto object = objects_.find(key);
    auto m = object ? objects_[object].memberships : nothing;
    while (m && !(memberships_[m].candidate && alive(m)))
        m = memberships_[m].nextOfObject;
    if (!m)
        return false;
    const auto group = memberships_[m].group;
    company.clear();
    if (const auto leader = leaderOf(group))
        company.push_back(objects_[leader].name);
    for (auto other = groups_[group].first; other && company.size() < most; other = memberships_[other].nextInGroup) {
        if (alive(other))
            company.push_back(objects_[memberships_[other].object].name);
    }
    return true;
}

uint64_t
ClusterFs::Groups::numberFor(const Key &key) const
{
    const auto object = objects_.find(key);
    if (!object)
        return 0;
    const auto group = objects_[object].leads ? objects_[object].leads : homeOf(object);
    return group ? groups_[group].name : 0;
}

bool
ClusterFs::Groups::isShared(const uint32_t object) const
{
    const auto home = object ? homeOf(object) : nothing;
    return home && groups_[home].kind == GroupKind::site;
}

void
ClusterFs::Groups::list(const Key &key, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    const auto object = objects_.find(key);
    if (!object)
        return;
    listGroup(objects_[object].leads, out, most);
    if (out.size() < 2)
        listGroup(homeOf(object), out, most);
    if (out.size() < 2)
        out.clear();
}

void
ClusterFs::Groups::listGroup(const uint32_t group, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    if (!group)
        return;
    if (const auto leader = leaderOf(group))
        out.push_back(objects_[leader].name);
    // who sends junk with the Referer of a page doesn't come before its members
    listMembers(group, true, out, most);
    listMembers(group, false, out, most);
}

/// adds the members that are at home in a group
/// \param confirmed whether to add those fetched in more than one visit, or the others
void
ClusterFs::Groups::listMembers(const uint32_t group, const bool confirmed, std::vector<Key> &out, const size_t most) const
{
    for (auto m = groups_[group].first; m && out.size() < most; m = memberships_[m].nextInGroup) {
        const auto object = memberships_[m].object;
        if (memberships_[m].confirmed == confirmed && alive(m) && homeOf(object) == group)
            out.push_back(objects_[object].name);
    }
}

/// \returns the object, or nothing when its number means another one by now
uint32_t
ClusterFs::Groups::guestOf(const Guest &guest) const
{
    return objects_[guest.object].used && guestTagOf(guest.object) == guest.tag ? guest.object : nothing;
}

/// whether what was wanted in one visit is expected in a later one: in the next, or the same
bool
ClusterFs::Groups::expected(const uint16_t now, const uint16_t then)
{
    return static_cast<uint16_t>(now - then) <= 1;
}

void
ClusterFs::Groups::listWanted(const uint64_t name, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    const auto number = groups_.find(name);
    if (!number)
        return;
    const auto &group = groups_[number];
    if (const auto leader = leaderOf(number))
        out.push_back(keyOf(leader));
    for (auto m = group.first; m && out.size() < most; m = memberships_[m].nextInGroup) {
        if (expected(markOf(group, number), memberships_[m].visit) && alive(m))
            out.push_back(keyOf(memberships_[m].object));
    }
    for (auto g = group.guests; g && out.size() < most; g = guests_[g].next) {
        const auto object = guestOf(guests_[g]);
        if (object && expected(group.visit, guests_[g].visit))
            out.push_back(keyOf(object));
    }
}

void
ClusterFs::Groups::forgetObject(const uint32_t object)
{
    while (const auto m = objects_[object].memberships)
        leave(m);
    objects_.remove(object);
}

void
ClusterFs::Groups::forgetGroup(const uint32_t group)
{
    while (const auto m = groups_[group].first)
        leave(m);
    guests_.clear(groups_[group].guests);
    if (const auto leader = leaderOf(group))
        objects_[leader].leads = nothing;
    groups_.remove(group);
}

ClusterFs::TrackerStats
ClusterFs::Groups::report() const
{
    auto stats = counts_;
    stats.members = memberships_.used();
    stats.objects = objects_.used();
    stats.bytes = objects_.bytes() + groups_.bytes() + memberships_.bytes() + guests_.bytes();
    return stats;
}
