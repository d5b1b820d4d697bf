// SPDX-License-Identifier: GPL-2.0-or-later
/* Loading the groups that an earlier run has saved. */

#include "fs/cluster/recovery/GroupLoader.h"

#include <algorithm>

void
ClusterFs::GroupLoader::start(const uint64_t generation)
{
    generation_ = generation;
    chunk_ = 0;
    if (generation_)
        read();
}

void
ClusterFs::GroupLoader::read()
{
    loading_ = chunk_ < context_.geometry.groupsBytes / groupsChunkBytes;
    if (!loading_)
        return;
    const auto buffer = std::make_shared<Buffer>(groupsChunkBytes);
    Io io;
    io.op = IoOp::read;
    io.ioClass = IoClass::background;
    io.offset = context_.geometry.groupsOffset(generation_, chunk_);
    io.size = groupsChunkBytes;
    io.buffer = buffer->data();
    const auto alive = context_.alive;
    io.done = [this, alive, buffer](const Status status) {
        if (!*alive)
            return;
        loading_ = false;
        if (status == Status::ok && take(buffer->data()))
            read();
    };
    context_.device.submit(std::move(io));
}

/// \returns whether another chunk may follow
bool
ClusterFs::GroupLoader::take(const char *const bytes)
{
    SavedGroups::Chunk chunk;
    if (SavedGroups::Decode(bytes, chunk, context_.uuid) != Status::ok || chunk.generation != generation_ || chunk.index != chunk_)
        return false;
    ++chunk_;
    return std::all_of(chunk.groups.begin(), chunk.groups.end(), [this](const SavedGroups::GroupRecord &group) { return learned_.load(group); });
}
