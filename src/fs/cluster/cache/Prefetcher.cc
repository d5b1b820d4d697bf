// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the objects that a page will need before the browser asks for them. */

#include "fs/cluster/cache/Prefetcher.h"

#include <algorithm>
#include <unordered_map>

namespace ClusterFs {
/// A merged read is not larger than the bytes that take as long as this many requests. On a device whose requests cost
/// little, a read of many neighbours would let the client wait for the first of them.
constexpr double requestsForOne = 8;
} // namespace ClusterFs

ClusterFs::Prefetcher::Prefetcher(StoreContext &context, ReadCache &cache, ReadWatcher &watcher):
    context_(context),
    loader_(cache.loader),
    replicas_(cache.replicas),
    watcher_(watcher)
{
}

/// finds the places of the wanted objects that have to be read
void
ClusterFs::Prefetcher::locate(const std::vector<Key> &wanted)
{
    places_.clear();
    const auto &catalog = context_.catalog;
    for (const auto &key: wanted) {
        const auto slot = catalog.index().find(key);
        if (slot == noSlot)
            continue;
        const auto &r = catalog.index()[slot];
        if (r.staged() || r.parted())
            continue; // staged objects are in memory; parts of large ones are read ahead as their readers come to them
        const auto &c = catalog.clusters()[r.cluster];
        const ClusterRange range = {r.cluster, c.sequence, r.offset(), Catalog::ExtentBytes(catalog.payloadBytes(slot))};
        if (c.state != ClusterState::packed || loader_.has(range))
            continue;
        places_.push_back({range, 1, key, &key == &wanted.front()});
    }
}

/// Where an object is the only one of its cluster, and has a replica in a cluster of others, reads that. Leaves out those of which
/// a replica is in memory.
void
ClusterFs::Prefetcher::takeReplicas()
{
    if (replicas_.empty())
        return;
    std::unordered_map<ClusterNo, unsigned> wanted;
    for (const auto &p: places_)
        ++wanted[p.range.cluster];
    const auto &clusters = context_.catalog.clusters();
    const auto isHere = [&](Place &p) {
        return replicas_.any({p.range.cluster, p.range.start}, [&](const Replicas::Place &replica) {
            return loader_.has({replica.cluster, clusters[replica.cluster].sequence, replica.offset, p.range.size});
        });
    };
    places_.erase(std::remove_if(places_.begin(), places_.end(), isHere), places_.end());
    for (auto &p: places_) {
        if (wanted[p.range.cluster] > 1)
            continue;
        replicas_.any({p.range.cluster, p.range.start}, [&](const Replicas::Place &replica) {
            const auto there = wanted.find(replica.cluster);
            if (there == wanted.end() || !there->second)
                return false;
            --wanted[p.range.cluster];
            ++there->second;
            p.range = {replica.cluster, clusters[replica.cluster].sequence, replica.offset, p.range.size};
            return true;
        });
    }
}

/// makes one read of neighbours where the bytes between them cost less than another request
void
ClusterFs::Prefetcher::merge()
{
    std::sort(places_.begin(), places_.end(), [](const Place &a, const Place &b) {
        return a.range.cluster != b.range.cluster ? a.range.cluster < b.range.cluster : a.range.start < b.range.start;
    });
    const auto &cost = context_.device.readCost();
    const auto most = std::min(static_cast<double>(loader_.maxPrefetch()), requestsForOne * cost.requestMicros() / cost.byteMicros());
    size_t kept = 0;
    for (size_t i = 1; i < places_.size(); ++i) {
        auto &last = places_[kept];
        const auto &next = places_[i];
        const auto end = last.range.end();
        const auto gap = next.range.start > end ? next.range.start - end : 0;
        const bool fits = next.range.cluster == last.range.cluster && next.range.end() - last.range.start <= most;
        if (!fits || gap * cost.byteMicros() >= cost.requestMicros()) {
            places_[++kept] = next;
            continue;
        }
        last.objects += next.range.start >= end; // if it does not begin behind the last one, it is the same object again
        last.range.size = std::max(end, next.range.end()) - last.range.start;
        last.first = last.first || next.first;
    }
    places_.resize(std::min(places_.size(), kept + 1));
}

void
ClusterFs::Prefetcher::fetch(const std::vector<Key> &wanted, const uint64_t client)
{
    if (context_.health.level == Health::Level::gone)
        return;
    pages_.erase(std::remove_if(pages_.begin(), pages_.end(), [client](const Page &p) { return p.client == client; }), pages_.end());
    if (context_.device.inFlight() >= context_.device.depth() || pages_.size() >= maxClients)
        return; // enough reads and pages wait already
    locate(wanted);
    takeReplicas();
    merge();
    std::stable_partition(places_.begin(), places_.end(), [](const Place &p) { return p.first; });
    if (!places_.empty() && places_.front().first && places_.front().objects == 1)
        places_.erase(places_.begin()); // the client asks for it next, and then it is read with its group if that pays
    places_.resize(std::min(places_.size(), maxReads), Place());
    if (places_.empty())
        return;
    pages_.push_back({client, context_.clock.micros(), std::deque<Place>(places_.begin(), places_.end())});
    poll();
}

/// whether the device would begin the read of a hit at once, should one come now
bool
ClusterFs::Prefetcher::deviceHasRoom() const
{
    const auto &device = context_.device;
    return !device.queued() && device.inFlight() < std::max(1U, device.depth() / 2);
}

void
ClusterFs::Prefetcher::poll()
{
    while (!pages_.empty() && deviceHasRoom()) {
        auto page = std::move(pages_.front());
        pages_.pop_front();
        if (context_.clock.micros() - page.since > waitMicros)
            continue;
        const auto place = page.places.front();
        page.places.pop_front();
        const auto client = page.client;
        if (!page.places.empty())
            pages_.push_back(std::move(page));
        begin(place, client);
    }
}

void
ClusterFs::Prefetcher::begin(const Place &p, const uint64_t client)
{
    const auto &c = context_.catalog.clusters()[p.range.cluster];
    if (c.state != ClusterState::packed || c.sequence != p.range.sequence || loader_.has(p.range))
        return; // the cluster has other contents now, or another read brings the bytes
    if (loader_.prefetch(p.range, p.objects, client))
        watcher_.noteRead(p.key);
}
