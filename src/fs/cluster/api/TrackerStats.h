// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of the tracker, for reports. */

#ifndef SQUID_SRC_FS_CLUSTER_API_TRACKERSTATS_H
#define SQUID_SRC_FS_CLUSTER_API_TRACKERSTATS_H

#include <cstdint>

namespace ClusterFs {

/// figures of the tracker: those marked "now", and counters since it was made
struct TrackerStats {
    uint64_t groups = 0; ///< now, with at least one member
    uint64_t members = 0; ///< memberships now; an object of two pages counts twice
    uint64_t objects = 0; ///< known now, with or without a group
    uint64_t clients = 0; ///< known now
    uint64_t byReferer = 0; ///< memberships learned from a whole Referer
    uint64_t byOrigin = 0; ///< from a Referer with only a site
    uint64_t byWindow = 0; ///< from the client's current page
    uint64_t bySequence = 0; ///< from repeated succession
    uint64_t explicitly = 0; ///< from collocate()
    uint64_t bySharing = 0; ///< of objects that many pages share, to their site's group
    uint64_t moved = 0; ///< objects that went from one group to another
    uint64_t restored = 0; ///< groups that an earlier run had learned
    uint64_t forgotten = 0; ///< memberships that ended
    uint64_t refused = 0; ///< memberships that found no room
    uint64_t numbered = 0; ///< objects now in groups that callers have numbered
    uint64_t bytes = 0; ///< bytes of memory that all tables have used so far
};

} // namespace ClusterFs

#endif
