// SPDX-License-Identifier: GPL-2.0-or-later
/* The pages that each client is looking at. */

#include "fs/cluster/learning/Clients.h"

ClusterFs::Clients::Clients(const uint32_t capacity, const uint64_t seed, const GroupTable &groups):
    groups_(groups),
    clients_(capacity, seed)
{
}

uint32_t
ClusterFs::Clients::clientFor(const uint64_t id)
{
    if (!id)
        return nothing;
    if (const auto known = clients_.find(id)) {
        clients_[known].marked = true;
        return known;
    }
    if (clients_.full())
        clients_.remove(clients_.victim());
    return clients_.add(id);
}

uint64_t
ClusterFs::Clients::lastFetch(const uint32_t client, const uint32_t group) const
{
    if (client) {
        for (const auto &c: clients_[client].current) {
            if (c.group == group && holds(c))
                return c.micros;
        }
    }
    return 0;
}

void
ClusterFs::Clients::fetched(const uint32_t client, const uint32_t group, const uint64_t micros)
{
    if (!client)
        return;
    auto &current = clients_[client].current;
    auto *slot = &current[0];
    for (auto &c: current) {
        if (c.group == group) {
            slot = &c;
            break;
        }
        if (c.micros < slot->micros)
            slot = &c;
    }
    slot->group = group;
    slot->serial = groups_[group].serial;
    slot->micros = micros;
}

bool
ClusterFs::Clients::isPage(const Current &c) const
{
    return holds(c) && groups_[c.group].kind == GroupKind::page;
}

uint32_t
ClusterFs::Clients::pageOfSite(const uint32_t client, const uint64_t site) const
{
    const Current *best = nullptr;
    for (const auto &c: clients_[client].current) {
        if (isPage(c) && groups_[c.group].site == site && (!best || c.micros > best->micros))
            best = &c;
    }
    return client && best ? best->group : nothing;
}

uint32_t
ClusterFs::Clients::pageWithin(const uint32_t client, const uint64_t window, const uint64_t site,
                               const uint64_t micros) const
{
    const Current *best = nullptr;
    bool bestIsOfSite = false;
    for (const auto &c: clients_[client].current) {
        if (c.micros + window < micros || !isPage(c))
            continue;
        const auto isOfSite = site && groups_[c.group].site == site;
        if (!best || isOfSite > bestIsOfSite || (isOfSite == bestIsOfSite && c.micros > best->micros)) {
            best = &c;
            bestIsOfSite = isOfSite;
        }
    }
    return client && best ? best->group : nothing;
}

uint32_t
ClusterFs::Clients::follow(const uint32_t client, const uint32_t object, const uint64_t window, const uint64_t micros)
{
    if (!client)
        return nothing;
    auto &c = clients_[client];
    const auto valid = c.loose && micros <= c.looseMicros + window && c.loose != object &&
                       groups_.object(c.loose).tag() == c.looseTag;
    const auto before = valid ? c.loose : nothing;
    c.loose = object;
    c.looseTag = groups_.object(object).tag();
    c.looseMicros = micros;
    return before;
}
