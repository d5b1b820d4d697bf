// SPDX-License-Identifier: GPL-2.0-or-later
/* Getting back what was learned of groups. */

#include "fs/cluster/recovery/GroupLoader.h"

#include <algorithm>

void
ClusterFs::GroupLoader::start(const uint64_t checkpoint, const uint32_t chunk)
{
    checkpoint_ = checkpoint;
    chunk_ = chunk;
    read();
}

void
ClusterFs::GroupLoader::read()
{
    loading_ = chunk_ < shared_.geometry.checkpointBytes / checkpointChunkBytes;
    if (!loading_)
        return;
    const auto buffer = std::make_shared<Buffer>(checkpointChunkBytes);
    Io io;
    io.op = IoOp::read;
    io.ioClass = IoClass::background;
    io.offset = shared_.geometry.chunkOffset(checkpoint_, chunk_);
    io.size = checkpointChunkBytes;
    io.buffer = buffer->data();
    const auto alive = shared_.alive;
    io.done = [this, alive, buffer](const Status status) {
        if (!*alive)
            return;
        loading_ = false;
        if (status == Status::ok && take(buffer->data()))
            read();
    };
    shared_.device.submit(std::move(io));
}

/// \returns whether another chunk may follow
bool
ClusterFs::GroupLoader::take(const char *const bytes)
{
    Checkpoint::Chunk chunk;
    if (Checkpoint::Decode(bytes, chunk, shared_.uuid) != Status::ok || chunk.kind != Checkpoint::groups ||
            chunk.checkpoint != checkpoint_ || chunk.index != chunk_)
        return false;
    ++chunk_;
    return std::all_of(chunk.groupRecords.begin(), chunk.groupRecords.end(), onGroup);
}
