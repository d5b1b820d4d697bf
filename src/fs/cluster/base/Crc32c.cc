// SPDX-License-Identifier: GPL-2.0-or-later
/* ISA-L's CRC neither inverts its start nor its result; the standard form does. */

#include "fs/cluster/base/Crc32c.h"

#include <isa-l/crc.h>

uint32_t
ClusterFs::crc32c(const void *data, size_t size, uint32_t before)
{
    constexpr size_t most = size_t(1) << 30; // ISA-L counts in int
    auto at = const_cast<unsigned char *>(static_cast<const unsigned char *>(data));
    uint32_t crc = ~before;
    while (size > 0) {
        const auto n = size < most ? size : most;
        crc = crc32_iscsi(at, static_cast<int>(n), crc);
        at += n;
        size -= n;
    }
    return ~crc;
}
