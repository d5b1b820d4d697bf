// SPDX-License-Identifier: GPL-2.0-or-later
/* What the engine tells of itself. */

#include "fs/cluster/engine/Core.h"

void
ClusterFs::Core::addLocality(Stats &s) const
{
    s.tracker = tracker.stats();
    s.groupReads = cache.groupReads;
    s.matesRead = cache.matesRead;
    s.matesBytes = cache.matesBytes;
    s.matesWanted = cache.matesWanted;
    s.matesUnused = cache.matesUnused;
    s.ahead = cache.ahead;
    s.usefulness = cache.policy().usefulness();
    s.usefulnessAhead = cache.policy().usefulnessAhead();
    s.requestMicros = shared.device.readCost().requestMicros();
    s.megabyteMicros = shared.device.readCost().byteMicros() * (1 << 20);
}

ClusterFs::Stats
ClusterFs::Core::stats() const
{
    Stats s;
    s.counters = shared.counters;
    s.recovery = recovery.stats();
    const auto &catalog = shared.catalog;
    s.objects = catalog.objects();
    s.liveBytes = catalog.liveBytes();
    s.clusters = catalog.clusters.count();
    s.clustersFree = catalog.clusters.inState(ClusterState::free) + catalog.clusters.inState(ClusterState::announced);
    s.clustersPacked = catalog.clusters.inState(ClusterState::packed);
    s.clustersPart = catalog.clusters.inState(ClusterState::part);
    s.clustersBad = catalog.clusters.inState(ClusterState::bad);
    s.stagingBytes = catalog.staging.bytesUsed();
    s.stagingLimit = catalog.staging.bytesLimit();
    s.fillingBytes = writers.fillingBytes();
    s.fillingLimit = writers.fillingMost();
    s.stagedObjects = catalog.staging.objects();
    s.readCacheBytes = cache.bytes();
    s.readCacheLimit = cache.limit();
    s.readCacheHits = cache.hits;
    s.readCacheMisses = cache.misses;
    addLocality(s);
    s.indexCapacity = catalog.index.capacity();
    s.indexBytes = catalog.index.bytesInUse() + s.clusters * sizeof(ClusterEntry);
    s.deletesPending = journal.pendingRemovals();
    if (checkpointer.completedAt())
        s.checkpointAge = static_cast<double>(shared.clock.micros() - checkpointer.completedAt()) / 1e6;
    s.bytesWritten = shared.device.stats().of(IoOp::write).bytes;
    if (s.objects)
        s.bytesPerObject = static_cast<double>(s.indexBytes) / static_cast<double>(s.objects);
    if (s.counters.packedBytes)
        s.writeAmplification = static_cast<double>(s.bytesWritten) / static_cast<double>(s.counters.packedBytes);
    return s;
}
