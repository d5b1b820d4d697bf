// SPDX-License-Identifier: GPL-2.0-or-later
/* The records of the tracker's memory. */

#include "fs/cluster/learning/Records.h"

namespace {

/// microseconds within which the same request may be reported again: a lookup, and later a store
constexpr uint64_t repeatMicros = 10 * 1000000;

constexpr unsigned whenShift = 16;
constexpr uint32_t whenMask = 0xfffffff;

} // namespace

bool
ClusterFs::TrackedObject::noteRepeat(const uint64_t id, const uint64_t micros)
{
    const auto who = static_cast<uint32_t>(id) | 1; // not 0, which a new object has
    const auto now = static_cast<uint32_t>(micros >> whenShift) & whenMask;
    if (id && client == who && ((now - when) & whenMask) < (repeatMicros >> whenShift))
        return true;
    marked = client != 0; // objects that were asked for only once make room first
    client = who;
    when = now & whenMask;
    return false;
}

bool
ClusterFs::TrackedObject::noteSuccession(const uint32_t otherTag)
{
    if (succeeded && successor == otherTag) {
        if (succeeded < 3)
            ++succeeded;
        return true;
    }
    if (succeeded > 1) { // a single other object in between does not end the succession
        --succeeded;
        return false;
    }
    successor = otherTag;
    succeeded = 1;
    return false;
}
