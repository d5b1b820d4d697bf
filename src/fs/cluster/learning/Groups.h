// SPDX-License-Identifier: GPL-2.0-or-later
/* How memberships begin, grow, fade, move and end. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_GROUPS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_GROUPS_H

#include "fs/cluster/learning/GroupTable.h"

#include <vector>

namespace ClusterFs {

/// Groups as they follow from what was fetched with what, which the Tracker finds out.
///
/// A membership weighs more with each visit that fetches the object, and fades with each that
/// does not. An object's home changes when the object was fetched with another group in two
/// visits, and with no other in between. An object that many pages share is at home with the
/// like of it; a page remembers those that it wants as guests.
class Groups
{
public:
    static constexpr unsigned maxMembers = 512; ///< of a group
    static constexpr unsigned sharedFrom = 3; ///< pages that an object has when it counts as shared

    /// \param table must outlive this
    explicit Groups(GroupTable &table): table_(table) {}

    /* learning */

    /// \returns the group of a page whose document is in the store
    uint32_t pageOf(uint64_t name, uint64_t site, uint32_t object);

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

    /// \param mark of the visit that fetches the object
    /// \returns a new membership, or nothing when there is no room
    uint32_t join(uint32_t object, uint32_t group, Evidence, uint16_t mark);

    /// whether what was wanted in one visit is expected in a later one: in the next, or the same
    static bool Expected(uint16_t now, uint16_t then) { return static_cast<uint16_t>(now - then) <= 1; }

    /* asking */

    /// \see Tracker::groupNumber()
    uint64_t numberFor(const Key &) const;

    /// \see Tracker::isGuest()
    bool isGuest(const Key &, std::vector<Key> &company, size_t most) const;

    /// \see Tracker::groupOf()
    void list(const Key &, std::vector<Key> &out, size_t most) const;

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
