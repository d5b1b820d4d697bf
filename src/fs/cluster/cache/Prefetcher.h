// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what a page will want, before it is asked for. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_PREFETCHER_H
#define SQUID_SRC_FS_CLUSTER_CACHE_PREFETCHER_H

#include "fs/cluster/cache/ReadWatcher.h"
#include "fs/cluster/cache/WindowLoader.h"
#include "fs/cluster/context/StoreContext.h"

#include <deque>
#include <vector>

namespace ClusterFs {

/// When somebody opens a page, what its last visit has wanted and memory does
/// not have is read at once, wherever it lies: the client asks for it as soon as
/// it has the document, and would wait for one read after the other. Neighbours
/// are read in one request when that costs less than two. All this as long as
/// most of such reads turn out to be of use: browsers have memory of their own.
/// Nothing of it may keep others waiting: a read is begun only while the device has
/// less than half of its depth in flight, the clients take turns, and each has
/// only the page that it opened last.
class Prefetcher
{
public:
    /// \param watcher is told of each read that was begun
    Prefetcher(StoreContext &, WindowLoader &, ReadWatcher &watcher);

    /// \param wanted what is expected to be wanted soon; what comes first is most urgent
    /// \param client who opened the page
    void fetch(const std::vector<Key> &wanted, uint64_t client);

    /// begins what the device has room for now
    void poll();

    /// objects looked up for one page
    static constexpr size_t maxWanted = 512;
    /// reads for one page
    static constexpr size_t maxReads = 128;
    /// clients whose pages wait to be read
    static constexpr size_t maxClients = 64;
    /// how long a page waits: then it was asked for, or nobody wants it
    static constexpr uint64_t waitMicros = 2000000;

private:
    /// an object on the device, and what is read with it
    struct Place {
        ClusterRange range;
        uint32_t objects;
        Key key; ///< one of these
        bool first; ///< what is most urgent is among them
    };

    /// what is still to be read of a page
    struct Page {
        uint64_t client;
        uint64_t since; ///< Clock::micros() when it was opened
        std::deque<Place> places;
    };

    void locate(const std::vector<Key> &wanted);
    void merge();
    bool deviceHasRoom() const;
    void begin(const Place &, uint64_t client);

    StoreContext &context_;
    WindowLoader &loader_;
    ReadWatcher &watcher_;
    std::vector<Place> places_; ///< used while a call lasts
    std::deque<Page> pages_; ///< the first one's turn is next
};

} // namespace ClusterFs

#endif
