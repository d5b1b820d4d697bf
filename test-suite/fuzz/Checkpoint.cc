// SPDX-License-Identifier: GPL-2.0-or-later
/* Chunks of a checkpoint. First byte: 1 = with the right checksum. */

#include "test-suite/fuzz/Target.h"
#include "test-suite/unit/LayoutSupport.h"

#include "fs/cluster/layout/Checkpoint.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace Fuzz {
namespace {

using Record = Checkpoint::ClusterRecord;

constexpr size_t headerBytes = 80;

/// the fields of the header and of the records, without what is between them
void
checkFields(const std::vector<char> &bytes, const std::vector<char> &again, const Checkpoint::Chunk &chunk)
{
    require(agree(bytes, again, 0, 44) && agree(bytes, again, 48, 64), "encoding gives the same header");
    auto at = headerBytes;
    for (size_t i = 0; i < chunk.clusterRecords.size(); ++i, at += Record::encodedBytes)
        require(agree(bytes, again, at, at + 5) && agree(bytes, again, at + 8, at + 44), "encoding gives the same clusters");
    const auto objects = chunk.objectRecords.size() * (Checkpoint::ObjectRecord::encodedBytes + (chunk.keys ? 16 : 0));
    require(agree(bytes, again, at, at + objects), "encoding gives the same objects");
    for (const auto &g: chunk.groupRecords) {
        constexpr size_t flagOfSheet = 33; // any number but 1 means no
        require(agree(bytes, again, at, at + flagOfSheet), "encoding gives the same groups");
        at += Checkpoint::GroupRecord::encodedBytes;
        for (size_t i = 0; i < g.members.size(); ++i, at += Checkpoint::MemberRecord::encodedBytes)
            require(agree(bytes, again, at, at + Checkpoint::MemberRecord::encodedBytes - 1), "encoding gives the same members");
    }
}

void
run(Input in)
{
    const bool repair = in.u8() & 1;
    auto bytes = take(in, checkpointChunkBytes);
    if (repair)
        repairChunk(bytes.data());
    Checkpoint::Chunk chunk;
    if (Checkpoint::Decode(bytes.data(), chunk, uuidOf(1)) != Status::ok)
        return;
    require(chunk.clusterRecords.size() <= Checkpoint::ClustersInChunk(), "clusters fit");
    require(chunk.objectRecords.size() <= Checkpoint::ObjectsInChunk(chunk.keys), "objects fit");
    require(!chunk.clusterRecords.empty() + !chunk.objectRecords.empty() + !chunk.groupRecords.empty() <= 1, "one kind of records");
    std::vector<char> again(checkpointChunkBytes);
    Checkpoint::Encode(again.data(), chunk, uuidOf(1));
    checkFields(bytes, again, chunk);
    Checkpoint::Chunk same;
    require(Checkpoint::Decode(again.data(), same, uuidOf(1)) == Status::ok, "what was encoded is accepted");
    require(same.clusterRecords.size() == chunk.clusterRecords.size() && same.objectRecords.size() == chunk.objectRecords.size() &&
            same.groupRecords.size() == chunk.groupRecords.size(), "no record is lost");
}

std::string
seed(const Checkpoint::Kind kind, const bool keys, const uint32_t count)
{
    Checkpoint::Chunk chunk;
    chunk.checkpoint = 3;
    chunk.index = 1;
    chunk.kind = kind;
    chunk.keys = keys;
    chunk.from = 17;
    chunk.total = kind == Checkpoint::end ? 5 : 0;
    for (uint32_t i = 0; i < count && kind == Checkpoint::clusters; ++i) {
        Record r;
        r.number = i;
        r.state = static_cast<uint8_t>(i % 8);
        r.sequence = 10 + i;
        r.end = 65536;
        chunk.clusterRecords.push_back(r);
    }
    for (uint32_t i = 0; i < count && kind == Checkpoint::objects; ++i) {
        Checkpoint::ObjectRecord r;
        r.bucket = i;
        r.tag = 77 * i;
        r.cluster = i % 3;
        r.size = 100;
        r.key = keyOf(i);
        chunk.objectRecords.push_back(r);
    }
    for (uint32_t i = 0; i < count && kind == Checkpoint::groups; ++i) {
        Checkpoint::GroupRecord r;
        r.name = i;
        r.leader = keyOf(i);
        r.kind = static_cast<uint8_t>(i % 4);
        for (uint8_t m = 0; m < i; ++m)
            r.members.push_back({keyOf(100 + m), m, 2, true, false, true, m % 2 == 1});
        chunk.groupRecords.push_back(r);
    }
    std::string bytes(checkpointChunkBytes, '\0');
    Checkpoint::Encode(&bytes[0], chunk, uuidOf(1));
    return bytes;
}

std::vector<std::string>
seeds()
{
    std::vector<std::string> all;
    for (const bool keys: {false, true}) {
        for (const auto kind: {Checkpoint::clusters, Checkpoint::objects, Checkpoint::end, Checkpoint::groups}) {
            for (const uint8_t repair: {0, 1})
                all.push_back(seedOf(repair, seed(kind, keys, 9)));
        }
    }
    return all;
}

const Target target("checkpoint", run, seeds);

} // namespace
} // namespace Fuzz
