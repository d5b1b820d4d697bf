// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that left their cluster, or were used, by their places. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_PLACEMAP_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_PLACEMAP_H

#include "fs/cluster/catalog/Record.h"

#include <array>
#include <vector>

namespace ClusterFs {

/// A start reads removals and uses of objects before it reads the sections that name the objects.
/// This remembers them by place: a hash table with eight bytes for each, divided into many small
/// tables, so that none takes long to grow.
class PlaceMap
{
public:
    /// the answer about a place
    struct Known {
        bool gone = false; ///< the object left the cluster
        bool used = false; ///< the object was used
        uint32_t heat = 0; ///< its heat then
    };

    void gone(const ClusterNo c, const uint32_t offset) { put(placeOf(c, offset) | goneBit, true); }
    /// notes a use; the first one that is noted counts, because the log is read from its newest block on
    void used(const ClusterNo c, const uint32_t offset, const uint32_t heat) {
        put(placeOf(c, offset) | uint64_t(heat & Record::maxHeat) << heatShift | usedBit, false);
    }
    Known find(ClusterNo, uint32_t offset) const;
    void clear();

private:
    /* an entry: cluster (28 bits), offset (21), heat (11), used (1), gone (1); 0 = none */
    static constexpr unsigned clusterShift = Record::offsetBits;
    static constexpr unsigned heatShift = clusterShift + 28;
    static constexpr uint64_t usedBit = uint64_t(1) << 60;
    static constexpr uint64_t goneBit = uint64_t(1) << 61;
    static constexpr uint64_t placeMask = (uint64_t(1) << heatShift) - 1;
    static constexpr unsigned tableBits = 10;

    struct Part {
        std::vector<uint64_t> entries; ///< a power of two of them
        size_t count = 0;
    };

    static uint64_t placeOf(const ClusterNo c, const uint32_t offset) {
        return uint64_t(c.value()) << clusterShift | offset / extentAlignment;
    }
    static uint64_t hashOf(const uint64_t place) { return place * 0x9e3779b97f4a7c15ULL; }
    static size_t seek(const Part &, uint64_t place);
    void put(uint64_t entry, bool overrules);

    std::array<Part, size_t(1) << tableBits> parts_;
};

} // namespace ClusterFs

#endif
