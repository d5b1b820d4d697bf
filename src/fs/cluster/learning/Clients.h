// SPDX-License-Identifier: GPL-2.0-or-later
/* The pages that each client is looking at. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_CLIENTS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_CLIENTS_H

#include "fs/cluster/learning/GroupTable.h"

namespace ClusterFs {

/// The groups that clients fetched from lately, a few for each client, and the
/// last object of each that no page explains. Clients that made no request for
/// long make room for others. A client's number is valid until the next
/// clientFor(); number 0 is nobody. All times are microseconds of one clock.
class Clients
{
public:
    static constexpr unsigned maxCurrent = 6; ///< groups that are remembered of a client

    /// \param groups must outlive this
    Clients(uint32_t capacity, uint64_t seed, const GroupTable &groups);

    /// bytes of memory for each client
    static uint64_t BytesEach() { return decltype(clients_)::bytesEach; }

    /// \returns the number of a client, a new one if it is not known; 0 for the id 0
    uint32_t clientFor(uint64_t id);

    /// when a client last fetched something of a group; 0 when that is long ago or never
    uint64_t lastFetch(uint32_t client, uint32_t group) const;

    /// a client fetched something of a group
    void fetched(uint32_t client, uint32_t group, uint64_t micros);

    /// \returns the client's most recent page of a site, or nothing
    uint32_t pageOfSite(uint32_t client, uint64_t site) const;

    /// \param window microseconds before now
    /// \param micros now
    /// \returns the most recent page that the client fetched something of within
    /// the window, but one of the given site before all others; or nothing
    uint32_t pageWithin(uint32_t client, uint64_t window, uint64_t site, uint64_t micros) const;

    /// Remembers an object that no page explains.
    /// \param window microseconds before now
    /// \param micros now
    /// \returns the object before, if it came within the window; or nothing
    uint32_t follow(uint32_t client, uint32_t object, uint64_t window, uint64_t micros);

    uint32_t used() const { return clients_.used(); } ///< how many clients are known
    uint64_t bytes() const { return clients_.bytes(); }

private:
    /// a group that a client fetched from
    struct Current {
        uint32_t group;
        uint32_t serial; ///< Group::serial, because another group may have the number by now
        uint64_t micros; ///< of the last fetch
    };

    struct Client {
        uint64_t name; ///< id
        uint32_t next; ///< of the pool
        uint32_t loose; ///< last object that no page explains
        uint64_t looseMicros; ///< when it was fetched
        uint32_t looseTag; ///< TrackedObject::tag(), because another object may have the number by now
        bool used; ///< of the pool
        bool marked; ///< of the pool
        Current current[maxCurrent];
    };

    bool isPage(const Current &) const;
    bool holds(const Current &c) const { return c.group && groups_[c.group].used && groups_[c.group].serial == c.serial; }

    const GroupTable &groups_;
    Pool<Client, uint64_t> clients_;
};

} // namespace ClusterFs

#endif
