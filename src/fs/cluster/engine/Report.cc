// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine's counters as text. */

#include "fs/cluster/engine/Report.h"

#include "fs/cluster/layout/Superblock.h"

#include <cinttypes>
#include <cstdio>

namespace ClusterFs {
namespace {

/// collects aligned lines
class Lines
{
public:
    void text(const char *name, const std::string &value) {
        char line[160];
        snprintf(line, sizeof(line), "%-28s %s\n", (std::string(name) + ":").c_str(), value.c_str());
        out += line;
    }
    void count(const char *name, const uint64_t n) { text(name, std::to_string(n)); }
    void bytes(const char *name, const uint64_t n) {
        char value[64];
        snprintf(value, sizeof(value), "%" PRIu64 " (%.1f MB)", n, static_cast<double>(n) / 1048576.0);
        text(name, value);
    }
    void number(const char *name, const double v, const char *unit = "") {
        char value[64];
        snprintf(value, sizeof(value), "%.3f%s", v, unit);
        text(name, value);
    }
    void section(const char *name) { out += std::string("\n[") + name + "]\n"; }

    std::string out;
};

void
addDevice(Lines &l, const char *name, const DeviceStats::PerOp &op)
{
    const std::string n(name);
    l.count(("disk " + n + "s").c_str(), op.requests);
    l.bytes(("disk " + n + " bytes").c_str(), op.bytes);
    l.count(("disk " + n + " errors").c_str(), op.errors);
    l.text(("disk " + n + " latency us").c_str(),
           "p50 " + std::to_string(op.latency.percentile(0.5)) + ", p90 " + std::to_string(op.latency.percentile(0.9)) +
           ", p99 " + std::to_string(op.latency.percentile(0.99)) + ", max " + std::to_string(op.latency.most()));
}

void
addSpace(Lines &l, const Engine &engine, const Stats &s)
{
    l.section("space");
    if (const auto sb = engine.superblock()) {
        l.text("uuid", uuidText(sb->uuid));
        l.count("format version", sb->version);
        l.bytes("device size", sb->geometry.deviceBytes);
        l.bytes("cluster size", sb->geometry.clusterBytes);
    }
    l.count("objects", s.objects);
    l.bytes("object bytes", s.liveBytes);
    l.count("clusters", s.clusters);
    l.count("clusters free", s.clustersFree);
    l.count("clusters packed", s.clustersPacked);
    l.count("clusters of large objects", s.clustersPart);
    l.count("clusters bad", s.clustersBad);
    l.section("memory");
    l.bytes("staging used", s.stagingBytes);
    l.bytes("staging limit", s.stagingLimit);
    l.count("staged objects", s.stagedObjects);
    l.bytes("parts coming in", s.fillingBytes);
    l.bytes("parts coming in limit", s.fillingLimit);
    l.bytes("read cache used", s.readCacheBytes);
    l.bytes("read cache limit", s.readCacheLimit);
    l.bytes("index bytes", s.indexBytes);
    l.count("index capacity", s.indexCapacity);
    l.number("index bytes per object", s.bytesPerObject);
}

void
addLocality(Lines &l, const Stats &s)
{
    l.section("locality");
    const auto &t = s.tracker;
    l.count("groups known", t.groups);
    l.count("members known", t.members);
    l.count("groups known before", t.restored);
    l.count("members by referer", t.byReferer);
    l.count("members by origin", t.byOrigin);
    l.count("members by time", t.byWindow);
    l.count("members by sequence", t.bySequence);
    l.count("members by order", t.explicitly);
    l.count("members by sharing", t.bySharing);
    l.count("members moved", t.moved);
    l.count("members refused", t.refused);
    l.bytes("learning memory", t.bytes);
    l.count("objects packed in groups", s.counters.packedInGroups);
    l.count("group reads", s.groupReads);
    l.count("objects read along", s.matesRead);
    l.bytes("bytes read along", s.matesBytes);
    l.count("read along and used", s.matesWanted);
    l.count("read along in vain", s.matesUnused);
    l.count("reads ahead", s.ahead.reads);
    l.count("objects read ahead", s.ahead.objects);
    l.count("read ahead and used", s.ahead.wanted);
    l.count("read ahead in vain", s.ahead.unused);
    l.count("groups regrouped", s.counters.regroupedGroups);
    l.count("objects regrouped", s.counters.regroupedObjects);
    l.bytes("bytes regrouped", s.counters.regroupedBytes);
    l.number("expected use", s.usefulness * 100, " %");
    l.number("expected use ahead", s.usefulnessAhead * 100, " %");
    l.number("cost of a read", s.requestMicros, " us");
    l.number("cost of a megabyte", s.megabyteMicros, " us");
}

void
addTraffic(Lines &l, const Stats &s)
{
    const auto &c = s.counters;
    l.section("traffic");
    l.count("lookups", c.lookups);
    l.count("lookups found", c.found);
    l.count("opened for reading", c.opens);
    l.count("hits from staging", c.readFromStaging);
    l.count("hits from read cache", c.readFromCache);
    l.count("hits from disk", c.readFromDisk);
    l.count("objects stored", c.stored);
    l.bytes("bytes stored", c.storedBytes);
    l.count("stores refused", c.refused);
    l.count("stores not admitted", c.notAdmitted);
    l.count("stores aborted", c.aborted);
    l.count("objects deleted", c.removed);
    l.count("headers updated", c.headUpdates);
    addLocality(l, s);
    l.section("housekeeping");
    l.count("clusters written", c.packs);
    l.count("large object parts", c.parts);
    l.count("objects packed", c.packedObjects);
    l.bytes("bytes packed", c.packedBytes);
    l.count("clusters evicted", c.evictedClusters);
    l.count("objects evicted", c.evictedObjects);
    l.count("objects relocated", c.relocatedObjects);
    l.bytes("bytes relocated", c.relocatedBytes);
    l.bytes("bytes merged", c.mergedBytes);
    l.count("objects expired", c.expiredObjects);
    l.number("write amplification", s.writeAmplification);
    l.count("longest turn us", c.longestTurn);
}

void
addRecovery(Lines &l, const Engine &engine, const Stats &s)
{
    const auto &c = s.counters;
    const auto &r = s.recovery;
    l.section("recovery");
    l.count("checkpoints", c.checkpoints);
    l.text("checkpoint age s", s.checkpointAge < 0 ? "none since start" : std::to_string(static_cast<uint64_t>(s.checkpointAge)));
    l.count("journal blocks", c.journalBlocks);
    l.count("deletes not logged yet", s.deletesPending);
    l.number("recovery progress", engine.recoveryProgress() * 100, " %");
    l.text("last stop", r.clean ? "clean" : "crash");
    l.text("index from", r.scanned ? "scan" : "log");
    l.count("objects recovered", r.objects);
    l.count("deletes replayed", r.deletes);
    l.count("recovery reads", r.reads);
    l.bytes("recovery bytes", r.bytesRead);
    l.number("recovery time", static_cast<double>(r.micros) / 1000.0, " ms");
    l.count("clusters announced", r.clustersAnnounced);
    l.count("announced and written", r.clustersWritten);
    l.count("announced and torn", r.clustersTorn);
    l.count("objects lost", r.objectsLost);
    l.count("journal blocks lost", r.journalBlocksLost);
    l.count("log blocks lost", r.blocksLost);
    l.section("errors");
    l.count("read errors", c.readErrors);
    l.count("write errors", c.writeErrors);
    l.count("checksum errors", c.corrupt);
    l.count("clusters quarantined", c.quarantined);
    l.count("checkpoint errors", c.checkpointErrors);
}

} // namespace
} // namespace ClusterFs

std::string
ClusterFs::reportText(const Engine &engine, const Device &device)
{
    Lines l;
    const auto s = engine.stats();
    l.text("state", engine.stateText());
    addSpace(l, engine, s);
    addTraffic(l, s);
    l.section("device");
    addDevice(l, "read", device.stats().of(IoOp::read));
    addDevice(l, "write", device.stats().of(IoOp::write));
    addDevice(l, "flush", device.stats().of(IoOp::flush));
    l.text("asynchronous I/O", device.asynchronous() ? "yes" : "no: each request holds up Squid");
    l.count("disk requests in flight", device.inFlight());
    l.count("disk requests queued", device.queued());
    l.count("longest disk queue", device.stats().maxQueued);
    addRecovery(l, engine, s);
    return l.out;
}
