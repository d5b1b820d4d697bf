// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of objects, groups, memberships and guests. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_GROUPTABLE_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_GROUPTABLE_H

#include "fs/cluster/api/TrackerStats.h"
#include "fs/cluster/learning/Guests.h"
#include "fs/cluster/learning/Pool.h"
#include "fs/cluster/learning/Records.h"

#include <vector>

namespace ClusterFs {

/// Objects, groups, memberships and guests, in tables of fixed size that refer to
/// each other by number. Keeps their lists whole, and forgets entries that were not used
/// lately when room is needed. Groups decides which object becomes a member of which group,
/// and for how long.
///
/// The first membership of an object's list is its home; the others are groups
/// it was fetched with as well. The members of a group are in the order in which they
/// were first fetched. A membership that has faded counts for nothing.
class GroupTable
{
public:
    static constexpr unsigned maxMemberships = 6; ///< of an object

    /// \param objects that there is memory for
    /// \param seed see Pool
    GroupTable(uint32_t objects, uint64_t seed);

    /// bytes of memory for each object, with its share of groups, memberships and guests
    static uint64_t BytesEach();

    /* objects */

    /// \returns the object of that key, or nothing
    uint32_t find(const Key &key) const { return objects_.find(key); }

    /// Adds an object if it is not known, and forgets another one when there is no room.
    /// \returns its number, which is valid until the next call
    uint32_t objectFor(const Key &);

    /// the same, but returns nothing when there is no room
    uint32_t objectIfRoom(const Key &);

    TrackedObject &object(const uint32_t n) { return objects_[n]; }
    const TrackedObject &object(const uint32_t n) const { return objects_[n]; }
    const Key &keyOf(const uint32_t object) const { return objects_[object].name; }

    /// \returns the group that an object is at home in, or nothing
    uint32_t homeOf(uint32_t object) const;

    /// whether an object leads a group or has a home
    bool hasGroup(const uint32_t object) const { return objects_[object].leads || homeOf(object); }

    /// whether an object is the document of a page; false for object 0
    bool isDocument(uint32_t object) const;

    /// whether an object is at home in the group that a site's pages share; false for object 0
    bool isShared(uint32_t object) const;

    /// \returns the sequence that an object leads or is at home in, or nothing
    uint32_t sequenceOf(uint32_t object) const;

    /* groups */

    /// \returns the group of that name, or nothing
    uint32_t find(const uint64_t name) const { return groups_.find(name); }

    /// \returns the group of that name, a new one if there is none, for which any other may be forgotten
    uint32_t groupFor(uint64_t name, uint64_t site, GroupKind);

    Group &operator [](const uint32_t group) { return groups_[group]; }
    const Group &operator [](const uint32_t group) const { return groups_[group]; }

    uint32_t maxGroup() const { return groups_.touched(); } ///< groups above this one were never used
    bool groupsFull() const { return groups_.full(); }

    /// gives a group another name; a group that has that name is forgotten
    void rename(uint32_t group, uint64_t name);

    /// makes an object the leader of a group
    void lead(uint32_t group, uint32_t object);
    /// \returns the leader of a group, or nothing
    uint32_t leaderOf(uint32_t group) const;

    /// forgets a group that was not used lately
    /// \param keep a group that must stay
    /// \returns false when there is none
    bool forgetGroup(uint32_t keep);

    /// Replaces out with the keys of a group, if any: its leader, and the members that are at home in it,
    /// those that were fetched in more than one visit before the others.
    /// \param most keys at most
    void list(uint32_t group, std::vector<Key> &out, size_t most) const;

    /* memberships */

    Membership &membership(const uint32_t m) { return memberships_[m]; }
    const Membership &membership(const uint32_t m) const { return memberships_[m]; }
    bool membershipsFull() const { return memberships_.full(); }

    /// whether a membership has not faded
    bool alive(const uint32_t m) const { return memberships_[m].until > groups_[memberships_[m].group].faded; }

    /// the memberships of an object, beside a group
    struct Found {
        uint32_t member = nothing; ///< the membership in that group
        unsigned otherPages = 0; ///< how many other groups of it are pages
        bool otherSites = false; ///< some of these pages are of another site
    };
    /// Drops the faded memberships of an object and looks for the one in a group.
    Found scan(uint32_t object, uint32_t group);

    /// Makes an object a member of a group, behind the others. When it has too many memberships, the oldest one
    /// that is not its home ends.
    /// \returns the membership, whose other fields the caller sets; nothing when all are in use
    uint32_t join(uint32_t object, uint32_t group);

    /// ends a membership
    void leave(uint32_t membership);

    /// makes a membership its object's home
    void moveHome(uint32_t membership);

    /// makes a membership the last of its group's list
    void putLast(uint32_t membership);

    /// ends the memberships of a group that have faded
    void sweep(uint32_t group);

    /// calls visitor(group) for each group that an object is a member of, its home first
    template <class Visitor>
    void eachGroupOf(const uint32_t object, Visitor &&visitor) const {
        for (auto m = objects_[object].memberships; m; m = memberships_[m].nextOfObject)
            if (alive(m))
                visitor(memberships_[m].group);
    }

    /* guests */

    /// A visit to a page wants an object that is no member of it.
    /// \param visit number of the visit
    void noteGuest(uint32_t page, uint32_t object, uint16_t visit);

    /// when there is no memory for guests, forgets those of another page, of one that was visited only once if possible
    void makeGuestRoom(uint32_t page);

    /// calls visitor(object, number of the visit that wanted it last) for each guest of a page, until that returns false
    template <class Visitor>
    void eachGuestOf(const uint32_t page, Visitor &&visitor) const {
        for (auto g = groups_[page].guests; g; g = guests_[g].next) {
            const auto object = guests_[g].object;
            const auto isStillIt = objects_[object].used && guestTagOf(object) == guests_[g].tag;
            if (isStillIt && !visitor(object, guests_[g].visit))
                return;
        }
    }

    /// counters of events; Groups and GroupArchive count with them, too
    TrackerStats &counts() { return counts_; }
    /// \returns these counters, and how many members, objects and bytes there are now
    TrackerStats report() const;

private:
    uint16_t guestTagOf(const uint32_t object) const { return static_cast<uint16_t>(objects_[object].tag()); }
    void listMembers(uint32_t group, bool confirmed, std::vector<Key> &out, size_t most) const;
    void forgetObject(uint32_t object);
    void drop(uint32_t group);
    void append(uint32_t group, uint32_t membership);
    void detach(uint32_t membership);

    Pool<TrackedObject, Key> objects_;
    Pool<Group, uint64_t> groups_;
    NumberedTable<Membership, &Membership::nextInGroup> memberships_;
    Guests guests_;
    uint32_t guestsHand_ = 0; ///< the page that makeGuestRoom() looked at last
    TrackerStats counts_;
    uint32_t serial_ = 0; ///< of the newest group
};

} // namespace ClusterFs

#endif
