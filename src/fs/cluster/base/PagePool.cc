// SPDX-License-Identifier: GPL-2.0-or-later
/* First fit over bit maps of pages. */

#include "fs/cluster/base/PagePool.h"

#include <algorithm>
#include <iterator>
#include <sys/mman.h>

namespace ClusterFs {
namespace {
constexpr size_t chunkBytes = PagePool::chunkPages * PagePool::pageBytes;

/// mappings that no other process has
class OwnPages final: public PageSource
{
public:
    /// never destroyed, because a pool may outlive everything else
    static OwnPages &Instance() {
        static const auto instance = new OwnPages;
        return *instance;
    }

    char *map(const size_t bytes) override {
        const auto p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return p == MAP_FAILED ? nullptr : static_cast<char *>(p);
    }
    bool unmap(char *const at, const size_t bytes) override { return munmap(at, bytes) == 0; }
    bool release(char *const at, const size_t bytes) override { return madvise(at, bytes, MADV_DONTNEED) == 0; }
};
} // namespace
} // namespace ClusterFs

ClusterFs::PagePool::PagePool():
    PagePool(OwnPages::Instance())
{
}

ClusterFs::PagePool::~PagePool()
{
    for (const auto &chunk: chunks_)
        source_.unmap(chunk.first, chunkBytes);
}

char *
ClusterFs::PagePool::take(const size_t pages)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto i = chunks_.lower_bound(from_[pages]); i != chunks_.end(); ++i) {
        if (i->second.longest < pages)
            continue;
        if (const auto found = takeFrom(i->first, i->second, pages)) {
            from_[pages] = i->first;
            if (i->first == spare_)
                spare_ = nullptr;
            return found;
        }
    }
    const auto base = map();
    return base ? takeFrom(base, chunks_[base], pages) : nullptr;
}

/// a new chunk, or nullptr
char *
ClusterFs::PagePool::map()
{
    const auto base = source_.map(chunkBytes);
    for (auto &from: from_)
        from = std::min(from, base ? base : from); // the kernel puts new mappings below older ones
    return base;
}

/// the first of these pages in the chunk, or nullptr when there is no such run
char *
ClusterFs::PagePool::takeFrom(char *const base, Chunk &chunk, const size_t pages)
{
    size_t run = 0;
    size_t longest = 0;
    for (size_t i = 0; i < chunkPages; ++i) {
        run = chunk.used[i] ? 0 : run + 1;
        longest = std::max(longest, run);
        if (run < pages)
            continue;
        const auto first = i + 1 - pages;
        for (auto page = first; page <= i; ++page) {
            chunk.used.set(page);
            idle_ -= chunk.backed[page];
            chunk.backed.set(page);
        }
        used_ += pages;
        return base + first * pageBytes;
    }
    chunk.longest = longest;
    return nullptr;
}

void
ClusterFs::PagePool::giveBack(char *const address, const size_t pages)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::prev(chunks_.upper_bound(address));
    const auto base = found->first;
    auto &chunk = found->second;
    auto begin = static_cast<size_t>(address - base) / pageBytes;
    auto end = begin + pages;
    for (auto page = begin; page < end; ++page)
        chunk.used.reset(page);
    used_ -= pages;
    idle_ += pages;
    if (chunk.used.none() && spare_) {
        const auto backed = chunk.backed.count();
        if (source_.unmap(base, chunkBytes)) {
            idle_ -= backed;
            chunks_.erase(found);
            return;
        }
        // The chunk is in the middle of a mapping, and the process may have no more of them (see Buffer): keep the
        // addresses and give back the memory.
        releaseIdle(base, chunk);
    } else if (chunk.used.none()) {
        spare_ = base;
    }
    if (idle_ > kept())
        releaseSome(base, chunk);
    // the freed pages and their free neighbours are one run
    while (begin > 0 && !chunk.used[begin - 1])
        --begin;
    while (end < chunkPages && !chunk.used[end])
        ++end;
    chunk.longest = std::max(chunk.longest, std::min(end - begin, maxPages));
    for (size_t fits = 1; fits <= chunk.longest; ++fits)
        from_[fits] = std::min(from_[fits], base);
}

/// Where windows of other sizes come, the gaps of those before fit few of them: they took half as much as all that was in
/// use. Takes the memory of the chunk's idle pages, and if there are more, of another one's at each call.
void
ClusterFs::PagePool::releaseSome(char *const base, Chunk &chunk)
{
    releaseIdle(base, chunk);
    if (idle_ <= kept())
        return;
    auto next = chunks_.upper_bound(swept_);
    if (next == chunks_.end())
        next = chunks_.begin();
    swept_ = next->first;
    releaseIdle(next->first, next->second);
}

/// gives the memory of pages that are not in use back to the system, and keeps their addresses
void
ClusterFs::PagePool::releaseIdle(char *const base, Chunk &chunk)
{
    const auto idle = chunk.backed & ~chunk.used;
    for (size_t begin = 0, end = 0; begin < chunkPages; begin = end + 1) {
        end = begin;
        while (end < chunkPages && idle[end])
            ++end;
        if (end == begin || !source_.release(base + begin * pageBytes, (end - begin) * pageBytes))
            continue;
        for (auto page = begin; page < end; ++page)
            chunk.backed.reset(page);
        idle_ -= end - begin;
    }
}

size_t
ClusterFs::PagePool::residentBytes() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return (used_ + idle_) * pageBytes;
}

size_t
ClusterFs::PagePool::mappedBytes() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return chunks_.size() * chunkBytes;
}
