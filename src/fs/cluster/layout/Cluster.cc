// SPDX-License-Identifier: GPL-2.0-or-later
/* Cluster encoding. */

#include "fs/cluster/layout/Cluster.h"

#include "fs/cluster/base/Bytes.h"
#include "fs/cluster/base/Crc32c.h"

namespace ClusterFs {
namespace {

constexpr size_t headerCrcAt = ClusterHeader::encodedBytes - 4;

/// a checksum that has seen where the bytes belong, so that bytes of another
/// device or place do not match
uint32_t
placeCrc(const Uuid &uuid, const ClusterNo number, const uint64_t where)
{
    char place[28];
    ByteWriter w(place, sizeof(place));
    w.bytes(uuid.data(), uuid.size());
    w.u32(number);
    w.u64(where);
    return crc32c(place, sizeof(place));
}

uint32_t
frontCrc(const char *buffer, const size_t size)
{
    return crc32cOfStructure(buffer, ClusterHeader::encodedBytes, size);
}

void
encodeHeader(ByteWriter &w, const ClusterHeader &h)
{
    w.bytes(ClusterHeader::magic, 8);
    w.u8(static_cast<uint8_t>(h.kind));
    w.zeros(3);
    w.u32(h.number);
    w.bytes(h.uuid.data(), h.uuid.size());
    w.u64(h.sequence);
    w.u64(static_cast<uint64_t>(h.written));
    w.u32(h.entries);
    w.u32(h.parts);
    w.u32(h.end);
    w.u32(h.partNumber);
    w.u32(h.payloadCrc);
    w.key(h.key);
    w.zeros(8);
    w.u32(0); // the checksum's place
}

bool
decodeHeader(ByteReader &r, ClusterHeader &h)
{
    char text[8];
    r.bytes(text, sizeof(text));
    const auto kind = r.u8();
    r.skip(3);
    h.number = r.u32();
    r.bytes(h.uuid.data(), h.uuid.size());
    h.sequence = r.u64();
    h.written = static_cast<int64_t>(r.u64());
    h.entries = r.u32();
    h.parts = r.u32();
    h.end = r.u32();
    h.partNumber = r.u32();
    h.payloadCrc = r.u32();
    h.key = r.key();
    r.skip(8);
    h.kind = static_cast<ClusterKind>(kind);
    return r.good() && memcmp(text, ClusterHeader::magic, sizeof(text)) == 0 &&
           (h.kind == ClusterKind::packed || h.kind == ClusterKind::part);
}

void
encodeEntry(ByteWriter &w, const DirectoryEntry &e)
{
    w.key(e.key);
    w.u32(e.offset);
    w.u32(e.size);
    w.u64(e.info.size);
    w.u64(static_cast<uint64_t>(e.info.timestamp));
    w.u64(static_cast<uint64_t>(e.info.expires));
    w.u64(static_cast<uint64_t>(e.info.lastModified));
    w.u8(e.info.flags);
    w.u8(0);
    w.u16(e.heat);
    w.u32(e.parts);
}

DirectoryEntry
decodeEntry(ByteReader &r)
{
    DirectoryEntry e;
    e.key = r.key();
    e.offset = r.u32();
    e.size = r.u32();
    e.info.size = r.u64();
    e.info.timestamp = static_cast<int64_t>(r.u64());
    e.info.expires = static_cast<int64_t>(r.u64());
    e.info.lastModified = static_cast<int64_t>(r.u64());
    e.info.flags = r.u8();
    r.skip(1);
    e.heat = r.u16();
    e.parts = r.u32();
    return e;
}

/// whether an entry can be what a packer wrote
bool
plausible(const DirectoryEntry &e, const ClusterHeader &h)
{
    return e.offset >= h.directoryBytes() && e.offset % extentAlignment == 0 &&
           uint64_t(e.offset) + ExtentHeader::encodedBytes + e.size <= h.end &&
           (e.parts ? e.info.size >= e.size : e.info.size == e.size);
}

} // namespace
} // namespace ClusterFs

size_t
ClusterFs::ClusterHeader::directoryBytes() const
{
    return Directory::BytesFor(entries, parts);
}

