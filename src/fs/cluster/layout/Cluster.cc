// SPDX-License-Identifier: GPL-2.0-or-later
/* Cluster encoding. */

#include "fs/cluster/layout/Cluster.h"

#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/layout/Tables.h"

namespace ClusterFs {
namespace {

constexpr size_t headerCrcAt = ClusterHeader::encodedBytes - 4;

/// The beginning of a checksum, over the place where the bytes belong, so that
/// bytes of another device or place do not match.
/// \param where an extent's offset in the cluster, or a part's sequence number
uint32_t
placeCrc(const Uuid &uuid, const ClusterNo number, const uint64_t where)
{
    char place[28];
    ByteWriter w(place, sizeof(place));
    w.bytes(uuid.data(), uuid.size());
    w.id(number);
    w.u64(where);
    return crc32c(place, sizeof(place));
}

uint32_t
frontCrc(const char *buffer, const size_t size)
{
    return crc32cOfStructure(buffer, ClusterHeader::encodedBytes, size);
}

template <class Fields, class Header>
void
describeHeader(Fields &f, Header &h)
{
    uint32_t crc = 0; // Directory::encode() writes it once everything that it covers is in place
    f.expect(ClusterHeader::magic, 8, "magic, `CLUSTER\\n`");
    f.u8(h.kind, "1 = packed, 2 = part");
    f.zeros(3);
    f.id(h.number, "number of the cluster");
    f.bytes(h.uuid, "UUID of the device");
    f.id(h.sequence, "sequence number");
    f.u64(h.written, "time of the write, seconds since 1970");
    f.u32(h.entries, "packed: entries");
    f.u32(h.parts, "packed: part references");
    f.u32(h.end, "end of the written bytes, from the cluster's start");
    f.u32(h.partNumber, "part: its number, from 0");
    f.u32(h.payloadCrc, "part: checksum of the payload");
    f.key(h.key, "part: key of the object");
    f.zeros(8);
    f.u32(crc, "checksum of header (without this field), entries and references");
}

bool
decodeHeader(FieldReader &r, ClusterHeader &h)
{
    describeHeader(r, h);
    return r.good() && r.expected() && (h.kind == ClusterKind::packed || h.kind == ClusterKind::part);
}

template <class Fields, class Entry>
void
describeEntry(Fields &f, Entry &e)
{
    f.key(e.key, "key (Squid's store key)");
    f.u32(e.offset, "offset of the extent in the cluster");
    f.u32(e.size, "payload bytes in the extent");
    f.u64(e.info.size, "stored bytes of the object, parts included");
    f.u64(e.info.timestamp, "timestamp, seconds since 1970, -1 = unknown");
    f.u64(e.info.expires, "expires");
    f.u64(e.info.lastModified, "last modified");
    f.u8(e.info.flags, "flags: 1 revalidate always, 2 revalidate when stale, 4 negative, 8 bad length, 16 doubtful, "
         "64 belongs to the group of the entry before");
    f.zeros(1);
    f.u16(e.heat, "heat");
    f.u32(e.parts, "part references of this object");
}

template <class Fields, class Reference>
void
describeReference(Fields &f, Reference &p)
{
    f.id(p.cluster, "cluster");
    f.u32(p.bytes, "payload bytes");
    f.id(p.sequence, "sequence number");
}

template <class Fields, class Header>
void
describeExtent(Fields &f, Header &h, uint32_t &crc)
{
    f.u32(crc, "checksum");
    f.u32(h.size, "payload bytes");
    f.id(h.sequence, "sequence number of the cluster");
    f.key(h.key, "key");
}

/// whether a packer can have written this entry
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
    FieldWriter w(buffer, size);
    describeHeader(w, header);
    for (const auto &e: entries)
        describeEntry(w, e);
    for (const auto &p: parts)
        describeReference(w, p);
    assert(w.used() == used);
    ByteWriter crc(buffer + headerCrcAt, 4);
    crc.u32(frontCrc(buffer, used));
}

bool
ClusterFs::Directory::Peek(const char *buffer, const size_t size, ClusterHeader &h)
{
    FieldReader r(buffer, size);
    return decodeHeader(r, h);
}

ClusterFs::Status
ClusterFs::Directory::decode(const char *buffer, const size_t size, const ClusterNo number, const Uuid &uuid, const uint32_t clusterBytes)
{
    entries.clear();
    parts.clear();
    FieldReader r(buffer, size);
    if (!decodeHeader(r, header) || header.uuid != uuid)
        return Status::notFound;
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
        entries.emplace_back();
        describeEntry(r, entries.back());
        references += entries.back().parts;
        if (!plausible(entries.back(), header))
            return Status::corrupt;
    }
    parts.reserve(header.parts);
    for (uint32_t i = 0; i < header.parts; ++i) {
        parts.emplace_back();
        describeReference(r, parts.back());
    }
    return r.good() && references == header.parts ? Status::ok : Status::corrupt;
}

void
ClusterFs::sealExtent(char *extent, const ExtentHeader &h, const Uuid &uuid, const ClusterNo number, const uint32_t offset)
{
    FieldWriter w(extent, ExtentHeader::encodedBytes);
    uint32_t unknown = 0;
    describeExtent(w, h, unknown);
    const auto crc = crc32c(extent + 4, ExtentHeader::encodedBytes - 4 + h.size, placeCrc(uuid, number, offset));
    ByteWriter c(extent, 4);
    c.u32(crc);
}

ClusterFs::Key
ClusterFs::keyOfExtent(const char *extent)
{
    FieldReader r(extent, ExtentHeader::encodedBytes);
    ExtentHeader h;
    uint32_t crc = 0;
    describeExtent(r, h, crc);
    return h.key;
}

ClusterFs::Status
ClusterFs::checkExtent(const char *extent, const size_t available, const ExtentHeader &expected, const Uuid &uuid, const ClusterNo number, const uint32_t offset)
{
    if (available < ExtentHeader::encodedBytes + size_t(expected.size))
        return Status::corrupt;
    FieldReader r(extent, ExtentHeader::encodedBytes);
    ExtentHeader h;
    uint32_t crc = 0;
    describeExtent(r, h, crc);
    if (h.size != expected.size || h.sequence != expected.sequence || h.key != expected.key)
        return Status::corrupt;
    const auto wanted = crc32c(extent + 4, ExtentHeader::encodedBytes - 4 + h.size, placeCrc(uuid, number, offset));
    return crc == wanted ? Status::ok : Status::corrupt;
}

uint32_t
ClusterFs::partCrc(const char *payload, const size_t size, const Uuid &uuid, const ClusterNo number, const Sequence sequence)
{
    return crc32c(payload, size, placeCrc(uuid, number, sequence.value()));
}

void
ClusterFs::addClusterTables(std::vector<LayoutTable> &tables)
{
    const ClusterHeader header;
    const DirectoryEntry entry;
    const PartReference reference;
    const ExtentHeader extent;
    uint32_t crc = 0;
    tables.push_back({"cluster header", fieldsOf([&](auto &f) { describeHeader(f, header); })});
    tables.push_back({"directory entry", fieldsOf([&](auto &f) { describeEntry(f, entry); })});
    tables.push_back({"part reference", fieldsOf([&](auto &f) { describeReference(f, reference); })});
    tables.push_back({"extent header", fieldsOf([&](auto &f) { describeExtent(f, extent, crc); })});
}
