// SPDX-License-Identifier: GPL-2.0-or-later
/* The groups that were learned, as they are on the device. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_SAVEDGROUPS_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_SAVEDGROUPS_H

#include "fs/cluster/layout/Superblock.h"

#include <vector>

namespace ClusterFs {

/// A row of chunks of groupsChunkBytes, at most as many as a region has. Each chunk has its own
/// checksum. A start reads up to the first chunk that is not whole; missing groups are learned again.
class SavedGroups
{
public:
    /// an object in a group
    struct MemberRecord {
        static constexpr size_t encodedBytes = 18;
        static constexpr uint8_t forever = 255;
        Key key;
        uint8_t weight = 0; ///< how much the group may fade until it is no member any more, or forever
        uint8_t evidence = 0; ///< an Evidence
        bool home = false; ///< of all groups of the object, this is the one that it is packed with
        bool candidate = false; ///< it was last fetched with this group, though another one is its home
        bool confirmed = false; ///< fetched in more than one visit
        bool guest = false; ///< not a member: the page's last visit wanted it, and so did visits to many other pages
    };

    /* kinds of records behind those of GroupKind */
    static constexpr uint8_t numbered = 4; ///< a group that a caller has numbered
    static constexpr uint8_t hotList = 5; ///< no group: its members are ranges of clusters, see HotList

    /// objects that are fetched together
    struct GroupRecord {
        static constexpr size_t encodedBytes = 36; ///< without its members
        uint64_t name = 0; ///< hash of the page's URL
        uint64_t site = 0; ///< hash of the site's URL
        Key leader; ///< key of the page itself, or nil
        uint8_t kind = 0; ///< a GroupKind, numbered, or hotList
        bool sheet = false; ///< the leader is a style sheet or the like
        std::vector<MemberRecord> members; ///< in the order in which they were first fetched

        size_t bytes() const { return encodedBytes + members.size() * MemberRecord::encodedBytes; }
    };

    /// how far the adding of groups to a chunk came
    enum class Saved : uint8_t {
        all, ///< there are no more groups
        some, ///< there are more, but this took long enough for one turn
        full ///< the next group has no room in this chunk
    };

    struct Chunk {
        uint64_t generation = 0; ///< counts how often groups were saved; the region is generation % 2
        uint32_t index = 0; ///< position of the chunk, from 0
        std::vector<GroupRecord> groups; ///< of BytesInChunk() together at most
    };

    /// \param buffer groupsChunkBytes long
    static void Encode(char *buffer, const Chunk &, const Uuid &);
    /// \returns ok, notFound (not a chunk of this device), corrupt
    static Status Decode(const char *buffer, Chunk &, const Uuid &);

    static size_t BytesInChunk(); ///< room for records
};

} // namespace ClusterFs

#endif
