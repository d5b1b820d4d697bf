// SPDX-License-Identifier: GPL-2.0-or-later
/* What the checkpoint and journal regions hold. */

#ifndef CLUSTERFS_TOOLS_CLI_REGIONS_H
#define CLUSTERFS_TOOLS_CLI_REGIONS_H

#include "Image.h"

namespace ClusterFs::Cli {

/// the newest complete checkpoint, looked at chunk by chunk
struct CheckpointSummary {
    uint64_t number = 0; ///< 0: none was written since formatting
    uint32_t chunks = 0; ///< whole ones
    uint64_t clusters = 0; ///< cluster records
    uint64_t objects = 0; ///< object records
    bool keys = false; ///< object records have keys
    uint64_t groups = 0; ///< group records behind the end that a start would read
    uint64_t members = 0; ///< of those groups
    std::string problem; ///< why it is not whole, with the place; empty when it is
};

CheckpointSummary summarizeCheckpoint(Image &, const Superblock &);

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
