// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the page that a request belongs to. */

#include "fs/cluster/learning/Tracker.h"

#include <algorithm>

namespace {

using namespace ClusterFs;

/* microseconds */
/// a request without a Referer belongs to the page of which its client fetched something so lately
constexpr uint64_t pageWindow = 2 * 1000000;
/// a request that no page explains follows another one that came so short before
constexpr uint64_t sequenceWindow = 1 * 1000000;
/// a client that fetched nothing of a group for so long begins a new visit
constexpr uint64_t visitWindow = 30 * 1000000;

constexpr uint64_t leastBytes = 64 * 1024;
constexpr uint64_t maxObjects = 1U << 31;
constexpr unsigned objectsPerClient = 16;

/// \returns for how many objects so many bytes are enough
uint32_t
objectsIn(const uint64_t bytes)
{
    const auto each = GroupTable::BytesEach() + (Clients::BytesEach() + objectsPerClient - 1) / objectsPerClient;
    constexpr auto entriesNotUsed = 1024; // bytes of the entries with number 0 of all tables
    return static_cast<uint32_t>(std::min(maxObjects, (std::max(bytes, leastBytes) - entriesNotUsed) / each));
}

/// \returns the name of a group that has no URL, from its leader
uint64_t
nameFromKey(const Key &key)
{
    return (key.high() ^ 0x4c454144ULL) * 0x9e3779b97f4a7c15ULL;
}

/// \returns the name of a group that a caller has numbered
uint64_t
nameOfNumbered(const uint64_t group)
{
    return (group ^ 0x4e554d42455244ULL) * 0x9e3779b97f4a7c15ULL;
}

} // namespace

ClusterFs::Tracker::Tracker(const uint64_t bytes, const uint64_t seed):
    table_(objectsIn(bytes), seed),
    groups_(table_),
    archive_(table_, groups_),
    clients_(objectsIn(bytes) / objectsPerClient, seed, table_),
    numbered_(bytes, seed)
{
}

uint64_t
ClusterFs::Tracker::note(const Request &r, const uint64_t micros)
{
    const auto object = isNil(r.key) ? nothing : table_.objectFor(r.key);
    const auto repeat = object && table_.object(object).noteRepeat(r.client, micros);
    const auto client = clients_.clientFor(r.client);

    // a client that does not tell the kind of its request may ask for a page that is known
    const auto named = r.referer || r.refererSite;
    if (r.kind == RequestKind::page || (r.kind == RequestKind::unknown && !named && table_.isDocument(object))) {
        return repeat ? 0 : openPage(r, object, client, micros);
    }
    if (!object)
        return 0;

    // a whole Referer names the page whenever it comes; the other rules look at the client's state, which a repeat has changed
    uint32_t page = nothing;
    auto evidence = Evidence::referer;
    if (r.referer && r.referer != r.url) {
        page = pageByReferer(r, client, micros);
    } else if (repeat) {
        return 0;
    } else if (r.refererSite) {
        evidence = Evidence::origin;
        page = pageByOrigin(r, client);
    } else {
        evidence = Evidence::window;
        page = clients_.pageWithin(client, pageWindow, r.site, micros);
    }

    if (!page) {
        follow(object, client, micros);
        return 0;
    }
    enter(client, page, micros);
    groups_.sight(object, r.site, page, evidence, micros);
    if (r.sheet && r.url)
        groups_.noteSheet(r.url, r.site, object);
    return 0;
}

uint64_t
ClusterFs::Tracker::openPage(const Request &r, const uint32_t object, const uint32_t client, const uint64_t micros)
{
    if (!r.url && !object)
        return 0;
    auto name = r.url;
    if (!name)
        name = table_.isDocument(object) ? table_[table_.object(object).leads].name : nameFromKey(r.key);
    const auto page = groups_.pageOf(name, r.site, object);
    groups_.visit(page, micros);
    clients_.fetched(client, page, micros);
    return name;
}

uint32_t
ClusterFs::Tracker::pageByReferer(const Request &r, const uint32_t client, const uint64_t micros)
{
    const auto page = table_.groupFor(r.referer, r.refererSite, GroupKind::page);
    if (table_[page].sheet && !clients_.lastFetch(client, page)) {
        if (const auto above = pageOfSheet(page, client, micros))
            return above;
    }
    return page;
}

/// \returns the page with which this client fetched a style sheet last; if it did with none, the sheet's home
uint32_t
ClusterFs::Tracker::pageOfSheet(const uint32_t sheet, const uint32_t client, const uint64_t micros) const
{
    const auto leader = table_.leaderOf(sheet);
    if (!leader)
        return nothing;
    uint32_t best = nothing;
    uint64_t bestMicros = 0;
    table_.eachGroupOf(leader, [&](const uint32_t group) {
        const auto fetched = clients_.lastFetch(client, group);
        if (group != sheet && (!best || fetched > bestMicros)) {
            best = group;
            bestMicros = fetched;
        }
    });
    // many pages share this one, and not all of them are in its list: the page that the client is loading may be another one
    const auto here = table_.isShared(leader) ? clients_.pageWithin(client, pageWindow, table_[sheet].site, micros) : nothing;
    return here && clients_.lastFetch(client, here) > bestMicros ? here : best;
}

