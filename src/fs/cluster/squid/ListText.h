// SPDX-License-Identifier: GPL-2.0-or-later
/* The manager's page that lists the objects of a cache_dir. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_LISTTEXT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_LISTTEXT_H

#include "fs/cluster/squid/ClusterSearch.h"
#include "fs/cluster/squid/PageText.h"

#include <unordered_set>

namespace ClusterFs {

/// Writes a line "object: ..." for each object, see ObjectLine, how many clusters could not be read, and "end: yes". The URLs
/// come from the clusters, since the index has none. An object that stays where it is comes once. One that the engine moves
/// meanwhile may come twice, or not at all. One list runs at a time, because it takes half of the disk's time.
class ListText final : public PageText
{
public:
    /// whether a list runs
    static bool Running() { return running_; }

    /// \param dir is serving
    explicit ListText(SwapDir &dir);
    ~ListText() override { running_ = false; }

private:
    double work(std::string &) override;
    void list(const ClusterSearch::Met &);

    static bool running_;

    SwapDir &dir_;
    std::unordered_set<Key, KeyHash> staged_; ///< objects that were listed in staging, and may be met in a cluster later
    std::string lines_;
    int64_t told_ = 0; ///< when the page told last how far it is, seconds since 1970
    ClusterSearch search_;
};

} // namespace ClusterFs

#endif
