// SPDX-License-Identifier: GPL-2.0-or-later
/* Which bytes of clusters are in memory, as other processes see it. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_SHAREDWINDOWS_H
#define SQUID_SRC_FS_CLUSTER_CACHE_SHAREDWINDOWS_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/cache/Window.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// A row of the table: what is in memory of those parts of clusters whose numbers have the same hash. Its counter is a sequence
/// lock, see IndexHead: it is odd while entries change, and another one afterwards.
struct alignas(64) SharedWindowRow {
    static constexpr size_t entriesAtMost = 7;

    struct Entry {
        uint32_t cluster;
        uint32_t sequence; ///< of the cluster, the low 32 bits
        uint32_t start; ///< bytes from the cluster's start
        uint32_t size; ///< bytes; 0 = no entry
        uint64_t at; ///< bytes from the beginning of the pages
    };

    std::atomic<uint64_t> counter;
    Entry entries[entriesAtMost];
};
static_assert(sizeof(SharedWindowRow) == 192, "a row takes three lines of a processor's cache");

/// The owner's side: a hash table by cluster and part of a cluster. A window is in the rows of all parts that it touches. Where a
/// row is full, those parts of the window are not there, and other processes ask for them by a message.
class SharedWindows
{
public:
    static constexpr uint32_t partBytes = 16 * 1024; ///< of a cluster

    /// \param bytes of windows that there will be about
    /// \throws std::bad_alloc when there is no memory for the table
    explicit SharedWindows(uint64_t bytes);

    /// shows bytes to others
    /// \param at where they begin, from the beginning of the pages
    void enter(const ClusterRange &, uint64_t at);
    /// takes back what enter() has shown, before somebody else gets the memory
    void withdraw(const ClusterRange &, uint64_t at);

    const Region &memory() const { return rows_.region(); }

    static uint64_t RowOf(ClusterNo, uint32_t offset, uint64_t rows);

private:
    template <class Change> void inRowsOf(const ClusterRange &, const Change &);

    Table<SharedWindowRow> rows_;
};

/// The side of another process. It believes nothing that it reads.
class SharedWindowsView
{
public:
    /// \param rows, count of the table
    /// \param pages, bytes where the windows are
    SharedWindowsView(const SharedWindowRow *const rows, const uint64_t count, const char *const pages, const uint64_t bytes):
        rows_(rows), count_(count), pages_(pages), bytes_(bytes) {}

    /// Copies bytes of a cluster.
    /// \param to room for them; it has anything when the call fails
    /// \returns false when they are not in memory, or leave it meanwhile
    bool copy(const ClusterRange &, char *to) const;

private:
    const SharedWindowRow *rows_;
    uint64_t count_; ///< above 0
    const char *pages_;
    uint64_t bytes_;
};

} // namespace ClusterFs

#endif
