// SPDX-License-Identifier: GPL-2.0-or-later
/* Encoding of the index log's blocks. */

#include "fs/cluster/layout/IndexBlock.h"

#include "fs/cluster/base/Crc32c.h"

#include <algorithm>

namespace ClusterFs {
namespace {

constexpr char blockMagic[] = "CLINDEX\n";
constexpr size_t keyBytes = 16;
constexpr uint8_t packing = 1; ///< of times; 0 is that of format version 4

/* the first byte of a record says what it is */
constexpr uint8_t sectionByte = 16;
constexpr uint8_t useByte = 17;

/// Times and flags as version 4 packed them: expires in 26 bits, last modified in 30, of which the most stands for
/// whatever was modified earlier. Now these are 25 and 31, see docs/format.md.
uint64_t
packedAnew(const uint64_t packed)
{
    constexpr uint64_t maxExpires = (1 << 25) - 1;
    constexpr uint64_t maxModified = (1 << 30) - 1;
    const auto expires = std::min(packed >> 38, maxExpires);
    const auto modified = (packed >> 8) & maxModified;
    return expires << 39 | (modified == maxModified ? 0 : modified) << 8 | (packed & 0xff);
}

void
encodeRemoval(ByteWriter &w, const IndexRemoval &r)
{
    w.u8(static_cast<uint8_t>(r.kind));
    w.u32(r.cluster);
    if (r.kind == IndexRemoval::Kind::announced)
        w.u64(r.after);
    if (r.kind == IndexRemoval::Kind::object)
        w.u32(r.offset);
}

IndexRemoval
decodeRemoval(ByteReader &r, const uint8_t kind)
{
    IndexRemoval removal;
    removal.kind = static_cast<IndexRemoval::Kind>(kind);
    removal.cluster = r.u32();
    if (removal.kind == IndexRemoval::Kind::announced)
        removal.after = r.u64();
    if (removal.kind == IndexRemoval::Kind::object)
        removal.offset = r.u32();
    return removal;
}

void
encodeSection(ByteWriter &w, const IndexSection &s, const bool keys)
{
    w.u8(sectionByte);
    w.u8(s.state);
    w.u8(s.whole ? 1 : 0);
    w.zeros(1);
    w.u32(s.cluster);
    w.u64(s.sequence);
    w.u32(s.end);
    w.u32(s.nextPart);
    w.u64(s.total);
    w.u32(s.headBytes);
    w.u32(s.written);
    w.u32(s.heat);
    w.u32(static_cast<uint32_t>(s.objects.size()));
    for (const auto &o: s.objects) {
        w.u32(o.hashed.bucket);
        w.u32(o.hashed.tag);
        w.u32(o.place);
        w.u32(o.size);
        w.u32(o.timestamp);
        w.u64(o.packed);
        if (keys)
            w.key(o.key);
    }
}

/// \returns false when it claims more objects than there are bytes
bool
decodeSection(ByteReader &r, IndexSection &s, const bool keys, const uint8_t packedAs)
{
    s.state = r.u8();
    s.whole = r.u8() == 1;
    r.skip(1);
    s.cluster = r.u32();
    s.sequence = r.u64();
    s.end = r.u32();
    s.nextPart = r.u32();
    s.total = r.u64();
    s.headBytes = r.u32();
    s.written = r.u32();
    s.heat = r.u32();
    const auto count = r.u32();
    if (!r.good() || count * uint64_t(IndexObject::encodedBytes + (keys ? keyBytes : 0)) > r.left())
        return false;
    s.objects.resize(count);
    for (auto &o: s.objects) {
        o.hashed.bucket = r.u32();
        o.hashed.tag = r.u32();
        o.place = r.u32();
        o.size = r.u32();
        o.timestamp = r.u32();
        o.packed = r.u64();
        if (packedAs != packing)
            o.packed = packedAnew(o.packed);
        if (keys)
            o.key = r.key();
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
    ByteWriter records(buffer + headerBytes, capacity());
    for (const auto &removal: removals)
        encodeRemoval(records, removal);
    for (const auto &section: sections)
        encodeSection(records, section, keys);
    for (const auto &use: uses) {
        records.u8(useByte);
        records.u32(use.cluster);
        records.u32(use.place);
    }
    const auto used = records.used();
    records.zeros(records.left());
    ByteWriter w(buffer, headerBytes);
    w.bytes(blockMagic, 8);
    w.bytes(uuid.data(), uuid.size());
    w.u32(position.lap);
    w.u32(position.block);
    w.u64(serial);
    w.u64(previous);
    w.u8(static_cast<uint8_t>(part));
    w.u8(keys ? 1 : 0);
    w.u8(packing);
    w.zeros(1);
    w.u32(number);
    w.u32(removalBlocks);
    w.u32(turn);
    w.u32(turnCursor);
    w.u32(static_cast<uint32_t>(used));
    w.zeros(w.left() - 4);
    w.u32(crcOf(buffer));
}

ClusterFs::Status
ClusterFs::IndexBlock::decode(const char *const buffer, const Uuid &uuid)
{
    ByteReader r(buffer, headerBytes);
    if (!isOurs(r, blockMagic, uuid))
        return Status::notFound;
    position.lap = r.u32();
    position.block = r.u32();
    serial = r.u64();
    previous = r.u64();
    const auto kind = r.u8();
    keys = r.u8() == 1;
    const auto packedAs = r.u8();
    r.skip(1);
    number = r.u32();
    removalBlocks = r.u32();
    turn = r.u32();
    turnCursor = r.u32();
    const auto used = r.u32();
    r.skip(r.left() - 4);
    if (r.u32() != crcOf(buffer) || used > capacity() || kind < 1 || kind > 3)
        return Status::corrupt;
    part = static_cast<Part>(kind);
    removals.clear();
    sections.clear();
    uses.clear();
    ByteReader records(buffer + headerBytes, used);
    while (records.left()) {
        const auto what = records.u8();
        if (what >= 1 && what <= 3) {
            removals.push_back(decodeRemoval(records, what));
        } else if (what == sectionByte) {
            sections.emplace_back();
            if (!decodeSection(records, sections.back(), keys, packedAs))
                return Status::corrupt;
        } else if (what == useByte) {
            IndexUse use;
            use.cluster = records.u32();
            use.place = records.u32();
            uses.push_back(use);
        } else {
            return Status::corrupt;
        }
        if (!records.good())
            return Status::corrupt;
    }
    return Status::ok;
}
