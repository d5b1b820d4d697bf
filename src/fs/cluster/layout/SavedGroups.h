// SPDX-License-Identifier: GPL-2.0-or-later
/* What was learned of groups, as it is on the device. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_SAVEDGROUPS_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_SAVEDGROUPS_H

#include "fs/cluster/layout/Superblock.h"

#include <vector>

namespace ClusterFs {

/// A row of chunks of groupsChunkBytes, as far as the region goes. Each chunk is checked
/// alone. Nothing depends on them: the first that is not whole is the last one.
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
