// SPDX-License-Identifier: GPL-2.0-or-later
/* The checkpoint's chunks: the cluster table and the index on the device. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_CHECKPOINT_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_CHECKPOINT_H

#include "fs/cluster/layout/Superblock.h"

#include <vector>

namespace ClusterFs {

/// A checkpoint is a row of chunks of checkpointChunkBytes: clusters, then
/// objects, then one end chunk. Behind it, as far as the region goes, comes what
/// was learned of groups, which nothing depends on. Each chunk is checked alone.
class Checkpoint
{
public:
    enum Kind : uint32_t { clusters = 1, objects = 2, end = 3, groups = 4 };

    /// a cluster in use; others are free
    struct ClusterRecord {
        static constexpr size_t encodedBytes = 48;
        ClusterNo number = noCluster;
        uint8_t state = 0; ///< a ClusterState
        Sequence sequence = 0;
        uint32_t end = 0;
        ClusterNo nextPart = noCluster;
        uint64_t total = 0; ///< of the first part of an object: its stored bytes
        uint32_t headBytes = 0; ///< of the first part of an object: payload in its extent
        uint32_t written = 0;
        uint32_t heat = 0;
    };

    /// an object; the bucket and the tag stand for the key
    struct ObjectRecord {
        static constexpr size_t encodedBytes = 32;
        uint32_t bucket = 0;
        uint32_t tag = 0;
        ClusterNo cluster = noCluster;
        uint32_t place = 0; ///< offset and heat, as in the index
        uint32_t size = 0;
        uint32_t timestamp = 0;
        uint64_t packed = 0; ///< the other times and the flags, as in the index
        Key key; ///< only when the chunk has keys (16 bytes more)
    };

    /// an object in a group
    struct MemberRecord {
        static constexpr size_t encodedBytes = 18;
        static constexpr uint8_t forever = 255;
        Key key;
        uint8_t weight = 0; ///< how much the group may fade until it is no member any more, or forever
        uint8_t evidence = 0; ///< an Evidence
        bool home = false; ///< of the object's groups, this is the one that it is placed with
        bool candidate = false; ///< it was fetched here last, though its home is elsewhere
        bool confirmed = false; ///< fetched in more than one visit
        bool guest = false; ///< not a member: the page's last visit has wanted it, as those of many others
    };

    /// objects that are fetched together
    struct GroupRecord {
        static constexpr size_t encodedBytes = 36; ///< without its members
        uint64_t name = 0;
        uint64_t site = 0;
        Key leader; ///< its container, or nil
        uint8_t kind = 0; ///< a GroupKind
        bool sheet = false; ///< the container is a style sheet or the like
        std::vector<MemberRecord> members; ///< in the order in which they were first fetched

        size_t bytes() const { return encodedBytes + members.size() * MemberRecord::encodedBytes; }
    };

    /// what there is to do after some groups were added to a chunk
    enum class Saved : uint8_t {
        all, ///< nothing: there are no more
        some, ///< go on: that took long enough
        full ///< write it: the next group has no room
    };

    struct Chunk {
        uint64_t checkpoint = 0; ///< number of the checkpoint
        uint32_t index = 0; ///< position of the chunk, from 0
        Kind kind = end;
        bool keys = false; ///< object records have keys
        Sequence from = 0; ///< clusters of this sequence number and above are in the journal
        uint64_t total = 0; ///< in the end chunk: objects in the checkpoint
        std::vector<ClusterRecord> clusterRecords;
        std::vector<ObjectRecord> objectRecords;
        std::vector<GroupRecord> groupRecords; ///< of GroupBytesInChunk() together at most
    };

    /// \param buffer checkpointChunkBytes long
    static void Encode(char *buffer, const Chunk &, const Uuid &);
    static Status Decode(const char *buffer, Chunk &, const Uuid &);

    /// most records in a chunk
    static size_t ClustersInChunk();
    static size_t ObjectsInChunk(bool keys);
    static size_t GroupBytesInChunk();

    /// bytes of a region that holds any checkpoint of such a store
    static uint64_t BytesNeeded(uint64_t clusterCount, uint64_t indexCapacity);
};

} // namespace ClusterFs

#endif
