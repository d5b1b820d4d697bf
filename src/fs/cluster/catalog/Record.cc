// SPDX-License-Identifier: GPL-2.0-or-later
/* Packing of an object's times and flags. */

#include "fs/cluster/catalog/Record.h"

#include <algorithm>

namespace ClusterFs {
namespace {

/* packed: expires (25 bits) | last modified (31 bits) | flags (8 bits) */
constexpr unsigned expiresShift = 39;
constexpr unsigned modifiedShift = 8;
constexpr int64_t maxExpires = (1 << 25) - 1;
constexpr int64_t maxModified = (int64_t(1) << 31) - 1;

/* expires: 0 = unknown, 1 = expired already, else 2 + seconds after the timestamp */
uint64_t
packExpires(const int64_t expires, const int64_t timestamp)
{
    if (expires < 0)
        return 0;
    if (expires < timestamp)
        return 1;
    return static_cast<uint64_t>(2 + std::min(expires - timestamp, maxExpires - 2));
}

/* last modified: 0 = unknown, else 1 + seconds before the timestamp */
uint64_t
packModified(const int64_t modified, const int64_t timestamp)
{
    if (modified < 0)
        return 0;
    const auto ago = 1 + std::max<int64_t>(0, timestamp - modified);
    return ago <= maxModified ? static_cast<uint64_t>(ago) : 0;
}

} // namespace
} // namespace ClusterFs

void
ClusterFs::Record::setInfo(const ObjectInfo &info)
{
    const auto stamp = std::max<int64_t>(0, std::min<int64_t>(info.timestamp, 0xffffffff));
    timestamp = static_cast<uint32_t>(stamp);
    setPacked(packExpires(info.expires, stamp) << expiresShift |
              packModified(info.lastModified, stamp) << modifiedShift |
              info.flags);
}

ClusterFs::ObjectInfo
ClusterFs::Record::info() const
{
    ObjectInfo info;
    const int64_t stamp = timestamp;
    const auto expires = static_cast<int64_t>(packed() >> expiresShift);
    const auto modified = static_cast<int64_t>((packed() >> modifiedShift) & maxModified);
    info.timestamp = stamp ? stamp : -1;
    if (expires)
        info.expires = std::max<int64_t>(0, stamp + expires - 2);
    if (modified)
        info.lastModified = std::max<int64_t>(0, stamp - (modified - 1));
    info.flags = flags() & static_cast<uint8_t>(~flagDead);
    return info;
}
