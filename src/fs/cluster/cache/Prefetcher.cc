// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what a page will want, before it is asked for. */

#include "fs/cluster/cache/Prefetcher.h"

#include <algorithm>

namespace ClusterFs {
/// Where requests cost little beside bytes, a read of many neighbours would keep waiting who wants the first of
/// them: one ends when its bytes take as long as this many requests.
constexpr double requestsForOne = 8;
} // namespace ClusterFs

ClusterFs::Prefetcher::Prefetcher(StoreContext &context, WindowLoader &loader, ReadWatcher &watcher):
    context_(context),
    loader_(loader),
    watcher_(watcher)
{
}

/// finds what has to be read
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
            continue; // a large one has its own pace
        const auto &c = catalog.clusters()[r.cluster];
        const ClusterRange range = {r.cluster, c.sequence, r.offset(), Catalog::ExtentBytes(catalog.payloadBytes(slot))};
        if (c.state != ClusterState::packed || loader_.has(range))
            continue;
        places_.push_back({range, 1, key, &key == &wanted.front()});
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
    const auto most = std::min(static_cast<double>(loader_.maxAhead()), requestsForOne * cost.requestMicros() / cost.byteMicros());
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
        last.objects += next.range.start >= end; // else it is the same object again
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
        return; // it has enough to do with what is wanted now
    locate(wanted);
    merge();
    std::stable_partition(places_.begin(), places_.end(), [](const Place &p) { return p.first; });
    if (!places_.empty() && places_.front().first && places_.front().objects == 1)
        places_.erase(places_.begin()); // is asked for next: that read knows better what else to bring
    places_.resize(std::min(places_.size(), maxReads), Place());
    if (places_.empty())
        return;
    pages_.push_back({client, context_.clock.micros(), std::deque<Place>(places_.begin(), places_.end())});
    poll();
}

/// whether a hit that comes now would still be begun at once
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
        return; // it has changed while it waited
    if (loader_.loadAhead(p.range, p.objects, client))
        watcher_.noteRead(p.key);
}
