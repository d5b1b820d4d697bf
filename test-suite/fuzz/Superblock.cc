// SPDX-License-Identifier: GPL-2.0-or-later
/* Superblocks. First byte: 1 = with the right checksum. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/support/LayoutSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

void
checkGeometry(const Geometry &g)
{
    require(g.clusterBytes >= 16 * 1024 && g.clusterBytes <= 16 * MB && !(g.clusterBytes & (g.clusterBytes - 1)), "cluster size");
    uint64_t at = 2 * superblockSpacing;
    require(g.logStart >= at && g.logStart % 4096 == 0 && g.logBlocks > 0, "the index log lies behind the superblocks");
    at = g.logStart + uint64_t(g.logBlocks) * indexBlockBytes;
    for (const auto start: g.groupsStart) {
        require(start >= at && start % 4096 == 0, "groups lie apart");
        at = start + g.groupsBytes;
    }
    for (const auto start: g.journalStart) {
        require(start >= at && start % 4096 == 0, "journals lie apart");
        at = start + g.journalBytes;
    }
    require(g.clusterStart >= at && g.clusterStart % g.clusterBytes == 0, "clusters lie behind all else");
    require(g.clusterCount >= 8 && g.clusterOffset(ClusterNo(g.clusterCount)) <= g.deviceBytes, "clusters lie within the device");
    require(g.objectsExpected > 0 && g.objectsExpected <= g.maxObjects && g.maxObjects <= uint64_t(1) << 30, "objects");
    require(g.baseBuckets > 0 && g.baseBuckets <= g.maxObjects, "buckets");
}

/// what a start goes through from its tail to its head
void
checkLog(const Superblock &s)
{
    const auto &log = s.log;
    const auto &g = s.geometry;
    require(s.logClusters < g.clusterCount && g.has(s.turnCursor), "the log and its turn are within the clusters");
    require(g.logSkips.size() <= maxLogSkips && (g.logSkips.empty() || g.logSkips.back().value() < s.logClusters), "what the log goes past is in its room");
    require(log.blocks <= g.logBlocksWith(s.logClusters) && log.used() <= log.blocks, "the log is no longer than its room");
    require(uint64_t(s.removalBlocks) * 2 <= log.used(), "both copies of the removals are in the log");
    if (!log.used())
        return;
    // nothing of a lap counts whose end the tail has reached: the log begins with the next one
    const bool reachedEnd = log.tail.lap != log.head.lap && log.tail.block == log.blocksBefore;
    require(log.at(0) == (reachedEnd ? LogPosition{log.head.lap, 0} : log.tail), "the log begins at its tail");
    for (const auto number: {uint32_t(0), log.used() / 2, log.used() - 1}) {
        const auto at = log.at(number);
        require(at.block < log.blocks, "blocks of the log lie in its room");
        require(g.logOffset(at.block) + indexBlockBytes <= g.deviceBytes, "the log lies within the device");
    }
}

void
run(Input in)
{
    const bool repair = in.u8() & 1;
    auto bytes = take(in, superblockBytes);
    if (repair)
        repairSuperblock(bytes.data());
    Superblock s;
    std::string error;
    const auto status = s.decode(bytes.data(), error);
    if (status != Status::ok) {
        require(!error.empty(), "a refusal has a reason");
        return;
    }
    checkGeometry(s.geometry);
    checkLog(s);
    std::vector<char> again(superblockBytes);
    s.encode(again.data());
    constexpr size_t logAt = 77, skipsAt = 177;
    const auto same = s.version < indexLogVersion ? logAt : skipsAt + 4 * s.geometry.logSkips.size(); // older ones have no log
    require(agree(bytes, again, 0, 60) && agree(bytes, again, 61, same), "encoding gives the same fields");
    constexpr size_t objectsAt = 4084;
    require(agree(bytes, again, objectsAt, objectsAt + 8) || s.version < objectsVersion, "objects are counted");
    require(again[60] == (bytes[60] == 1), "clean is 1");
    Superblock t;
    require(t.decode(again.data(), error) == Status::ok, "what was encoded is accepted");
}

std::vector<std::string>
seeds()
{
    std::vector<std::string> all;
    const struct { uint64_t device; uint32_t cluster, object; } sizes[] = {
        {64 * MB, 65536, 1024}, {uint64_t(1) << 44, 1 << 20, 13312}, {8 * MB, 16384, 16384}, {1 * MB, 65536, 1024}, {64 * MB, 5, 1024},
    };
    for (const auto &size: sizes) {
        Superblock s;
        s.uuid = uuidOf(1);
        s.geometry.formattedBytes = s.geometry.deviceBytes = size.device;
        s.geometry.clusterBytes = size.cluster;
        s.geometry.objectBytes = size.object;
        s.update = 3;
        s.clean = true;
        s.lastSequence = Sequence(9);
        s.checkpoint = 2;
        std::string why;
        if (s.geometry.plan(size.device, size.cluster, size.object, why) && s.geometry.grow(2 * size.device, why)) {
            s.startLog();
            s.log.tail = {1, 20};
            s.log.head = {2, 10};
            s.log.blocksBefore = s.log.blocks;
            s.checkpointStart = {2, 5};
            s.removalBlocks = 1;
            s.turnCursor = ClusterNo(7);
            s.groups = 4;
            s.serial = 8;
            s.secret = {1, 2, 3, 4};
            s.objects = 5;
        }
        std::string bytes(superblockBytes, '\0');
        s.encode(&bytes[0]);
        all.push_back(seedOf(0, bytes));
        all.push_back(seedOf(1, bytes.substr(0, 180)));
        if (s.geometry.clusterCount) {
            s.turnCursor = ClusterNo(s.geometry.clusterCount); // there is no such cluster
            s.encode(&bytes[0]);
            all.push_back(seedOf(1, bytes.substr(0, 180)));
        }
        bytes[16] = 3; // without a log
        all.push_back(seedOf(1, bytes.substr(0, 180)));
    }
    return all;
}

const Target target("superblock", run, seeds);

} // namespace
} // namespace Fuzz
