// SPDX-License-Identifier: GPL-2.0-or-later
/* clusterfs inspect. */

#include "Commands.h"
#include "Image.h"
#include "Objects.h"
#include "Output.h"
#include "Regions.h"

#include "fs/cluster/layout/Cluster.h"

namespace ClusterFs::Cli {
namespace {

void
showCopies(const Image &image, Output &out)
{
    out.openList("superblock_copies");
    for (unsigned n = 0; n < 2; ++n) {
        const auto &copy = image.copy(n);
        out.openItem();
        out.put("offset", n * superblockSpacing);
        out.put("state", copy.status == Status::ok ? "whole" : statusText(copy.status));
        if (copy.status == Status::ok) {
            out.put("update", copy.superblock.update);
            out.putFlag("clean", copy.superblock.clean);
            out.put("checkpoint", copy.superblock.checkpoint);
        } else {
            out.put("reason", copy.reason);
        }
        out.close();
    }
    out.close();
}

void
showSuperblock(const Superblock &s, Output &out)
{
    out.open("superblock");
    out.put("uuid", uuidText(s.uuid));
    out.put("version", uint64_t(s.version));
    out.put("update", s.update);
    out.putFlag("clean", s.clean);
    out.put("last_sequence", s.lastSequence.value());
    out.put("checkpoint", s.checkpoint);
    out.close();
    const auto &g = s.geometry;
    out.open("geometry");
    out.put("device_bytes", g.deviceBytes);
    out.put("cluster_bytes", uint64_t(g.clusterBytes));
    out.put("cluster_count", uint64_t(g.clusterCount));
    out.put("object_bytes", uint64_t(g.objectBytes));
    out.put("objects_expected", g.objectsExpected);
    out.close();
}

void
showRegion(Output &out, const std::string &name, const uint64_t start, const uint64_t bytes)
{
    out.openItem();
    out.put("region", name);
    out.put("offset", start);
    out.put("bytes", bytes);
    out.close();
}

void
showRegions(const Geometry &g, Output &out)
{
    out.openList("regions");
    showRegion(out, "superblock 0", 0, superblockBytes);
    showRegion(out, "superblock 1", superblockSpacing, superblockBytes);
    showRegion(out, "index log", g.logStart, uint64_t(g.logBlocks) * indexBlockBytes);
    for (unsigned i = 0; i < 2; ++i)
        showRegion(out, "groups " + std::to_string(i), g.groupsStart[i], g.groupsBytes);
    for (unsigned i = 0; i < 2; ++i)
        showRegion(out, "journal " + std::to_string(i), g.journalStart[i], g.journalBytes);
    showRegion(out, "clusters", g.clusterStart, uint64_t(g.clusterCount) * g.clusterBytes);
    out.close();
}

void
showPosition(Output &out, const char *const name, const LogPosition &position)
{
    out.open(name);
    out.put("lap", uint64_t(position.lap));
    out.put("block", uint64_t(position.block));
    out.close();
}

void
showLog(const Superblock &s, const LogSummary &l, Output &out)
{
    out.open("index_log");
    out.put("serial", s.serial);
    out.put("objects_at_checkpoint", s.objects);
    out.put("blocks", uint64_t(s.log.blocks));
    out.put("clusters", uint64_t(s.logClusters - s.geometry.logSkips.size()));
    out.put("bad_clusters_skipped", uint64_t(s.geometry.logSkips.size()));
    showPosition(out, "tail", s.log.tail);
    showPosition(out, "head", s.log.head);
    showPosition(out, "newest_checkpoint", s.checkpointStart);
    out.put("removal_blocks", uint64_t(s.removalBlocks));
    out.put("turn", uint64_t(s.turn));
    out.put("turn_cursor", uint64_t(s.turnCursor.value()));
    out.put("blocks_in_use", uint64_t(l.blocks));
    out.put("blocks_lost", uint64_t(l.lost));
    out.put("checkpoints", l.checkpoints);
    out.put("removals", l.removals);
    out.put("sections", l.sections);
    out.put("object_records", l.objects);
    out.put("uses", l.uses);
    out.putFlag("keys", l.keys);
    if (!l.problem.empty())
        out.put("problem", l.problem);
    out.close();
}

void
showGroups(const Superblock &s, const GroupsSummary &g, Output &out)
{
    out.open("groups");
    out.put("generation", s.groups);
    out.put("chunks", uint64_t(g.chunks));
    out.put("group_records", g.groups);
    out.put("member_records", g.members);
    out.put("hot_ranges", g.hotRanges);
    out.close();
}

void
showJournals(const JournalSummary *const journals, Output &out)
{
    out.openList("journals");
    for (unsigned i = 0; i < 2; ++i) {
        const auto &j = journals[i];
        out.openItem();
        out.put("checkpoint", j.checkpoint);
        out.put("blocks", uint64_t(j.blocks));
        out.put("removals", j.removals);
        out.put("announcements", j.announcements);
        out.put("releases", j.releases);
        if (!j.problem.empty())
            out.put("problem", j.problem);
        out.close();
    }
    out.close();
}

/// \returns an exit code
int
inspectDevice(Image &image, Output &out)
{
    out.put("path", image.path());
    out.put("bytes", image.device().size());
    const auto exposure = exposureOf(image.path());
    if (!exposure.empty())
        out.put("warning", exposure);
    showCopies(image, out);
    Superblock superblock;
    std::string error;
    if (image.choose(superblock, error) != Status::ok) {
        out.put("problem", error);
        return exitProblems;
    }
    showSuperblock(superblock, out);
    showRegions(superblock.geometry, out);
    const auto log = summarizeLog(image, superblock);
    showLog(superblock, log, out);
    showGroups(superblock, summarizeGroups(image, superblock), out);
    const JournalSummary journals[2] = {
        summarizeJournal(image, superblock, superblock.checkpoint),
        summarizeJournal(image, superblock, superblock.checkpoint + 1)
    };
    showJournals(journals, out);
    const bool whole = log.problem.empty() && journals[0].problem.empty() && journals[1].problem.empty() &&
                       image.copy(0).status == Status::ok && image.copy(1).status == Status::ok;
    return whole ? exitFine : exitProblems;
}

void
showHeader(const ClusterHeader &h, Output &out)
{
    const bool packed = h.kind == ClusterKind::packed;
    out.put("kind", packed ? "packed" : "part");
    out.put("sequence", h.sequence.value());
    out.putTime("written", h.written);
    out.put("end", uint64_t(h.end));
    if (!packed) {
        out.put("key", h.key.hex());
        out.put("part_number", uint64_t(h.partNumber));
    }
}

void
showEntries(const Directory &directory, Output &out)
{
    out.openList("objects");
    for (const auto &e: directory.entries) {
        out.openItem();
        out.put("key", e.key.hex());
        out.put("offset", uint64_t(e.offset));
        out.put("extent_bytes", uint64_t(e.size));
        out.put("size", e.info.size);
        out.putTime("timestamp", e.info.timestamp);
        out.putTime("expires", e.info.expires);
        out.putTime("last_modified", e.info.lastModified);
        putFlags(out, e.info.flags);
        out.put("parts", uint64_t(e.parts));
        out.close();
    }
    out.close();
    out.openList("part_references");
    for (const auto &p: directory.parts) {
        out.openItem();
        out.put("cluster", uint64_t(p.cluster.value()));
        out.put("bytes", uint64_t(p.bytes));
        out.put("sequence", p.sequence.value());
        out.close();
    }
    out.close();
}

/// \returns an exit code
int
inspectCluster(Image &image, const Superblock &superblock, const ClusterNo n, Output &out)
{
    const auto &g = superblock.geometry;
    out.put("cluster", uint64_t(n.value()));
    out.put("offset", g.clusterOffset(n));
    if (g.inLog(n, superblock.logClusters)) {
        out.put("state", "part of the index log");
        return exitFine;
    }
    const char *bytes = nullptr;
    if (image.read(g.clusterOffset(n), g.clusterBytes, bytes) != Status::ok) {
        out.put("state", "unreadable");
        return exitProblems;
    }
    Directory directory;
    const auto status = directory.decode(bytes, g.clusterBytes, n, superblock.uuid, g.clusterBytes);
    // clusters are written before a checkpoint knows them, so nothing is said of their use
    out.put("state", status == Status::ok ? "whole" : status == Status::notFound ? "never written" : "damaged");
    if (status == Status::ok) {
        showHeader(directory.header, out);
        showEntries(directory, out);
    }
    return status == Status::corrupt ? exitProblems : exitFine;
}

int
runInspect(const Words &words)
{
    std::string error;
    auto number = noCluster.value();
    bool json = false;
    Line line("inspect");
    line.whole("cluster", number, 0, noCluster.value() - 1, "show the directory of this cluster instead");
    line.flag("json", json, "print one JSON object");
    if (!line.read(words))
        return exitFine;
    const auto image = openOurs(line.path(), false);
    if (!image)
        return exitCannot;
    const ClusterNo cluster(number);
    if (cluster == noCluster) {
        Output out(json);
        const auto result = inspectDevice(*image, out);
        out.finish();
        return result;
    }
    Superblock superblock;
    if (image->choose(superblock, error) != Status::ok) {
        complain(line.path() + ": " + error);
        return exitCannot;
    }
    if (!superblock.geometry.has(cluster)) {
        complain("--cluster=" + std::to_string(number) + ": clusters are numbered from 0 to " + std::to_string(superblock.geometry.clusterCount - 1));
        return exitCannot;
    }
    Output out(json);
    const auto result = inspectCluster(*image, superblock, cluster, out);
    out.finish();
    return result;
}

} // namespace

extern const Command inspectCommand = {
    "inspect", &runInspect,
    "PATH [--cluster=N] [--json]",
    "Shows superblocks, regions, index log, groups and journals, or the directory of one\n"
    "cluster. Changes nothing."
};

} // namespace ClusterFs::Cli
