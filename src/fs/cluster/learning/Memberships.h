// SPDX-License-Identifier: GPL-2.0-or-later
/* Where memberships are kept. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_MEMBERSHIPS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_MEMBERSHIPS_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/learning/Records.h"

namespace ClusterFs {

/// An array of memberships and its free list. Number 0 means none.
class Memberships
{
public:
    explicit Memberships(const uint32_t capacity): table_(uint64_t(capacity) + 1), capacity_(capacity) {}

    Membership &operator [](const uint32_t n) { return table_[n]; }
    const Membership &operator [](const uint32_t n) const { return table_[n]; }

    /// \returns a zeroed one, or 0 when all are in use
    uint32_t add() {
        auto n = free_;
        if (n)
            free_ = table_[n].nextInGroup;
        else if (fresh_ < capacity_)
            n = ++fresh_;
        else
            return 0;
        table_[n] = Membership();
        ++used_;
        return n;
    }

    void remove(const uint32_t n) {
        table_[n].nextInGroup = free_;
        free_ = n;
        --used_;
    }

    bool full() const { return used_ == capacity_; }
    uint32_t used() const { return used_; }
    uint64_t bytes() const { return table_.count() * sizeof(Membership); }

private:
    Table<Membership> table_;
    uint32_t capacity_;
    uint32_t free_ = 0; ///< linked by nextInGroup
    uint32_t fresh_ = 0; ///< those above were never used
    uint32_t used_ = 0;
};

} // namespace ClusterFs

#endif
