// SPDX-License-Identifier: GPL-2.0-or-later
/* A block of the index log: the contents of clusters, and removals. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_INDEXBLOCK_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_INDEXBLOCK_H

#include "fs/cluster/base/HashedKey.h"
#include "fs/cluster/layout/Superblock.h"

#include <vector>

namespace ClusterFs {

/// Says that older checkpoints must not be believed about a cluster or an object any more. It
/// concerns all checkpoints before its own, and not its own.
struct IndexRemoval {
    enum class Kind : uint8_t {
        cluster = 1, ///< nothing that they say of the cluster holds
        announced = 2, ///< the same, and it is about to be written
        object = 3 ///< the object at this place of the cluster is gone
    };

    Kind kind = Kind::cluster;
    ClusterNo cluster = noCluster;
    Sequence after{0}; ///< announced: the cluster's new contents have a higher one
    uint32_t offset = 0; ///< object: of its extent, bytes from the start of the cluster

    size_t encodedBytes() const { return kind == Kind::cluster ? 5 : kind == Kind::announced ? 13 : 9; }
};

/// an object in a section
struct IndexObject {
    static constexpr size_t encodedBytes = 28; ///< without its key
    HashedKey hashed; ///< stands for the key
    uint32_t place = 0; ///< offset and heat, as in the index
    uint32_t size = 0; ///< stored bytes; of a large object, the number of its first part
    uint32_t timestamp = 0; ///< seconds since 1970, 0 = unknown
    uint64_t packed = 0; ///< the other times and the flags, as in the index
    Key key; ///< only in blocks with keys

    /// that it takes in a block
    static constexpr size_t Bytes(const bool keys) { return encodedBytes + (keys ? sizeof(Key) : 0); }
};

/// A cluster and objects in it. A cluster of many objects has several of these, its pieces, in blocks behind each other.
struct IndexSection {
    static constexpr size_t encodedBytes = 48; ///< without its objects

    ClusterNo cluster = noCluster;
    uint8_t state = 0; ///< a ClusterState
    bool whole = false; ///< its pieces of this checkpoint together have all that the cluster holds
    Sequence sequence{0};
    uint32_t end = 0; ///< bytes written, from the cluster's start
    ClusterNo nextPart = noCluster; ///< part: the object's next one
    uint64_t total = 0; ///< first part of an object: the object's stored bytes
    uint32_t headBytes = 0; ///< first part of an object: payload bytes in its head's extent
    uint32_t written = 0; ///< when, seconds since 1970
    uint32_t heat = 0; ///< the newest sequence number at its last use, low 32 bits
    std::vector<IndexObject> objects;
};

/// an object was used since a section named it
struct IndexUse {
    static constexpr size_t encodedBytes = 9;
    ClusterNo cluster = noCluster;
    uint32_t place = 0; ///< offset and heat, as in the index
};

/// indexBlockBytes on the device. A checkpoint is a row of them: removals, contents, and the
/// same removals again, so that a damaged block of them brings no removed object back.
struct IndexBlock {
    enum class Part : uint8_t { removals = 1, contents = 2, removalsAgain = 3 };
    static constexpr size_t headerBytes = 80;

    LogPosition position;
    uint64_t serial = 0; ///< of the checkpoint: grows with each one that is begun
    uint64_t previous = 0; ///< serial of the checkpoint before it in the log, 0 = none
    Part part = Part::contents;
    bool keys = false; ///< objects have keys
    uint32_t number = 0; ///< of a block of removals: its position among them, from 0
    uint32_t removalBlocks = 0; ///< blocks of removals that the checkpoint has, in each copy
    uint32_t turn = 0; ///< Superblock::turn when the checkpoint began
    ClusterNo turnCursor{0}; ///< Superblock::turnCursor when the checkpoint began
    std::vector<IndexRemoval> removals;
    std::vector<IndexSection> sections;
    std::vector<IndexUse> uses;

    static constexpr size_t capacity() { return indexBlockBytes - headerBytes; } ///< bytes for records

    /// \param buffer indexBlockBytes long
    void encode(char *buffer, const Uuid &) const;

    /// \returns ok, notFound (not a block of this device), corrupt
    Status decode(const char *buffer, const Uuid &);
};

} // namespace ClusterFs

#endif
