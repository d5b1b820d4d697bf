// SPDX-License-Identifier: GPL-2.0-or-later
/* The objects of a cache_dir whose URLs somebody has chosen. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_FOUNDTEXT_H
#define SQUID_SRC_FS_CLUSTER_SQUID_FOUNDTEXT_H

#include "fs/cluster/squid/ClusterSearch.h"
#include "fs/cluster/squid/PageText.h"
#include "fs/cluster/squid/UrlChoice.h"

#include <memory>
#include <string>

namespace ClusterFs {

/// Writes a line "found: KEY" for each object, which may come several times, lines "clusters searched: N of M", and at the end
/// how many clusters could not be read. Each object that was stored before the search began is found, or has left the store, see
/// ClusterSearch. A search waits as long as the journal is behind with the removals of what it has found. One runs at a time.
class FoundText final : public PageText
{
public:
    /// whether a search runs
    static bool Running() { return running_; }

    /// \param dir is serving
    /// \param choice has no error
    FoundText(SwapDir &dir, std::unique_ptr<UrlChoice> choice);
    ~FoundText() override { running_ = false; }

private:
    double work(std::string &) override;
    bool journalIsBehind();

    static constexpr unsigned foundBetweenLooks = 1000; ///< at the journal
    static constexpr uint64_t maxPending = 10000; ///< deletes that may wait for the journal before the search waits, too

    static bool running_;

    SwapDir &dir_;
    const std::unique_ptr<UrlChoice> choice_;
    std::string lines_;
    unsigned unlooked_ = 0; ///< objects found since the last look at the journal
    ClusterSearch search_;
};

} // namespace ClusterFs

#endif
