// SPDX-License-Identifier: GPL-2.0-or-later
/* The memory of which objects belong to which group. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_GROUPS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_GROUPS_H

#include "fs/cluster/api/TrackerStats.h"
#include "fs/cluster/layout/SavedGroups.h"
#include "fs/cluster/learning/Guests.h"
#include "fs/cluster/learning/Memberships.h"
#include "fs/cluster/learning/Pool.h"

#include <functional>
#include <vector>

namespace ClusterFs {

/// Objects, groups and memberships in tables of fixed size. Whose turn it is to
/// be a member of what, the Tracker decides; here is what follows from it: how
/// memberships fade, which of its groups is an object's home, and what is
/// forgotten when room is needed.
///
/// The first membership of an object's list is its home; the others are groups
/// it was fetched with as well. The home changes when the object was fetched
/// with another group in two visits, and with no other in between.
class Groups
{
public:
    static constexpr unsigned maxMembers = 512; ///< of a group
    static constexpr unsigned maxMemberships = 6; ///< of an object
    static constexpr unsigned sharedFrom = 3; ///< pages that an object has when it counts as shared

    Groups(uint32_t objects, uint64_t seed);

    /// memory that one object takes, with its share of groups and memberships
    static uint64_t BytesEach();

    /* objects */

    /// \returns the object's number, which is valid until the next call; adds
    /// it, and forgets another one when there is no room
    uint32_t objectFor(const Key &);

    /// whether an object was noted for this client moments ago; if not, it is now
    bool noteRepeat(uint32_t object, uint64_t client, uint64_t micros);

    /// a succession of two objects \returns whether it happened before
    bool noteSuccession(uint32_t object, uint32_t successor);

    const Key &keyOf(const uint32_t object) const { return objects_[object].name; }

    /// \returns 32 bits of the key, which tell whether a number still means the same object
    uint32_t tagOf(const uint32_t object) const { return static_cast<uint32_t>(keyOf(object).low()); }

    /// whether an object is the document of a page; false for object 0
    bool isDocument(uint32_t object) const;

    /// \returns the group that an object is the container of, or nothing
    uint32_t ledBy(const uint32_t object) const { return objects_[object].leads; }

    /// \returns the sequence that an object leads or is at home in, or nothing
    uint32_t sequenceOf(uint32_t object) const;

    /// whether an object leads a group or has a home
    bool hasGroup(uint32_t object) const;

    /* groups */

    /// \returns the group of that name, or nothing
    uint32_t find(const uint64_t name) const { return groups_.find(name); }

    /// \returns the group of that name, a new one if need be; may forget any group
    uint32_t groupFor(uint64_t name, uint64_t site, GroupKind);

    /// \returns the group of a page whose document is in the store
    uint32_t pageOf(uint64_t name, uint64_t site, uint32_t object);

    const Group &operator [](const uint32_t group) const { return groups_[group]; }

    /// makes an object the container of a group
    void lead(uint32_t group, uint32_t object);
    /// \returns the container of a group, or nothing
    uint32_t leaderOf(uint32_t group) const;

    /// Makes an object a style sheet or the like: a Referer that names it means its page.
    void noteSheet(uint64_t name, uint64_t site, uint32_t object);

    /// Someone opened the group: what was not fetched in the last visit fades.
    void visit(uint32_t group, uint64_t micros);

    /// An object was fetched with a group. When many pages share it, it goes
    /// to the group of what its site's pages share: that of the page, or, when
    /// pages of several sites share it, that of its own site.
    /// \param ownSite that of the object
    void sight(uint32_t object, uint64_t ownSite, uint32_t group, Evidence, uint64_t micros);

    /// makes a group an object's home for good
    void settle(uint32_t object, uint32_t group);

    /// calls visitor(group) for each group that an object is a member of, its home first
    template <class Visitor>
    void eachGroupOf(const uint32_t object, Visitor &&visitor) const {
        for (auto m = objects_[object].memberships; m; m = memberships_[m].nextOfObject)
            if (alive(m))
                visitor(memberships_[m].group);
    }

    /// \see Tracker::groupNumber()
    uint64_t numberFor(const Key &) const;

    /// \see Tracker::isShared()
    bool isShared(const Key &key) const { return isShared(objects_.find(key)); }
    bool isShared(uint32_t object) const;

    /// \see Tracker::isGuest()
    bool isGuest(const Key &, std::vector<Key> &company, size_t most) const;

    /// \see Tracker::groupOf()
    void list(const Key &, std::vector<Key> &out, size_t most) const;

    /// \see Tracker::wantedBy()
    void listWanted(uint64_t name, std::vector<Key> &out, size_t most) const;

    /// \see Tracker::membersOf()
    void listNamed(const uint64_t name, std::vector<Key> &out, const size_t most) const { listGroup(groups_.find(name), out, most); }

    /* for the next run */

    /// \see Tracker::save()
    SavedGroups::Saved save(uint32_t &at, const std::function<bool(const Key &)> &kept, size_t bytes,
                           std::vector<SavedGroups::GroupRecord> &) const;

    /// \see Tracker::restore()
    bool restore(const SavedGroups::GroupRecord &);

    /// \returns what this class knows
    TrackerStats report() const;

private:
    /// what the memberships of an object say
    struct Found {
        uint32_t member = 0; ///< the one in the wanted group, or 0
        unsigned otherPages = 0; ///< number of pages among its other groups
        bool otherSites = false; ///< some of these are of another site
    };

    bool alive(const uint32_t m) const { return memberships_[m].until > groups_[memberships_[m].group].faded; }
    uint32_t homeOf(uint32_t object) const;
    uint32_t guestOf(const Guest &) const;
    uint16_t guestTagOf(const uint32_t object) const { return static_cast<uint16_t>(tagOf(object)); }
    void noteGuest(uint32_t object, uint32_t page);
    static bool expected(uint16_t now, uint16_t then);
    void listGroup(uint32_t group, std::vector<Key> &out, size_t most) const;
    void listMembers(uint32_t group, bool confirmed, std::vector<Key> &out, size_t most) const;
    void forgetObject(uint32_t object);
    void forgetGroup(uint32_t group);

    SavedGroups::GroupRecord recordOf(uint32_t group, const std::function<bool(const Key &)> &kept) const;
    uint32_t restored(const Key &);
    void restore(uint32_t group, const SavedGroups::MemberRecord &);
    Found scan(uint32_t object, uint32_t group);
    uint32_t join(uint32_t object, uint32_t group, Evidence, uint16_t mark);
    uint64_t &learned(Evidence);
    bool makeRoomIn(uint32_t group);
    bool strengthen(uint32_t membership, uint16_t mark);
    void place(uint32_t object, uint32_t membership, bool anew);
    void moveHome(uint32_t object, uint32_t membership);
    void append(uint32_t group, uint32_t membership);
    void detach(uint32_t membership);
    void leave(uint32_t membership);
    void sweep(uint32_t group);

    Pool<TrackedObject, Key> objects_;
    Pool<Group, uint64_t> groups_;
    Memberships memberships_;
    Guests guests_;
    uint32_t guestsHand_ = 0; ///< the page whose guests have made room last
    TrackerStats counts_; ///< what happened
    uint32_t serial_ = 0; ///< of the newest group
};

} // namespace ClusterFs

#endif
