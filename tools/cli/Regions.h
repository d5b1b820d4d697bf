// SPDX-License-Identifier: GPL-2.0-or-later
/* What index log, groups and journals hold. */

#ifndef CLUSTERFS_TOOLS_CLI_REGIONS_H
#define CLUSTERFS_TOOLS_CLI_REGIONS_H

#include "Image.h"

namespace ClusterFs::Cli {

/// the index log, looked at block by block from its tail to its head
struct LogSummary {
    uint32_t blocks = 0; ///< from tail to head
    uint32_t lost = 0; ///< of those, damaged
    uint64_t checkpoints = 0; ///< that the whole ones are of
    uint64_t removals = 0; ///< each counted once for each of its copies
    uint64_t sections = 0; ///< clusters that are named, each as often as it is; a large one is in several pieces
    uint64_t objects = 0; ///< that are named, each as often as it is
    uint64_t uses = 0;
    bool keys = false; ///< some objects have keys
    std::string problem; ///< the first damage, with the place; empty when all is well
};

LogSummary summarizeLog(Image &, const Superblock &);

/// what is known of groups, up to the first chunk that is not whole: that is no problem
struct GroupsSummary {
    uint32_t chunks = 0; ///< that a start reads
    uint64_t groups = 0;
    uint64_t members = 0; ///< of those groups
    uint64_t hotRanges = 0; ///< of clusters, which were in memory
};

GroupsSummary summarizeGroups(Image &, const Superblock &);

/// the journal that follows one checkpoint
struct JournalSummary {
    uint64_t checkpoint = 0;
    uint32_t blocks = 0; ///< that a start reads
    uint64_t removals = 0;
    uint64_t announcements = 0;
    uint64_t releases = 0;
    uint32_t lost = 0; ///< whole blocks that a start does not reach
    std::string problem; ///< why it does not, with the place; empty when all is well
};

JournalSummary summarizeJournal(Image &, const Superblock &, uint64_t checkpoint);

} // namespace ClusterFs::Cli

#endif
