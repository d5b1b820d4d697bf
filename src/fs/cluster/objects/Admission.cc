// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts requests, to find the objects that are worth storing. */

#include "fs/cluster/objects/Admission.h"

#include <algorithm>

ClusterFs::Admission::Admission(const uint64_t objects, const AdmissionPolicy &policy):
    policy_(policy),
    counters_(std::max<uint64_t>(1, objects) * bytesEach)
{
}

bool
ClusterFs::Admission::admits(const Key &key, const uint32_t from)
{
    if (!policy_.counts(from))
        return true;
    // Other keys share each of the two counters, and the smaller one has less of theirs. Keys are digests: no more hashing.
    const auto one = key.low() % (counters_.count() * 2);
    const auto other = key.high() % (counters_.count() * 2);
    const auto least = std::min(at(one), at(other));
    if (policy_.admits((least + 1) / 2, from))
        return true;
    // a counter that has more, because of other keys, need not grow
    raise(one, std::min(15U, least + 2));
    raise(other, std::min(15U, least + 2));
    fade();
    return false;
}

/// makes a counter at least that large
void
ClusterFs::Admission::raise(const size_t counter, const unsigned value)
{
    if (at(counter) >= value)
        return;
    auto &byte = counters_[counter / 2];
    byte = static_cast<uint8_t>(byte + ((value - at(counter)) << (counter % 2 * 4)));
}

void
ClusterFs::Admission::fade()
{
    for (size_t i = 0; i < fadingBytes; ++i) {
        auto &both = counters_[hand_];
        both = both >> 1 & 0x77;
        hand_ = (hand_ + 1) % counters_.count();
    }
}
