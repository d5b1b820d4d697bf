// SPDX-License-Identifier: GPL-2.0-or-later
/* Bringing together what turned out to belong together. */

#include "fs/cluster/locality/Regrouper.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr size_t groupMost = 512; ///< objects of a group that are looked at
constexpr uint64_t lookMicros = 200000; ///< between looks at the visits
constexpr unsigned budgetShare = 10; ///< of the bytes packed, one part may be for regrouping
} // namespace
} // namespace ClusterFs

ClusterFs::Regrouper::Regrouper(Shared &shared, const Tracker &tracker, ReadCache &cache, Carrier &carrier):
    shared_(shared),
    tracker_(tracker),
    cache_(cache),
    carrier_(carrier)
{
}

void
ClusterFs::Regrouper::noteRead(const Key &key)
{
    group_.clear();
    tracker_.groupOf(key, group_, groupMost);
    if (group_.size() < 2)
        return;
    const auto found = visits_.find(group_.front());
    if (found != visits_.end()) {
        ++found->second.reads;
    } else if (visits_.size() < visitsMost) {
        Visit visit;
        visit.reads = 1;
        visit.since = shared_.clock.micros();
        visits_.emplace(group_.front(), visit);
    }
}

void
ClusterFs::Regrouper::poll()
{
    const auto now = shared_.clock.micros();
    if (now < nextLook_)
        return;
    nextLook_ = now + lookMicros;
    for (auto at = visits_.begin(); at != visits_.end();) {
        if (now - at->second.since < visitMicros) {
            ++at;
            continue;
        }
        if (at->second.reads > 1 && !regroup(at->first))
            return; // no room now: later
        at = visits_.erase(at);
    }
}

/// finds the members that could be moved now
/// \returns their bytes
uint64_t
ClusterFs::Regrouper::collect(const std::vector<Key> &group, std::unordered_map<ClusterNo, Source> &sources) const
{
    const auto &catalog = shared_.catalog;
    uint64_t bytes = 0;
    for (const auto &key: group) {
        const auto slot = catalog.index.find(key);
        if (slot == noSlot)
            continue;
        const auto &r = catalog.index[slot];
        if (r.staged() || r.parted())
            continue;
        const auto &c = catalog.clusters[r.cluster];
        const auto payload = catalog.payloadBytes(slot);
        if (c.state != ClusterState::packed || carrier_.holds(r.cluster) ||
                !cache_.find(r.cluster, c.sequence, r.offset(), Catalog::ExtentBytes(payload)))
            continue;
        auto &source = sources[r.cluster];
        source.sequence = c.sequence;
        source.objects.push_back({slot, r.tag, r.offset(), payload});
        bytes += payload;
    }
    return bytes;
}

/// \returns false when it should be tried again later
bool
ClusterFs::Regrouper::regroup(const Key &leader)
{
    group_.clear();
    tracker_.groupOf(leader, group_, groupMost);
    std::unordered_map<ClusterNo, Source> sources;
    const auto bytes = collect(group_, sources);
    auto &counters = shared_.counters;
    if (sources.size() < 2 || bytes > shared_.geometry.clusterBytes ||
            (counters.regroupedBytes + bytes) * budgetShare > counters.packedBytes + shared_.geometry.clusterBytes)
        return true;
    if (bytes + bytes / 4 > shared_.catalog.staging.bytesFree() / 4)
        return true; // staging is for what is new
    if (carrier_.held() + sources.size() > Carrier::heldMost / 2)
        return carrier_.held() == 0; // too many places even for all of it
    ++counters.regroupedGroups;
    for (const auto &source: sources) {
        carrier_.hold(source.first, false);
        counters.regroupedBytes += carrier_.carry(source.first, source.second.sequence, source.second.objects);
        counters.regroupedObjects += source.second.objects.size();
    }
    return true;
}
