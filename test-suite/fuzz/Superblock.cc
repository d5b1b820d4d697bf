// SPDX-License-Identifier: GPL-2.0-or-later
/* Superblocks. First byte: 1 = with the right checksum. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/LayoutSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

void
checkGeometry(const Geometry &g)
{
    require(g.clusterBytes >= 16 * 1024 && g.clusterBytes <= 16 * MB && !(g.clusterBytes & (g.clusterBytes - 1)), "cluster size");
    uint64_t at = 2 * superblockSpacing;
    for (const auto start: g.checkpointStart) {
        require(start >= at && start % 4096 == 0, "checkpoints lie apart");
        at = start + g.checkpointBytes;
    }
    for (const auto start: g.journalStart) {
        require(start >= at && start % 4096 == 0, "journals lie apart");
        at = start + g.journalBytes;
    }
    require(g.clusterStart >= at && g.clusterStart % g.clusterBytes == 0, "clusters lie behind all else");
    require(g.clusterCount >= 8 && g.clusterOffset(g.clusterCount) <= g.deviceBytes, "clusters lie within the device");
    require(g.indexCapacity > 0 && g.indexCapacity <= uint64_t(1) << 30, "index capacity");
    require(g.bucketCount > 0 && g.bucketCount < uint64_t(1) << 31, "buckets");
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
    std::vector<char> again(superblockBytes);
    s.encode(again.data());
    require(agree(bytes, again, 0, 60) && agree(bytes, again, 61, 77), "encoding gives the same fields");
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
        s.geometry.deviceBytes = size.device;
        s.geometry.clusterBytes = size.cluster;
        s.geometry.objectBytes = size.object;
        s.update = 3;
        s.clean = true;
        s.lastSequence = 9;
        s.checkpoint = 2;
        std::string bytes(superblockBytes, '\0');
        s.encode(&bytes[0]);
        all.push_back(seedOf(0, bytes));
        all.push_back(seedOf(1, bytes.substr(0, 100)));
    }
    return all;
}

const Target target("superblock", run, seeds);

} // namespace
} // namespace Fuzz
