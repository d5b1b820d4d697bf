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
    ByteWriter w(buffer, checkpointChunkBytes);
    w.bytes(chunkMagic, 8);
    w.bytes(uuid.data(), uuid.size());
    w.u64(c.checkpoint);
    w.u32(c.index);
    w.u32(c.kind);
    w.u32(static_cast<uint32_t>(c.kind == clusters ? c.clusterRecords.size() : c.objectRecords.size()));
    w.u32(c.keys ? 1 : 0);
    w.u64(c.from);
    w.u64(c.total);
    w.zeros(chunkHeaderBytes - 4 - w.used());
    const auto crcAt = w.used();
    w.u32(0);
    if (c.kind == clusters) {
        for (const auto &record: c.clusterRecords)
            encodeCluster(w, record);
    } else {
        for (const auto &record: c.objectRecords)
            encodeObject(w, record, c.keys);
    }
    w.zeros(w.left());
    ByteWriter crc(buffer + crcAt, 4);
    crc.u32(crc32c(buffer + chunkHeaderBytes, checkpointChunkBytes - chunkHeaderBytes, crc32c(buffer, crcAt)));
}

ClusterFs::Status
ClusterFs::Checkpoint::Decode(const char *buffer, Chunk &c, const Uuid &uuid)
{
    ByteReader r(buffer, checkpointChunkBytes);
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
    constexpr auto crcAt = chunkHeaderBytes - 4;
    ByteReader crc(buffer + crcAt, 4);
    if (crc.u32() != crc32c(buffer + chunkHeaderBytes, checkpointChunkBytes - chunkHeaderBytes, crc32c(buffer, crcAt)))
        return Status::corrupt;
    if (kind < clusters || kind > end || count > (kind == clusters ? ClustersInChunk() : ObjectsInChunk(c.keys)))
        return Status::corrupt;

    c.kind = static_cast<Kind>(kind);
    c.clusterRecords.clear();
    c.objectRecords.clear();
    c.objectRecords.reserve(kind == objects ? count : 0); // bounded above
    r.skip(chunkHeaderBytes - (checkpointChunkBytes - r.left()));
    for (uint32_t i = 0; i < count; ++i) {
        if (kind == clusters)
            c.clusterRecords.push_back(decodeCluster(r));
        else
            c.objectRecords.push_back(decodeObject(r, c.keys));
    }
    return r.good() ? Status::ok : Status::corrupt;
}
