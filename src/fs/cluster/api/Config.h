// SPDX-License-Identifier: GPL-2.0-or-later
/* The settings of an administrator, and their defaults. Names and bounds are in Options. */

#ifndef SQUID_SRC_FS_CLUSTER_API_CONFIG_H
#define SQUID_SRC_FS_CLUSTER_API_CONFIG_H

#include "fs/cluster/policies/EvictionPolicy.h"
#include "fs/cluster/policies/LayoutPolicy.h"
#include "fs/cluster/policies/PackingPolicy.h"

#include <cstdint>
#include <string>

namespace ClusterFs {

/// Settings of one store. The table of options has the meaning of each. \see options()
struct Config {
    uint32_t clusterKb = 1024; ///< KB
    uint32_t objectKb = 0; ///< KB; 0 = the caller's default, or usualObjectKb
    static constexpr uint32_t usualObjectKb = 13; ///< KB

    /* memory */
    uint32_t memoryMb = 0; ///< MB; 0 = the others are not bounded together
    bool stagingGiven = false; ///< by a text
    bool localityGiven = false; ///< by a text
    uint32_t stagingMb = 32; ///< MB
    uint32_t readCacheMb = 32; ///< MB
    uint32_t localityMb = 16; ///< MB; 0 = nothing is learned
    bool list = false; ///< whether the index keeps whole keys
    bool warm = true; ///< whether a start reads what was in memory before

    /* policies; a program that uses the library may bring its own */
    static constexpr uint32_t maxAdmit = 7; ///< Admission counts no more requests
    uint32_t admit = 1; ///< number of the request from which on an object is stored
    const EvictionPolicy *replacement = &gdsfEviction; ///< one of evictionPolicies()
    uint32_t sizeWeight = 25; ///< percent: a hundred times the exponent of an object's size, see EvictionPolicy
    uint32_t writeBudget = 21; ///< percent of the bytes written that may be bytes written before
    uint32_t replicas = 0; ///< percent of the bytes packed that replicas may be; 0 = none
    const LayoutPolicy *layout = &closestWriteLayout; ///< one of layoutPolicies()
    const PackingPolicy *packing = &wholeGroups; ///< one of packingPolicies()
    uint32_t fileLifetime = 0; ///< seconds; 0 = no limit
    uint32_t clusterLifetime = 0; ///< seconds; 0 = no limit

    /* persistence */
    uint32_t persist = 30; ///< seconds
    uint32_t deleteCount = 1000; ///< deletes
    uint32_t deleteTime = 5; ///< seconds
    uint32_t checkpoint = 300; ///< seconds

    uint32_t depth = 32; ///< requests in flight

    /// sets one option from text, strictly
    /// \returns false with the reason in error
    bool set(const std::string &name, const std::string &value, std::string &error);

    /// an option's value as set() takes it; empty when there is no such option
    std::string get(const std::string &name) const;

    /// checks rules that concern several options
    /// \returns false with the reason in error
    bool validate(std::string &error) const;

    /// the least for staging and for the read cache: the memory of two clusters, in MB
    uint32_t leastMb() const { return clusterKb > 1024 ? (clusterKb * 2 + 1023) / 1024 : 2; }
    /// the least for all together, without the index, in MB
    uint32_t leastMemoryMb() const { return stagingMb + localityMb + leastMb(); }

    /// gives staging and locality, unless they are given, their shares of memory, if that is
    void shareMemory();

    /// Raises staging and read cache to leastMb(), and memory to leastMemoryMb(), when some
    /// options come from the device or from an earlier line of squid.conf: the administrator has chosen the others without them.
    void suitOthers();

    uint32_t clusterBytes() const { return clusterKb * 1024; }
};

} // namespace ClusterFs

#endif
