// SPDX-License-Identifier: GPL-2.0-or-later
/* Superblock encoding. */

#include "fs/cluster/layout/Superblock.h"

#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/base/Messages.h"
#include "fs/cluster/layout/Tables.h"

#include <algorithm>
#include <functional>

namespace ClusterFs {
namespace {

constexpr size_t endAt = superblockBytes - 28; ///< of the fields behind the zeros
constexpr size_t crcAt = superblockBytes - 4;

template <class Fields, class Position>
void
describePosition(Fields &f, Position &p, const char *const meaning)
{
    f.u32(p.lap, meaning);
    f.u32(p.block, meaning);
}

/// the fields in front of the list of clusters that the log skips
template <class Fields, class S>
void
describeBeginning(Fields &f, S &s, uint32_t &skips)
{
    f.expect(Superblock::magic, 16, "magic, `clusterfs device`");
    f.u32(s.version, "format version");
    f.bytes(s.uuid, "UUID of the device");
    f.u64(s.geometry.formattedBytes, "bytes of the device that were used when it was formatted");
    f.u32(s.geometry.clusterBytes, "cluster size, bytes");
    f.u32(s.geometry.objectBytes, "expected mean object size, bytes");
    f.u64(s.update, "update number");
    f.u8(s.clean, "1 = the last stop was clean");
    f.id(s.lastSequence, "bound of the sequence numbers: no cluster had a higher one when this copy was written");
    f.u64(s.checkpoint, "number of the newest checkpoint, 0 = none");
    describePosition(f, s.log.tail, "index log: its tail, the oldest block that counts: lap (4), block (4)");
    describePosition(f, s.log.head, "index log: its head, the place behind the newest block: lap, block");
    describePosition(f, s.checkpointStart, "index log: beginning of the newest checkpoint: lap, block");
    f.u32(s.log.blocks, "index log: blocks of a lap");
    f.u32(s.log.blocksBefore, "index log: blocks of the lap before the head's lap if the tail is there, else 0");
    f.u32(s.logClusters, "clusters that belong to the log: the first ones, except the bad ones listed below");
    f.u32(s.removalBlocks, "blocks of removals that the newest checkpoint has, in each of two copies");
    f.u32(s.turn, "turn: how often the log has gone through all clusters");
    f.id(s.turnCursor, "cluster where the turn goes on");
    f.u64(s.groups, "generation of the groups, 0 = none");
    f.u64(s.serial, "serial of the newest checkpoint in the log");
    for (auto &word: s.secret)
        f.u64(word, "secret that keys are hashed with, 4 numbers");
    f.u32(skips, "bad clusters among the log's, which it goes past, at most 512");
}

template <class Fields, class Number>
void
describeSkip(Fields &f, Number &skip)
{
    f.id(skip, "number of such a cluster, 4 bytes for each, in order; then zeros");
}

template <class Fields, class S, class Number>
void
describeEnd(Fields &f, S &s, Number &deviceBytes, uint32_t &crc)
{
    f.u64(deviceBytes, "bytes of the device that are used, if it has grown since; else 0 (always before version 7)");
    f.u64(s.written, "bytes written to the device since it was formatted, up to this copy; what was written between the last copy and a crash is missing (0 before version 7)");
    f.u64(s.objects, "objects that there were at the newest checkpoint: how large a start makes the index; 0 = not known (before version 6)");
    f.u32(crc, "checksum of the bytes before");
}

} // namespace
} // namespace ClusterFs

std::string
ClusterFs::uuidText(const Uuid &uuid)
{
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += digits[uuid[i] >> 4];
        text += digits[uuid[i] & 15];
    }
    return text;
}

void
ClusterFs::Superblock::encode(char *buffer) const
{
    FieldWriter w(buffer, superblockBytes);
    auto skips = static_cast<uint32_t>(geometry.logSkips.size());
    describeBeginning(w, *this, skips);
    for (const auto skip: geometry.logSkips)
        describeSkip(w, skip);
    w.zeros(endAt - w.used());
    uint32_t crc = 0;
    uint64_t grown = geometry.deviceBytes == geometry.formattedBytes ? 0 : geometry.deviceBytes;
    describeEnd(w, *this, grown, crc);
    ByteWriter(buffer + crcAt, 4).u32(crc32c(buffer, crcAt));
}

void
ClusterFs::Superblock::startLog()
{
    log = LogExtent();
    log.blocks = geometry.logBlocks;
    geometry.logSkips.clear();
    checkpointStart = LogPosition();
    logClusters = removalBlocks = turn = 0;
    turnCursor = ClusterNo(0);
    groups = serial = 0;
    secret = HashSecret();
    objects = 0;
}

ClusterFs::Status
ClusterFs::Superblock::decode(const char *buffer, std::string &error)
{
    FieldReader r(buffer, endAt);
    uint32_t count = 0;
    describeBeginning(r, *this, count);
    if (!r.expected()) {
        error = messageText<Message::noSuperblock>();
        return Status::notOurs;
    }
    std::vector<ClusterNo> skips(std::min<size_t>(count, maxLogSkips + 1));
    for (auto &skip: skips)
        describeSkip(r, skip);
    FieldReader end(buffer + endAt, superblockBytes - endAt);
    uint32_t crc = 0;
    uint64_t grown = 0;
    describeEnd(end, *this, grown, crc);
    if (crc != crc32c(buffer, crcAt)) {
        error = messageText<Message::superblockDamaged>();
        return Status::corrupt;
    }
    if (version < oldestVersion || version > formatVersion) {
        error = messageText<Message::versionUnknown>(version, oldestVersion, formatVersion);
        return Status::unsupported;
    }
    std::string why;
    if (!geometry.plan(geometry.formattedBytes, geometry.clusterBytes, geometry.objectBytes, why) || (grown && !geometry.grow(grown, why))) {
        error = "impossible geometry in the superblock: " + why;
        return Status::corrupt;
    }
    if (version < objectsVersion)
        objects = 0;
    if (version < indexLogVersion) {
        startLog();
        return Status::ok;
    }
    const bool inOrder = std::adjacent_find(skips.begin(), skips.end(), std::greater_equal<ClusterNo>()) == skips.end();
    const bool skipsFit = skips.size() <= maxLogSkips && inOrder && (skips.empty() || skips.back().value() < logClusters);
    geometry.logSkips = std::move(skips);
    const bool fits = skipsFit && logClusters < geometry.clusterCount && log.blocks <= geometry.logBlocksWith(logClusters) && log.sane();
    if (!fits || !geometry.has(turnCursor) || removalBlocks * uint64_t(2) > log.used()) {
        error = "impossible index log in the superblock";
        return Status::corrupt;
    }
    return Status::ok;
}

void
ClusterFs::addSuperblockTables(std::vector<LayoutTable> &tables)
{
    const Superblock s;
    uint32_t number = 0;
    FieldTable rows;
    describeBeginning(rows, s, number);
    describeSkip(rows, noCluster);
    const uint64_t bytes = 0;
    auto end = fieldsOf([&](auto &f) { describeEnd(f, s, bytes, number); });
    for (auto &row: end) {
        row.at += endAt;
        rows.rows.push_back(row);
    }
    tables.push_back({"superblock", rows.rows});
}
