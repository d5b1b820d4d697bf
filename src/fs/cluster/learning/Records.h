// SPDX-License-Identifier: GPL-2.0-or-later
/* The records of the tracker's memory. They lie in flat tables and refer to
 * each other by number. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_RECORDS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_RECORDS_H

#include "fs/cluster/base/Types.h"

namespace ClusterFs {

/// whether a key stands for no object
inline bool
isNil(const Key &key)
{
    return !key.high() && !key.low();
}

/// the kinds of groups
enum class GroupKind : uint8_t {
    page, ///< a document and the objects that it embeds
    site, ///< objects that many pages of a site share
    sequence, ///< objects that follow each other, without a document
    chosen ///< objects that the caller wants to be together
};

/// How a membership was learned: from a Referer with a path, from one with only a site, from the client's page of the last
/// seconds, from a repeated sequence, from the caller, or from the number of pages that share the object.
enum class Evidence : uint8_t { referer, origin, window, sequence, explicitly, sharing };

/* The weight of a membership. A member that was fetched once leaves after three visits without
 * it, one that was fetched in each visit after eight. A visit that fetched few of the members
 * says little, because the browser had the others. */
constexpr uint32_t weightOfNew = 64;
constexpr uint32_t weightWhenSeen = 64; ///< added by each visit that fetches the member
constexpr uint32_t weightAtMost = 144;
constexpr uint32_t fadeInVisit = 16; ///< lost by a visit that fetches at least half of the members
constexpr uint32_t fadeInSmallVisit = 1; ///< lost by a visit that fetches fewer
constexpr uint32_t fadeBetweenSweeps = 32; ///< faded members are removed each time that the group has faded so much more
constexpr uint32_t forever = 0xffffffff; ///< Membership::until of a member that never fades

/// one stored object
struct TrackedObject {
    Key name;
    uint32_t next; ///< of the pool
    uint32_t memberships; ///< the first one is its home
    uint32_t leads; ///< group that it is the leader of
    uint32_t successor; ///< tag of the object that followed
    uint32_t client; ///< lower half of the id of the client that asked last; 0 = none yet
    uint32_t when : 28; ///< when it asked, in units of 65.5 ms
    uint32_t succeeded : 2; ///< how often the successor followed
    uint32_t used : 1; ///< of the pool
    uint32_t marked : 1; ///< of the pool

    /// \returns 32 bits of the key, which tell whether a number still means the same object
    uint32_t tag() const { return static_cast<uint32_t>(name.low()); }

    /// notes a request for the object
    /// \returns whether a request of the same client was noted in the last seconds
    bool noteRepeat(uint64_t id, uint64_t micros);

    /// notes that another object was fetched after this one
    /// \returns whether that happened before
    bool noteSuccession(uint32_t otherTag);
};
static_assert(sizeof(TrackedObject) == 40, "there are many of them");

/// one group; its members are a list, in the order in which they were first fetched
struct Group {
    uint64_t name; ///< id of the page's URL; for other kinds, a hash of the site, the leader's key or the caller's number
    uint64_t site; ///< id of the page's site
    uint64_t visited; ///< when the current visit began, microseconds
    uint32_t next; ///< of the pool
    uint32_t leader; ///< an object; it counts only if its TrackedObject::leads is this group
    uint32_t first; ///< membership
    uint32_t last; ///< membership
    uint32_t serial; ///< differs from that of the group that had this number before
    uint32_t faded; ///< how much all weights have faded since the group began
    uint32_t guests; ///< of a page: the first Guest
    uint16_t members;
    uint16_t visit; ///< number of the current visit
    uint16_t seen; ///< members fetched in it
    GroupKind kind;
    bool sheet : 1; ///< its leader is a style sheet or the like
    bool used : 1; ///< of the pool
    bool marked : 1; ///< of the pool
};
static_assert(sizeof(Group) == 64, "there are many of them");

/// \returns a number that differs from those of the group's other visits, and most likely from those of other groups' visits
inline uint16_t
markOf(const Group &group, const uint32_t number)
{
    return static_cast<uint16_t>(number * 0x9e37 + group.visit);
}

/// one object in one group
struct Membership {
    uint32_t object;
    uint32_t group;
    uint32_t nextInGroup;
    uint32_t previousInGroup;
    uint32_t nextOfObject;
    uint32_t until; ///< it ends when Group::faded gets here: the weight is the difference
    uint16_t visit; ///< mark of the visit of the last fetch
    Evidence evidence;
    bool candidate : 1; ///< the object's last fetch was here, though its home is elsewhere
    bool confirmed : 1; ///< fetched in more than one visit
};
static_assert(sizeof(Membership) == 28, "there are many of them");

} // namespace ClusterFs

#endif
