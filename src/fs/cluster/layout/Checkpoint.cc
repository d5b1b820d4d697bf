// SPDX-License-Identifier: GPL-2.0-or-later
/* Checkpoint chunk encoding. */

#include "fs/cluster/layout/Checkpoint.h"

#include "fs/cluster/base/Bytes.h"
#include "fs/cluster/base/Crc32c.h"

namespace ClusterFs {
namespace {

constexpr char chunkMagic[] = "CHECKPNT";
constexpr size_t chunkHeaderBytes = 80;
constexpr size_t keyBytes = 16;

void
encodeCluster(ByteWriter &w, const Checkpoint::ClusterRecord &c)
{
    w.u32(c.number);
    w.u8(c.state);
    w.zeros(3);
    w.u64(c.sequence);
    w.u32(c.end);
    w.u32(c.nextPart);
    w.u64(c.total);
    w.u32(c.headBytes);
    w.u32(c.written);
    w.u32(c.heat);
    w.zeros(4);
}

Checkpoint::ClusterRecord
decodeCluster(ByteReader &r)
{
    Checkpoint::ClusterRecord c;
    c.number = r.u32();
    c.state = r.u8();
    r.skip(3);
    c.sequence = r.u64();
    c.end = r.u32();
    c.nextPart = r.u32();
    c.total = r.u64();
    c.headBytes = r.u32();
    c.written = r.u32();
    c.heat = r.u32();
    r.skip(4);
    return c;
}

void
encodeObject(ByteWriter &w, const Checkpoint::ObjectRecord &o, const bool keys)
{
    w.u32(o.bucket);
    w.u32(o.tag);
    w.u32(o.cluster);
    w.u32(o.place);
    w.u32(o.size);
    w.u32(o.timestamp);
    w.u64(o.packed);
    if (keys)
        w.key(o.key);
}

Checkpoint::ObjectRecord
decodeObject(ByteReader &r, const bool keys)
{
    Checkpoint::ObjectRecord o;
    o.bucket = r.u32();
    o.tag = r.u32();
    o.cluster = r.u32();
    o.place = r.u32();
    o.size = r.u32();
    o.timestamp = r.u32();
    o.packed = r.u64();
    if (keys)
        o.key = r.key();
    return o;
}

constexpr uint8_t homeBit = 1;
constexpr uint8_t candidateBit = 2;
constexpr uint8_t confirmedBit = 4;
constexpr uint8_t guestBit = 8;
constexpr unsigned evidenceShift = 4;

void
encodeGroup(ByteWriter &w, const Checkpoint::GroupRecord &g)
{
    w.u64(g.name);
    w.u64(g.site);
    w.key(g.leader);
    w.u8(g.kind);
    w.u8(g.sheet ? 1 : 0);
    w.u16(static_cast<uint16_t>(g.members.size()));
    for (const auto &m: g.members) {
        w.key(m.key);
        w.u8(m.weight);
        w.u8(static_cast<uint8_t>((m.home ? homeBit : 0) | (m.candidate ? candidateBit : 0) |
                                  (m.confirmed ? confirmedBit : 0) | (m.guest ? guestBit : 0) | m.evidence << evidenceShift));
    }
}

/// \returns false when it has more members than there are bytes
bool
decodeGroup(ByteReader &r, Checkpoint::GroupRecord &g)
{
    g.name = r.u64();
    g.site = r.u64();
    g.leader = r.key();
    g.kind = r.u8();
    g.sheet = r.u8() == 1;
    const auto count = r.u16();
    if (!r.good() || count * Checkpoint::MemberRecord::encodedBytes > r.left())
        return false;
    g.members.resize(count);
    for (auto &m: g.members) {
        m.key = r.key();
        m.weight = r.u8();
        const auto bits = r.u8();
        m.home = bits & homeBit;
        m.candidate = bits & candidateBit;
        m.confirmed = bits & confirmedBit;
        m.guest = bits & guestBit;
        m.evidence = bits >> evidenceShift;
    }
    return true;
}

/// \returns the checksum of a chunk, but for the field that it is stored in
uint32_t
crcOf(const char *buffer)
{
    return crc32c(buffer + chunkHeaderBytes, checkpointChunkBytes - chunkHeaderBytes, crc32c(buffer, chunkHeaderBytes - 4));
}

/// \returns the number of records
size_t
encodeRecords(ByteWriter &w, const Checkpoint::Chunk &c)
{
    if (c.kind == Checkpoint::clusters) {
        for (const auto &record: c.clusterRecords)
            encodeCluster(w, record);
        return c.clusterRecords.size();
    }
    if (c.kind == Checkpoint::groups) {
        for (const auto &record: c.groupRecords)
            encodeGroup(w, record);
        return c.groupRecords.size();
    }
    for (const auto &record: c.objectRecords)
        encodeObject(w, record, c.keys);
    return c.objectRecords.size();
}

/// \returns whether that many can be in a chunk, and all are whole
bool
decodeRecords(ByteReader &r, const uint32_t count, Checkpoint::Chunk &c)
{
    if (c.kind == Checkpoint::clusters) {
        for (uint32_t i = 0; i < count && count <= Checkpoint::ClustersInChunk(); ++i)
            c.clusterRecords.push_back(decodeCluster(r));
        return c.clusterRecords.size() == count;
    }
    if (c.kind == Checkpoint::groups) {
        for (uint32_t i = 0; i < count; ++i) {
            c.groupRecords.emplace_back();
            if (!decodeGroup(r, c.groupRecords.back()))
                return false;
        }
        return true;
    }
    if (count > Checkpoint::ObjectsInChunk(c.keys))
        return false;
    c.objectRecords.reserve(count);
    for (uint32_t i = 0; i < count; ++i)
        c.objectRecords.push_back(decodeObject(r, c.keys));
    return true;
}

} // namespace
} // namespace ClusterFs

