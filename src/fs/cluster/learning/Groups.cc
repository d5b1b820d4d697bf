// SPDX-License-Identifier: GPL-2.0-or-later
/* How memberships begin, grow, fade, move and end. */

#include "fs/cluster/learning/Groups.h"

#include <algorithm>

namespace {

using namespace ClusterFs;

/// visits that begin within this time are taken for one
constexpr uint64_t visitMicros = 2 * 1000000; ///< microseconds
/// Somebody fetches one of a site's shared objects all the time: each hour counts
/// as one visit to their group.
constexpr uint64_t siteVisitMicros = 3600ULL * 1000000;

constexpr unsigned membersTried = 16; ///< members looked at when a full group has to make room
constexpr unsigned groupsTried = 64; ///< groups forgotten at most when all memberships are in use

/// \returns the name of the group of the objects that a site's pages share
uint64_t
sharedName(const uint64_t site)
{
    return (site ^ 0x5348415245440000ULL) * 0x9e3779b97f4a7c15ULL;
}

/// notes that one more member was fetched in the current visit
void
countSeen(Group &group)
{
    if (group.seen < 0xffff)
        ++group.seen;
}

} // namespace

/* learning */

uint32_t
ClusterFs::Groups::pageOf(const uint64_t name, const uint64_t site, const uint32_t object)
{
    // a group that was made before the page's URL was known gets it now
    const auto led = object ? table_.object(object).leads : nothing;
    if (led && table_[led].kind == GroupKind::chosen) {
        table_.rename(led, name);
        table_[led].kind = GroupKind::page;
        table_[led].site = site;
        return led;
    }
    const auto page = table_.groupFor(name, site, GroupKind::page);
    if (object)
        table_.lead(page, object);
    return page;
}

void
ClusterFs::Groups::noteSheet(const uint64_t name, const uint64_t site, const uint32_t object)
{
    const auto led = table_.object(object).leads;
    if (led && table_[led].kind != GroupKind::page)
        return;
    const auto known = table_.find(name);
    const auto sheet = known ? known : table_.groupFor(name, site, GroupKind::page);
    table_[sheet].sheet = true;
    table_[sheet].marked = known != nothing;
    table_.lead(sheet, object);
}

void
ClusterFs::Groups::visit(const uint32_t number, const uint64_t micros)
{
    auto &group = table_[number];
    const auto isSite = group.kind == GroupKind::site;
    if (group.visit && micros < group.visited + (isSite ? siteVisitMicros : visitMicros))
        return;

    group.marked = group.visit != 0; // groups that were visited only once make room first
    group.visited = micros;
    group.visit = group.visit == 0xffff ? 1 : group.visit + 1;

    // If no member was seen in the last visit, the browser had all of them, or a crawler wanted the page alone: no fading.
    const auto small = !isSite && group.seen * 2 < group.members;
    const auto fade = !group.seen ? 0 : small ? fadeInSmallVisit : fadeInVisit;
    const auto sweeps = group.faded / fadeBetweenSweeps;
    group.faded += fade;
    group.seen = 0;
    if (group.faded / fadeBetweenSweeps != sweeps)
        table_.sweep(number);
}

void
ClusterFs::Groups::sight(const uint32_t object, const uint64_t ownSite, const uint32_t group, const Evidence evidence,
                         const uint64_t micros)
{
    if (table_.leaderOf(group) == object)
        return;

    const auto isPage = table_[group].kind == GroupKind::page;
    const auto mark = markOf(table_[group], group);
    const auto found = table_.scan(object, group);
    auto member = found.member;
    if (!member && found.otherPages < sharedFrom)
        member = join(object, group, evidence, mark);
    if (!member && isPage) {
        table_.makeGuestRoom(group);
        table_.noteGuest(group, object, table_[group].visit);
    }
    auto anew = member && strengthen(member, mark);

    // an object that pages of several sites share goes to the shared objects of its own site
    const auto site = found.otherSites ? ownSite : table_[group].site;
    if (isPage && site && found.otherPages + 1 >= sharedFrom) {
        const auto common = table_.groupFor(sharedName(site), site, GroupKind::site); // may forget the page
        visit(common, micros);
        table_[common].marked = true;
        member = table_.scan(object, common).member;
        if (!member)
            member = join(object, common, Evidence::sharing, mark);
        anew = member && strengthen(member, mark);
    }
    if (member)
        place(member, anew);
}

void
ClusterFs::Groups::settle(const uint32_t object, const uint32_t group)
{
    if (table_.leaderOf(group) == object)
        return;
    auto m = table_.scan(object, group).member;
    if (!m)
        m = join(object, group, Evidence::explicitly, markOf(table_[group], group));
    if (!m)
        return;
    table_.membership(m).until = forever;
    table_.membership(m).evidence = Evidence::explicitly;
    table_.moveHome(m);
}

uint32_t
ClusterFs::Groups::join(const uint32_t object, const uint32_t group, const Evidence evidence, const uint16_t mark)
{
    const auto m = makeRoomIn(group) ? table_.join(object, group) : nothing;
    if (!m) {
        ++table_.counts().refused;
        return nothing;
    }
    auto &member = table_.membership(m);
    member.until = table_[group].faded + weightOfNew;
    member.visit = mark;
    member.evidence = evidence;
    countSeen(table_[group]);
    ++learned(evidence);
    return m;
}

