// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of the engine. */

#ifndef SQUID_SRC_FS_CLUSTER_API_STATS_H
#define SQUID_SRC_FS_CLUSTER_API_STATS_H

#include "fs/cluster/api/PrefetchStats.h"
#include "fs/cluster/api/TrackerStats.h"

#include <cstdint>

namespace ClusterFs {

/// counters of events since the engine was opened; bytes are stored bytes unless said otherwise
struct Counters {
    uint64_t lookups = 0; ///< calls of Engine::find()
    uint64_t found = 0; ///< those that found the object
    uint64_t stored = 0; ///< objects completed
    uint64_t storedBytes = 0;
    uint64_t refused = 0; ///< objects that were not stored because of a limit
    uint64_t notAdmitted = 0; ///< objects that were not asked for often enough
    uint64_t aborted = 0; ///< objects whose writer was dropped unfinished
    uint64_t opens = 0; ///< readers opened
    uint64_t readFromStaging = 0; ///< readers whose object was in staging
    uint64_t readFromCache = 0; ///< readers whose first bytes were in the read cache already
    uint64_t readFromDisk = 0; ///< readers that had to wait for the device
    uint64_t removed = 0; ///< objects deleted by the caller
    uint64_t headUpdates = 0; ///< objects that got a new head under the same key
    uint64_t packs = 0; ///< clusters packed
    uint64_t packedObjects = 0; ///< objects in them, relocated ones included
    uint64_t packedBytes = 0; ///< payload of these
    uint64_t packedInGroups = 0; ///< objects packed beside others of their group
    uint64_t parts = 0; ///< clusters written for large objects
    uint64_t evictedClusters = 0;
    uint64_t evictedObjects = 0;
    double evictedAge = 0; ///< seconds since the timestamp of evicted objects: a moving mean over one of each cluster; 0 before the first
    uint64_t relocatedObjects = 0; ///< objects staged again: by evictions, merging and regrouping
    uint64_t relocatedBytes = 0; ///< payload of these
    uint64_t regroupedGroups = 0; ///< groups staged again after a visit that took several reads
    uint64_t regroupedObjects = 0; ///< those of relocatedObjects that regrouping moved
    uint64_t regroupedBytes = 0; ///< those of relocatedBytes that regrouping moved
    uint64_t replicas = 0; ///< replicas written
    uint64_t replicaBytes = 0; ///< payload of these
    uint64_t readReplicas = 0; ///< readers that were opened on a replica, because the original was not in memory
    uint64_t mergedBytes = 0; ///< those of relocatedBytes that merging moved
    uint64_t expiredObjects = 0; ///< objects forgotten because of a lifetime
    uint64_t corrupt = 0; ///< extents or parts whose check failed
    uint64_t readErrors = 0; ///< reads of objects that failed
    uint64_t writeErrors = 0; ///< writes of clusters and of the journal that failed
    uint64_t quarantined = 0; ///< clusters put out of use
    uint64_t checkpoints = 0; ///< checkpoints written
    uint64_t checkpointErrors = 0; ///< checkpoints that could not be written
    uint64_t checkpointBytes = 0; ///< bytes that checkpoints wrote to the device
    uint64_t journalBlocks = 0; ///< blocks written to the journal
    uint64_t journalDeletes = 0; ///< removals given to the journal
    uint64_t longestTurn = 0; ///< microseconds of the longest call of the engine, a writer or a reader; without opening and close(), which block
};

/// figures of the last start, and of its known losses
struct RecoveryStats {
    bool clean = false; ///< the last stop was clean
    bool scanned = false; ///< the index log was not usable; the clusters were scanned
    uint64_t objects = 0; ///< objects in the index when the start was over
    uint64_t dropped = 0; ///< objects that were found and do not count: a newer version or a removal overruled them, or they were not whole
    uint64_t deletes = 0; ///< removals in the journal
    uint64_t clustersRead = 0; ///< reads of clusters, a second one for a long directory not counted
    uint64_t blocksLost = 0; ///< damaged blocks of the index log
    uint64_t journalBlocksLost = 0; ///< blocks of the journal that were written, and are damaged or behind a damaged one
    uint64_t clustersAnnounced = 0; ///< clusters announced since the newest checkpoint began, and not released since
    uint64_t clustersWritten = 0; ///< of these, those found as announced; the others were not begun, or are lost
    uint64_t clustersTorn = 0; ///< of these, those written in part, or unreadable
    uint64_t objectsLost = 0; ///< objects found in part: large ones without their parts, relocated ones of which no copy is whole
    uint64_t reads = 0; ///< read requests
    uint64_t bytesRead = 0; ///< bytes that these asked for
    uint64_t micros = 0; ///< microseconds from opening to the whole index
};

/// a snapshot of all figures, for reports; memory is in bytes
struct Stats {
    Counters counters;
    RecoveryStats recovery;
    uint64_t objects = 0; ///< objects in the store, staged ones included
    uint64_t liveBytes = 0; ///< stored bytes of these
    uint64_t clusters = 0; ///< clusters that the device has
    uint64_t clustersFree = 0; ///< free and announced ones
    uint64_t clustersPacked = 0;
    uint64_t clustersPart = 0;
    uint64_t clustersBad = 0;
    uint64_t stagingBytes = 0;
    uint64_t stagingLimit = 0;
    uint64_t stagedObjects = 0; ///< incoming ones included
    uint64_t fillingBytes = 0; ///< memory of the parts of large objects that are being filled
    uint64_t fillingLimit = 0;
    uint64_t readCacheBytes = 0;
    uint64_t readCacheLimit = 0;
    uint64_t indexCapacity = 0; ///< most objects
    uint64_t indexBytes = 0; ///< memory of index and cluster table in use
    uint64_t deletesPending = 0; ///< removals that the journal on the device does not have yet
    uint64_t replicasKnown = 0; ///< replicas that readers may choose
    uint64_t windowsWarmed = 0; ///< read since the start because they were in memory before it
    TrackerStats tracker;
    uint64_t groupReads = 0; ///< reads of an object with its group
    uint64_t matesRead = 0; ///< objects that these brought along
    uint64_t matesBytes = 0; ///< bytes that were read more for them
    uint64_t matesWanted = 0; ///< mates used before they left memory
    uint64_t matesUnused = 0; ///< mates that left memory unused
    PrefetchStats prefetches;
    double usefulness = 0; ///< share of mates expected to be used, 0 to 1
    double usefulnessOfPrefetches = 0; ///< share of prefetches expected to be of use, 0 to 1
    double requestMicros = 0; ///< measured microseconds of a read without its bytes
    double megabyteMicros = 0; ///< measured microseconds of 2^20 bytes more
    double checkpointAge = -1; ///< seconds since the last checkpoint, -1 = none since the start
    uint64_t bytesWritten = 0; ///< bytes written to the device, everything included
    uint64_t writtenSinceFormat = 0; ///< the same since it was formatted, but for those just before a crash
    double bytesPerObject = 0; ///< indexBytes for each object
    double writeAmplification = 0; ///< bytesWritten for each of packedBytes
};

} // namespace ClusterFs

#endif