size_t
ClusterFs::Checkpoint::ClustersInChunk()
{
    return (checkpointChunkBytes - chunkHeaderBytes) / ClusterRecord::encodedBytes;
}

size_t
ClusterFs::Checkpoint::ObjectsInChunk(const bool keys)
{
    return (checkpointChunkBytes - chunkHeaderBytes) / (ObjectRecord::encodedBytes + (keys ? keyBytes : 0));
}

size_t
ClusterFs::Checkpoint::GroupBytesInChunk()
{
    return checkpointChunkBytes - chunkHeaderBytes;
}

uint64_t
ClusterFs::Checkpoint::BytesNeeded(const uint64_t clusterCount, const uint64_t indexCapacity)
{
    // objects that move while the checkpoint is being written may be named twice
    const auto objectChunks = indexCapacity / ObjectsInChunk(true);
    const auto chunks = clusterCount / ClustersInChunk() + 1 + objectChunks + objectChunks / 16 + 2 + 1;
    return chunks * checkpointChunkBytes;
}

void
ClusterFs::Checkpoint::Encode(char *buffer, const Chunk &c, const Uuid &uuid)
{
    ByteWriter records(buffer + chunkHeaderBytes, checkpointChunkBytes - chunkHeaderBytes);
    const auto count = encodeRecords(records, c);
    records.zeros(records.left());
    ByteWriter w(buffer, chunkHeaderBytes);
    w.bytes(chunkMagic, 8);
    w.bytes(uuid.data(), uuid.size());
    w.u64(c.checkpoint);
    w.u32(c.index);
    w.u32(c.kind);
    w.u32(static_cast<uint32_t>(count));
    w.u32(c.keys ? 1 : 0);
    w.u64(c.from);
    w.u64(c.total);
    w.zeros(w.left() - 4);
    w.u32(crcOf(buffer));
}

ClusterFs::Status
ClusterFs::Checkpoint::Decode(const char *buffer, Chunk &c, const Uuid &uuid)
{
    ByteReader r(buffer, chunkHeaderBytes);
    char text[8];
    r.bytes(text, sizeof(text));
    Uuid owner;
    r.bytes(owner.data(), owner.size());
    if (memcmp(text, chunkMagic, sizeof(text)) != 0 || owner != uuid)
        return Status::notFound;
    c.checkpoint = r.u64();
    c.index = r.u32();
    const auto kind = r.u32();
    const auto count = r.u32();
    c.keys = r.u32() == 1;
    c.from = r.u64();
    c.total = r.u64();
    r.skip(r.left() - 4);
    if (r.u32() != crcOf(buffer) || kind < clusters || kind > groups)
        return Status::corrupt;
    c.kind = static_cast<Kind>(kind);
    c.clusterRecords.clear();
    c.objectRecords.clear();
    c.groupRecords.clear();
    ByteReader records(buffer + chunkHeaderBytes, checkpointChunkBytes - chunkHeaderBytes);
    return decodeRecords(records, count, c) ? Status::ok : Status::corrupt;
}
