// SPDX-License-Identifier: GPL-2.0-or-later
/* Where buffers of some pages come from. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_PAGE_POOL_H
#define SQUID_SRC_FS_CLUSTER_BASE_PAGE_POOL_H

#include <array>
#include <bitset>
#include <cstddef>
#include <map>
#include <mutex>

namespace ClusterFs {

/// Runs of whole pages out of mappings of 1 MB, at the lowest address where
/// they fit. The heap is no place for them: it puts its own header before each
/// page-aligned block, so that up to a page between two of them stays empty,
/// and what they leave fits nobody when buffers of all sizes come and go.
/// May be used from several threads.
class PagePool
{
public:
    static constexpr size_t pageBytes = 4096;
    static constexpr size_t chunkPages = 256; ///< pages in one mapping
    static constexpr size_t maxPages = 16; ///< of one run

    PagePool() = default;
    ~PagePool();
    PagePool(const PagePool &) = delete;
    PagePool &operator =(const PagePool &) = delete;

    /// The address of that many pages in a row, at most maxPages; their
    /// content is undefined. nullptr when the process may map no more memory.
    char *take(size_t pages);

    /// gives back what take() gave, whole
    void giveBack(char *address, size_t pages);

    size_t mappedBytes() const; ///< memory that the pool holds, in use or not

private:
    struct Chunk {
        std::bitset<chunkPages> used;
        size_t longest = maxPages; ///< no free run is longer than this many pages, or it is maxPages
    };

    static char *takeFrom(char *base, Chunk &, size_t pages);
    char *map();

    mutable std::mutex mutex_;
    std::map<char *, Chunk> chunks_; ///< by address
    std::array<char *, maxPages + 1> from_ {}; ///< by pages: no chunk below this address has such a run
    char *spare_ = nullptr; ///< an empty chunk that is kept, the only one; no mapping each time a single buffer comes and goes
};

} // namespace ClusterFs

#endif
