// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of the engine; all since opening unless said otherwise. */

#ifndef SQUID_SRC_FS_CLUSTER_API_STATS_H
#define SQUID_SRC_FS_CLUSTER_API_STATS_H

#include "fs/cluster/api/AheadStats.h"
#include "fs/cluster/api/TrackerStats.h"

#include <cstdint>

namespace ClusterFs {

/// what happened in the engine
struct Counters {
    uint64_t lookups = 0;
    uint64_t found = 0; ///< lookups of objects that are here
    uint64_t stored = 0; ///< objects completed
    uint64_t storedBytes = 0;
    uint64_t refused = 0; ///< creates refused at a limit
    uint64_t notAdmitted = 0; ///< creates of what was not asked for often enough
    uint64_t aborted = 0; ///< writers dropped unfinished
    uint64_t opens = 0; ///< readers opened
    uint64_t readFromStaging = 0; ///< readers whose object was in staging
    uint64_t readFromCache = 0; ///< readers whose first fetch was in the read cache already
    uint64_t readFromDisk = 0; ///< readers that had to wait for the device
    uint64_t removed = 0; ///< objects deleted by the caller
    uint64_t headUpdates = 0;
    uint64_t packs = 0; ///< clusters packed
    uint64_t packedObjects = 0;
    uint64_t packedBytes = 0; ///< stored bytes in them
    uint64_t packedInGroups = 0; ///< objects packed beside others of their group
    uint64_t parts = 0; ///< clusters written for large objects
    uint64_t evictedClusters = 0;
    uint64_t evictedObjects = 0;
    uint64_t relocatedObjects = 0; ///< staged again at eviction
    uint64_t relocatedBytes = 0;
    uint64_t regroupedGroups = 0; ///< staged again after a visit that took several reads
    uint64_t regroupedObjects = 0;
    uint64_t regroupedBytes = 0; ///< of those; relocatedBytes counts them too
    uint64_t mergedBytes = 0; ///< of relocatedBytes, what was moved since its cluster and others held little
    uint64_t expiredObjects = 0; ///< removed by a lifetime
    uint64_t corrupt = 0; ///< extents or parts whose check failed
    uint64_t readErrors = 0;
    uint64_t writeErrors = 0;
    uint64_t quarantined = 0; ///< clusters put out of use
    uint64_t checkpoints = 0;
    uint64_t checkpointErrors = 0;
    uint64_t checkpointBytes = 0; ///< written by them
    uint64_t journalBlocks = 0;
    uint64_t journalDeletes = 0;
    uint64_t longestTurn = 0; ///< microseconds of the longest call of the engine, a writer or a reader; open() and close() wait, and are none
};

/// how the last start went, and what it knows to be lost
struct RecoveryStats {
    bool clean = false; ///< the last stop was clean
    bool scanned = false; ///< the index log was not usable; the clusters were scanned
    uint64_t objects = 0;
    uint64_t dropped = 0; ///< records that something newer overruled
    uint64_t deletes = 0; ///< replayed from the journal
    uint64_t clustersRead = 0;
    uint64_t blocksLost = 0; ///< of the index log, damaged
    uint64_t journalBlocksLost = 0; ///< known to have been written, and damaged or behind one that is
    uint64_t clustersAnnounced = 0; ///< since the newest checkpoint began, and not released since
    uint64_t clustersWritten = 0; ///< of these, found as announced; the others were not begun, or are lost
    uint64_t clustersTorn = 0; ///< of these, written in part, or unreadable
    uint64_t objectsLost = 0; ///< found in part: large ones without their parts, relocated ones of which no copy is whole
    uint64_t reads = 0;
    uint64_t bytesRead = 0;
    uint64_t micros = 0; ///< from open() to the whole index
};

/// a snapshot for reports
struct Stats {
    Counters counters;
    RecoveryStats recovery;
    uint64_t objects = 0;
    uint64_t liveBytes = 0;
    uint64_t clusters = 0;
    uint64_t clustersFree = 0;
    uint64_t clustersPacked = 0;
    uint64_t clustersPart = 0;
    uint64_t clustersBad = 0;
    uint64_t stagingBytes = 0;
    uint64_t stagingLimit = 0;
    uint64_t stagedObjects = 0;
    uint64_t fillingBytes = 0; ///< memory of what has come of large objects since their last whole part
    uint64_t fillingLimit = 0;
    uint64_t readCacheBytes = 0;
    uint64_t readCacheLimit = 0;
    uint64_t indexCapacity = 0;
    uint64_t indexBytes = 0; ///< memory of index and cluster table in use
    uint64_t deletesPending = 0; ///< not in the log yet
    TrackerStats tracker;
    uint64_t groupReads = 0; ///< reads of an object with its group
    uint64_t matesRead = 0; ///< objects that those brought along
    uint64_t matesBytes = 0; ///< of those
    uint64_t matesWanted = 0; ///< used before they left memory again
    uint64_t matesUnused = 0; ///< not used
    AheadStats ahead;
    double usefulness = 0; ///< share of mates expected to be used, 0 to 1
    double usefulnessAhead = 0; ///< share of reads ahead that are expected to be of use, 0 to 1
    double requestMicros = 0; ///< measured cost of a read, without its bytes
    double megabyteMicros = 0; ///< measured cost of 2^20 bytes more
    double checkpointAge = -1; ///< seconds, -1 = none since the start
    uint64_t bytesWritten = 0; ///< to the device, everything included
    double bytesPerObject = 0; ///< indexBytes for each object
    double writeAmplification = 0; ///< bytes written for each byte stored
};

} // namespace ClusterFs

#endif
