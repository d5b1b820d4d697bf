// SPDX-License-Identifier: GPL-2.0-or-later
/* How much one read fetches. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_WINDOWPOLICY_H
#define SQUID_SRC_FS_CLUSTER_CACHE_WINDOWPOLICY_H

#include "fs/cluster/device/CostMeter.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// Decides whether to read an object alone or with its group: with the group
/// when the requests that this is expected to save cost more than the bytes
/// that it reads more. How many mates are wanted before they leave memory is
/// measured; so is the cost, by the device.
class WindowPolicy
{
public:
    /// \param mates other objects of the group
    /// \param bytes of those
    bool readGroup(const CostMeter &, unsigned mates, uint64_t bytes);

    /// a window of a group left memory
    /// \param wanted mates that were read from it
    void noteUse(unsigned mates, unsigned wanted);

    /// Whether to read what a page is expected to want before anybody asks. It costs a
    /// request when nobody does, and saves none: that most of these reads are wanted is
    /// enough, and is learned from their windows. Each client has a figure of its own, or
    /// one that opens pages and wants nothing of them would end it for all; one that is
    /// new is taken for the mean of the others.
    /// \param client who opened the page
    bool readAhead(uint64_t client);

    /// a window that was read ahead left memory
    /// \param wanted whether anything of it was used
    void noteAhead(uint64_t client, bool wanted);

    double usefulnessAhead() const; ///< 0 to 1: share of reads ahead that are wanted, mean of clients

    double usefulness() const { return usefulness_; } ///< 0 to 1: share of mates that are wanted

private:
    double usefulness_ = 0.5;
    unsigned refusals_ = 0; ///< since the last trial

    /// what reading ahead was worth to one client, or to those few who share a place in the table
    struct Client {
        float useful = 1;
        uint8_t refusals = 0; ///< since the last trial
        bool known = false; ///< anything was learned
    };
    static constexpr unsigned clientBits = 8;
    static constexpr unsigned clientsEnough = 8; ///< known ones from which on the mean says something of others
    static size_t At(const uint64_t client) { return (client * 0x9e3779b97f4a7c15ULL) >> (64 - clientBits); }

    std::array<Client, 1 << clientBits> clients_;
    unsigned known_ = 0; ///< clients
    double sum_ = 0; ///< of what is known of them
};

} // namespace ClusterFs

#endif
