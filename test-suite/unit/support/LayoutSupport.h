// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of the media format share. */

#ifndef SQUID_TEST_SUITE_UNIT_SUPPORT_LAYOUTSUPPORT_H
#define SQUID_TEST_SUITE_UNIT_SUPPORT_LAYOUTSUPPORT_H

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/base/Bytes.h"
#include "fs/cluster/base/Crc32c.h"
#include "fs/cluster/layout/Cluster.h"

namespace ClusterFs {
namespace Testing {

inline Uuid
uuidOf(const uint8_t first)
{
    Uuid u;
    for (size_t i = 0; i < u.size(); ++i)
        u[i] = static_cast<uint8_t>(first + i);
    return u;
}

inline std::string
hexOf(const std::string &bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (const auto c: bytes) {
        text += digits[static_cast<uint8_t>(c) >> 4];
        text += digits[static_cast<uint8_t>(c) & 15];
    }
    return text;
}

/* put a checksum right, as somebody would who wrote the bytes on purpose; what
 * each covers is in docs/format.md */

/// for structures whose header ends with the checksum
/// \param used bytes that the checksum covers, itself included
inline void
repairBehind(char *const bytes, const size_t headerBytes, const size_t used)
{
    const auto crcAt = headerBytes - 4;
    const auto head = crc32c(bytes, crcAt);
    ByteWriter(bytes + crcAt, 4).u32(crc32c(bytes + headerBytes, used - headerBytes, head));
}

inline void
repairSuperblock(char *const bytes)
{
    ByteWriter(bytes + superblockBytes - 4, 4).u32(crc32c(bytes, superblockBytes - 4));
}

inline void
repairJournalBlock(char *const bytes)
{
    repairBehind(bytes, 48, journalBlockBytes);
}

inline void
repairIndexBlock(char *const bytes)
{
    repairBehind(bytes, 80, indexBlockBytes);
}

inline void
repairGroups(char *const bytes)
{
    repairBehind(bytes, 64, groupsChunkBytes);
}

/// the front of a cluster, as long as its header says
/// \param size bytes there are; nothing happens when the header wants more
inline void
repairFront(char *const bytes, const size_t size)
{
    ClusterHeader header;
    Directory::Peek(bytes, size, header);
    if (header.directoryBytes() <= size)
        repairBehind(bytes, ClusterHeader::encodedBytes, header.directoryBytes());
}

/// calls with each single bit changed, or each step-th of them
template <class Call>
void
forEachFlip(std::string bytes, const size_t step, const Call &call)
{
    for (size_t bit = 0; bit < bytes.size() * 8; bit += step) {
        auto &byte = bytes[bit / 8];
        byte = static_cast<char>(byte ^ (1 << (bit % 8)));
        call(static_cast<const std::string &>(bytes), bit);
        byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    }
}

} // namespace Testing
} // namespace ClusterFs

#endif
