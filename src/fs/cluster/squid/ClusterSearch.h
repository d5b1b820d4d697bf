// SPDX-License-Identifier: GPL-2.0-or-later
/* A search for URLs through a running cache_dir. */

#ifndef SQUID_SRC_FS_CLUSTER_SQUID_CLUSTERSEARCH_H
#define SQUID_SRC_FS_CLUSTER_SQUID_CLUSTERSEARCH_H

#include "fs/cluster/api/Engine.h"
#include "fs/cluster/base/Memory.h"
#include "fs/cluster/catalog/Staging.h"
#include "fs/cluster/device/Device.h"
#include "fs/cluster/layout/Cluster.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ClusterFs {

class Catalog;
class SwapDir;
class TurnMeter;

/// Meets all objects of a cache_dir with their URLs. The index knows no URLs, so this looks at staging, and reads the
/// clusters that hold objects, one after the other, with one background request at a time: at most maxRate, and at most
/// half of the time. It takes the memory of a request (readBytes), or of a cluster, and of a directory.
///
/// The engine packs staged objects meanwhile, and moves others to clusters that were read already. All of these are in
/// staging until their cluster is on the device, so a search that follows looks at those that are being packed, after
/// each turn of the engine, and at staging last. Then each object that was stored before the search began is met, or has
/// left the store. A search that does not follow looks at staging first.
class ClusterSearch
{
public:
    /// an object, live or not: a key has the same URL for ever
    struct Met {
        const Key &key;
        const std::string &url;
        ClusterNo cluster; ///< stagedCluster when it is in staging
        uint32_t offset; ///< of its extent, bytes from the cluster's start; 0 in staging
    };
    using Visitor = std::function<void(const Met &)>;

    enum class Follows : uint8_t { moves, nothing };

    /// \param turns measures what the search does in turns of the engine
    /// \param visitor is called from go(), and when it follows moves, after turns of the engine; it must not change the
    /// store. An object may be met several times.
    ClusterSearch(SwapDir &, Follows, TurnMeter &turns, Visitor visitor);
    ~ClusterSearch();
    ClusterSearch(ClusterSearch &&) = delete; // no copying or moving of any kind

    /// does a bounded piece of the work
    /// \returns seconds after which to call it again; not when over()
    double go();

    bool over() const { return phase_ == Phase::over; }

    /// why the search ended early; empty when it did not
    const std::string &failure() const { return failure_; }

    const SwapDir &dir() const { return dir_; }
    uint64_t clusters() const { return geometry_.clusterCount; }
    uint64_t clustersDone() const { return next_.value(); }
    uint64_t unread() const { return unread_; } ///< clusters that could not be read, or whose directory is damaged

private:
    enum class Phase : uint8_t { staging, reading, over }; // or reading, staging, over

    /// a read; its answer may arrive after the search is gone
    struct Read {
        BufferPointer buffer;
        ClusterNo first = noCluster;
        uint32_t clusters = 0; ///< that it reads, one behind the other
        uint32_t bytes = 0; ///< of them
        uint32_t moved = 0; ///< of these, those that have come
        Sequence newest{0}; ///< of all clusters when it began
        uint32_t piece = 0; ///< bytes of the request that is under way, or was last
        uint64_t answered = 0; ///< Clock::micros(), 0 = not yet
        Status status = Status::ok;
    };

    /// an object that was being packed, to be looked at later
    struct Packed {
        StageNo stage;
        uint64_t id; ///< Staged::id
        Key key;
    };

    static constexpr uint64_t maxRate = 64 << 20; ///< bytes a second
    static constexpr uint32_t readBytes = 1 << 20; ///< of one request
    static constexpr unsigned turnObjects = 200; ///< met in one turn
    static constexpr unsigned packedObjects = 300; ///< of those being packed, met in the turn of the engine; others later
    static constexpr unsigned turnStages = 2000; ///< slots of staging gone over in one turn
    static constexpr unsigned turnClusters = 5000; ///< lines of the cluster table gone over in one turn

    bool usable();
    const Catalog &catalog() const;
    void notePacking();
    void meetStaged(StageNo);
    double meetPacked();
    double goOverStaging();
    void stagingIsOver();
    double read();
    void begin(ClusterNo first, uint32_t count);
    double request();
    double take();
    double meetClusters();
    void open();
    void meet(const char *cluster, const DirectoryEntry &);

    SwapDir &dir_;
    const unsigned starts_; ///< of the cache_dir when the search began
    const Follows follows_;
    TurnMeter &turns_;
    const Visitor visitor_;
    const Geometry geometry_;
    const Uuid uuid_;

    Phase phase_;
    std::string failure_;
    uint64_t unread_ = 0;

    /* staging */
    StageNo stage_{0}; ///< the next slot
    Sequence sequence_{0}; ///< the newest one when the search looked at those that were being packed
    std::vector<Packed> packed_;
    std::string front_; ///< scratch memory for the front of a staged object

    /* clusters */
    ClusterNo next_{0}; ///< the next one that no read was begun for
    std::set<ClusterNo> again_; ///< others that have to be read, because the search was late for objects in packed_
    const BufferPointer buffer_; ///< of all reads, of which there is one at a time
    std::shared_ptr<Read> read_; ///< whose clusters are being read or looked at, or nil
    uint32_t looked_ = 0; ///< how many of the clusters of read_ are done
    uint32_t alone_ = 0; ///< how many clusters to read one by one, because a read of several failed
    bool looking_ = false; ///< directory_ is that of the next of them
    uint64_t began_ = 0; ///< the read, Clock::micros()
    uint64_t pauseUntil_ = 0; ///< Clock::micros(), see maxRate
    Directory directory_;
    size_t entry_ = 0; ///< the next one to look at
};

} // namespace ClusterFs

#endif
