// SPDX-License-Identifier: GPL-2.0-or-later
/* Emptying a cache_dir of a running Squid. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CLEAR_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CLEAR_H

#include "fs/cluster/squid/EntryWalk.h"
#include "fs/cluster/squid/LiveJob.h"

#include <string>

namespace ClusterFs {

class SwapDir;

/// Removes all objects of one cache_dir. From the first moment on, Squid finds none of them and stores none there. The
/// engine frees the clusters, as if cluster-lifetime were over; clients that read an object go on. Once a checkpoint
/// says that they are gone, the cache_dir stores again.
class Clear final : public LiveJob
{
public:
    /// \param dir is serving
    explicit Clear(SwapDir &dir);

private:
    enum class Step { begin, entries, objects, oldCheckpoint, checkpoint };

    /* LiveJob API */
    double work() override;
    void letGo() override;
    std::string describe() const override;

    bool usable() const;
    double await(Step next);

    SwapDir &dir_;
    const unsigned starts_; ///< of the cache_dir when the job began
    Step step_ = Step::begin;
    EntryWalk walk_;
    uint64_t released_ = 0; ///< entries that were in memory
    uint64_t before_ = 0; ///< objects at the beginning
    uint64_t left_ = 0; ///< objects, when there was an engine last
    uint64_t checkpoints_ = 0; ///< written before the one that is awaited
    uint64_t errors_ = 0; ///< checkpoints that failed before
};

} // namespace ClusterFs

#endif
