// SPDX-License-Identifier: GPL-2.0-or-later
/* Encoding of the index log's blocks. */

#include "fs/cluster/layout/IndexBlock.h"

#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/layout/Tables.h"

#include <algorithm>

namespace ClusterFs {
namespace {

constexpr char blockMagic[] = "CLINDEX\n";
constexpr size_t keyBytes = 16;
constexpr uint8_t packing = 1; ///< of times; 0 is that of format version 4

/* the first byte of a record is its kind */
constexpr uint8_t sectionByte = 16;
constexpr uint8_t useByte = 17;
constexpr char kindOfRecord[] = "kind";

/// Packs times and flags of version 4 as catalog/Record does now. In version 4, expires had 26 bits and last modified 30,
/// whose highest value stood for any time before. Now they have 25 and 31 bits, see docs/format.md.
uint64_t
packedAnew(const uint64_t packed)
{
    constexpr uint64_t maxExpires = (1 << 25) - 1;
    constexpr uint64_t maxModified = (1 << 30) - 1;
    const auto expires = std::min(packed >> 38, maxExpires);
    const auto modified = (packed >> 8) & maxModified;
    return expires << 39 | (modified == maxModified ? 0 : modified) << 8 | (packed & 0xff);
}

template <class Fields, class Block>
void
describeBlock(Fields &f, Block &b, const Uuid &uuid, uint8_t &packedAs, uint32_t &used, uint32_t &crc)
{
    f.expect(blockMagic, 8, "magic, `CLINDEX\\n`");
    f.expect(uuid.data(), uuid.size(), "UUID of the device");
    f.u32(b.position.lap, "lap");
    f.u32(b.position.block, "block: the place of this block in the log");
    f.u64(b.serial, "serial of the checkpoint");
    f.u64(b.previous, "serial of the checkpoint before it in the log, 0 = none");
    f.u8(b.part, "1 = removals, 2 = contents, 3 = removals again");
    f.u8(b.keys, "1 = the objects in this block have keys");
    f.u8(packedAs, "form of packed times: 1, or 0 in blocks that version 4 wrote");
    f.zeros(1);
    f.u32(b.number, "of removals: number of this block among them, from 0");
    f.u32(b.removalBlocks, "blocks of removals that the checkpoint has, in each copy; at least 1");
    f.u32(b.turn, "turn of the log when the checkpoint began");
    f.id(b.turnCursor, "cluster where that turn went on");
    f.u32(used, "bytes of records");
    f.zeros(4);
    f.u32(crc, "checksum of the whole block without this field");
}

/* records; a byte in front of each says its kind */

template <class Fields, class Removal>
void
describeRemoval(Fields &f, Removal &r)
{
    f.id(r.cluster, "cluster");
    if (r.kind == IndexRemoval::Kind::announced)
        f.id(r.after, "sequence number");
    if (r.kind == IndexRemoval::Kind::object)
        f.u32(r.offset, "offset");
}

template <class Fields, class Section>
void
describeSection(Fields &f, Section &s, uint32_t &count)
{
    f.u8(s.state, "state: 4 packed, 5 part, 7 bad");
    f.u8(s.whole, "1 = the sections of this checkpoint name all objects in the cluster");
    f.zeros(1);
    f.id(s.cluster, "cluster");
    f.id(s.sequence, "sequence number");
    f.u32(s.end, "end of the written bytes, from the cluster's start");
    f.id(s.nextPart, "next part");
    f.u64(s.total, "of the first part of an object: stored bytes of the object");
    f.u32(s.headBytes, "of the first part of an object: bytes in the object's head");
    f.u32(s.written, "time of the write, seconds since 1970");
    f.u32(s.heat, "heat");
    f.u32(count, "objects");
}

template <class Fields, class Object>
void
describeObject(Fields &f, Object &o, const bool keys)
{
    f.u32(o.hashed.bucket, "hash of the key: a bucket of the smallest index");
    f.u32(o.hashed.tag, "hash of the key: a tag");
    f.u32(o.place, "offset in units of 8 (21 bits) and heat (11 bits)");
    f.u32(o.size, "size, or first part");
    f.u32(o.timestamp, "timestamp");
    f.u64(o.packed, "packed times and flags");
    if (keys)
        f.key(o.key, "key, if the block says that its objects have keys");
}

template <class Fields, class Use>
void
describeUse(Fields &f, Use &u)
{
    f.id(u.cluster, "cluster");
    f.u32(u.place, "offset in units of 8 (21 bits) and heat (11 bits)");
}

void
encodeSection(FieldWriter &w, const IndexSection &s, const bool keys)
{
    auto count = static_cast<uint32_t>(s.objects.size());
    describeSection(w, s, count);
    for (const auto &o: s.objects)
        describeObject(w, o, keys);
}

/// \returns false when it claims more objects than there are bytes
bool
decodeSection(FieldReader &r, IndexSection &s, const bool keys, const uint8_t packedAs)
{
    uint32_t count = 0;
    describeSection(r, s, count);
    if (!r.good() || count * uint64_t(IndexObject::encodedBytes + (keys ? keyBytes : 0)) > r.left())
        return false;
    s.objects.resize(count);
    for (auto &o: s.objects) {
        describeObject(r, o, keys);
        if (packedAs != packing)
            o.packed = packedAnew(o.packed);
    }
    return true;
}

uint32_t
crcOf(const char *buffer)
{
    return crc32cOfStructure(buffer, IndexBlock::headerBytes, indexBlockBytes);
}

} // namespace
} // namespace ClusterFs

