// SPDX-License-Identifier: GPL-2.0-or-later
/* The header and the directory of a cluster, and the header of an extent. See docs/format.md. */

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

/// the first bytes of each cluster that holds objects or a part
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
    uint32_t end = 0; ///< bytes from the cluster's start to the end of its contents
    /* of a part */
    uint32_t partNumber = 0; ///< its position among the object's parts, from 0
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
    uint16_t heat = 0; ///< Record::heat() when the cluster was packed
    uint32_t parts = 0; ///< part references that belong to this object
};

/// the cluster that holds a part of a large object
struct PartReference {
    static constexpr size_t encodedBytes = 16;

    ClusterNo cluster = noCluster;
    uint32_t bytes = 0; ///< payload bytes of the part
    Sequence sequence{0}; ///< the part's header has the same one, else it is not this part any more
};

/// The header in front of each extent's payload, by which the extent is checked without the rest of its cluster.
struct ExtentHeader {
    static constexpr size_t encodedBytes = 32;

    uint32_t size = 0; ///< payload bytes
    Sequence sequence{0}; ///< of the cluster
    Key key;
};

/// The front of a cluster, decoded: header, and of a packed one its entries and part references.
struct Directory {
    ClusterHeader header;
    std::vector<DirectoryEntry> entries;
    std::vector<PartReference> parts; ///< of all entries, in their order

    /// bytes that a directory of so many objects and part references takes, with the header
    static size_t BytesFor(size_t entries, size_t parts);

    /// writes header, entries and part references, and sets the header's counts from the vectors
    /// \param size bytes at buffer, at least header.directoryBytes()
    void encode(char *buffer, size_t size);

    /// Reads only the header and does not check it, to learn directoryBytes().
    /// \returns whether it looks like one
    static bool Peek(const char *buffer, size_t size, ClusterHeader &);

    /// \param size bytes at buffer; if the directory has more, it counts as corrupt
    /// \param number the cluster that was read: a misdirected write shows another one
    /// \returns ok, notFound (never written, or by another device), corrupt
    Status decode(const char *buffer, size_t size, ClusterNo number, const Uuid &, uint32_t clusterBytes);
};

/// writes header and checksum of an extent whose payload is in place
/// \param extent room for the header; the payload follows it
/// \param offset of the extent, bytes from the cluster's start
void sealExtent(char *extent, const ExtentHeader &, const Uuid &, ClusterNo, uint32_t offset);

/// the key in an extent's header, which is not checked
/// \param extent at least ExtentHeader::encodedBytes
Key keyOfExtent(const char *extent);

/// checks an extent that was read
/// \param available bytes at extent
/// \param offset of the extent, bytes from the cluster's start
/// \returns ok or corrupt
Status checkExtent(const char *extent, size_t available, const ExtentHeader &expected, const Uuid &, ClusterNo, uint32_t offset);

/// the checksum of a part's payload, which covers its place, too
/// \param size bytes
uint32_t partCrc(const char *payload, size_t size, const Uuid &, ClusterNo, Sequence);

} // namespace ClusterFs

#endif
