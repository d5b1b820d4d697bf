// SPDX-License-Identifier: GPL-2.0-or-later
/* The guests of pages. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_GUESTS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_GUESTS_H

#include "fs/cluster/learning/Pool.h"

namespace ClusterFs {

/// An object that was fetched with a page without being its member: many pages
/// share it, and the object has no list of them. So nobody tells the page when
/// the object is forgotten, and another one may have its number by now.
struct Guest {
    uint32_t object;
    uint32_t next; ///< of the same page
    uint16_t tag; ///< 16 bits of TrackedObject::tag(): tells whether the number still means the same object
    uint16_t visit; ///< number of the page's visit that wanted it last
};
static_assert(sizeof(Guest) == 12, "there are many of them");

/// A list for each page, in memory of fixed size.
class Guests
{
public:
    static constexpr unsigned maxOfPage = 64; ///< guests of a page

    explicit Guests(const uint32_t capacity): table_(capacity) {}

    const Guest &operator [](const uint32_t n) const { return table_[n]; }

    /// A visit to a page wants an object. When the page has too many guests, or there is no
    /// memory, the one that was not wanted for longest makes room, if it is of an older visit.
    /// \param first of the page's list
    void note(uint32_t &first, uint32_t object, uint16_t tag, uint16_t visit);

    /// forgets all guests of a page
    /// \param first of the page's list
    void clear(uint32_t &first);

    bool full() const { return table_.full(); }
    uint64_t bytes() const { return table_.bytes(); }

private:
    NumberedTable<Guest, &Guest::next> table_;
};

} // namespace ClusterFs

#endif
