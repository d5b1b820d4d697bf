// SPDX-License-Identifier: GPL-2.0-or-later
/* What a page wants of what other pages want, too. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_GUESTS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_GUESTS_H

#include "fs/cluster/learning/Pool.h"

namespace ClusterFs {

/// One object that was fetched with a page without being its member: so many
/// pages share it that a list of all of them would be long. Only the page
/// knows of it, so that the object may be another one by now.
struct Guest {
    uint32_t object;
    uint32_t next; ///< of the same page
    uint16_t tag; ///< of the object's key: tells whether the number still means it
    uint16_t visit; ///< number of the page's visit that wanted it last
};
static_assert(sizeof(Guest) == 12, "there are many of them");

/// A list for each page, in memory of fixed size.
class Guests
{
public:
    static constexpr unsigned maxOfPage = 64;

    explicit Guests(const uint32_t capacity): table_(capacity) {}

    const Guest &operator [](const uint32_t n) const { return table_[n]; }

    /// A visit of a page wants an object. When the page has too many, or there is no
    /// memory, the one that was not wanted for longest makes room, if it is of an older visit.
    /// \param first of the page's list
    void note(uint32_t &first, uint32_t object, uint16_t tag, uint16_t visit);

    /// forgets all of a page
    void clear(uint32_t &first);

    bool full() const { return table_.full(); }
    uint64_t bytes() const { return table_.bytes(); }

private:
    NumberedTable<Guest, &Guest::next> table_;
};

} // namespace ClusterFs

#endif
