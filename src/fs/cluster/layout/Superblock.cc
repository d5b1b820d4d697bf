// SPDX-License-Identifier: GPL-2.0-or-later
/* Superblock encoding. */

#include "fs/cluster/layout/Superblock.h"

#include "fs/cluster/base/Crc32c.h"

#include <algorithm>
#include <functional>

namespace ClusterFs {
namespace {

constexpr size_t objectsAt = superblockBytes - 12;
constexpr size_t crcAt = superblockBytes - 4;

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

bool
ClusterFs::isOurs(ByteReader &r, const char *const magic, const Uuid &uuid)
{
    char text[8];
    r.bytes(text, sizeof(text));
    Uuid owner;
    r.bytes(owner.data(), owner.size());
    return memcmp(text, magic, sizeof(text)) == 0 && owner == uuid;
}

void
ClusterFs::Superblock::encode(char *buffer) const
{
    ByteWriter w(buffer, superblockBytes);
    w.bytes(magic, 16);
    w.u32(version);
    w.bytes(uuid.data(), uuid.size());
    w.u64(geometry.deviceBytes);
    w.u32(geometry.clusterBytes);
    w.u32(geometry.objectBytes);
    w.u64(update);
    w.u8(clean ? 1 : 0);
    w.u64(lastSequence);
    w.u64(checkpoint);
    for (const auto &position: {log.tail, log.head, checkpointStart}) {
        w.u32(position.lap);
        w.u32(position.block);
    }
    w.u32(log.blocks);
    w.u32(log.blocksBefore);
    w.u32(logClusters);
    w.u32(removalBlocks);
    w.u32(turn);
    w.u32(turnCursor);
    w.u64(groups);
    w.u64(serial);
    for (const auto word: secret)
        w.u64(word);
    w.u32(static_cast<uint32_t>(geometry.logSkips.size()));
    for (const auto skip: geometry.logSkips)
        w.u32(skip);
    w.zeros(w.left() - (superblockBytes - objectsAt));
    w.u64(objects);
    w.u32(crc32c(buffer, crcAt));
}

void
ClusterFs::Superblock::startLog()
{
    log = LogExtent();
    log.blocks = geometry.logBlocks;
    geometry.logSkips.clear();
    checkpointStart = LogPosition();
    logClusters = removalBlocks = turn = 0;
    turnCursor = 0;
    groups = serial = 0;
    secret = HashSecret();
    objects = 0;
}

ClusterFs::Status
ClusterFs::Superblock::decode(const char *buffer, std::string &error)
{
    ByteReader r(buffer, superblockBytes);
    char text[16];
    r.bytes(text, sizeof(text));
    if (memcmp(text, magic, sizeof(text)) != 0) {
        error = "no clusterfs superblock";
        return Status::notOurs;
    }
    version = r.u32();
    r.bytes(uuid.data(), uuid.size());
    const auto deviceBytes = r.u64();
    const auto clusterBytes = r.u32();
    const auto objectBytes = r.u32();
    update = r.u64();
    clean = r.u8() == 1;
    lastSequence = r.u64();
    checkpoint = r.u64();
    for (auto *const position: {&log.tail, &log.head, &checkpointStart}) {
        position->lap = r.u32();
        position->block = r.u32();
    }
    log.blocks = r.u32();
    log.blocksBefore = r.u32();
    logClusters = r.u32();
    removalBlocks = r.u32();
    turn = r.u32();
    turnCursor = r.u32();
    groups = r.u64();
    serial = r.u64();
    for (auto &word: secret)
        word = r.u64();
    std::vector<ClusterNo> skips(std::min<size_t>(r.u32(), maxLogSkips + 1));
    for (auto &skip: skips)
        skip = r.u32();

    ByteReader tail(buffer + objectsAt, superblockBytes - objectsAt);
    objects = tail.u64();
    if (tail.u32() != crc32c(buffer, crcAt)) {
        error = "the superblock's checksum is wrong";
        return Status::corrupt;
    }
    if (version < oldestVersion || version > formatVersion) {
        error = "format version " + std::to_string(version) + " is not one of the versions " + std::to_string(oldestVersion) +
                " to " + std::to_string(formatVersion) + " that this program knows";
        return Status::unsupported;
    }
    std::string why;
    if (!geometry.plan(deviceBytes, clusterBytes, objectBytes, why)) {
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
    const bool skipsFit = skips.size() <= maxLogSkips && inOrder && (skips.empty() || skips.back() < logClusters);
    geometry.logSkips = std::move(skips);
    const bool fits = skipsFit && logClusters < geometry.clusterCount && log.blocks <= geometry.logBlocksWith(logClusters) && log.sane();
    if (!fits || turnCursor >= geometry.clusterCount || removalBlocks * uint64_t(2) > log.used()) {
        error = "impossible index log in the superblock";
        return Status::corrupt;
    }
    return Status::ok;
}
