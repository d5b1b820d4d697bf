// SPDX-License-Identifier: GPL-2.0-or-later
/* Memberships: how they begin, grow, fade, move and end. */

#include "fs/cluster/learning/Groups.h"
#include "fs/cluster/learning/Weights.h"

#include <algorithm>

namespace {

using namespace ClusterFs;

/// visits that begin within this time are taken for one
constexpr uint64_t visitMicros = 2 * 1000000;
/// Somebody fetches something of a site's shared objects all the time, so that
/// their visits are just hours.
constexpr uint64_t siteVisitMicros = 3600ULL * 1000000;

constexpr unsigned membersTried = 16; ///< when a full group shall make room
constexpr unsigned groupsTried = 64; ///< when all memberships are in use

/// notes that one more member was fetched in the current visit
void
countSeen(Group &group)
{
    if (group.seen < 0xffff)
        ++group.seen;
}

/// \returns the name of the group of what a site's pages share
uint64_t
sharedName(const uint64_t site)
{
    return (site ^ 0x5348415245440000ULL) * 0x9e3779b97f4a7c15ULL;
}

} // namespace

void
ClusterFs::Groups::visit(const uint32_t number, const uint64_t micros)
{
    auto &group = groups_[number];
    const auto isSite = group.kind == GroupKind::site;
    if (group.visit && micros < group.visited + (isSite ? siteVisitMicros : visitMicros))
        return;

    group.marked = group.visit != 0; // what was visited only once makes room first
    group.visited = micros;
    group.visit = group.visit == 0xffff ? 1 : group.visit + 1;

    // nothing seen: the browser had all of it, or a crawler wanted the page alone
    const auto small = !isSite && group.seen * 2 < group.members;
    const auto fade = !group.seen ? 0 : small ? fadeInSmallVisit : fadeInVisit;
    const auto sweeps = group.faded / fadeBetweenSweeps;
    group.faded += fade;
    group.seen = 0;
    if (group.faded / fadeBetweenSweeps != sweeps)
        sweep(number);
}

void
ClusterFs::Groups::sight(const uint32_t object, const uint64_t ownSite, const uint32_t group, const Evidence evidence,
                         const uint64_t micros)
{
    if (leaderOf(group) == object)
        return;

    const auto mark = markOf(groups_[group], group);
    const auto found = scan(object, group);
    auto member = found.member;
    if (!member && found.otherPages < sharedFrom)
        member = join(object, group, evidence, mark);
    if (!member && groups_[group].kind == GroupKind::page)
        noteGuest(object, group);
    auto anew = member && strengthen(member, mark);

    // what pages of several sites share is best kept with the like of it
    const auto site = found.otherSites ? ownSite : groups_[group].site;
    if (groups_[group].kind == GroupKind::page && site && found.otherPages + 1 >= sharedFrom) {
        const auto common = groupFor(sharedName(site), site, GroupKind::site); // may forget the page
        visit(common, micros);
        groups_[common].marked = true;
        member = scan(object, common).member;
        if (!member)
            member = join(object, common, Evidence::sharing, mark);
        anew = member && strengthen(member, mark);
    }
    if (member)
        place(object, member, anew);
}

/// A page wants an object that too many want to be its member. When there is no memory, the
/// guests of another page go, most likely of one that was visited only once.
void
ClusterFs::Groups::noteGuest(const uint32_t object, const uint32_t page)
{
    for (unsigned tried = 1; guests_.full() && tried <= groupsTried; ++tried) {
        guestsHand_ = guestsHand_ < groups_.touched() ? guestsHand_ + 1 : 1;
        auto &other = groups_[guestsHand_];
        if (guestsHand_ != page && (!other.marked || tried == groupsTried))
            guests_.clear(other.guests);
    }
    auto &own = groups_[page];
    guests_.note(own.guests, object, guestTagOf(object), own.visit);
}

void
ClusterFs::Groups::settle(const uint32_t object, const uint32_t group)
{
    if (leaderOf(group) == object)
        return;
    auto member = scan(object, group).member;
    if (!member)
        member = join(object, group, Evidence::explicitly, markOf(groups_[group], group));
    if (!member)
        return;
    memberships_[member].until = forever;
    memberships_[member].evidence = Evidence::explicitly;
    moveHome(object, member);
}

/// Drops the faded memberships of an object and looks for the one in a group.
ClusterFs::Groups::Found
ClusterFs::Groups::scan(const uint32_t object, const uint32_t group)
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

