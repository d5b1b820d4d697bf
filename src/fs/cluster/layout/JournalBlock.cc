// SPDX-License-Identifier: GPL-2.0-or-later
/* Journal block encoding. */

#include "fs/cluster/layout/JournalBlock.h"

#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/layout/Tables.h"

namespace ClusterFs {
namespace {

constexpr char blockMagic[] = "JOURNAL\n";
constexpr size_t blockHeaderBytes = 48;

uint32_t
blockCrc(const char *buffer)
{
    return crc32cOfStructure(buffer, blockHeaderBytes, journalBlockBytes);
}

template <class Fields, class Block>
void
describeBlock(Fields &f, Block &b, const Uuid &uuid, uint32_t &count, uint32_t &crc)
{
    f.expect(blockMagic, 8, "magic, `JOURNAL\\n`");
    f.expect(uuid.data(), uuid.size(), "UUID of the device");
    f.u64(b.checkpoint, "number of the checkpoint before this journal");
    f.u32(b.index, "index: the place of this block in the region, from 0");
    f.u32(count, "records");
    f.u32(b.run, "run: grows from start to start");
    f.u32(crc, "checksum of the whole block without this field");
}

template <class Fields, class Record>
void
describeRecord(Fields &f, Record &r)
{
    f.u8(r.kind, "kind");
    if (r.kind == JournalRecord::Kind::removal) {
        f.key(r.key, "key");
        f.id(r.sequence, "sequence number");
    } else {
        f.id(r.cluster, "cluster");
        if (r.kind == JournalRecord::Kind::announce)
            f.id(r.sequence, "sequence number");
    }
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
    FieldWriter w(buffer, journalBlockBytes);
    auto count = static_cast<uint32_t>(records.size());
    uint32_t crc = 0;
    describeBlock(w, *this, uuid, count, crc);
    assert(w.used() == blockHeaderBytes);
    for (const auto &record: records)
        describeRecord(w, record);
    w.zeros(w.left());
    ByteWriter(buffer + blockHeaderBytes - 4, 4).u32(blockCrc(buffer));
}

ClusterFs::Status
ClusterFs::JournalBlock::decode(const char *buffer, const Uuid &uuid)
{
    FieldReader r(buffer, journalBlockBytes);
    uint32_t count = 0, crc = 0;
    describeBlock(r, *this, uuid, count, crc);
    if (!r.expected())
        return Status::notFound;
    if (crc != blockCrc(buffer) || count > Capacity())
        return Status::corrupt;
    records.clear();
    for (uint32_t i = 0; i < count; ++i) {
        JournalRecord record;
        describeRecord(r, record);
        if (!r.good() || record.kind < JournalRecord::Kind::removal || record.kind > JournalRecord::Kind::release)
            return Status::corrupt;
        records.push_back(record);
    }
    return Status::ok;
}

void
ClusterFs::addJournalTables(std::vector<LayoutTable> &tables)
{
    const JournalBlock block;
    const Uuid uuid{};
    uint32_t count = 0, crc = 0;
    tables.push_back({"journal block", fieldsOf([&](auto &f) { describeBlock(f, block, uuid, count, crc); })});
    JournalRecord record;
    const auto add = [&](const JournalRecord::Kind kind, const char *const means) {
        record.kind = kind;
        tables.push_back({"journal record", fieldsOf([&](auto &f) { describeRecord(f, record); }), static_cast<unsigned>(kind), means});
    };
    add(JournalRecord::Kind::removal, "removal: versions of the key with at most this number are gone");
    add(JournalRecord::Kind::announce, "announce: the cluster may be written from now on, and its contents count if their sequence number is higher");
    add(JournalRecord::Kind::release, "release: the cluster's former contents are forgotten");
}
