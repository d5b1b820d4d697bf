// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for buffers of a few pages. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_PAGE_POOL_H
#define SQUID_SRC_FS_CLUSTER_BASE_PAGE_POOL_H

#include <array>
#include <bitset>
#include <cstddef>
#include <map>
#include <mutex>

namespace ClusterFs {

/// where a pool has its chunks from
class PageSource
{
public:
    virtual ~PageSource() = default;

    /// \returns the address of bytes that nobody else has; nil when there are none
    virtual char *map(size_t bytes) = 0;
    /// takes back what map() gave, whole. \returns false when that fails: the pool keeps the addresses
    virtual bool unmap(char *, size_t bytes) = 0;
    /// Gives the memory of whole pages back to the system, and keeps their addresses. \returns false when that fails
    virtual bool release(char *, size_t bytes) = 0;
};

/// Gives out runs of whole pages from mappings of 1 MB, at the lowest address
/// where they fit. The heap is no place for them: it puts its own header before
/// each page-aligned block, so that up to a page between two of them stays empty,
/// and the gaps that they leave fit no other buffer when buffers of all sizes
/// come and go. Of the pages that nobody uses any more, it keeps the memory of an
/// eighth as many as are in use, and a chunk's; that of others goes back to the
/// system at once. May be used from several threads.
class PagePool
{
public:
    static constexpr size_t pageBytes = 4096; ///< bytes of a page
    static constexpr size_t chunkPages = 256; ///< pages in one mapping
    static constexpr size_t maxPages = 16; ///< most pages of one run
    static constexpr bool Gives(const size_t pages) { return pages <= maxPages; } ///< whether it has runs of so many

    /// \returns most bytes of memory that the pool takes beside those of its runs
    static constexpr size_t IdleBytes(const size_t ofRuns) { return ofRuns / 8 + chunkPages * pageBytes; }

    PagePool(); ///< of mappings that no other process has
    /// \param source outlives the pool
    explicit PagePool(PageSource &source): source_(source) {}
    ~PagePool();
    PagePool(const PagePool &) = delete;
    PagePool &operator =(const PagePool &) = delete;

    /// The address of that many pages in a row, at most maxPages; their
    /// content is undefined. nullptr when the process may map no more memory.
    char *take(size_t pages);

    /// gives back what take() gave, whole
    void giveBack(char *address, size_t pages);

    size_t mappedBytes() const; ///< bytes of addresses that the pool has, in use or not
    size_t residentBytes() const; ///< most bytes of memory that these take

private:
    struct Chunk {
        std::bitset<chunkPages> used; ///< by page
        std::bitset<chunkPages> backed; ///< pages that may have memory; all used ones do
        size_t longest = maxPages; ///< no free run has more pages than this, unless this is maxPages
    };

    char *takeFrom(char *base, Chunk &, size_t pages);
    char *map();
    void releaseIdle(char *base, Chunk &);
    void releaseSome(char *base, Chunk &);
    size_t kept() const { return IdleBytes(used_ * pageBytes) / pageBytes; } ///< idle pages that keep their memory

    PageSource &source_;
    mutable std::mutex mutex_;
    std::map<char *, Chunk> chunks_; ///< by address
    std::array<char *, maxPages + 1> from_ {}; ///< by pages of a run: no chunk below this address has such a run
    size_t used_ = 0; ///< pages in use
    size_t idle_ = 0; ///< backed pages that are not in use
    char *swept_ = nullptr; ///< releaseSome() goes on behind this chunk
    char *spare_ = nullptr; ///< the only empty chunk that is kept, so that a single buffer that comes and goes needs no new mapping
};

} // namespace ClusterFs

#endif
