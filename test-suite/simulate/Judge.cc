// SPDX-License-Identifier: GPL-2.0-or-later
/* Judges the objects that a start of a simulated machine finds. */

#include "test-suite/simulate/World.h"

#include "fs/cluster/layout/Superblock.h"

#include <algorithm>

using namespace ClusterFs;

namespace Simulate {
namespace {
/// microseconds that promises may take longer than they say, because requests take time, too
constexpr uint64_t slackMicros = 3000000;
/// When room is needed, older objects go first, or those that are worth less for their bytes. An
/// object must stay while fewer writes came after it than one part of so many of all clusters.
constexpr uint64_t keptShare = 8;
/// Under S3-FIFO, objects that nobody uses go when a tenth of the packed clusters was written after theirs: so they must stay
/// while fewer writes came than this part of all clusters, if so many are packed that a tenth of these is no less.
constexpr uint64_t keptShareOnTrial = 16;
constexpr uint64_t trialShare = 10;
constexpr uint32_t fewClusters = 80; ///< clusters of a device that a few large objects can fill

/// clusters that are kept free for writes, see Allocator::reserve()
uint64_t
reserveOf(const uint64_t clusters)
{
    return std::min<uint64_t>(64, std::max({uint64_t(2), std::min<uint64_t>(8, clusters / 24), clusters / 128}));
}

bool
same(const ObjectInfo &a, const ObjectInfo &b)
{
    return a.timestamp == b.timestamp && a.expires == b.expires && a.lastModified == b.lastModified &&
           (a.flags & flagsOfCaller) == (b.flags & flagsOfCaller);
}

bool
hadInfo(const Version &v, const ObjectInfo &info)
{
    if (v.infoKnown && !v.infos.empty())
        return same(v.infos.back(), info);
    for (const auto &had: v.infos) {
        if (same(had, info))
            return true;
    }
    return false;
}

std::string
text(const ObjectInfo &info)
{
    return std::to_string(info.timestamp) + " " + std::to_string(info.expires) + " " + std::to_string(info.lastModified) + " " +
           std::to_string(info.flags);
}

} // namespace
} // namespace Simulate

/// From now on it is known in this run whether an object is there, and as which version. On a disk that lies, this is so
/// only after the start: a scan reads clusters in the order of their places, and may show an older version before it
/// comes to the newer one; and a copy that turns out to be damaged gives way to an older one.
void
Simulate::World::settle(const uint64_t object)
{
    if (honest_ || engine_->state() != EngineState::recovering)
        settled_.insert(object);
}

/// writes since the store was formatted, as the disk counts them
uint64_t
Simulate::World::deviceWrites() const
{
    return writesBefore_ + (device_ ? device_->requests(IoOp::write) : 0);
}

/// Notes when the parts of large objects leave other objects fewer clusters than those that must be kept take, beside what
/// evictions keep free, and whether new objects were on trial.
void
Simulate::World::noteCrowd(const Stats &stats)
{
    const auto *const superblock = engine_->superblock();
    const uint64_t clusters = superblock ? superblock->geometry.clusterCount : 0;
    if (clusters && stats.clustersPart + clusters / keptShare + 2 * reserveOf(clusters) >= clusters)
        crowded_ = deviceWrites();
    if (!config_.replacement->triesNewOnes())
        return;
    hadTrials_ = true;
    if (stats.clustersPacked / trialShare < clusters / keptShareOnTrial)
        crowded_ = deviceWrites();
}

/// Whether an object must not have been evicted. The engine's counters are believed only as long as
/// they say that nothing was evicted.
bool
Simulate::World::mustBeKept(const Version &v) const
{
    if (!honest_ || lifetimes_ || troubled_ || v.mayBeLost)
        return false;
    const auto counters = engine_->stats().counters; // a start may make room at once
    // other objects of its cluster could not be read: then the cluster is put out of use
    if (v.mayBeTorn && (everRetired_ || counters.quarantined))
        return false;
    const bool evicted = everEvicted_ || counters.evictedObjects || counters.expiredObjects;
    // parts of large objects may fill a device of a few clusters: then the next object takes their place
    if (evicted && v.size > engine_->superblock()->geometry.clusterBytes && v.clusters < fewClusters)
        return false;
    if (evicted && (clearing_ || (crowded_ >= v.writes && crowded_)))
        return false;
    // it may have been evicted before the store grew
    return !evicted || deviceWrites() + 64 < v.clusters || deviceWrites() - v.writes < v.clusters / (hadTrials_ ? keptShareOnTrial : keptShare);
}

