// SPDX-License-Identifier: GPL-2.0-or-later
/* The bit map of free clusters. */

#include "fs/cluster/catalog/FreeMap.h"

#include <cassert>

namespace ClusterFs {
namespace {
constexpr uint32_t wordBits = 64;
constexpr size_t wordOf(const ClusterNo n) { return n.value() / wordBits; }
constexpr uint64_t bitOf(const ClusterNo n) { return uint64_t(1) << (n.value() % wordBits); }
} // namespace
} // namespace ClusterFs

ClusterFs::FreeMap::FreeMap(const uint32_t clusterCount):
    words_((clusterCount + wordBits - 1) / wordBits),
    count_(clusterCount)
{
}

void
ClusterFs::FreeMap::add(const ClusterNo n)
{
    assert(n.value() < count_ && !contains(n));
    words_[wordOf(n)] |= bitOf(n);
    ++size_;
}

void
ClusterFs::FreeMap::remove(const ClusterNo n)
{
    assert(n.value() < count_ && contains(n));
    words_[wordOf(n)] &= ~bitOf(n);
    --size_;
}

bool
ClusterFs::FreeMap::contains(const ClusterNo n) const
{
    return words_[wordOf(n)] & bitOf(n);
}

ClusterFs::ClusterNo
ClusterFs::FreeMap::firstFrom(const uint32_t from) const
{
    if (from >= count_)
        return noCluster;
    size_t w = from / wordBits;
    uint64_t bits = words_[w] & (~uint64_t(0) << (from % wordBits));
    while (!bits) {
        if (++w >= words_.count())
            return noCluster;
        bits = words_[w];
    }
    return ClusterNo(static_cast<uint32_t>(w * wordBits) + static_cast<unsigned>(__builtin_ctzll(bits)));
}

ClusterFs::ClusterNo
ClusterFs::FreeMap::lastBefore(const uint32_t before) const
{
    if (!before)
        return noCluster;
    size_t w = (before - 1) / wordBits;
    const unsigned keep = (before - 1) % wordBits + 1;
    uint64_t bits = keep == wordBits ? words_[w] : words_[w] & ((uint64_t(1) << keep) - 1);
    while (!bits) {
        if (w == 0)
            return noCluster;
        bits = words_[--w];
    }
    return ClusterNo(static_cast<uint32_t>(w * wordBits) + 63U - static_cast<unsigned>(__builtin_clzll(bits)));
}

ClusterFs::ClusterNo
ClusterFs::FreeMap::closest(const ClusterNo to) const
{
    if (!size_)
        return noCluster;
    const auto place = to.value() < count_ ? to : ClusterNo(0);
    const auto above = firstFrom(place.value());
    const auto below = lastBefore(place.value());
    if (above == noCluster)
        return below;
    if (below == noCluster)
        return above;
    return above - place <= place - below ? above : below;
}

ClusterFs::ClusterNo
ClusterFs::FreeMap::following(const ClusterNo from) const
{
    const auto after = firstFrom(from.value());
    return after != noCluster ? after : firstFrom(0);
}
