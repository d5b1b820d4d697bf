// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of the objects that were read unasked are of use. */

#ifndef SQUID_SRC_FS_CLUSTER_CACHE_USEMETER_H
#define SQUID_SRC_FS_CLUSTER_CACHE_USEMETER_H

#include "fs/cluster/api/AheadStats.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ClusterFs {

/// Learns from windows that leave memory how much of what they brought along was wanted: of
/// the mates that came with an object, one figure for all; of what was read ahead for a page,
/// one for each client, or a client that opens pages and wants nothing of them would end it
/// for all. A client that is new is taken for the mean of the others.
///
/// What is no longer read teaches nothing: of the refusals of a policy, one in 64 is to be a
/// trial instead.
class UseMeter
{
public:
    /// what reads of an object with its group have brought, and what became of it
    struct GroupReads {
        uint64_t reads = 0;
        uint64_t mates = 0; ///< objects that came along
        uint64_t bytes = 0; ///< of those
        uint64_t wanted = 0; ///< of those that have left memory again: how many were used
        uint64_t unused = 0; ///< and were not
    };

    /* what is learned */

    double ofMates() const { return ofMates_; } ///< 0 to 1: share of mates that are wanted
    double ofAhead(uint64_t client) const; ///< 0 to 1: share of the reads ahead that are, for a client
    double ofAhead() const; ///< mean of clients

    /// counts a refusal to read a group \returns whether it is time for a trial instead
    bool isTimeForGroup();
    /// the same for a read ahead
    bool isTimeForAhead(uint64_t client);

    /* what happens */

    /// an object is read with its group
    /// \param bytes of the mates
    void groupRead(unsigned mates, uint64_t bytes);
    /// a window of a group leaves memory
    /// \param wanted mates that were used
    void groupLeaves(unsigned mates, unsigned wanted);

    /// objects are read ahead
    void aheadRead(unsigned objects);
    /// a window that was read ahead leaves memory
    /// \param wanted objects that were used
    void aheadLeaves(uint64_t client, unsigned objects, unsigned wanted);

    const GroupReads &groupReads() const { return groupReads_; }
    const AheadStats &aheadReads() const { return aheadReads_; }

private:
    /// what reading ahead was worth to one client, or to those few who share a place in the table
    struct Client {
        float useful = 1;
        uint8_t refusals = 0; ///< since the last trial
        bool known = false; ///< anything was learned
    };
    static constexpr unsigned clientBits = 8;
    static constexpr unsigned clientsEnough = 8; ///< known ones from which on the mean says something of others
    static size_t At(const uint64_t client) { return (client * 0x9e3779b97f4a7c15ULL) >> (64 - clientBits); }

    double ofMates_ = 0.5;
    unsigned refusals_ = 0; ///< of groups, since the last trial
    std::array<Client, 1 << clientBits> clients_;
    unsigned known_ = 0; ///< clients
    double sum_ = 0; ///< of what is known of them
    GroupReads groupReads_;
    AheadStats aheadReads_;
};

} // namespace ClusterFs

#endif
