// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing what was learned of groups, for the next run. */

#include "fs/cluster/recovery/GroupSaver.h"

void
ClusterFs::GroupSaver::begin(const uint64_t generation)
{
    generation_ = generation + 1;
    next_ = chunks_ = 0;
    records_.clear();
}

ClusterFs::SavedGroups::Saved
ClusterFs::GroupSaver::gather(const bool always)
{
    constexpr uint64_t rarely = 4; // times their bytes are written to the log before they are
    const bool fits = bytes() + groupsChunkBytes <= context_.geometry.groupsBytes;
    const bool wanted = chunks_ || always || logged_ >= rarely * bytesBefore_;
    return fits && wanted ? learned_.save(next_, records_) : SavedGroups::Saved::all;
}

uint64_t
ClusterFs::GroupSaver::takeChunk(char *const buffer)
{
    SavedGroups::Chunk chunk;
    chunk.generation = generation_;
    chunk.index = chunks_;
    chunk.groups.swap(records_);
    SavedGroups::Encode(buffer, chunk, context_.uuid);
    return context_.geometry.groupsOffset(generation_, chunks_++);
}

void
ClusterFs::GroupSaver::describe(Superblock &superblock) const
{
    if (chunks_)
        superblock.groups = generation_;
}

void
ClusterFs::GroupSaver::done()
{
    if (!chunks_)
        return;
    bytesBefore_ = bytes();
    logged_ = 0;
}
