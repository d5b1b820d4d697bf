// SPDX-License-Identifier: GPL-2.0-or-later
/* Journal block encoding. */

#include "fs/cluster/layout/JournalBlock.h"

#include "fs/cluster/base/Crc32c.h"

namespace ClusterFs {
namespace {

constexpr char blockMagic[] = "JOURNAL\n";
constexpr size_t blockHeaderBytes = 48;

uint32_t
blockCrc(const char *buffer)
{
    return crc32cOfStructure(buffer, blockHeaderBytes, journalBlockBytes);
}

/// \returns false at an unknown kind
bool
decodeRecord(ByteReader &r, JournalRecord &record)
{
    const auto kind = r.u8();
    if (kind < 1 || kind > 3)
        return false;
    record.kind = static_cast<JournalRecord::Kind>(kind);
    if (record.kind == JournalRecord::Kind::removal) {
        record.key = r.key();
        record.sequence = r.u64();
    } else {
        record.cluster = r.u32();
        if (record.kind == JournalRecord::Kind::announce)
            record.sequence = r.u64();
    }
    return r.good();
}

} // namespace
} // namespace ClusterFs

size_t
ClusterFs::JournalBlock::Capacity()
{
    return journalBlockBytes - blockHeaderBytes;
}

void
ClusterFs::JournalBlock::encode(char *buffer, const Uuid &uuid) const
{
    ByteWriter w(buffer, journalBlockBytes);
    w.bytes(blockMagic, 8);
    w.bytes(uuid.data(), uuid.size());
    w.u64(checkpoint);
    w.u32(index);
    w.u32(static_cast<uint32_t>(records.size()));
    w.u32(run);
    w.zeros(blockHeaderBytes - w.used());
    for (const auto &record: records) {
        w.u8(static_cast<uint8_t>(record.kind));
        if (record.kind == JournalRecord::Kind::removal) {
            w.key(record.key);
            w.u64(record.sequence);
        } else {
            w.u32(record.cluster);
            if (record.kind == JournalRecord::Kind::announce)
                w.u64(record.sequence);
        }
    }
    w.zeros(w.left());
    ByteWriter crc(buffer + blockHeaderBytes - 4, 4);
    crc.u32(blockCrc(buffer));
}

ClusterFs::Status
ClusterFs::JournalBlock::decode(const char *buffer, const Uuid &uuid)
{
    ByteReader r(buffer, journalBlockBytes);
    if (!isOurs(r, blockMagic, uuid))
        return Status::notFound;
    checkpoint = r.u64();
    index = r.u32();
    const auto count = r.u32();
    run = r.u32();
    ByteReader crc(buffer + blockHeaderBytes - 4, 4);
    if (crc.u32() != blockCrc(buffer) || count > Capacity())
        return Status::corrupt;
    r.skip(blockHeaderBytes - (journalBlockBytes - r.left()));
    records.clear();
    for (uint32_t i = 0; i < count; ++i) {
        JournalRecord record;
        if (!decodeRecord(r, record))
            return Status::corrupt;
        records.push_back(record);
    }
    return Status::ok;
}
