// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of statistics. */

#include "fs/cluster/engine/Statistics.h"

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/base/Version.h"

namespace ClusterFs {
namespace {

using Value = Statistic::Value;
constexpr auto counter = Statistic::Kind::counter;
constexpr auto gauge = Statistic::Kind::gauge;
constexpr auto text = Statistic::Kind::text;

/* functions that take a value from a snapshot */

template <auto Field>
Value
stat(const Snapshot &s)
{
    return s.stats.*Field;
}

template <auto Part, auto Field>
Value
partOf(const Snapshot &s)
{
    return s.stats.*Part.*Field;
}

template <auto Field> constexpr auto counted = &partOf<&Stats::counters, Field>;
template <auto Field> constexpr auto learned = &partOf<&Stats::tracker, Field>;
template <auto Field> constexpr auto prefetches = &partOf<&Stats::prefetches, Field>;
template <auto Field> constexpr auto recovered = &partOf<&Stats::recovery, Field>;

template <IoOp Op, auto Field>
Value
disk(const Snapshot &s)
{
    return s.device.of(Op).*Field;
}

template <IoOp Op>
Value
latency(const Snapshot &s)
{
    return &s.device.of(Op).latency;
}

template <auto Field>
Value
percent(const Snapshot &s)
{
    return s.stats.*Field * 100;
}

/// a value of the superblock; nothing when the store is closed
template <class Get>
Value
fromSuperblock(const Snapshot &s, const Get &get)
{
    return s.superblock ? Value(get(*s.superblock)) : Value();
}

Value
uuid(const Snapshot &s)
{
    return fromSuperblock(s, [](const Superblock &b) { return uuidText(b.uuid); });
}

Value
version(const Snapshot &s)
{
    return fromSuperblock(s, [](const Superblock &b) { return uint64_t(b.version); });
}

Value
deviceSize(const Snapshot &s)
{
    return fromSuperblock(s, [](const Superblock &b) { return b.geometry.deviceBytes; });
}

Value
clusterSize(const Snapshot &s)
{
    return fromSuperblock(s, [](const Superblock &b) { return uint64_t(b.geometry.clusterBytes); });
}

Value
asynchronous(const Snapshot &s)
{
    return std::string(s.asynchronous ? "yes" : "no: each request holds up Squid");
}

Value
checkpointAge(const Snapshot &s)
{
    const auto age = s.stats.checkpointAge;
    return age < 0 ? Value("none since start") : Value(static_cast<uint64_t>(age));
}

Value
lastStop(const Snapshot &s)
{
    return std::string(s.stats.recovery.clean ? "clean" : "crash");
}

Value
indexFrom(const Snapshot &s)
{
    return std::string(s.stats.recovery.scanned ? "scan" : "log");
}

Value
recoveryTime(const Snapshot &s)
{
    return static_cast<double>(s.stats.recovery.micros) / 1000.0;
}

} // namespace
} // namespace ClusterFs

