// SPDX-License-Identifier: GPL-2.0-or-later
/* Encoding of the groups that were learned. */

#include "fs/cluster/layout/SavedGroups.h"

#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/layout/Tables.h"

namespace ClusterFs {
namespace {

constexpr char chunkMagic[] = "CLGROUPS";
constexpr size_t chunkHeaderBytes = 64;

constexpr uint8_t homeBit = 1;
constexpr uint8_t candidateBit = 2;
constexpr uint8_t confirmedBit = 4;
constexpr uint8_t guestBit = 8;
constexpr unsigned evidenceShift = 4;

template <class Fields, class Chunk>
void
describeChunk(Fields &f, Chunk &c, const Uuid &uuid, uint32_t &count, uint32_t &crc)
{
    f.expect(chunkMagic, 8, "magic, `CLGROUPS`");
    f.expect(uuid.data(), uuid.size(), "UUID of the device");
    f.u64(c.generation, "generation");
    f.u32(c.index, "index of the chunk, from 0");
    f.u32(count, "records");
    f.zeros(20);
    f.u32(crc, "checksum of the whole chunk without this field");
}

template <class Fields, class Group>
void
describeGroup(Fields &f, Group &g, uint16_t &count)
{
    f.u64(g.name, "name: hash of a URL; of kind 4, the number that the caller gave");
    f.u64(g.site, "site: hash of a URL; of kind 4, bits 0 to 7: 1 = loved, 2 = hated, from bit 8 on: seconds of its own `persist`, 0 = none, 0xffffffff = never");
    f.key(g.leader, "key of the leader, zero = none");
    f.u8(g.kind, "kind: 0 page, 1 objects that a site's pages share, 2 sequence, 3 chosen by the caller, 4 numbered by the caller; "
         "5 no group, but bytes that were in memory, the hottest first. Kinds 4 and 5 may have several records");
    f.u8(g.sheet, "1 = the leader is a style sheet or the like");
    f.u16(count, "members");
}

template <class Fields, class Member>
void
describeMember(Fields &f, Member &m, uint8_t &bits)
{
    f.key(m.key, "key; of kind 5: cluster, start and bytes in it, lower half of its sequence number, 4 bytes each");
    f.u8(m.weight, "weight: the amount of fading after which the object is no longer a member, 255 = never");
    f.u8(bits, "bits: 1 the object is packed with this group, 2 this group fetched it last, 4 more than one visit fetched it, 8 no member: "
         "a guest, 16 and up the way that it was learned");
}

void
encodeGroup(FieldWriter &w, const SavedGroups::GroupRecord &g)
{
    auto count = static_cast<uint16_t>(g.members.size());
    describeGroup(w, g, count);
    for (const auto &m: g.members) {
        auto bits = static_cast<uint8_t>((m.home ? homeBit : 0) | (m.candidate ? candidateBit : 0) |
                                         (m.confirmed ? confirmedBit : 0) | (m.guest ? guestBit : 0) | m.evidence << evidenceShift);
        describeMember(w, m, bits);
    }
}

/// \returns false when it has more members than there are bytes
bool
decodeGroup(FieldReader &r, SavedGroups::GroupRecord &g)
{
    uint16_t count = 0;
    describeGroup(r, g, count);
    if (!r.good() || count * SavedGroups::MemberRecord::encodedBytes > r.left())
        return false;
    g.members.resize(count);
    for (auto &m: g.members) {
        uint8_t bits = 0;
        describeMember(r, m, bits);
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
    FieldWriter records(buffer + chunkHeaderBytes, groupsChunkBytes - chunkHeaderBytes);
    for (const auto &group: c.groups)
        encodeGroup(records, group);
    records.zeros(records.left());
    FieldWriter w(buffer, chunkHeaderBytes);
    auto count = static_cast<uint32_t>(c.groups.size());
    uint32_t crc = 0;
    describeChunk(w, c, uuid, count, crc);
    assert(!w.left());
    ByteWriter(buffer + chunkHeaderBytes - 4, 4).u32(crcOf(buffer));
}

ClusterFs::Status
ClusterFs::SavedGroups::Decode(const char *buffer, Chunk &c, const Uuid &uuid)
{
    FieldReader r(buffer, chunkHeaderBytes);
    uint32_t count = 0, crc = 0;
    describeChunk(r, c, uuid, count, crc);
    if (!r.expected())
        return Status::notFound;
    if (crc != crcOf(buffer))
        return Status::corrupt;
    c.groups.clear();
    FieldReader records(buffer + chunkHeaderBytes, groupsChunkBytes - chunkHeaderBytes);
    for (uint32_t i = 0; i < count; ++i) {
        c.groups.emplace_back();
        if (!decodeGroup(records, c.groups.back()))
            return Status::corrupt;
    }
    return Status::ok;
}

void
ClusterFs::addGroupsTables(std::vector<LayoutTable> &tables)
{
    const SavedGroups::Chunk chunk;
    const SavedGroups::GroupRecord group;
    const SavedGroups::MemberRecord member;
    const Uuid uuid{};
    uint32_t records = 0, crc = 0;
    uint16_t members = 0;
    uint8_t bits = 0;
    tables.push_back({"groups chunk", fieldsOf([&](auto &f) { describeChunk(f, chunk, uuid, records, crc); })});
    tables.push_back({"group record", fieldsOf([&](auto &f) { describeGroup(f, group, members); })});
    tables.push_back({"member", fieldsOf([&](auto &f) { describeMember(f, member, bits); })});
}
