// SPDX-License-Identifier: GPL-2.0-or-later
/* Superblock encoding. */

#include "fs/cluster/layout/Superblock.h"

#include "fs/cluster/base/Bytes.h"
#include "fs/cluster/base/Crc32c.h"

namespace ClusterFs {
namespace {

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
    w.zeros(w.left() - 4);
    w.u32(crc32c(buffer, crcAt));
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

    ByteReader tail(buffer + crcAt, 4);
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
    return Status::ok;
}