/// notes which versions the end of a run may have lost, and which deletes
void
Simulate::World::judgeEnd(const bool clean)
{
    const auto now = clock_.micros();
    const auto trouble = outage_ ? now : troubleEnds_;
    for (auto &object: oracle_.all()) {
        for (auto &v: object.second) {
            if (!v.finished)
                continue;
            // an object that could not be written when it was its turn may be lost, even if writes succeed later
            v.mayBeLost = v.mayBeLost || (v.finished >= startBegan_ && troubled_);
            if (clean)
                continue;
            v.infoKnown = false;
            if (v.removed) {
                const auto since = std::max(v.removed, trouble);
                v.mayBeBack = v.mayBeBack || (v.removed >= synced_ && since + windowOf(v.removed, &Promise::deleteTime) + slackMicros >= now);
                continue;
            }
            // during a start, objects stay in staging until the free clusters are known
            const bool early = v.finished >= startBegan_;
            const auto since = early ? std::max(v.finished, startEnded_ ? startEnded_ : now) : v.finished;
            const bool isNew = v.finished >= synced_ && since + windowOf(v.finished, &Promise::persist) + slackMicros >= now;
            v.mayBeLost = v.mayBeLost || isNew;
            v.mayBeTorn = v.mayBeTorn || (isNew && afterCut_);
        }
    }
}

/// Whether a version that may be there is not found because its file-lifetime is over by the wall clock. It stays in the
/// index until a sweep, and is found again when the clock is set back or the option changes.
bool
Simulate::World::mayBeHidden(const std::vector<Version> &versions) const
{
    if (!config_.fileLifetime)
        return false;
    const auto isOver = [this](const ObjectInfo &info) { return info.timestamp + config_.fileLifetime < clock_.wallSeconds(); };
    return std::any_of(versions.begin(), versions.end(), [&](const Version &v) {
        const bool mayBeThere = v.finished && !v.lost && (!v.removed || v.mayBeBack);
        return mayBeThere && (v.infoKnown ? isOver(v.infos.back()) : std::any_of(v.infos.begin(), v.infos.end(), isOver));
    });
}

/// after a start: each object that is found must be a version that may be there
void
Simulate::World::verifyAll()
{
    const bool whole = engine_->state() != EngineState::recovering;
    ObjectInfo info;
    for (auto &object: oracle_.all()) {
        if (verifyOne(object.first, object.second) || !whole)
            continue;
        // its read was never answered, so its version is not known; but it is found, so it is not lost
        if (hangs_ && engine_->find(Oracle::KeyOf(object.first), info))
            continue;
        // if a look-up may hide it, it is neither known to be there nor known to be gone
        if (mayBeHidden(object.second))
            continue;
        checkDurable(object.second, object.first);
        if (honest_)
            settle(object.first);
    }
    if (whole)
        afterCut_ = false;
}

/// \returns the version that was found, or nil
Simulate::Version *
Simulate::World::identify(const uint64_t object, std::vector<Version> &versions, const std::string &bytes, const ObjectInfo &info)
{
    // versions may have equal bytes, above all when they have none: take the
    // one that is most likely to be there
    Version *is = nullptr;
    bool known = false;
    for (auto &v: versions) {
        if (!v.finished || v.size != bytes.size() || !matches(v, 0, bytes.data(), bytes.size()))
            continue;
        known = true;
        if (!hadInfo(v, info))
            continue;
        const auto rank = [](const Version &w) { return !w.removed && !w.lost ? 3 : w.mayBeBack ? 2 : !w.removed ? 1 : 0; };
        if (!is || rank(v) > rank(*is) || (rank(v) == rank(*is) && v.removed > is->removed))
            is = &v;
    }
    if (!known)
        broken("object " + std::to_string(object) + " has bytes that were never stored under its key");
    if (!is)
        broken("object " + std::to_string(object) + " has times or flags that it never had, or has no more: " + text(info));
    return is;
}

