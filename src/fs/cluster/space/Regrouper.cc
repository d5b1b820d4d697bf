// SPDX-License-Identifier: GPL-2.0-or-later
/* Brings objects of a group together that lie apart. */

#include "fs/cluster/space/Regrouper.h"

#include <algorithm>
#include <memory>

namespace ClusterFs {
namespace {
constexpr uint64_t lookMicros = 5000; ///< microseconds from a visit that was handled to the next one
constexpr uint64_t restMicros = 50000; ///< microseconds from a look that found no visit to the next look
constexpr uint64_t againMicros = 200000; ///< microseconds from one look at a visit that has to wait to the next
constexpr uint64_t idleMicros = 300000; ///< microseconds without a read after which a visit is over
constexpr uint64_t startClusters = 768; ///< clusters stored before the start that count for the budget, at most
constexpr uint64_t togetherShare = 4; ///< objects in one place stay there if they have more than so many times the bytes of the others
} // namespace
} // namespace ClusterFs

ClusterFs::Regrouper::Regrouper(StoreContext &context, const Tracker &tracker, ReadCache &cache, Relocator &relocator):
    context_(context),
    tracker_(tracker),
    cache_(cache),
    relocator_(relocator)
{
}

void
ClusterFs::Regrouper::noteRead(const Key &key)
{
    const auto group = tracker_.groupNumber(key);
    if (!group)
        return;
    const auto now = context_.clock.micros();
    auto found = visits_.find(group);
    if (found == visits_.end()) {
        if (visits_.size() >= maxVisits)
            return;
        Visit visit;
        visit.since = now;
        found = visits_.emplace(group, visit).first;
    }
    found->second.member = key;
    found->second.last = now;
    ++found->second.reads;
}

bool
ClusterFs::Regrouper::over(const Visit &visit, const uint64_t now)
{
    return !visit.gathering && now >= visit.notBefore &&
           (now - visit.since >= visitMicros || now - visit.last >= idleMicros);
}

void
ClusterFs::Regrouper::poll()
{
    const auto now = context_.clock.micros();
    if (now < nextLook_)
        return;
    nextLook_ = now + restMicros;
    for (auto at = visits_.begin(); at != visits_.end();) {
        if (!over(at->second, now)) {
            ++at;
            continue;
        }
        const bool regroup = at->second.reads > 1;
        if (regroup && !finish(at))
            at->second.notBefore = now + againMicros;
        else
            at = visits_.erase(at);
        if (regroup) {
            nextLook_ = now + lookMicros;
            return;
        }
    }
}

bool
ClusterFs::Regrouper::affordable(const uint64_t bytes) const
{
    // earlier runs had a budget for their objects: a start must not renew all of it
    const auto before = std::min(context_.catalog.liveBytes(), startClusters * context_.geometry.clusterBytes);
    return bytes <= context_.geometry.clusterBytes &&
           context_.rewrites.allowsRegrouping(bytes, before, context_.config.writeBudget) &&
           bytes + bytes / 4 <= context_.catalog.staging().bytesFree() / 4; // most of staging is for new objects
}

/// clusters that may have a relocation when a group is moved
size_t
ClusterFs::Regrouper::maxPlaces() const
{
    return std::min<size_t>(maxHeld, context_.geometry.clusterCount / 8);
}

/// finds the members that could be moved; if they are more than a cluster takes, those at the front of the group
/// \param missingToo whether to find those that are not in memory, too
/// \returns payload bytes of these members
uint64_t
ClusterFs::Regrouper::collect(const std::vector<Key> &group, const bool missingToo, Sources &sources) const
{
    const auto &catalog = context_.catalog;
    uint64_t bytes = 0;
    for (const auto &key: group) {
        const auto slot = catalog.index().find(key);
        if (slot == noSlot)
            continue;
        const auto &r = catalog.index()[slot];
        if (r.staged() || r.parted())
            continue;
        const auto &c = catalog.clusters()[r.cluster];
        if (c.state != ClusterState::packed || relocator_.holds(r.cluster))
            continue;
        const auto payload = catalog.payloadBytes(slot);
        const auto extent = Catalog::ExtentBytes(payload);
        const bool here = bool(cache_.windows.peek({r.cluster, c.sequence, r.offset(), extent}));
        if (!here && !missingToo)
            continue;
        if (bytes + extent > context_.geometry.clusterBytes - context_.geometry.clusterBytes / 8)
            break;
        auto &source = sources[r.cluster];
        source.sequence = c.sequence;
        source.objects.push_back({slot, r.tag, r.offset(), payload});
        source.from = std::min(source.from, r.offset());
        source.to = std::max(source.to, r.offset() + extent);
        source.missing = source.missing || !here;
        source.bytes += payload;
        bytes += payload;
    }
    return leaveTogether(sources, bytes);
}

/// leaves out the cluster that has most of a group, if one has
/// \param bytes of all sources
/// \returns bytes of those that are left
uint64_t
ClusterFs::Regrouper::leaveTogether(Sources &sources, const uint64_t bytes)
{
    const auto most = std::max_element(sources.begin(), sources.end(), [](const auto &a, const auto &b) {
        return a.second.bytes < b.second.bytes;
    });
    if (most == sources.end())
        return bytes;
    const auto together = most->second.bytes;
    if (together <= togetherShare * (bytes - together))
        return bytes;
    sources.erase(most);
    return bytes - together;
}

/// a visit is over: moves the objects of its group if that pays
/// \returns false when the visit has to be looked at once more
bool
ClusterFs::Regrouper::finish(const Visits::iterator at)
{
    const bool common = tracker_.isShared(at->second.member);
    group_.clear();
    tracker_.groupOf(at->second.member, group_, Groups::maxMembers);
    Sources sources;
    const auto bytes = collect(group_, common, sources);
    if (sources.size() < 2 || !affordable(bytes))
        return true;
    if (relocator_.held() + sources.size() > maxPlaces())
        return sources.size() > maxPlaces(); // if they are too many at any time, waiting does not help
    if (common && gather(at->first, sources)) {
        at->second.gathering = true;
        return false;
    }
    move(sources);
    return true;
}

/// reads the missing objects, in the background
/// \returns whether there are any; false, too, when enough groups are gathering
bool
ClusterFs::Regrouper::gather(const uint64_t group, const Sources &sources)
{
    if (gathering_ >= maxGathering)
        return false; // the missing objects stay where they are
    const auto pending = std::make_shared<unsigned>(0);
    for (const auto &item: sources) {
        const auto &source = item.second;
        if (!source.missing)
            continue;
        ++*pending;
        const auto alive = context_.alive;
        const ClusterRange range = {item.first, source.sequence, source.from, source.to - source.from};
        cache_.loader.load(range, item.first, IoClass::background,
        [this, alive, group, pending](Status) {
            if (*alive && !--*pending)
                gathered(group);
        });
    }
    gathering_ += *pending > 0;
    return *pending > 0;
}

void
ClusterFs::Regrouper::gathered(const uint64_t group)
{
    --gathering_;
    const auto found = visits_.find(group);
    if (found == visits_.end())
        return;
    group_.clear();
    tracker_.groupOf(found->second.member, group_, Groups::maxMembers);
    visits_.erase(found);
    Sources sources;
    const auto bytes = collect(group_, false, sources);
    if (sources.size() > 1 && affordable(bytes) && relocator_.held() + sources.size() <= maxPlaces())
        move(sources);
}

void
ClusterFs::Regrouper::move(const Sources &sources)
{
    ++context_.counters.regroupedGroups;
    for (const auto &item: sources)
        relocator_.regroup(item.first, item.second.sequence, item.second.objects);
}
