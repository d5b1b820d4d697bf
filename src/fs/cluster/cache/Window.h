// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of clusters in memory. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_WINDOW_H
#define SQUID_SRC_FS_CLUSTER_CACHE_WINDOW_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/base/Types.h"

#include <memory>
#include <vector>

namespace ClusterFs {

/// contiguous bytes of a cluster
struct ClusterRange {
    ClusterNo cluster = noCluster;
    Sequence sequence{0}; ///< of the cluster: tells its contents from those that it had before
    uint32_t start = 0; ///< bytes from the cluster's start
    uint32_t size = 0; ///< bytes

    uint32_t end() const { return start + size; } ///< bytes from the cluster's start
    /// whether all bytes of another range of the same cluster are in this one
    bool covers(const ClusterRange &other) const {
        return other.sequence == sequence && other.start >= start && uint64_t(other.start) + other.size <= uint64_t(start) + size;
    }
};

/// The bytes of a range in memory, or only those of its extents that were used.
struct Window {
    /// an extent that somebody has copied from
    struct Piece {
        uint32_t start; ///< bytes from the cluster's start
        uint32_t size; ///< bytes
        uint32_t at; ///< of a reduced window: bytes from the buffer's start
    };
    /// the part of a read that nobody has asked for
    struct Extra {
        uint32_t mates = 0; ///< objects that are read along with the wanted one
        uint32_t prefetched = 0; ///< objects that are prefetched for a page
        uint64_t client = 0; ///< the client that opened that page
        bool unasked = false; ///< the next part of a large object, read ahead, which no reader has looked for yet
    };

    ClusterRange range;
    BufferPointer buffer;
    bool loading = false; ///< its read is under way
    bool forgotten = false; ///< its bytes are void: it goes once the readers who waited for it have copied
    bool trusted = false; ///< written by us in this run: no checksum needed
    bool writing = false; ///< its bytes are on their way to the device, and must be in memory for that
    bool reduced = false; ///< its buffer has only its pieces
    bool shown = false; ///< other processes may copy from it
    bool again = false; ///< it was found in memory by a reader that had not waited for its read
    std::vector<uint32_t> checked; ///< offsets of extents whose checksum was right, bytes from the cluster's start
    std::vector<Piece> pieces; ///< in the order of their first use
    Extra extra;
    uint64_t used = 0; ///< the window store's clock at the last use
    uint64_t splitOff = 0; ///< bytes of its buffer that have windows of their own and are counted there

    bool covers(const ClusterRange &r) const { return range.covers(r) && (!reduced || pieceOf(r.start, r.size)); }
    /// \param offset of a byte that it covers, from the cluster's start
    const char *at(const uint32_t offset) const {
        if (!reduced)
            return buffer->data() + (offset - range.start);
        const auto *const piece = pieceOf(offset, 1);
        return buffer->data() + piece->at + (offset - piece->start);
    }
    /// notes that a reader copies from an extent
    void use(uint32_t from, uint32_t bytes);

private:
    const Piece *pieceOf(uint32_t from, uint32_t bytes) const;
};
using WindowPointer = std::shared_ptr<Window>;

} // namespace ClusterFs

#endif
