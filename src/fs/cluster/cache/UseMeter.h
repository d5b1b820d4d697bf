// SPDX-License-Identifier: GPL-2.0-or-later
/* Learns whether objects that were read unasked are of use. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_USEMETER_H
#define SQUID_SRC_FS_CLUSTER_CACHE_USEMETER_H

#include "fs/cluster/api/PrefetchStats.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// Learns from windows that leave memory which share of the objects that nobody had asked for
/// was wanted after all. There is one figure for the mates of all objects, and one for the
/// prefetches of each client: a client that opens pages and does not want their objects must
/// not end prefetching for all. A new client is taken for the mean of the others.
///
/// Mates take memory from other windows, which readers would have found there. So the meter
/// learns, too, how many of the windows that leave memory without mates were found.
///
/// Nothing is learned of reads that a policy refuses. So one refusal in 256 to read a group, and
/// one in 64 to prefetch, is to be a trial instead.
class UseMeter
{
public:
    /// counters of the reads of objects with their groups, since the start
    struct GroupReads {
        uint64_t reads = 0;
        uint64_t mates = 0; ///< objects that came along
        uint64_t bytes = 0; ///< bytes that were read more for them
        uint64_t wanted = 0; ///< mates that were used before they left memory
        uint64_t unused = 0; ///< mates that left memory unused
    };

    /* learned so far */

    double ofMates() const { return ofMates_; } ///< share of mates that are wanted, 0 to 1
    /// requests that windows of so many bytes save in the mean before they leave memory
    double savedBy(const uint64_t bytes) const { return again_ * static_cast<double>(bytes) / windowBytes_; }
    double ofPrefetches(uint64_t client) const; ///< share of a client's prefetches that are of use, 0 to 1
    double ofPrefetches() const; ///< mean of that over all known clients; 1 when there are none

    /// counts a refusal to read a group
    /// \returns whether it is time for a trial instead
    bool isTimeForGroup();
    /// the same, but the trial stays due until isTimeForGroup() grants it
    bool groupIsDue();
    /// the same for a prefetch
    bool isTimeToPrefetch(uint64_t client);

    /* events to learn from */

    /// an object is read with its group
    /// \param bytes that are read more for the mates
    void groupRead(unsigned mates, uint64_t bytes);
    /// a window of a group leaves memory
    /// \param wanted mates that were used
    void groupLeaves(unsigned mates, unsigned wanted);

    /// a window leaves memory that has no mates, or only those that were wanted
    /// \param again whether a reader found it in memory
    void windowLeaves(uint64_t bytes, bool again);

    /// objects are prefetched in one read
    void prefetched(unsigned objects);
    /// a prefetched window leaves memory
    /// \param wanted objects that were used
    void prefetchLeaves(uint64_t client, unsigned objects, unsigned wanted);

    const GroupReads &groupReads() const { return groupReads_; }
    const PrefetchStats &prefetches() const { return prefetches_; }

private:
    /// the use of prefetches to one client, or to the few clients that share a place in the table
    struct Client {
        float useful = 1; ///< moving mean, 0 to 1
        uint8_t refusals = 0; ///< since the last trial
        bool known = false; ///< something was learned
    };
    static constexpr unsigned clientBits = 8;
    static constexpr unsigned clientsEnough = 8; ///< known clients from which on their mean counts for new ones
    static size_t At(const uint64_t client) { return (client * 0x9e3779b97f4a7c15ULL) >> (64 - clientBits); }

    double ofMates_ = 0.5; ///< moving mean, 0 to 1
    double again_ = 0; ///< moving mean of the windows that were found, 0 to 1
    double windowBytes_ = 1; ///< moving mean of their bytes
    unsigned refusals_ = 0; ///< of groups, since the last trial
    std::array<Client, 1 << clientBits> clients_;
    unsigned known_ = 0; ///< how many clients are known
    double sum_ = 0; ///< of Client::useful over the known ones
    GroupReads groupReads_;
    PrefetchStats prefetches_;
};

} // namespace ClusterFs

#endif
