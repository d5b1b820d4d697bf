// SPDX-License-Identifier: GPL-2.0-or-later
/* CRC32C (Castagnoli, RFC 3720 B.4), computed by ISA-L. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_CRC32C_H
#define SQUID_SRC_FS_CLUSTER_BASE_CRC32C_H

#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// the checksum of some bytes
/// \param before the checksum of the bytes in front of them, 0 at the start
uint32_t crc32c(const void *data, size_t size, uint32_t before = 0);

/// the checksum of a structure of that many bytes without the last four bytes of its header, which hold the checksum
inline uint32_t
crc32cOfStructure(const char *const bytes, const size_t headerBytes, const size_t size)
{
    return crc32c(bytes + headerBytes, size - headerBytes, crc32c(bytes, headerBytes - 4));
}

} // namespace ClusterFs

#endif
