// SPDX-License-Identifier: GPL-2.0-or-later
/* Which bytes of clusters are in memory, as other processes see it. */

#include "fs/cluster/cache/SharedWindows.h"

#include "fs/cluster/base/SharedWord.h"

#include <algorithm>
#include <cstring>

namespace ClusterFs {
namespace {

constexpr uint64_t bytesInRow = 8 * 1024; ///< of windows for each row: even of 4 KB each, few find it full

} // namespace
} // namespace ClusterFs

ClusterFs::SharedWindows::SharedWindows(const uint64_t bytes):
    rows_(bytes / bytesInRow + 1, "clusterfs-window-table")
{
}

uint64_t
ClusterFs::SharedWindows::RowOf(const ClusterNo cluster, const uint32_t offset, const uint64_t rows)
{
    // Fibonacci hashing: parts beside each other go to rows far apart
    const auto part = uint64_t(cluster.value()) << 32 | offset / partBytes;
    return static_cast<uint64_t>((static_cast<unsigned __int128>(part * 0x9e3779b97f4a7c15U) * rows) >> 64);
}

/// changes the row of each part that a range touches
/// \param change gets the entries of a row
template <class Change>
void
ClusterFs::SharedWindows::inRowsOf(const ClusterRange &range, const Change &change)
{
    if (!range.size)
        return;
    for (uint64_t at = roundDown(range.start, partBytes); at < range.end(); at += partBytes) {
        auto &row = rows_[RowOf(range.cluster, static_cast<uint32_t>(at), rows_.count())];
        const auto before = row.counter.load(std::memory_order_relaxed);
        row.counter.store(before + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release); // what changes is seen after that
        change(row.entries);
        row.counter.store(before + 2, std::memory_order_release);
    }
}

void
ClusterFs::SharedWindows::enter(const ClusterRange &range, const uint64_t at)
{
    const auto sequence = static_cast<uint32_t>(range.sequence.value());
    inRowsOf(range, [&](auto &entries) {
        const auto end = std::end(entries);
        const auto free = std::find_if(std::begin(entries), end, [](const auto &entry) { return !entry.size; });
        if (free == end)
            return;
        storeShared(free->cluster, range.cluster.value());
        storeShared(free->sequence, sequence);
        storeShared(free->start, range.start);
        storeShared(free->at, at);
        storeShared(free->size, range.size);
    });
}

void
ClusterFs::SharedWindows::withdraw(const ClusterRange &range, const uint64_t at)
{
    inRowsOf(range, [&](auto &entries) {
        const auto is = [&](const auto &entry) { return entry.size && entry.at == at && entry.cluster == range.cluster.value() && entry.start == range.start; };
        const auto end = std::end(entries);
        const auto found = std::find_if(std::begin(entries), end, is);
        if (found != end)
            storeShared(found->size, uint32_t(0));
    });
}

bool
ClusterFs::SharedWindowsView::copy(const ClusterRange &range, char *const to) const
{
    const auto &row = rows_[SharedWindows::RowOf(range.cluster, range.start, count_)];
    const auto before = row.counter.load(std::memory_order_acquire);
    if (before % 2)
        return false;
    for (const auto &entry: row.entries) {
        const auto start = loadShared(entry.start);
        const auto size = loadShared(entry.size);
        const auto at = loadShared(entry.at);
        const auto has = loadShared(entry.cluster) == range.cluster.value() && loadShared(entry.sequence) == static_cast<uint32_t>(range.sequence.value()) &&
                         range.start >= start && uint64_t(range.start) + range.size <= uint64_t(start) + size;
        if (!has)
            continue;
        const auto from = at + (range.start - start);
        if (at > bytes_ || from + range.size > bytes_)
            return false; // the row was being changed
        memcpy(to, pages_ + from, range.size);
        std::atomic_thread_fence(std::memory_order_acquire); // the copy was made before that
        return row.counter.load(std::memory_order_relaxed) == before;
    }
    return false;
}
