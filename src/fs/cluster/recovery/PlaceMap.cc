// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table of places. */

#include "fs/cluster/recovery/PlaceMap.h"

/// \returns the position of a place's entry, or the one where it would go; the table is never full
size_t
ClusterFs::PlaceMap::seek(const Part &part, const uint64_t place)
{
    const auto mask = part.entries.size() - 1;
    auto at = (hashOf(place) >> 20) & mask;
    while (part.entries[at] && (part.entries[at] & placeMask) != place)
        at = (at + 1) & mask;
    return at;
}

void
ClusterFs::PlaceMap::put(const uint64_t entry, const bool overrules)
{
    constexpr size_t least = 16;
    const auto place = entry & placeMask;
    auto &part = parts_[hashOf(place) >> (64 - tableBits)];
    if (2 * (part.count + 1) > part.entries.size()) {
        Part larger;
        larger.entries.resize(part.entries.empty() ? least : 2 * part.entries.size());
        larger.count = part.count;
        for (const auto e: part.entries) {
            if (e)
                larger.entries[seek(larger, e & placeMask)] = e;
        }
        part = std::move(larger);
    }
    auto &e = part.entries[seek(part, place)];
    part.count += !e;
    if (!e || overrules)
        e = entry;
}

ClusterFs::PlaceMap::Known
ClusterFs::PlaceMap::find(const ClusterNo c, const uint32_t offset) const
{
    Known known;
    const auto place = placeOf(c, offset);
    const auto &part = parts_[hashOf(place) >> (64 - tableBits)];
    if (!part.count)
        return known;
    const auto e = part.entries[seek(part, place)];
    known.gone = e & goneBit;
    known.used = e & usedBit;
    known.heat = static_cast<uint32_t>(e >> heatShift) & Record::maxHeat;
    return known;
}

void
ClusterFs::PlaceMap::clear()
{
    for (auto &part: parts_)
        part = Part();
}
