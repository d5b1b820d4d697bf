// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the objects that a page will need before the browser asks for them. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_PREFETCHER_H
#define SQUID_SRC_FS_CLUSTER_CACHE_PREFETCHER_H

#include "fs/cluster/cache/ReadWatcher.h"
#include "fs/cluster/cache/ReadCache.h"
#include "fs/cluster/context/StoreContext.h"

#include <deque>
#include <vector>

namespace ClusterFs {

/// When a client opens a page, the objects that its last visit needed and that are
/// not in memory are read at once, wherever they lie: the client asks for them as
/// soon as it has the document, and would wait for one read after the other.
/// Neighbours are read in one request when that costs less than two; where an object lies alone, and has a replica in a cluster from
/// which others are read, the replica is read. This goes on
/// as long as clients want most of the prefetched objects; browsers have caches of
/// their own. Prefetches keep nobody waiting: one begins only while less than half
/// of the device's depth is in flight and nothing is queued, the clients take
/// turns, and each has only the page that it opened last.
class Prefetcher
{
public:
    /// \param watcher is told of each read that was begun
    Prefetcher(StoreContext &, ReadCache &, ReadWatcher &watcher);

    /// A client opened a page: prefetches its objects.
    /// \param wanted the objects that are expected to be wanted soon; the first is the most urgent
    /// \param client number of the client
    void fetch(const std::vector<Key> &wanted, uint64_t client);

    /// begins as many reads as the device has room for now; called each turn
    void poll();

    /// objects looked up for one page
    static constexpr size_t maxWanted = 512;
    /// reads for one page
    static constexpr size_t maxReads = 128;
    /// clients whose pages wait to be read
    static constexpr size_t maxClients = 64;
    /// how long a page waits; by then, the client has asked for its objects, or does not want them
    static constexpr uint64_t waitMicros = 2000000;

private:
    /// one read: an object on the device, or several neighbours
    struct Place {
        ClusterRange range;
        uint32_t objects; ///< how many of the wanted ones
        Key key; ///< of one of these
        bool first; ///< the most urgent object is among them
    };

    /// the reads of a page that are not begun yet
    struct Page {
        uint64_t client;
        uint64_t since; ///< Clock::micros() when it was opened
        std::deque<Place> places;
    };

    void locate(const std::vector<Key> &wanted);
    void takeReplicas();
    void merge();
    bool deviceHasRoom() const;
    void begin(const Place &, uint64_t client);

    StoreContext &context_;
    WindowLoader &loader_;
    const Replicas &replicas_;
    ReadWatcher &watcher_;
    std::vector<Place> places_; ///< scratch memory of fetch()
    std::deque<Page> pages_; ///< the first one is next
};

} // namespace ClusterFs

#endif