/// \returns a new membership, or 0 when there is no room
uint32_t
ClusterFs::Groups::join(const uint32_t object, const uint32_t group, const Evidence evidence, const uint16_t mark)
{
    if (!makeRoomIn(group)) {
        ++counts_.refused;
        return 0;
    }

    unsigned count = 0;
    auto *end = &objects_[object].memberships;
    for (; *end; end = &memberships_[*end].nextOfObject)
        ++count;
    if (count >= maxMemberships) { // the oldest but for the home goes
        const auto home = objects_[object].memberships;
        leave(memberships_[home].nextOfObject);
        for (end = &objects_[object].memberships; *end;)
            end = &memberships_[*end].nextOfObject;
    }

    const auto m = memberships_.add();
    *end = m;
    auto &g = groups_[group];
    auto &member = memberships_[m];
    member.object = object;
    member.group = group;
    member.until = g.faded + weightOfNew;
    member.visit = mark;
    member.evidence = evidence;
    append(group, m);
    counts_.groups += g.members++ == 0;
    countSeen(g);
    ++learned(evidence);
    return m;
}

/// \returns where memberships of a kind of evidence are counted
uint64_t &
ClusterFs::Groups::learned(const Evidence evidence)
{
    switch (evidence) {
    case Evidence::referer:
        return counts_.byReferer;
    case Evidence::origin:
        return counts_.byOrigin;
    case Evidence::window:
        return counts_.byWindow;
    case Evidence::sequence:
        return counts_.bySequence;
    case Evidence::explicitly:
        return counts_.explicitly;
    case Evidence::sharing:
        break;
    }
    return counts_.bySharing;
}

/// \returns false when nothing can go
bool
ClusterFs::Groups::makeRoomIn(const uint32_t number)
{
    for (unsigned i = 0; memberships_.full(); ++i) {
        const auto victim = i < groupsTried ? groups_.victim(number) : nothing;
        if (!victim)
            return false;
        forgetGroup(victim);
    }

    auto &group = groups_[number];
    if (group.members < maxMembers)
        return true;
    const auto mark = markOf(group, number);
    for (unsigned i = 0; i < membersTried; ++i) {
        const auto m = group.first;
        const auto &member = memberships_[m];
        if (member.until <= group.faded + weightOfNew && member.visit != mark) {
            leave(m);
            return true;
        }
        detach(m);
        append(number, m);
    }
    return false;
}

/// A member was fetched: its weight grows once a visit.
/// \returns whether it is the first time in this visit
bool
ClusterFs::Groups::strengthen(const uint32_t m, const uint16_t mark)
{
    auto &member = memberships_[m];
    if (member.visit == mark)
        return false;
    member.visit = mark;
    member.confirmed = true;
    auto &group = groups_[member.group];
    countSeen(group);
    if (member.until != forever)
        member.until = std::min(member.until + weightWhenSeen, group.faded + weightAtMost);
    return true;
}

/// decides whether the group that an object was just fetched with becomes its home
void
ClusterFs::Groups::place(const uint32_t object, const uint32_t m, const bool anew)
{
    const auto home = objects_[object].memberships;
    if (m != home && memberships_[home].evidence == Evidence::explicitly)
        return;
    const auto wasCandidate = memberships_[m].candidate;
    for (auto other = home; other; other = memberships_[other].nextOfObject)
        memberships_[other].candidate = false;
    if (m == home)
        return;
    if (wasCandidate && anew)
        moveHome(object, m);
    else
        memberships_[m].candidate = true;
}

/// makes a membership the first of its object's list
void
ClusterFs::Groups::moveHome(const uint32_t object, const uint32_t m)
{
    auto *at = &objects_[object].memberships;
    if (*at == m)
        return;
    while (*at != m)
        at = &memberships_[*at].nextOfObject;
    *at = memberships_[m].nextOfObject;
    memberships_[m].nextOfObject = objects_[object].memberships;
    objects_[object].memberships = m;
    ++counts_.moved;
}

/// puts a membership at the end of its group's list
void
ClusterFs::Groups::append(const uint32_t group, const uint32_t m)
{
    auto &g = groups_[group];
    memberships_[m].previousInGroup = g.last;
    memberships_[m].nextInGroup = 0;
    (g.last ? memberships_[g.last].nextInGroup : g.first) = m;
    g.last = m;
}

/// takes a membership out of its group's list
void
ClusterFs::Groups::detach(const uint32_t m)
{
    const auto &member = memberships_[m];
    auto &g = groups_[member.group];
    (member.previousInGroup ? memberships_[member.previousInGroup].nextInGroup : g.first) = member.nextInGroup;
    (member.nextInGroup ? memberships_[member.nextInGroup].previousInGroup : g.last) = member.previousInGroup;
}

/// ends a membership
void
ClusterFs::Groups::leave(const uint32_t m)
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

/// ends the memberships of a group that have faded
void
ClusterFs::Groups::sweep(const uint32_t group)
{
    for (auto m = groups_[group].first; m;) {
        const auto next = memberships_[m].nextInGroup;
        if (!alive(m))
            leave(m);
        m = next;
    }
}
