// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of pages' guests. */

#include "fs/cluster/learning/Guests.h"

void
ClusterFs::Guests::note(uint32_t &first, const uint32_t object, const uint16_t tag, const uint16_t visit)
{
    const auto ageOf = [this, visit](const uint32_t n) { return static_cast<uint16_t>(visit - table_[n].visit); };
    unsigned count = 0;
    uint32_t oldest = first;
    for (auto n = first; n; n = table_[n].next) {
        if (table_[n].object == object && table_[n].tag == tag) {
            if (ageOf(n) < 0x8000) // a guest of the last run may be restored after a visit of this one
                table_[n].visit = visit;
            return;
        }
        if (ageOf(n) > ageOf(oldest))
            oldest = n;
        ++count;
    }
    auto n = count < maxOfPage ? table_.add() : nothing;
    if (n) {
        table_[n].next = first;
        first = n;
    } else if (oldest && ageOf(oldest)) {
        n = oldest;
    } else {
        return;
    }
    table_[n].object = object;
    table_[n].tag = tag;
    table_[n].visit = visit;
}

void
ClusterFs::Guests::clear(uint32_t &first)
{
    while (first) {
        const auto n = first;
        first = table_[n].next;
        table_.remove(n);
    }
}