void
ClusterFs::IndexBlock::encode(char *const buffer, const Uuid &uuid) const
{
    FieldWriter records(buffer + headerBytes, capacity());
    for (const auto &removal: removals) {
        records.u8(removal.kind, kindOfRecord);
        describeRemoval(records, removal);
    }
    for (const auto &section: sections) {
        records.u8(sectionByte, kindOfRecord);
        encodeSection(records, section, keys);
    }
    for (const auto &use: uses) {
        records.u8(useByte, kindOfRecord);
        describeUse(records, use);
    }
    auto used = static_cast<uint32_t>(records.used());
    records.zeros(records.left());
    FieldWriter w(buffer, headerBytes);
    uint8_t packedAs = packing;
    uint32_t crc = 0;
    describeBlock(w, *this, uuid, packedAs, used, crc);
    assert(!w.left());
    ByteWriter(buffer + headerBytes - 4, 4).u32(crcOf(buffer));
}

ClusterFs::Status
ClusterFs::IndexBlock::decode(const char *const buffer, const Uuid &uuid)
{
    FieldReader r(buffer, headerBytes);
    uint8_t packedAs = 0;
    uint32_t used = 0, crc = 0;
    describeBlock(r, *this, uuid, packedAs, used, crc);
    if (!r.expected())
        return Status::notFound;
    if (crc != crcOf(buffer) || used > capacity() || part < Part::removals || part > Part::removalsAgain)
        return Status::corrupt;
    removals.clear();
    sections.clear();
    uses.clear();
    FieldReader records(buffer + headerBytes, used);
    while (records.left()) {
        uint8_t what = 0;
        records.u8(what, kindOfRecord);
        if (what >= 1 && what <= 3) {
            removals.emplace_back();
            removals.back().kind = static_cast<IndexRemoval::Kind>(what);
            describeRemoval(records, removals.back());
        } else if (what == sectionByte) {
            sections.emplace_back();
            if (!decodeSection(records, sections.back(), keys, packedAs))
                return Status::corrupt;
        } else if (what == useByte) {
            uses.emplace_back();
            describeUse(records, uses.back());
        } else {
            return Status::corrupt;
        }
        if (!records.good())
            return Status::corrupt;
    }
    return Status::ok;
}

void
ClusterFs::addIndexTables(std::vector<LayoutTable> &tables)
{
    const IndexBlock block;
    const Uuid uuid{};
    uint8_t kind = 0;
    uint32_t number = 0, crc = 0;
    tables.push_back({"index block", fieldsOf([&](auto &f) { describeBlock(f, block, uuid, kind, number, crc); })});
    IndexRemoval removal;
    const auto add = [&](const IndexRemoval::Kind which, const char *const means) {
        removal.kind = which;
        tables.push_back({"index removal", fieldsOf([&](auto &f) {
            f.u8(kind, kindOfRecord);
            describeRemoval(f, removal);
        }), static_cast<unsigned>(which), means});
    };
    add(IndexRemoval::Kind::cluster, "older checkpoints are no longer right about the cluster");
    add(IndexRemoval::Kind::announced, "the same, and the cluster may have been written since: its contents count if their sequence number is higher");
    add(IndexRemoval::Kind::object, "older checkpoints are no longer right about one object: the extent at this byte of the cluster");
    const IndexSection section;
    const IndexObject object;
    const IndexUse use;
    tables.push_back({"section", fieldsOf([&](auto &f) {
        f.u8(kind, "16, the kind");
        describeSection(f, section, number);
    })});
    tables.push_back({"object in a section", fieldsOf([&](auto &f) { describeObject(f, object, true); })});
    tables.push_back({"use", fieldsOf([&](auto &f) {
        f.u8(kind, "17, the kind");
        describeUse(f, use);
    })});
}
