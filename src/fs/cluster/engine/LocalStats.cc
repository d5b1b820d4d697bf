// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures of an engine, collected from its parts. */

#include "fs/cluster/engine/LocalEngine.h"

void
ClusterFs::LocalEngine::addLocality(Stats &s) const
{
    s.tracker = tracker_.stats();
    s.windowsWarmed = hotList_.windowsRead();
    s.replicasKnown = cache_.replicas.count();
    const auto &use = cache_.use;
    s.groupReads = use.groupReads().reads;
    s.matesRead = use.groupReads().mates;
    s.matesBytes = use.groupReads().bytes;
    s.matesWanted = use.groupReads().wanted;
    s.matesUnused = use.groupReads().unused;
    s.prefetches = use.prefetches();
    s.usefulness = use.ofMates();
    s.usefulnessOfPrefetches = use.ofPrefetches();
    s.requestMicros = context_.device.readCost().requestMicros();
    s.megabyteMicros = context_.device.readCost().byteMicros() * (1 << 20);
}

ClusterFs::Stats
ClusterFs::LocalEngine::stats() const
{
    Stats s;
    s.counters = context_.counters;
    s.recovery = recovery_.stats();
    const auto &catalog = context_.catalog;
    s.objects = catalog.objects();
    s.liveBytes = catalog.liveBytes();
    s.clusters = catalog.clusters().count();
    s.clustersFree = catalog.clusters().inState(ClusterState::free) + catalog.clusters().inState(ClusterState::announced);
    s.clustersPacked = catalog.clusters().inState(ClusterState::packed);
    s.clustersPart = catalog.clusters().inState(ClusterState::part);
    s.clustersBad = catalog.clusters().inState(ClusterState::bad);
    s.stagingBytes = catalog.staging().bytesUsed();
    s.stagingLimit = catalog.staging().bytesLimit();
    s.fillingBytes = writers_.fillingBytes();
    s.fillingLimit = writers_.maxFilling();
    s.stagedObjects = catalog.staging().objects();
    s.readCacheBytes = cache_.windows.bytes();
    s.readCacheLimit = cache_.windows.limit();
    addLocality(s);
    s.indexCapacity = catalog.index().capacity();
    s.indexBytes = indexBytes();
    s.deletesPending = journal_.pendingRemovals();
    if (checkpointer_.completedAt())
        s.checkpointAge = static_cast<double>(context_.clock.micros() - checkpointer_.completedAt()) / 1e6;
    s.bytesWritten = context_.device.stats().of(IoOp::write).bytes;
    s.writtenSinceFormat = context_.written();
    if (s.objects)
        s.bytesPerObject = static_cast<double>(s.indexBytes) / static_cast<double>(s.objects);
    if (s.counters.packedBytes)
        s.writeAmplification = static_cast<double>(s.bytesWritten) / static_cast<double>(s.counters.packedBytes);
    return s;
}
