// SPDX-License-Identifier: GPL-2.0-or-later
/* What an administrator can set, and the defaults. Names and bounds are in Options. */

#ifndef SQUID_SRC_FS_CLUSTER_API_CONFIG_H
#define SQUID_SRC_FS_CLUSTER_API_CONFIG_H

#include "fs/cluster/policies/EvictionPolicy.h"
#include "fs/cluster/policies/LayoutPolicy.h"

#include <cstdint>
#include <string>

namespace ClusterFs {

/// Settings of one clusterfs. The table of options says what they mean. \see options()
struct Config {
    uint32_t clusterKb = 1024;
    uint32_t objectKb = 0; ///< 0 = the caller's default, or usualObjectKb
    static constexpr uint32_t usualObjectKb = 13;

    /* memory */
    uint32_t stagingMb = 32;
    uint32_t readCacheMb = 32;
    uint32_t localityMb = 16;
    bool list = false;

    /* policies */
    static constexpr uint32_t maxAdmit = 7; ///< more is not counted, see Admission
    uint32_t admit = 1;
    const EvictionPolicy *replacement = &lruEviction; ///< one of evictionPolicies()
    const LayoutPolicy *layout = &closestWriteLayout; ///< one of layoutPolicies()
    uint32_t fileLifetime = 0; ///< seconds
    uint32_t clusterLifetime = 0; ///< seconds

    /* persistence */
    uint32_t persist = 30; ///< seconds
    uint32_t deleteCount = 1000;
    uint32_t deleteTime = 5; ///< seconds
    uint32_t checkpoint = 300; ///< seconds

    uint32_t depth = 32;

    /// sets one option from text; strict. \returns false with the reason in error
    bool set(const std::string &name, const std::string &value, std::string &error);

    /// an option's value as set() would take it; empty when there is no such option
    std::string get(const std::string &name) const;

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
