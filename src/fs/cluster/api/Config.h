// SPDX-License-Identifier: GPL-2.0-or-later
/* What an administrator can set: names, bounds and defaults in one place. */

#ifndef SQUID_SRC_FS_CLUSTER_API_CONFIG_H
#define SQUID_SRC_FS_CLUSTER_API_CONFIG_H

#include <cstdint>
#include <string>
#include <vector>

namespace ClusterFs {

/// Which cluster makes room (Hummingbird 3.5: free disk space daemon). gds: as lru, but
/// small objects count as much as large ones (GreedyDual-Size, Cao and Irani, 1997, without costs and inflation).
enum class ReplacementPolicy : uint8_t { lru, fifo, gds };

/// which free cluster is written next (Hummingbird 3.5: disk data layout policy; middle: Damelo)
enum class LayoutPolicy : uint8_t { closest, closestWrite, overwrite, middle };

/// Settings of one clusterfs; the names are those of the cache_dir options.
struct Config {
    /* decided when the device is formatted */
    uint32_t clusterKb = 1024; ///< cluster-size: KB, a power of two
    uint32_t objectKb = 0; ///< object-size: expected mean size in KB, sizes the index; 0 = the caller's default

    /* memory */
    uint32_t stagingMb = 32; ///< staging: MB
    uint32_t readCacheMb = 32; ///< read-cache: MB
    uint32_t localityMb = 16; ///< locality: MB for learning what is wanted together; 0 = learn nothing

    /* policies */
    static constexpr uint32_t maxAdmit = 7; ///< more is not counted, see Admission
    uint32_t admit = 1; ///< admit: which request of an object makes it stored, 1 = the first
    ReplacementPolicy replacement = ReplacementPolicy::lru;
    LayoutPolicy layout = LayoutPolicy::closestWrite;
    uint32_t fileLifetime = 0; ///< file-lifetime: seconds since stored or revalidated; 0 = no limit
    uint32_t clusterLifetime = 0; ///< cluster-lifetime: seconds since written; 0 = no limit

    /* persistence */
    uint32_t persist = 30; ///< persist: most seconds until a stored object survives a power cut
    uint32_t deleteCount = 1000; ///< delete-count: deletes that may wait for the log
    uint32_t deleteTime = 5; ///< delete-time: most seconds that a delete waits for the log
    uint32_t checkpoint = 300; ///< checkpoint: seconds between checkpoints

    uint32_t depth = 32; ///< depth: requests in flight at the device
    bool list = false; ///< list: keep full keys, 16 bytes an object

    /// the names of all options, in the order in which they are shown
    static const std::vector<std::string> &Names();

    /// sets one option from text; strict. \returns false with the reason in error
    bool set(const std::string &name, const std::string &value, std::string &error);

    /// an option's value as set() would take it
    std::string get(const std::string &name) const;

    /// whether the option may change while the engine runs
    static bool Live(const std::string &name);

    /// checks what no single option can. \returns false with the reason in error
    bool validate(std::string &error) const;

    /// memory that two clusters take, the least of staging and of the read cache, in MB
    uint32_t leastMb() const { return clusterKb > 1024 ? (clusterKb * 2 + 1023) / 1024 : 2; }

    /// Raises memory that is too little for clusterKb, as the device was formatted: what the
    /// administrator chose may suit another size.
    void suitClusters();

    uint32_t clusterBytes() const { return clusterKb * 1024; }
};

} // namespace ClusterFs

#endif
