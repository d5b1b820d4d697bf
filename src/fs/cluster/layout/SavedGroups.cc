// SPDX-License-Identifier: GPL-2.0-or-later
/* Encoding of what was learned of groups. */

#include "fs/cluster/layout/SavedGroups.h"

#include "fs/cluster/base/Crc32c.h"

namespace ClusterFs {
namespace {

constexpr char chunkMagic[] = "CLGROUPS";
constexpr size_t chunkHeaderBytes = 64;

constexpr uint8_t homeBit = 1;
constexpr uint8_t candidateBit = 2;
constexpr uint8_t confirmedBit = 4;
constexpr uint8_t guestBit = 8;
constexpr unsigned evidenceShift = 4;

void
encodeGroup(ByteWriter &w, const SavedGroups::GroupRecord &g)
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
decodeGroup(ByteReader &r, SavedGroups::GroupRecord &g)
{
    g.name = r.u64();
    g.site = r.u64();
    g.leader = r.key();
    g.kind = r.u8();
    g.sheet = r.u8() == 1;
    const auto count = r.u16();
    if (!r.good() || count * SavedGroups::MemberRecord::encodedBytes > r.left())
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

uint32_t
crcOf(const char *buffer)
{
    return crc32cOfStructure(buffer, chunkHeaderBytes, groupsChunkBytes);
}

} // namespace
} // namespace ClusterFs

size_t
ClusterFs::SavedGroups::BytesInChunk()
{
    return groupsChunkBytes - chunkHeaderBytes;
}

void
ClusterFs::SavedGroups::Encode(char *buffer, const Chunk &c, const Uuid &uuid)
{
    ByteWriter records(buffer + chunkHeaderBytes, groupsChunkBytes - chunkHeaderBytes);
    for (const auto &group: c.groups)
        encodeGroup(records, group);
    records.zeros(records.left());
    ByteWriter w(buffer, chunkHeaderBytes);
    w.bytes(chunkMagic, 8);
    w.bytes(uuid.data(), uuid.size());
    w.u64(c.generation);
    w.u32(c.index);
    w.u32(static_cast<uint32_t>(c.groups.size()));
    w.zeros(w.left() - 4);
    w.u32(crcOf(buffer));
}

ClusterFs::Status
ClusterFs::SavedGroups::Decode(const char *buffer, Chunk &c, const Uuid &uuid)
{
    ByteReader r(buffer, chunkHeaderBytes);
    if (!isOurs(r, chunkMagic, uuid))
        return Status::notFound;
    c.generation = r.u64();
    c.index = r.u32();
    const auto count = r.u32();
    r.skip(r.left() - 4);
    if (r.u32() != crcOf(buffer))
        return Status::corrupt;
    c.groups.clear();
    ByteReader records(buffer + chunkHeaderBytes, groupsChunkBytes - chunkHeaderBytes);
    for (uint32_t i = 0; i < count; ++i) {
        c.groups.emplace_back();
        if (!decodeGroup(records, c.groups.back()))
            return Status::corrupt;
    }
    return Status::ok;
}
