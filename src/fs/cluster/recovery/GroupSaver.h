// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing what was learned of groups, for the next run. */

#ifndef SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPSAVER_H
#define SQUID_SRC_FS_CLUSTER_RECOVERY_GROUPSAVER_H

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/recovery/LearnedGroups.h"

namespace ClusterFs {

/// Says with which checkpoints groups are saved, and fills the chunks that are written then. Groups are written whole,
/// and so only now and then. The next run learns again what does not fit. \see GroupLoader, which reads them
class GroupSaver
{
public:
    GroupSaver(const StoreContext &context, LearnedGroups &learned): context_(context), learned_(learned) {}

    /// a checkpoint begins
    /// \param generation of what was saved last
    void begin(uint64_t generation);

    /// so many bytes were written to the index log
    void noteLogged(const uint64_t bytes) { logged_ += bytes; }

    /// Gathers what the next chunk is to hold; nothing when this checkpoint saves no groups, or no chunk has room.
    /// \param always whether it saves them in any case
    SavedGroups::Saved gather(bool always);
    bool hasChunk() const { return !records_.empty(); } ///< to be written

    /// encodes the next chunk
    /// \param buffer groupsChunkBytes long
    /// \returns where on the device it goes
    uint64_t takeChunk(char *buffer);

    /// what the superblock is to say when the checkpoint is complete
    void describe(Superblock &) const;
    void done(); ///< it says so

    /// of this checkpoint's chunks
    uint64_t bytes() const { return uint64_t(chunks_) * groupsChunkBytes; }

private:
    const StoreContext &context_;
    LearnedGroups &learned_;
    uint64_t generation_ = 0; ///< of what this checkpoint saves
    uint32_t next_ = 0; ///< group, as LearnedGroups::save() counts
    std::vector<SavedGroups::GroupRecord> records_; ///< of the next chunk; bounded by what fits
    uint32_t chunks_ = 0; ///< of this checkpoint
    uint64_t bytesBefore_ = 0; ///< when they were saved last
    uint64_t logged_ = 0; ///< bytes of the index log, written since then
};

} // namespace ClusterFs

#endif
