// SPDX-License-Identifier: GPL-2.0-or-later
/* A search for URLs through the clusters of a running cache_dir. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CLUSTERSEARCH_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CLUSTERSEARCH_H

#include "fs/cluster/base/Memory.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Cluster.h"
#include "fs/cluster/squid/UrlChoice.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ClusterFs {

class SwapDir;

/// Finds all objects of a cache_dir with certain URLs. The index knows no URLs, so this reads the clusters from the
/// disk, one after the other, with one background request at a time: at most maxRate, and at most half of the time.
/// It takes the memory of one read (readBytes, or a cluster) and of a directory.
///
/// It tells of each key that it finds, live or not: a key has the same URL for ever. The engine packs staged objects
/// meanwhile, and moves others to clusters that were read already. So the search looks at each cluster that is written, too,
/// before it goes to the disk. When all clusters are read, the other objects are in staging; the search waits until that has
/// packed what it held. Then each object that was stored before the search began was found, or has left the store.
class ClusterSearch
{
public:
    /// \param found takes a key; it may remove the object
    /// \param choice must outlive this
    ClusterSearch(SwapDir &, const UrlChoice &choice, std::function<void(const Key &)> found);
    ~ClusterSearch();
    ClusterSearch(ClusterSearch &&) = delete; // no copying or moving of any kind

    /// does a bounded piece of the work
    /// \returns seconds after which to call it again; not when over()
    double go();

    bool over() const { return phase_ == Phase::over; }

    /// why the search ended early; empty when it did not
    const std::string &failure() const { return failure_; }

    const SwapDir &dir() const { return dir_; }
    bool settling() const { return phase_ == Phase::settling; } ///< waits for staging
    uint64_t clusters() const { return geometry_.clusterCount; }
    uint64_t clustersDone() const { return next_.value(); }
    uint64_t unread() const { return unread_; } ///< clusters that could not be read; Squid gets no object of theirs, either

private:
    enum class Phase { reading, settling, over };

    /// a read; its answer may arrive after the search is gone
    struct Read {
        BufferPointer buffer;
        uint32_t clusters = 0; ///< that it reads, one behind the other
        uint64_t answered = 0; ///< Clock::micros(), 0 = not yet
        Status status = Status::ok;
    };

    static constexpr uint64_t maxRate = 64 << 20; ///< bytes a second
    static constexpr uint32_t readBytes = 1 << 20; ///< of one read, when clusters are not larger
    static constexpr unsigned turnObjects = 200; ///< looked at in one turn

    bool usable();
    void noteWrite(const Io &);
    void begin();
    double take();
    double look();
    void open();
    void lookAt(const char *cluster, uint64_t bytes, const DirectoryEntry &);
    double settle();

    SwapDir &dir_;
    const unsigned starts_; ///< of the cache_dir when the search began
    const UrlChoice &choice_;
    const std::function<void(const Key &)> found_;
    const Geometry geometry_;
    const Uuid uuid_;

    Phase phase_ = Phase::reading;
    std::string failure_;
    std::vector<Key> matches_; ///< found, and not told yet: a write must not change the store
    uint64_t unread_ = 0;
    uint64_t settled_ = 0; ///< when staging will have packed what it held, Clock::micros()

    ClusterNo next_{0}; ///< the cluster that is being read or looked at, or the next one
    std::shared_ptr<Read> read_; ///< of that cluster and some behind it, or nil
    uint32_t looked_ = 0; ///< how many of the clusters of read_ are done
    uint32_t alone_ = 0; ///< how many clusters to read one by one, because a read of several failed
    bool looking_ = false; ///< directory_ is that of next_
    uint64_t began_ = 0; ///< the read, Clock::micros()
    uint64_t pauseUntil_ = 0; ///< Clock::micros(), see maxRate
    Directory directory_;
    size_t entry_ = 0; ///< the next one to look at
};

} // namespace ClusterFs

#endif