/// \returns the counter of memberships with that evidence
uint64_t &
ClusterFs::Groups::learned(const Evidence evidence)
{
    auto &counts = table_.counts();
    switch (evidence) {
    case Evidence::referer:
        return counts.byReferer;
    case Evidence::origin:
        return counts.byOrigin;
    case Evidence::window:
        return counts.byWindow;
    case Evidence::sequence:
        return counts.bySequence;
    case Evidence::explicitly:
        return counts.explicitly;
    case Evidence::sharing:
        break;
    }
    return counts.bySharing;
}

/// makes room for one more membership, and for one more member of a group
/// \returns false when there is none
bool
ClusterFs::Groups::makeRoomIn(const uint32_t number)
{
    for (unsigned i = 0; table_.membershipsFull(); ++i) {
        if (i >= groupsTried || !table_.forgetGroup(number))
            return false;
    }

    const auto &group = table_[number];
    if (group.members < maxMembers)
        return true;
    const auto mark = markOf(group, number);
    for (unsigned i = 0; i < membersTried; ++i) {
        const auto m = group.first;
        const auto &member = table_.membership(m);
        if (member.until <= group.faded + weightOfNew && member.visit != mark) {
            table_.leave(m);
            return true;
        }
        table_.putLast(m);
    }
    return false;
}

/// A member was fetched: its weight grows once a visit.
/// \returns whether it is the first time in this visit
bool
ClusterFs::Groups::strengthen(const uint32_t m, const uint16_t mark)
{
    auto &member = table_.membership(m);
    if (member.visit == mark)
        return false;
    member.visit = mark;
    member.confirmed = true;
    auto &group = table_[member.group];
    countSeen(group);
    if (member.until != forever)
        member.until = std::min(member.until + weightWhenSeen, group.faded + weightAtMost);
    return true;
}

/// decides whether the group that an object was just fetched with becomes its home
void
ClusterFs::Groups::place(const uint32_t m, const bool anew)
{
    const auto home = table_.object(table_.membership(m).object).memberships;
    if (m != home && table_.membership(home).evidence == Evidence::explicitly)
        return;
    const auto wasCandidate = table_.membership(m).candidate;
    for (auto other = home; other; other = table_.membership(other).nextOfObject)
        table_.membership(other).candidate = false;
    if (m == home)
        return;
    if (wasCandidate && anew)
        table_.moveHome(m);
    else
        table_.membership(m).candidate = true;
}

/* asking */

uint64_t
ClusterFs::Groups::numberFor(const Key &key) const
{
    const auto object = table_.find(key);
    if (!object)
        return 0;
    const auto led = table_.object(object).leads;
    const auto group = led ? led : table_.homeOf(object);
    return group ? table_[group].name : 0;
}

bool
ClusterFs::Groups::isGuest(const Key &key, std::vector<Key> &company, const size_t most) const
{
    const auto object = table_.find(key);
    auto m = object ? table_.object(object).memberships : nothing;
    while (m && !(table_.membership(m).candidate && table_.alive(m)))
        m = table_.membership(m).nextOfObject;
    if (!m)
        return false;
    const auto group = table_.membership(m).group;
    company.clear();
    if (const auto leader = table_.leaderOf(group))
        company.push_back(table_.keyOf(leader));
    for (auto other = table_[group].first; other && company.size() < most; other = table_.membership(other).nextInGroup) {
        if (table_.alive(other))
            company.push_back(table_.keyOf(table_.membership(other).object));
    }
    return true;
}

void
ClusterFs::Groups::list(const Key &key, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    const auto object = table_.find(key);
    if (!object)
        return;
    table_.list(table_.object(object).leads, out, most);
    if (out.size() < 2)
        table_.list(table_.homeOf(object), out, most);
    if (out.size() < 2)
        out.clear();
}

void
ClusterFs::Groups::listShared(const Key &key, std::vector<Key> &out, const size_t most) const
{
    const auto member = table_.find(key);
    if (!member)
        return;
    const auto led = table_.object(member).leads;
    const auto number = led ? led : table_.homeOf(member);
    if (!number)
        return;
    const auto &group = table_[number];
    for (auto m = group.first; m && out.size() < most; m = table_.membership(m).nextInGroup) {
        const auto &membership = table_.membership(m);
        unsigned groups = 0;
        table_.eachGroupOf(membership.object, [&groups](uint32_t) { ++groups; });
        if (groups > 1 && table_.alive(m) && Expected(markOf(group, number), membership.visit))
            out.push_back(table_.keyOf(membership.object));
    }
    table_.eachGuestOf(number, [&](const uint32_t object, const uint16_t visit) {
        if (out.size() < most && Expected(group.visit, visit))
            out.push_back(table_.keyOf(object));
        return out.size() < most;
    });
}

void
ClusterFs::Groups::listWanted(const uint64_t name, std::vector<Key> &out, const size_t most) const
{
    out.clear();
    const auto number = table_.find(name);
    if (!number)
        return;
    const auto &group = table_[number];
    if (const auto leader = table_.leaderOf(number))
        out.push_back(table_.keyOf(leader));
    for (auto m = group.first; m && out.size() < most; m = table_.membership(m).nextInGroup) {
        const auto &member = table_.membership(m);
        if (Expected(markOf(group, number), member.visit) && table_.alive(m))
            out.push_back(table_.keyOf(member.object));
    }
    table_.eachGuestOf(number, [&](const uint32_t object, const uint16_t visit) {
        if (out.size() < most && Expected(group.visit, visit))
            out.push_back(table_.keyOf(object));
        return out.size() < most;
    });
}
