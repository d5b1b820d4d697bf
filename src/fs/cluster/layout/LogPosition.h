// SPDX-License-Identifier: GPL-2.0-or-later
/* Places in the index log, a ring of blocks. See docs/format.md. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_LOGPOSITION_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_LOGPOSITION_H

#include <cstdint>

namespace ClusterFs {

/// a block of the index log; those of a later lap are written over those of the one before
struct LogPosition {
    uint32_t lap = 0;
    uint32_t block = 0;

    bool operator ==(const LogPosition &p) const { return lap == p.lap && block == p.block; }
    bool operator !=(const LogPosition &p) const { return !(*this == p); }
    bool operator <(const LogPosition &p) const { return lap < p.lap || (lap == p.lap && block < p.block); }
};

/// The blocks of the log that count. They lie in one lap, or at the end of one and the beginning of the next.
struct LogExtent {
    LogPosition tail; ///< the oldest block that counts
    LogPosition head; ///< behind the newest one
    uint32_t blocks = 0; ///< of a lap, as the log is now
    uint32_t blocksBefore = 0; ///< of the lap before the head's, which may have been shorter

    /// how many blocks count
    uint32_t used() const {
        return head.lap == tail.lap ? head.block - tail.block : blocksBefore - tail.block + head.block;
    }

    /// \returns the place of one of these blocks; the oldest is number 0
    LogPosition at(const uint32_t number) const {
        const auto block = tail.block + number;
        if (head.lap == tail.lap || block < blocksBefore)
            return {tail.lap, block};
        return {head.lap, block - blocksBefore};
    }

    /// whether a log can have these numbers
    bool sane() const {
        if (head.lap == tail.lap)
            return tail.block <= head.block && head.block <= blocks;
        return head.lap == tail.lap + 1 && head.block <= tail.block && tail.block <= blocksBefore && blocksBefore <= blocks;
    }
};

} // namespace ClusterFs

#endif
