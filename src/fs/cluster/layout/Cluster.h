// SPDX-License-Identifier: GPL-2.0-or-later
/* What a cluster says of itself. See docs/format.md. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_CLUSTER_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_CLUSTER_H

#include "fs/cluster/base/Types.h"
#include "fs/cluster/layout/Superblock.h"

#include <vector>

namespace ClusterFs {

enum class ClusterKind : uint8_t {
    packed = 1, ///< a directory and the extents of several objects
    part = 2 ///< a piece of one large object
};

/// The first bytes of each cluster.
struct ClusterHeader {
    static constexpr size_t encodedBytes = 96;
    static constexpr char magic[] = "CLUSTER\n"; ///< 8 bytes without the NUL

    ClusterKind kind = ClusterKind::packed;
    ClusterNo number = noCluster;
    Uuid uuid{};
    Sequence sequence{0};
    int64_t written = 0; ///< seconds since 1970
    uint32_t entries = 0; ///< packed: objects in the directory
    uint32_t parts = 0; ///< packed: part references after the directory
    uint32_t end = 0; ///< bytes from the cluster's start to the end of what was written
    /* of a part */
    uint32_t partNumber = 0; ///< from 0
    uint32_t payloadCrc = 0; ///< of the bytes from partPayloadAt to end
    Key key; ///< of the object

    /// bytes of header, directory and part references together
    size_t directoryBytes() const;
};

constexpr uint32_t partPayloadAt = 4096; ///< where a part's bytes start in its cluster
constexpr uint32_t extentAlignment = 8; ///< extents start at multiples of this

/// a directory's line for one object
struct DirectoryEntry {
    static constexpr size_t encodedBytes = 64;

    Key key;
    uint32_t offset = 0; ///< of the extent, from the cluster's start
    uint32_t size = 0; ///< payload bytes in the extent
    ObjectInfo info; ///< info.size counts the parts too
    uint16_t heat = 0; ///< the index's replacement bits
    uint32_t parts = 0; ///< part references that belong to this object
};

/// where a piece of a large object is
struct PartReference {
    static constexpr size_t encodedBytes = 16;

    ClusterNo cluster = noCluster;
    uint32_t bytes = 0; ///< payload
    Sequence sequence{0}; ///< that its header must have
};

/// in front of each extent's payload, so that it can be checked alone
struct ExtentHeader {
    static constexpr size_t encodedBytes = 32;

    uint32_t size = 0; ///< payload bytes
    Sequence sequence{0}; ///< of the cluster
    Key key;
};

/// a decoded packed or part cluster's front
struct Directory {
    ClusterHeader header;
    std::vector<DirectoryEntry> entries;
    std::vector<PartReference> parts;

    /// bytes that a directory of so many objects and parts takes
    static size_t BytesFor(size_t entries, size_t parts);

    /// writes header, entries and parts; header counts are taken from the vectors
    /// \param size bytes at buffer, at least directory bytes
    void encode(char *buffer, size_t size);

    /// Reads only the header, without checksum, to learn directoryBytes().
    static bool Peek(const char *buffer, size_t size, ClusterHeader &);

    /// \param number the cluster that was read, to detect misdirection
    /// \returns ok, notFound (never written or another device's), corrupt
    Status decode(const char *buffer, size_t size, ClusterNo number, const Uuid &, uint32_t clusterBytes);
};

/// puts header and checksum in front of an extent's payload that is in place
/// \param extent where the header goes; payload follows it
void sealExtent(char *extent, const ExtentHeader &, const Uuid &, ClusterNo, uint32_t offset);

/// the key that an extent claims to have
/// \param extent at least ExtentHeader::encodedBytes
Key keyOfExtent(const char *extent);

/// checks an extent that was read
/// \param available bytes at extent
/// \returns ok or corrupt
Status checkExtent(const char *extent, size_t available, const ExtentHeader &expected, const Uuid &, ClusterNo, uint32_t offset);

/// the checksum of a part's payload
uint32_t partCrc(const char *payload, size_t size, const Uuid &, ClusterNo, Sequence);

} // namespace ClusterFs

#endif
