// SPDX-License-Identifier: GPL-2.0-or-later
/* How memberships begin, grow, fade, move and end. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_GROUPS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_GROUPS_H

#include "fs/cluster/learning/GroupTable.h"

#include <vector>

namespace ClusterFs {

/// The rules of groups. The Tracker tells which object was fetched with which group.
///
/// A membership gains weight with each visit that fetches the object, and fades with each that
/// does not. An object's home changes when the object was fetched with another group in two
/// visits, and with no other one in between. An object that many pages share is at home in the
/// group of its site's shared objects; a page remembers those that it wants as guests.
class Groups
{
public:
    static constexpr unsigned maxMembers = 512; ///< of a group
    static constexpr unsigned sharedFrom = 3; ///< pages that an object has when it counts as shared

    /// \param table must outlive this
    explicit Groups(GroupTable &table): table_(table) {}

    /* learning */

    /// \param name id of the page's URL
    /// \param object the page's document, or nothing when it is not in the store
    /// \returns the group of a page, a new one if there is none
    uint32_t pageOf(uint64_t name, uint64_t site, uint32_t object);

    /// Makes an object a style sheet or the like: a Referer that names it stands for its page.
    void noteSheet(uint64_t name, uint64_t site, uint32_t object);

    /// A visit to the group begins: all members fade by the last visit, for which those fetched in it have gained more.
    /// \param micros now, of a clock that never steps
    void visit(uint32_t group, uint64_t micros);

    /// An object was fetched with a group. If sharedFrom pages share it, it goes
    /// to the shared objects of the page's site, or of its own site if pages of
    /// several sites share it.
    /// \param ownSite the site of the object, or 0
    void sight(uint32_t object, uint64_t ownSite, uint32_t group, Evidence, uint64_t micros);

    /// makes a group an object's home for good
    void settle(uint32_t object, uint32_t group);

    /// \param mark of the visit that fetches the object, see markOf()
    /// \returns a new membership, or nothing when there is no room
    uint32_t join(uint32_t object, uint32_t group, Evidence, uint16_t mark);

    /// whether an object that was wanted in one visit is expected in another one: in the same, and in the next
    /// \param now number of that other one
    static bool Expected(uint16_t now, uint16_t then) { return static_cast<uint16_t>(now - then) <= 1; }

    /* asking */

    /// \see Tracker::groupNumber()
    uint64_t numberFor(const Key &) const;

    /// \see Tracker::isGuest()
    bool isGuest(const Key &, std::vector<Key> &company, size_t most) const;

    /// \see Tracker::groupOf()
    void list(const Key &, std::vector<Key> &out, size_t most) const;

    /// \see Tracker::sharedOf()
    void listShared(const Key &, std::vector<Key> &out, size_t most) const;

    /// \see Tracker::wantedBy()
    void listWanted(uint64_t name, std::vector<Key> &out, size_t most) const;

private:
    uint64_t &learned(Evidence);
    bool makeRoomIn(uint32_t group);
    bool strengthen(uint32_t membership, uint16_t mark);
    void place(uint32_t membership, bool anew);

    GroupTable &table_;
};

} // namespace ClusterFs

#endif
