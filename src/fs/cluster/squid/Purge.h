// SPDX-License-Identifier: GPL-2.0-or-later
/* Removing URLs from a running Squid. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_PURGE_H
#define SQUID_SRC_FS_CLUSTER_SQUID_PURGE_H

#include "fs/cluster/squid/EntryWalk.h"
#include "fs/cluster/squid/LiveJob.h"
#include "fs/cluster/squid/PageText.h"
#include "fs/cluster/squid/UrlChoice.h"

#include <string>
#include <vector>

namespace ClusterFs {

class SwapDir;

/// Removes all objects of the chosen URLs that were stored before it began, those of all methods and variants, from
/// memory and from our cache_dirs. Those that are stored while it runs may go, too. \see FoundText
class Purge final : public LiveJob
{
public:
    /// \param choice has no error
    explicit Purge(std::unique_ptr<UrlChoice> choice): choice_(std::move(choice)) {}

    /// Removes the objects with these keys from memory and all cache_dirs at once, as Squid's PURGE does.
    /// \returns whether one of our cache_dirs had it, or Squid had it in memory
    static bool Remove(const Key &);

private:
    enum class Step { memory, disks, memoryAgain };

    /* LiveJob API */
    double work() override;
    void letGo() override { search_.reset(); }
    std::string describe() const override;

    double walk();
    double search();
    void take();
    double removeFound();

    static constexpr unsigned turnRemovals = 50; ///< in one turn

    const std::unique_ptr<UrlChoice> choice_;
    Step step_ = Step::memory;
    EntryWalk walk_;
    SwapDir *searched_ = nullptr; ///< the cache_dir of search_
    std::unique_ptr<PageText> search_; ///< see FoundText; nil between two of them
    std::string lines_; ///< of it, that were not taken yet
    std::string progress_; ///< how far it is
    std::string failure_; ///< why it has ended
    bool whole_ = false; ///< it has come to its end
    std::vector<Key> found_; ///< by the search, and not removed yet
    size_t dir_ = 0; ///< how many of our cache_dirs the purge has come to
    uint64_t removed_ = 0; ///< objects
    uint64_t unread_ = 0; ///< clusters, of the cache_dirs that were searched
    std::string skipped_; ///< cache_dirs that were not searched, and why
};

} // namespace ClusterFs

#endif
