// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what a page will want, before it is asked for. */

#ifndef SQUID_SRC_FS_CLUSTER_READING_PREFETCHER_H
#define SQUID_SRC_FS_CLUSTER_READING_PREFETCHER_H

#include "fs/cluster/index/Shared.h"
#include "fs/cluster/reading/ReadCache.h"

#include <vector>

namespace ClusterFs {

/// When somebody opens a page, what its last visit has wanted and memory does
/// not have is read at once, wherever it lies: the client asks for it as soon as
/// it has the document, and would wait for one read after the other. Neighbours
/// are read in one request when that costs less than two. All this as long as
/// most of such reads turn out to be of use: browsers have memory of their own.
class Prefetcher
{
public:
    Prefetcher(Shared &, ReadCache &);

    /// \param wanted what is expected to be wanted soon; what comes first is most urgent
    void fetch(const std::vector<Key> &wanted);

    /// called with an object of each read that was begun
    std::function<void(const Key &)> onRead;

    /// objects looked up for one page
    static constexpr size_t wantedMost = 512;

private:
    /// an object on the device, and what is read with it
    struct Place {
        ClusterNo cluster;
        Sequence sequence;
        uint32_t from; ///< bytes from the cluster's start
        uint32_t to;
        uint32_t objects;
        Key key; ///< one of these
        bool first; ///< what is most urgent is among them
    };

    void locate(const std::vector<Key> &wanted);
    void merge();

    Shared &shared_;
    ReadCache &cache_;
    std::vector<Place> places_; ///< used while a call lasts
};

} // namespace ClusterFs

#endif