uint32_t
ClusterFs::Tracker::pageByOrigin(const Request &r, const uint32_t client)
{
    if (const auto page = clients_.pageOfSite(client, r.refererSite))
        return page;
    // A browser sends the whole URL of a page to the page's own site, unless told otherwise. So a
    // Referer that is only the site means the site's root there. Other sites always get only this.
    if (r.site == r.refererSite && r.url != r.refererSite)
        return table_.groupFor(r.refererSite, r.refererSite, GroupKind::page);
    return nothing;
}

/// no page explains an object; it may belong to a sequence
void
ClusterFs::Tracker::follow(const uint32_t object, const uint32_t client, const uint64_t micros)
{
    if (const auto sequence = table_.sequenceOf(object)) {
        enter(client, sequence, micros);
        groups_.sight(object, 0, sequence, Evidence::sequence, micros);
    }
    const auto before = clients_.follow(client, object, sequenceWindow, micros);
    if (before && table_.object(before).noteSuccession(table_.object(object).tag()))
        chain(before, object, client, micros);
}

/// two objects followed each other again: both go to one sequence
void
ClusterFs::Tracker::chain(const uint32_t before, const uint32_t object, const uint32_t client, const uint64_t micros)
{
    const auto ofBefore = table_.sequenceOf(before);
    const auto ofObject = table_.sequenceOf(object);
    if (ofBefore && ofBefore == ofObject)
        return;
    auto newcomer = object;
    auto sequence = ofBefore;
    if (!sequence && table_.hasGroup(before))
        return; // a page explains it
    if (!sequence && ofObject) {
        sequence = ofObject;
        newcomer = before;
    }
    if (!sequence) {
        sequence = table_.groupFor(nameFromKey(table_.keyOf(before)), 0, GroupKind::sequence);
        table_.lead(sequence, before);
    }
    enter(client, sequence, micros);
    groups_.sight(newcomer, 0, sequence, Evidence::sequence, micros);
}

/// a client fetches something of a group, which is a new visit unless the client did so lately
void
ClusterFs::Tracker::enter(const uint32_t client, const uint32_t group, const uint64_t micros)
{
    const auto last = clients_.lastFetch(client, group);
    if (!last || last + visitWindow < micros)
        groups_.visit(group, micros);
    clients_.fetched(client, group, micros);
}

bool
ClusterFs::Tracker::companyOf(const Key &object, std::vector<Key> &company, const size_t most) const
{
    if (isGuest(object, company, most))
        return true;
    if (!isShared(object))
        return false;
    groupOf(object, company, most);
    return true;
}

void
ClusterFs::Tracker::collocate(const Key &leader, const std::vector<Key> &members)
{
    if (isNil(leader))
        return;
    const auto container = table_.objectFor(leader);
    auto group = table_.object(container).leads;
    if (!group) {
        group = table_.groupFor(nameFromKey(leader), 0, GroupKind::chosen);
        table_.lead(group, container);
    }
    for (const auto &key: members) {
        if (!isNil(key))
            groups_.settle(table_.objectFor(key), group);
    }
}

void
ClusterFs::Tracker::groupOf(const Key &object, std::vector<Key> &out, const size_t most) const
{
    numbered_.around(object, out, most);
    if (out.empty())
        groups_.list(object, out, most);
}

uint64_t
ClusterFs::Tracker::groupNumber(const Key &object) const
{
    const auto numbered = numbered_.groupOf(object);
    return numbered ? nameOfNumbered(numbered) : groups_.numberFor(object);
}

/// Numbered groups come first: nobody learns them again.
/// \see SavedGroups
ClusterFs::SavedGroups::Saved
ClusterFs::Tracker::save(uint32_t &at, const std::function<bool(const Key &)> &kept, const size_t bytes,
                         std::vector<SavedGroups::GroupRecord> &out)
{
    constexpr uint32_t ofNumbered = 1; // where to go on; from the next one on, it is a place of the archive
    constexpr uint32_t ofLearned = 2;
    if (at <= ofNumbered) {
        const auto saved = numbered_.save(at == 0, kept, bytes, out);
        at = ofNumbered;
        if (saved != SavedGroups::Saved::all)
            return saved;
        at = ofLearned;
    }
    auto learned = at - ofLearned;
    const auto saved = archive_.save(learned, kept, bytes, out);
    at = learned + ofLearned;
    return saved;
}

bool
ClusterFs::Tracker::restore(const SavedGroups::GroupRecord &record)
{
    return record.kind == SavedGroups::numbered ? numbered_.restore(record) : archive_.restore(record);
}

ClusterFs::TrackerStats
ClusterFs::Tracker::stats() const
{
    auto stats = table_.report();
    stats.clients = clients_.used();
    stats.bytes += clients_.bytes() + numbered_.members() * NumberedGroups::bytesEach;
    stats.numbered = numbered_.members();
    return stats;
}
