// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what a page will want, before it is asked for. */

#include "fs/cluster/reading/Prefetcher.h"

#include <algorithm>

namespace ClusterFs {
/// Where requests cost little beside bytes, a read of many neighbours would keep waiting who wants the first of
/// them: one ends when its bytes take as long as this many requests.
constexpr double requestsForOne = 8;
} // namespace ClusterFs

ClusterFs::Prefetcher::Prefetcher(Shared &shared, ReadCache &cache):
    shared_(shared),
    cache_(cache)
{
}

/// finds what has to be read
void
ClusterFs::Prefetcher::locate(const std::vector<Key> &wanted)
{
    places_.clear();
    const auto &catalog = shared_.catalog;
    for (const auto &key: wanted) {
        const auto slot = catalog.index.find(key);
        if (slot == noSlot)
            continue;
        const auto &r = catalog.index[slot];
        if (r.staged() || r.parted())
            continue; // a large one has its own pace
        const auto &c = catalog.clusters[r.cluster];
        const auto size = Catalog::ExtentBytes(catalog.payloadBytes(slot));
        if (c.state != ClusterState::packed || cache_.has(r.cluster, c.sequence, r.offset(), size))
            continue;
        places_.push_back({r.cluster, c.sequence, r.offset(), r.offset() + size, 1, key, &key == &wanted.front()});
    }
}

/// makes one read of neighbours where the bytes between them cost less than another request
void
ClusterFs::Prefetcher::merge()
{
    std::sort(places_.begin(), places_.end(), [](const Place &a, const Place &b) {
        return a.cluster != b.cluster ? a.cluster < b.cluster : a.from < b.from;
    });
    const auto &cost = shared_.device.readCost();
    const auto most = std::min(static_cast<double>(cache_.aheadMost()), requestsForOne * cost.requestMicros() / cost.byteMicros());
    size_t kept = 0;
    for (size_t i = 1; i < places_.size(); ++i) {
        auto &last = places_[kept];
        const auto &next = places_[i];
        const auto gap = next.from > last.to ? next.from - last.to : 0;
        const bool fits = next.cluster == last.cluster && next.to - last.from <= most;
        if (!fits || gap * cost.byteMicros() >= cost.requestMicros()) {
            places_[++kept] = next;
            continue;
        }
        last.objects += next.from >= last.to; // else it is the same object again
        last.to = std::max(last.to, next.to);
        last.first = last.first || next.first;
    }
    places_.resize(std::min(places_.size(), kept + 1));
}

void
ClusterFs::Prefetcher::fetch(const std::vector<Key> &wanted)
{
    if (shared_.health.level == Health::Level::gone || shared_.device.inFlight() >= shared_.device.depth())
        return; // or it has enough to do with what is wanted now
    locate(wanted);
    merge();
    std::stable_partition(places_.begin(), places_.end(), [](const Place &p) { return p.first; });
    for (const auto &p: places_) {
        if (p.first && p.objects == 1)
            continue; // is asked for next: that read knows better what else to bring
        if (cache_.loadAhead(p.cluster, p.sequence, p.from, p.to - p.from, p.objects) && onRead)
            onRead(p.key);
    }
}