bool
Simulate::World::verifyOne(const uint64_t object, std::vector<Version> &versions)
{
    ObjectInfo info;
    const auto key = Oracle::KeyOf(object);
    if (!engine_->find(key, info))
        return false;
    const auto reader = engine_->read(key);
    if (!reader)
        broken("object " + std::to_string(object) + " is found but can't be opened");
    std::string bytes;
    if (!fetchAll(*reader, bytes)) {
        // a cut may leave half of a cluster, which stays until it is written over
        bool torn = afterCut_ || cutUnhealed_;
        for (const auto &v: versions)
            torn = torn || v.lost;
        if (honest_ && !torn)
            broken("object " + std::to_string(object) + " can't be read on an honest disk");
        return false;
    }
    if (bytes.size() != info.size)
        broken("object " + std::to_string(object) + " has " + std::to_string(bytes.size()) + " bytes, promised " + std::to_string(info.size));
    if (honest_ && (info.flags & flagDoubtful))
        broken("object " + std::to_string(object) + " is doubtful on an honest disk");
    const auto is = identify(object, versions, bytes, info);
    const bool late = is->removed && !is->mayBeBack;
    if (late && honest_)
        broken("object " + std::to_string(object) + ", version " + std::to_string(is->number) +
               ", of " + std::to_string(is->size) + " bytes, came back after it was deleted or replaced at " +
               std::to_string(is->removed / 1000) + " ms");
    // from now on, this is the object's version
    for (auto &other: versions) {
        if (&other == is)
            other.removed = 0, other.lost = false;
        else if (other.finished && !other.removed) // a version that is being written stays
            other.removed = clock_.micros();
        other.mayBeBack = other.mayBeLost = false;
    }
    is->infos.push_back(info); // the older ones may come back with the next start
    say("object " + std::to_string(object) + " is version " + std::to_string(is->number));
    settle(object);
    is->infoKnown = settled(object); // else a scan may yet bring an older copy of it
    return true;
}

/// an object that was complete long enough must have survived, unless room was made
void
Simulate::World::checkDurable(std::vector<Version> &versions, const uint64_t object)
{
    for (auto &v: versions) {
        if (honest_)
            v.mayBeBack = false;
        if (!v.finished || v.removed || v.lost)
            continue;
        if (mustBeKept(v))
            broken("object " + std::to_string(object) + ", version " + std::to_string(v.number) + " completed at " +
                   std::to_string(v.finished / 1000) + " ms is lost");
        v.lost = true;
    }
}

/// checks the properties that a look-up gives for an object whose version is known
void
Simulate::World::checkInfo(const uint64_t object, const Version &v, const ObjectInfo &info) const
{
    if (info.size != v.size)
        broken("object " + std::to_string(object) + " has the wrong size or version");
    if (!v.infos.empty() && !same(v.infos.back(), info))
        broken("object " + std::to_string(object) + " has other times or flags than it was given last: " + text(info) + " for " +
               text(v.infos.back()));
    if (honest_ && (info.flags & flagDoubtful))
        broken("object " + std::to_string(object) + " is doubtful on an honest disk");
}

/// Checks the losses that a start reports: on an honest disk none of the index log, and after a kill or a stop none
/// at all, because all submitted writes are on the disk.
void
Simulate::World::checkLoss(const RecoveryStats &start) const
{
    if (start.blocksLost)
        broken(std::to_string(start.blocksLost) + " blocks of the index log are lost on an honest disk");
    const auto lost = start.journalBlocksLost + start.clustersTorn + start.objectsLost;
    if (lost && !cutUnhealed_)
        broken(std::to_string(lost) + " blocks of the journal, clusters or objects are lost without a power cut");
}

/// A read waits for no housekeeping: at most for one request that is under way, and for its own; with a depth of
/// one, for two that are under way. Checked only if nothing is learned: then no prefetch can delay it either. Where a
/// look at the clock takes long, so do the engine's turns, however few requests there are before this one.
void
Simulate::World::checkWait(const uint64_t micros)
{
    const auto turnMicros = 5000; // the engine looks for answers as often
    if (!honest_ || config_.localityMb || slowClock_)
        return;
    ++tally_.waits;
    if (micros > (config_.depth > 1 ? 2 : 3) * (requestMost_ + turnMicros))
        broken("a read took " + std::to_string(micros) + " us where requests take " + std::to_string(requestMost_));
}
