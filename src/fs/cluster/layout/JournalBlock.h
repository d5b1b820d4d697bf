// SPDX-License-Identifier: GPL-2.0-or-later
/* A block of the journal: deletes, and clusters announced or released, since a checkpoint began. */

#ifndef SQUID_SRC_FS_CLUSTER_LAYOUT_JOURNALBLOCK_H
#define SQUID_SRC_FS_CLUSTER_LAYOUT_JOURNALBLOCK_H

#include "fs/cluster/layout/Superblock.h"

#include <vector>

namespace ClusterFs {

/// one thing that the next start must know
struct JournalRecord {
    enum class Kind : uint8_t {
        removal = 1, ///< versions of the key with at most this sequence number are gone
        announce = 2, ///< this cluster will be written from now on
        release = 3 ///< the former contents of this cluster are forgotten
    };

    Kind kind = Kind::removal;
    Key key; ///< removal
    Sequence sequence{0}; ///< removal; announce: the cluster's new contents have a higher one
    ClusterNo cluster = noCluster; ///< announce, release

    size_t encodedBytes() const { return kind == Kind::removal ? 25 : kind == Kind::announce ? 13 : 5; }
};

/// journalBlockBytes on the device. A block counts only when all blocks before it are whole.
struct JournalBlock {
    uint64_t checkpoint = 0; ///< number of the checkpoint that this journal follows
    uint32_t index = 0; ///< position in its region, from 0
    uint32_t run = 0; ///< grows from start to start: an older block behind a newer one is a leftover
    std::vector<JournalRecord> records;

    /// bytes for records
    static size_t Capacity();

    /// \param buffer journalBlockBytes long
    void encode(char *buffer, const Uuid &) const;

    /// \returns ok, notFound (not a block of this device), corrupt
    Status decode(const char *buffer, const Uuid &);
};

} // namespace ClusterFs

#endif