size_t
ClusterFs::Directory::BytesFor(const size_t entries, const size_t parts)
{
    return ClusterHeader::encodedBytes + entries * DirectoryEntry::encodedBytes + parts * PartReference::encodedBytes;
}

void
ClusterFs::Directory::encode(char *buffer, const size_t size)
{
    header.entries = static_cast<uint32_t>(entries.size());
    header.parts = static_cast<uint32_t>(parts.size());
    const auto used = header.directoryBytes();
    ByteWriter w(buffer, size);
    encodeHeader(w, header);
    for (const auto &e: entries)
        encodeEntry(w, e);
    for (const auto &p: parts) {
        w.u32(p.cluster);
        w.u32(p.bytes);
        w.u64(p.sequence);
    }
    assert(w.used() == used);
    ByteWriter crc(buffer + headerCrcAt, 4);
    crc.u32(frontCrc(buffer, used));
}

bool
ClusterFs::Directory::Peek(const char *buffer, const size_t size, ClusterHeader &h)
{
    ByteReader r(buffer, size);
    return decodeHeader(r, h);
}

ClusterFs::Status
ClusterFs::Directory::decode(const char *buffer, const size_t size, const ClusterNo number, const Uuid &uuid, const uint32_t clusterBytes)
{
    entries.clear();
    parts.clear();
    ByteReader r(buffer, size);
    if (!decodeHeader(r, header) || header.uuid != uuid)
        return Status::notFound;
    r.skip(4); // checksum
    const auto used = uint64_t(header.entries) * DirectoryEntry::encodedBytes +
                      uint64_t(header.parts) * PartReference::encodedBytes + ClusterHeader::encodedBytes;
    if (used > size || used > clusterBytes || header.end > clusterBytes || header.end < used)
        return Status::corrupt;
    ByteReader crc(buffer + headerCrcAt, 4);
    if (crc.u32() != frontCrc(buffer, used) || header.number != number)
        return Status::corrupt;

    uint64_t references = 0;
    entries.reserve(header.entries);
    for (uint32_t i = 0; i < header.entries; ++i) {
        entries.push_back(decodeEntry(r));
        references += entries.back().parts;
        if (!plausible(entries.back(), header))
            return Status::corrupt;
    }
    parts.reserve(header.parts);
    for (uint32_t i = 0; i < header.parts; ++i) {
        PartReference p;
        p.cluster = r.u32();
        p.bytes = r.u32();
        p.sequence = r.u64();
        parts.push_back(p);
    }
    return r.good() && references == header.parts ? Status::ok : Status::corrupt;
}

void
ClusterFs::sealExtent(char *extent, const ExtentHeader &h, const Uuid &uuid, const ClusterNo number, const uint32_t offset)
{
    ByteWriter w(extent + 4, ExtentHeader::encodedBytes - 4);
    w.u32(h.size);
    w.u64(h.sequence);
    w.key(h.key);
    const auto crc = crc32c(extent + 4, ExtentHeader::encodedBytes - 4 + h.size, placeCrc(uuid, number, offset));
    ByteWriter c(extent, 4);
    c.u32(crc);
}

ClusterFs::Key
ClusterFs::keyOfExtent(const char *extent)
{
    ByteReader r(extent + 16, 16); // after checksum, size and sequence
    return r.key();
}

ClusterFs::Status
ClusterFs::checkExtent(const char *extent, const size_t available, const ExtentHeader &expected, const Uuid &uuid, const ClusterNo number, const uint32_t offset)
{
    if (available < ExtentHeader::encodedBytes + size_t(expected.size))
        return Status::corrupt;
    ByteReader r(extent, ExtentHeader::encodedBytes);
    const auto crc = r.u32();
    const auto size = r.u32();
    const auto sequence = r.u64();
    if (size != expected.size || sequence != expected.sequence || r.key() != expected.key)
        return Status::corrupt;
    const auto wanted = crc32c(extent + 4, ExtentHeader::encodedBytes - 4 + size, placeCrc(uuid, number, offset));
    return crc == wanted ? Status::ok : Status::corrupt;
}

uint32_t
ClusterFs::partCrc(const char *payload, const size_t size, const Uuid &uuid, const ClusterNo number, const Sequence sequence)
{
    return crc32c(payload, size, placeCrc(uuid, number, sequence));
}
