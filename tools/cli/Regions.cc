// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading checkpoints and journals without using them. */

#include "Regions.h"

#include "fs/cluster/layout/Checkpoint.h"
#include "fs/cluster/layout/JournalBlock.h"

namespace ClusterFs::Cli {

/// what was learned of groups, up to the first chunk that is not whole, which is no problem
static void
countGroups(Image &image, const Superblock &superblock, const uint32_t end, CheckpointSummary &summary)
{
    const auto &g = superblock.geometry;
    for (auto index = end; index < g.checkpointBytes / checkpointChunkBytes; ++index) {
        const auto offset = g.chunkOffset(summary.number, index);
        const char *bytes = nullptr;
        Checkpoint::Chunk chunk;
        if (image.read(offset, checkpointChunkBytes, bytes) != Status::ok ||
                Checkpoint::Decode(bytes, chunk, superblock.uuid) != Status::ok || chunk.kind != Checkpoint::groups ||
                chunk.checkpoint != summary.number || chunk.index != index)
            return;
        summary.groups += chunk.groupRecords.size();
        for (const auto &group: chunk.groupRecords)
            summary.members += group.members.size();
    }
}

CheckpointSummary
summarizeCheckpoint(Image &image, const Superblock &superblock)
{
    CheckpointSummary summary;
    summary.number = superblock.checkpoint;
    if (!summary.number)
        return summary;
    const auto &g = superblock.geometry;
    const auto most = static_cast<uint32_t>(g.checkpointBytes / checkpointChunkBytes);
    for (uint32_t index = 0; index < most; ++index) {
        const auto offset = g.chunkOffset(summary.number, index);
        const auto name = "chunk " + std::to_string(index) + " of checkpoint " + std::to_string(summary.number) +
                          " at byte " + std::to_string(offset);
        const char *bytes = nullptr;
        Checkpoint::Chunk chunk;
        if (image.read(offset, checkpointChunkBytes, bytes) != Status::ok) {
            summary.problem = name + " can't be read";
            return summary;
        }
        if (Checkpoint::Decode(bytes, chunk, superblock.uuid) != Status::ok || chunk.checkpoint != summary.number || chunk.index != index) {
            summary.problem = name + " is damaged";
            return summary;
        }
        ++summary.chunks;
        summary.clusters += chunk.clusterRecords.size();
        summary.objects += chunk.objectRecords.size();
        summary.keys = summary.keys || chunk.keys;
        if (chunk.kind != Checkpoint::end)
            continue;
        if (chunk.total != summary.objects)
            summary.problem = name + " counts " + std::to_string(chunk.total) + " objects, but there are " + std::to_string(summary.objects);
        countGroups(image, superblock, index + 1, summary);
        return summary;
    }
    summary.problem = "checkpoint " + std::to_string(summary.number) + " has no end";
    return summary;
}

static void
countRecords(const JournalBlock &block, JournalSummary &summary)
{
    ++summary.blocks;
    for (const auto &record: block.records) {
        if (record.kind == JournalRecord::Kind::removal)
            ++summary.removals;
        else if (record.kind == JournalRecord::Kind::announce)
            ++summary.announcements;
        else
            ++summary.releases;
    }
}

JournalSummary
summarizeJournal(Image &image, const Superblock &superblock, const uint64_t checkpoint)
{
    constexpr uint32_t pieceBytes = 64 * journalBlockBytes; // divides the region, whose size is in MB
    JournalSummary summary;
    summary.checkpoint = checkpoint;
    const auto start = superblock.geometry.journalStart[checkpoint % 2];
    std::string stop; // the first block that does not continue the row
    for (uint64_t at = 0; at < superblock.geometry.journalBytes; at += pieceBytes) {
        const char *bytes = nullptr;
        if (image.read(start + at, pieceBytes, bytes) != Status::ok) {
            summary.problem = "the journal at byte " + std::to_string(start + at) + " can't be read";
            return summary;
        }
        for (uint32_t inside = 0; inside < pieceBytes; inside += journalBlockBytes) {
            JournalBlock block;
            const auto index = (at + inside) / journalBlockBytes;
            const bool fits = block.decode(bytes + inside, superblock.uuid) == Status::ok &&
                              block.checkpoint == checkpoint && block.index == index;
            if (fits && stop.empty())
                countRecords(block, summary);
            else if (fits)
                ++summary.lost;
            else if (stop.empty())
                stop = "journal block " + std::to_string(index) + " at byte " + std::to_string(start + at + inside);
        }
    }
    if (summary.lost)
        summary.problem = stop + " is damaged, so that " + std::to_string(summary.lost) + " later blocks do not count";
    return summary;
}

} // namespace ClusterFs::Cli
