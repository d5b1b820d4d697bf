// SPDX-License-Identifier: GPL-2.0-or-later
/* The groups that callers number. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_NUMBEREDGROUPS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_NUMBEREDGROUPS_H

#include "fs/cluster/api/GroupOrders.h"
#include "fs/cluster/base/Types.h"
#include "fs/cluster/layout/SavedGroups.h"
#include "fs/cluster/learning/MemberList.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace ClusterFs {

/// Damelo's groups: the caller says which objects belong together, and what is to be done with them. A group has any
/// size, an object one group at most. Nothing is learned, and nothing fades; when there is no room for another
/// member, those that are not in the store make some.
///
/// Each member takes about bytesEach of memory, and a group as much as groupTakes members. One thread makes all calls, none of which takes long, however large a group is:
/// sweep() does the rest of dissolve() piece by piece.
class NumberedGroups
{
public:
    static constexpr uint64_t bytesEach = 50; ///< of memory, for a member
    static constexpr uint64_t groupTakes = 8; ///< members that have as much memory as a group has beside its own

    /// whether an object is in the store
    using IsKept = std::function<bool(const Key &)>;

    /// \param bytes memory limit; it is taken as members come
    /// \param seed see Pool
    explicit NumberedGroups(uint64_t bytes, uint64_t seed = 0);
    NumberedGroups(const NumberedGroups &) = delete; // its lists refer to its members
    NumberedGroups &operator =(const NumberedGroups &) = delete;

    /// Puts an object into a group, and takes it out of another one.
    /// \param isKept who may be forgotten for it
    /// \returns ok; busy when there is no room
    Status assign(uint64_t group, const Key &, const IsKept &isKept);

    /// takes an object out of its group
    /// \returns false when it has none
    bool leave(const Key &);

    /// forgets a group, its members and all that was said of it
    /// \returns false when there is none
    bool dissolve(uint64_t group);

    /// goes on with what dissolve() has left
    /// \returns whether there is more to do
    bool sweep();

    /// \returns the number of an object's group, 0 = none
    uint64_t groupOf(const Key &) const;

    /// Walks the members of a group in the order in which they came.
    /// \param cursor 0 to start; moved on by each call, and good whatever comes or goes meanwhile
    /// \returns false when there are no more
    bool next(uint64_t group, uint64_t &cursor, Key &) const;

    /// Replaces out with an object's group, as far as it is near: the members that came just before and after it, in
    /// their order, the object among them.
    void around(const Key &, std::vector<Key> &out, size_t most) const;

    /// \returns busy when there is no room for a group that has no members yet
    Status setFavour(uint64_t group, Favour);
    Favour favourOf(const Key &) const; ///< of an object's group

    /// Objects of a group survive a power cut after so many seconds.
    /// \param seconds 0 ends it; or neverPersist
    /// \returns busy when there is no room for a group that has no members yet
    Status setPersist(uint64_t group, uint32_t seconds);
    uint32_t persistOf(const Key &) const; ///< of an object's group; 0 = nothing was said
    uint32_t leastPersist() const; ///< of all groups; neverPersist when nothing was said

    size_t groups() const { return groups_.size(); }
    size_t members() const { return members_.used(); }

    /// Appends records of groups for the next run: of the members that are in the store, and of all that was said of groups. One
    /// call takes less than a millisecond.
    /// \param again whether to begin at the first group; else it goes on
    /// \param bytes that all records in out may have
    SavedGroups::Saved save(bool again, const IsKept &, size_t bytes, std::vector<SavedGroups::GroupRecord> &out);

    /// Takes back a record of an earlier run. What this run was told counts more.
    /// \returns false when there is no room for any more
    bool restore(const SavedGroups::GroupRecord &);

private:
    struct Group;
    /// an object of a group
    struct Member {
        Key name;
        uint32_t next; ///< of the pool
        uint32_t used : 1; ///< of the pool
        uint32_t marked : 1; ///< of the pool
        Group *group; ///< which has it in its list
        uint64_t serial; ///< number of the assignment: the order in which they came
    };
    static_assert(sizeof(Member) == 40, "there are many of them");
    using Members = Pool<Member, Key>;

    struct Group {
        explicit Group(const Members &all): members(all) {}

        uint64_t number = 0;
        Favour favour = Favour::none;
        uint32_t persist = 0; ///< see setPersist()
        bool dissolved = false;
        MemberList<Members> members;
    };
    using GroupPointer = std::unique_ptr<Group>;

    Group *find(uint64_t group) const;
    Group *findOrMake(uint64_t group);
    const Member *memberOf(const Key &) const;
    bool enter(Group &, const Key &);
    void forget(uint32_t member);
    void forgetIfEmpty(const Group &);
    bool full(const uint64_t more = 1) const { return members_.used() + groups_.size() * groupTakes + more > limit_; }
    bool makeRoom(const IsKept &);

    const uint64_t limit_; ///< members, each group counting as groupTakes
    Members members_;
    std::map<uint64_t, GroupPointer> groups_;
    std::deque<GroupPointer> leaving_; ///< dissolved, and not empty yet
    std::multiset<uint32_t> persists_; ///< of all groups that have one
    uint64_t lastSerial_ = 0;
    /// the member that was looked at last, of a walk through all groups
    struct Hand {
        uint64_t group = 0;
        uint64_t serial = 0;
    };
    Hand room_; ///< of makeRoom()
    Hand saved_; ///< of save()
    bool begun_ = false; ///< save() has a record of group saved_.group already
};

} // namespace ClusterFs

#endif
