// SPDX-License-Identifier: GPL-2.0-or-later
/* CRC32C (Castagnoli, RFC 3720 B.4), computed by ISA-L. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_CRC32C_H
#define SQUID_SRC_FS_CLUSTER_BASE_CRC32C_H

#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// checksum of some bytes, continuing from an earlier result (0 to start)
uint32_t crc32c(const void *data, size_t size, uint32_t before = 0);

/// checksum of a structure, but for the last four bytes of its header, in which it is stored
inline uint32_t
crc32cOfStructure(const char *const bytes, const size_t headerBytes, const size_t size)
{
    return crc32c(bytes + headerBytes, size - headerBytes, crc32c(bytes, headerBytes - 4));
}

} // namespace ClusterFs

#endif
