// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory in small chunks, which takes no more than it needs now. */

#ifndef SQUID_SRC_FS_CLUSTER_CATALOG_CHUNKMEMORY_H
#define SQUID_SRC_FS_CLUSTER_CATALOG_CHUNKMEMORY_H

#include "fs/cluster/base/Memory.h"

#include <cstdint>
#include <set>
#include <vector>

namespace ClusterFs {

/// Numbered chunks of one size. The lowest free one is given out first, so that those in use lie close together. Blocks
/// of 64 chunks that nobody uses any more go back to the system, but for a sixteenth of all, which would come and go.
class ChunkMemory
{
public:
    static constexpr uint32_t chunkBytes = 1024;
    static constexpr uint32_t none = 0xffffffffU;

    /// \param count chunks
    /// \param name see Region
    /// \throws std::bad_alloc see Region
    ChunkMemory(uint32_t count, const char *name);

    /// \returns the number of a chunk whose content is undefined, or none
    uint32_t take();
    void giveBack(uint32_t chunk);

    char *at(const uint32_t chunk) const { return memory_.data() + size_t(chunk) * chunkBytes; }
    uint32_t count() const { return count_; } ///< chunks
    uint32_t used() const { return used_; } ///< chunks that are given out
    uint64_t residentBytes() const { return uint64_t(resident_) * blockBytes; } ///< most bytes of memory that all chunks take now

    const Region &memory() const { return memory_; }

private:
    static constexpr uint32_t blockChunks = 64;
    static constexpr uint64_t blockBytes = uint64_t(blockChunks) * chunkBytes;

    struct Block {
        uint64_t free; ///< chunks, a bit each
        uint64_t all; ///< the chunks that there are: fewer in the last block
        bool resident; ///< may have memory
    };

    void release();

    uint32_t count_;
    Region memory_;
    std::vector<Block> blocks_;
    uint32_t lowest_ = 0; ///< no block below this one has a free chunk
    std::set<uint32_t> idle_; ///< resident blocks without a used chunk
    uint32_t used_ = 0;
    uint32_t resident_ = 0; ///< blocks
    bool gives_ = true; ///< the system takes memory back
};

} // namespace ClusterFs

#endif
