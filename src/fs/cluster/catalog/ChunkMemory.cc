// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory in small chunks, which takes no more than it needs now. */

#include "fs/cluster/catalog/ChunkMemory.h"

#include <cassert>
#include <iterator>

namespace ClusterFs {
namespace {
constexpr size_t keptShare = 16; ///< of all blocks, one part of so many keeps its memory while it is idle
} // namespace
} // namespace ClusterFs

ClusterFs::ChunkMemory::ChunkMemory(const uint32_t count, const char *const name):
    count_(count),
    memory_(size_t(count) * chunkBytes, name, Region::Use::comesAndGoes),
    blocks_((count + blockChunks - 1) / blockChunks, Block{~uint64_t(0), ~uint64_t(0), false})
{
    if (const auto rest = count % blockChunks)
        blocks_.back().free = blocks_.back().all = (uint64_t(1) << rest) - 1;
}

uint32_t
ClusterFs::ChunkMemory::take()
{
    while (lowest_ < blocks_.size() && !blocks_[lowest_].free)
        ++lowest_;
    if (lowest_ == blocks_.size())
        return none;
    auto &block = blocks_[lowest_];
    if (!block.resident) {
        block.resident = true;
        ++resident_;
    } else if (block.free == block.all) {
        idle_.erase(lowest_);
    }
    const auto bit = static_cast<uint32_t>(__builtin_ctzll(block.free));
    block.free &= block.free - 1;
    ++used_;
    return lowest_ * blockChunks + bit;
}

void
ClusterFs::ChunkMemory::giveBack(const uint32_t chunk)
{
    const auto number = chunk / blockChunks;
    auto &block = blocks_[number];
    const auto bit = uint64_t(1) << chunk % blockChunks;
    assert(chunk < count_ && !(block.free & bit));
    block.free |= bit;
    --used_;
    if (number < lowest_)
        lowest_ = number;
    if (block.free != block.all)
        return;
    idle_.insert(number);
    if (gives_ && idle_.size() > blocks_.size() / keptShare + 1)
        release();
}

/// gives the memory of the highest idle block back to the system
void
ClusterFs::ChunkMemory::release()
{
    const auto last = std::prev(idle_.end());
    auto &block = blocks_[*last];
    gives_ = memory_.release(*last * blockBytes, static_cast<size_t>(__builtin_popcountll(block.all)) * chunkBytes);
    if (!gives_)
        return; // it keeps what it has: residentBytes() says so
    block.resident = false;
    --resident_;
    idle_.erase(last);
}
