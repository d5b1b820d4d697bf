// SPDX-License-Identifier: GPL-2.0-or-later
/* How much a membership weighs. */

#ifndef SQUID_SRC_FS_CLUSTER_LEARNING_WEIGHTS_H
#define SQUID_SRC_FS_CLUSTER_LEARNING_WEIGHTS_H

#include <cstdint>

namespace ClusterFs {

/* A member that was fetched once leaves after three visits without
 * it, one that is fetched each time after eight. A visit that fetched few of the
 * members says little: the browser had the others. */
constexpr uint32_t weightOfNew = 64;
constexpr uint32_t weightWhenSeen = 64; ///< added
constexpr uint32_t weightAtMost = 144;
constexpr uint32_t fadeInVisit = 16; ///< fetched at least half of the members
constexpr uint32_t fadeInSmallVisit = 1; ///< fetched fewer
constexpr uint32_t fadeBetweenSweeps = 32;
constexpr uint32_t forever = 0xffffffff;

} // namespace ClusterFs

#endif