const std::vector<ClusterFs::Statistic> &
ClusterFs::statistics()
{
    using PerOp = DeviceStats::PerOp;
    static const std::vector<Statistic> table = {
        {"", "state", text, "", [](const Snapshot &s) -> Value { return s.state; },
         "recovering, serving, read-only, offline or closed",
         "read-only: 8 writes in a row failed and then one elsewhere, or 64 did, or those of 64 clusters. offline: 64 reads in a row failed, "
         "and then that of the superblock"},
        {"", "version", text, "", [](const Snapshot &) -> Value { return projectVersion; }, "version of clusterfs"},

        {"space", "uuid", text, "", &uuid, "identity of the device, given when it was formatted"},
        {"space", "format version", gauge, "", &version, "version of the format on the disk, see format.md"},
        {"space", "device size", gauge, "bytes", &deviceSize, "the part of the device that is used"},
        {"space", "cluster size", gauge, "bytes", &clusterSize, "the unit of disk space and of disk writes"},
        {"space", "objects", gauge, "", &stat<&Stats::objects>, "objects in the cache, staged ones included"},
        {"space", "object bytes", gauge, "bytes", &stat<&Stats::liveBytes>, "stored bytes of all objects: swap metadata, headers and bodies"},
        {"space", "clusters", gauge, "", &stat<&Stats::clusters>, "clusters that the device has"},
        {"space", "clusters free", gauge, "", &stat<&Stats::clustersFree>, "free clusters, and announced ones"},
        {"space", "clusters packed", gauge, "", &stat<&Stats::clustersPacked>, "clusters with small objects, and heads of large ones"},
        {"space", "clusters of large objects", gauge, "", &stat<&Stats::clustersPart>, "clusters with a part of a large object"},
        {"space", "clusters bad", gauge, "", &stat<&Stats::clustersBad>, "clusters that gave errors and are not used again"},

        {"memory", "staging used", gauge, "bytes", &stat<&Stats::stagingBytes>, "memory that staged objects take"},
        {"memory", "staging limit", gauge, "bytes", &stat<&Stats::stagingLimit>, "the most memory that staging may take"},
        {"memory", "staged objects", gauge, "", &stat<&Stats::stagedObjects>, "objects that are stored and not packed yet"},
        {"memory", "parts coming in", gauge, "bytes", &stat<&Stats::fillingBytes>,
         "memory of incoming large objects: of each, the bytes since its last whole cluster"},
        {"memory", "parts coming in limit", gauge, "bytes", &stat<&Stats::fillingLimit>,
         "the most memory that 'parts coming in' may take"},
        {"memory", "read cache used", gauge, "bytes", &stat<&Stats::readCacheBytes>, "memory of the windows in the read cache"},
        {"memory", "windows warmed", counter, "", &stat<&Stats::windowsWarmed>, "windows that were read after the start because they were in memory before it, see `warm`"},
        {"memory", "read cache limit", gauge, "bytes", &stat<&Stats::readCacheLimit>, "the most memory that the read cache may take"},
        {"memory", "index bytes", gauge, "bytes", &stat<&Stats::indexBytes>, "memory of index and cluster table in use"},
        {"memory", "index capacity", gauge, "", &stat<&Stats::indexCapacity>, "the most objects that the index can grow to"},
        {"memory", "index bytes per object", gauge, "bytes", &stat<&Stats::bytesPerObject>, "index bytes, divided by objects"},

        {"traffic", "lookups", counter, "", counted<&Counters::lookups>, "requests that asked for an object"},
        {"traffic", "lookups found", counter, "", counted<&Counters::found>, "lookups whose object was here"},
        {"traffic", "opened for reading", counter, "", counted<&Counters::opens>, "readers opened, readers of incoming objects included"},
        {"traffic", "hits from staging", counter, "", counted<&Counters::readFromStaging>, "readers whose object was staged",
         "the share of hits from memory and from disk"},
        {"traffic", "hits from read cache", counter, "", counted<&Counters::readFromCache>, "readers whose first bytes were in the read cache",
         "the same"},
        {"traffic", "hits from disk", counter, "", counted<&Counters::readFromDisk>, "readers that had to wait for the disk", "the same"},
        {"traffic", "objects stored", counter, "", counted<&Counters::stored>, "objects that Squid handed over completely"},
        {"traffic", "bytes stored", counter, "bytes", counted<&Counters::storedBytes>, "stored bytes of the objects stored"},
        {"traffic", "stores refused", counter, "", counted<&Counters::refused>,
         "objects that were not stored because a limit was reached. Near the limit, an object that got nothing for 3 s, or less than "
         "4 KB/s for 10 s, makes way for others",
         "the disk is too slow and staging is full, or very many objects come in slowly"},
        {"traffic", "stores not admitted", counter, "", counted<&Counters::notAdmitted>,
         "objects that were not requested often enough, see `admit`"},
        {"traffic", "stores aborted", counter, "", counted<&Counters::aborted>, "incoming objects that never became complete"},
        {"traffic", "objects deleted", counter, "", counted<&Counters::removed>, "objects that Squid has deleted"},
        {"traffic", "headers updated", counter, "", counted<&Counters::headUpdates>, "objects that got the new headers of a 304"},

        {"locality", "groups known", gauge, "", learned<&TrackerStats::groups>, "groups with at least one member"},
        {"locality", "members known", gauge, "", learned<&TrackerStats::members>, "memberships; an object of two groups counts twice"},
        {"locality", "groups known before", counter, "", learned<&TrackerStats::restored>, "groups that a start has read from the disk"},
        {"locality", "members by referer", counter, "", learned<&TrackerStats::byReferer>,
         "memberships learned from a Referer that names the page"},
        {"locality", "members by origin", counter, "", learned<&TrackerStats::byOrigin>,
         "memberships learned from a Referer that names only the site"},
        {"locality", "members by time", counter, "", learned<&TrackerStats::byWindow>, "memberships learned from the client's current page"},
        {"locality", "members by sequence", counter, "", learned<&TrackerStats::bySequence>,
         "memberships learned from objects that follow each other repeatedly"},
        {"locality", "members by order", counter, "", learned<&TrackerStats::explicitly>,
         "memberships that a caller of the engine has chosen; 0 in Squid"},
        {"locality", "objects in numbered groups", gauge, "", learned<&TrackerStats::numbered>, "objects that a caller of the engine has put into a group; 0 in Squid"},
        {"locality", "members by sharing", counter, "", learned<&TrackerStats::bySharing>,
         "objects that joined their site's group because several pages share them"},
        {"locality", "members moved", counter, "", learned<&TrackerStats::moved>, "objects that went from one group to another"},
        {"locality", "members refused", counter, "", learned<&TrackerStats::refused>,
         "memberships not learned, because the group, the object or `locality` had no room for another", "give `locality` more memory"},
        {"locality", "learning memory", gauge, "bytes", learned<&TrackerStats::bytes>, "memory that learning has used so far"},
        {"locality", "objects packed in groups", counter, "", counted<&Counters::packedInGroups>,
         "objects packed beside another member of their group"},
        {"locality", "group reads", counter, "", &stat<&Stats::groupReads>, "disk reads of an object together with its mates"},
        {"locality", "objects read along", counter, "", &stat<&Stats::matesRead>, "mates that group reads brought"},
        {"locality", "bytes read along", counter, "bytes", &stat<&Stats::matesBytes>, "stored bytes of the objects read along"},
        {"locality", "read along and used", counter, "", &stat<&Stats::matesWanted>,
         "objects read along that a client asked for before they left memory"},
        {"locality", "read along in vain", counter, "", &stat<&Stats::matesUnused>,
         "objects read along that left memory before a client asked for them. If they are many, clusterfs reads smaller groups"},
        {"locality", "prefetch reads", counter, "", prefetches<&PrefetchStats::reads>,
         "disk reads that began when a client opened a page, of objects that its last visit needed"},
        {"locality", "objects prefetched", counter, "", prefetches<&PrefetchStats::objects>, "objects that the prefetch reads were for"},
        {"locality", "prefetched and used", counter, "", prefetches<&PrefetchStats::wanted>, "objects prefetched that a client asked for before they left memory"},
        {"locality", "prefetched in vain", counter, "", prefetches<&PrefetchStats::unused>, "objects prefetched that left memory before a client asked for them"},
        {"locality", "groups regrouped", counter, "", counted<&Counters::regroupedGroups>,
         "groups that a visit found in several clusters, and that were packed anew"},
        {"locality", "objects regrouped", counter, "", counted<&Counters::regroupedObjects>, "objects of the groups regrouped"},
        {"locality", "replicas known", gauge, "", &stat<&Stats::replicasKnown>, "replicas that readers may choose now"},
        {"locality", "replicas written", counter, "", counted<&Counters::replicas>, "objects written once more beside a group that shares them, see `replicas`"},
        {"locality", "bytes replicated", counter, "bytes", counted<&Counters::replicaBytes>, "stored bytes of the replicas written"},
        {"locality", "readers of replicas", counter, "", counted<&Counters::readReplicas>,
         "readers that found a replica in memory, and not the object's own place"},
        {"locality", "bytes regrouped", counter, "bytes", counted<&Counters::regroupedBytes>, "stored bytes of the objects regrouped"},
        {"locality", "expected use", gauge, "%", &percent<&Stats::usefulness>,
         "share of the objects read along that clusterfs expects to be used. This share and the two costs decide how much is read along"},
        {"locality", "expected use of prefetches", gauge, "%", &percent<&Stats::usefulnessOfPrefetches>,
         "share of the prefetch reads that clusterfs expects to be used, for the mean client. It hardly prefetches for a client whose own share "
         "is below 75 %"},
        {"locality", "cost of a read", gauge, "us", &stat<&Stats::requestMicros>, "measured time of a disk read without its bytes"},
        {"locality", "cost of a megabyte", gauge, "us", &stat<&Stats::megabyteMicros>, "measured time of 1 MB more in a disk read"},

        {"housekeeping", "clusters written", counter, "", counted<&Counters::packs>, "clusters written with small objects and heads"},
        {"housekeeping", "large object parts", counter, "", counted<&Counters::parts>, "clusters written for parts of large objects"},
        {"housekeeping", "objects packed", counter, "", counted<&Counters::packedObjects>,
         "objects in the clusters written; a relocated object counts again"},
        {"housekeeping", "bytes packed", counter, "bytes", counted<&Counters::packedBytes>, "stored bytes of the objects packed"},
        {"housekeeping", "clusters evicted", counter, "", counted<&Counters::evictedClusters>, "clusters evicted to make room"},
        {"housekeeping", "objects evicted", counter, "", counted<&Counters::evictedObjects>, "objects lost to evictions; relocated ones do not count"},
        {"housekeeping", "evicted age s", gauge, "s", counted<&Counters::evictedAge>,
         "time since the timestamp of the objects that evictions forget: a moving mean over one object of each of the last clusters; 0 before the first",
         "how long the cache holds what nobody asks for again: with a larger disk it grows"},
        {"housekeeping", "objects relocated", counter, "", counted<&Counters::relocatedObjects>,
         "objects staged again to be packed elsewhere, because of eviction, merging or regrouping"},
        {"housekeeping", "bytes relocated", counter, "bytes", counted<&Counters::relocatedBytes>, "stored bytes of the objects relocated"},
        {"housekeeping", "bytes merged", counter, "bytes", counted<&Counters::mergedBytes>,
         "stored bytes of objects relocated from underfilled clusters"},
        {"housekeeping", "objects expired", counter, "", counted<&Counters::expiredObjects>,
         "objects dropped because of `file-lifetime` or `cluster-lifetime`"},
        {"housekeeping", "write amplification", gauge, "", &stat<&Stats::writeAmplification>, "bytes written to the device for each byte packed",
         "how fast an SSD wears out"},
        {"housekeeping", "longest turn us", gauge, "us", counted<&Counters::longestTurn>,
         "the longest time that Squid's event loop has spent in one call of the module", "other requests have waited that long"},

        {"device", "disk reads", counter, "", &disk<IoOp::read, &PerOp::requests>, "read requests completed, failures included"},
        {"device", "disk read bytes", counter, "bytes", &disk<IoOp::read, &PerOp::bytes>, "bytes read"},
        {"device", "disk read errors", counter, "", &disk<IoOp::read, &PerOp::errors>, "read requests that failed"},
        {"device", "disk read latency us", gauge, "us", &latency<IoOp::read>,
         "time from handing a read to the kernel to its completion: percentiles, each at most an eighth too high, and the longest",
         "how busy the disk is"},
        {"device", "disk writes", counter, "", &disk<IoOp::write, &PerOp::requests>, "write requests completed, failures included"},
        {"device", "disk write bytes", counter, "bytes", &disk<IoOp::write, &PerOp::bytes>, "bytes written: clusters, journal, index log, groups and superblocks"},
        {"device", "bytes written since format", counter, "bytes", &stat<&Stats::writtenSinceFormat>,
         "bytes written to the device since it was formatted; what was written between the last checkpoint and a crash is missing",
         "how much of an SSD's endurance the cache has used"},
        {"device", "disk write errors", counter, "", &disk<IoOp::write, &PerOp::errors>, "write requests that failed"},
        {"device", "disk write latency us", gauge, "us", &latency<IoOp::write>, "time from handing a write to the kernel to its completion"},
        {"device", "disk flushes", counter, "", &disk<IoOp::flush, &PerOp::requests>, "flushes of the disk's own cache completed, failures included"},
        {"device", "disk flush bytes", counter, "bytes", &disk<IoOp::flush, &PerOp::bytes>, "always 0"},
        {"device", "disk flush errors", counter, "", &disk<IoOp::flush, &PerOp::errors>, "flushes that failed"},
        {"device", "disk flush latency us", gauge, "us", &latency<IoOp::flush>, "time from handing a flush to the kernel to its completion"},
        {"device", "asynchronous I/O", text, "", &asynchronous,
         "yes, or no: each request to the disk holds up Squid", "no: raise `fs.aio-max-nr`, see below"},
        {"device", "disk requests in flight", gauge, "", [](const Snapshot &s) -> Value { return s.inFlight; },
         "requests that the disk works on, at most `depth`"},
        {"device", "disk active us", counter, "us", [](const Snapshot &s) -> Value { return s.activeMicros; },
         "time in which the disk had at least one request; in the rest of the time, it was idle", "as much as the time that passes: the disk is at its limit"},
        {"device", "disk requests queued", gauge, "", [](const Snapshot &s) -> Value { return s.queued; },
         "requests that wait for room at the disk"},
        {"device", "longest disk queue", gauge, "", [](const Snapshot &s) -> Value { return s.device.maxQueued; },
         "the most requests that have waited at a time"},

        {"recovery", "checkpoints", counter, "", counted<&Counters::checkpoints>, "checkpoints written"},
        {"recovery", "checkpoint age s", gauge, "s", &checkpointAge, "time since the last checkpoint"},
        {"recovery", "journal blocks", counter, "", counted<&Counters::journalBlocks>, "blocks written to the journal"},
        {"recovery", "deletes not logged yet", gauge, "", &stat<&Stats::deletesPending>, "deletes that are not in the journal yet: a crash now would undo them"},
        {"recovery", "recovery progress", gauge, "%", [](const Snapshot &s) -> Value { return s.recoveryProgress * 100; },
         "share of the start that is done"},
        {"recovery", "last stop", text, "", &lastStop,
         "end of the last run: clean or crash"},
        {"recovery", "index from", text, "", &indexFrom,
         "source of the index: log (the index log), or scan (the directories of all clusters)"},
        {"recovery", "objects recovered", gauge, "", recovered<&RecoveryStats::objects>, "objects that the start found"},
        {"recovery", "deletes replayed", gauge, "", recovered<&RecoveryStats::deletes>, "deletes that the start took from the journal"},
        {"recovery", "recovery reads", gauge, "", recovered<&RecoveryStats::reads>, "read requests that the start needed"},
        {"recovery", "recovery bytes", gauge, "bytes", recovered<&RecoveryStats::bytesRead>, "bytes that the start read"},
        {"recovery", "recovery time", gauge, "ms", &recoveryTime,
         "time from opening the device to the whole index"},
        {"recovery", "clusters announced", gauge, "", recovered<&RecoveryStats::clustersAnnounced>,
         "clusters that the journal announced since the newest checkpoint. Some are announced long before they are written"},
        {"recovery", "announced and written", gauge, "", recovered<&RecoveryStats::clustersWritten>,
         "announced clusters that the start found written. Objects on their way to the others are lost, and nobody can count them"},
        {"recovery", "announced and torn", gauge, "", recovered<&RecoveryStats::clustersTorn>,
         "announced clusters that were written only in part, or cannot be read",
         "not 0: the known cost of the last crash, or of a bad disk"},
        {"recovery", "objects lost", gauge, "", recovered<&RecoveryStats::objectsLost>, "objects of which the start found only a part", "the same"},
        {"recovery", "journal blocks lost", gauge, "", recovered<&RecoveryStats::journalBlocksLost>,
         "blocks of the journal that cannot be used", "the same"},
        {"recovery", "log blocks lost", gauge, "", recovered<&RecoveryStats::blocksLost>,
         "blocks of the index log that cannot be used", "the same"},

        {"errors", "read errors", counter, "", counted<&Counters::readErrors>, "reads of objects that failed", "the disk is going bad"},
        {"errors", "write errors", counter, "", counted<&Counters::writeErrors>, "writes of clusters and of the journal that failed", "the same"},
        {"errors", "checksum errors", counter, "", counted<&Counters::corrupt>,
         "objects, or parts of them, with wrong bytes; these are misses", "the same"},
        {"errors", "clusters quarantined", counter, "", counted<&Counters::quarantined>,
         "clusters put out of use because they gave errors", "the same"},
        {"errors", "checkpoint errors", counter, "", counted<&Counters::checkpointErrors>, "checkpoints that could not be written",
         "a start takes longer until one succeeds"},
    };
    return table;
}

ClusterFs::Snapshot
ClusterFs::snapshotOf(const Engine &engine, const Device &device)
{
    Snapshot s;
    s.state = engine.stateText();
    s.stats = engine.stats();
    s.recoveryProgress = engine.recoveryProgress();
    s.superblock = engine.superblock();
    s.device = device.stats();
    s.asynchronous = device.asynchronous();
    s.inFlight = device.inFlight();
    s.queued = device.queued();
    s.activeMicros = device.activeMicros();
    return s;
}
