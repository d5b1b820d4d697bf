// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading index log, groups and journals without using them. */

#include "Regions.h"

#include "fs/cluster/layout/IndexBlock.h"
#include "fs/cluster/layout/JournalBlock.h"
#include "fs/cluster/layout/SavedGroups.h"

namespace ClusterFs::Cli {

static void
countBlock(const IndexBlock &block, uint64_t &serial, LogSummary &summary)
{
    summary.checkpoints += block.serial != serial;
    serial = block.serial;
    summary.removals += block.removals.size();
    summary.sections += block.sections.size();
    summary.uses += block.uses.size();
    for (const auto &section: block.sections) {
        summary.objects += section.objects.size();
        summary.keys = summary.keys || (block.keys && !section.objects.empty());
    }
}

LogSummary
summarizeLog(Image &image, const Superblock &superblock)
{
    constexpr uint32_t blocksInPiece = 256;
    const auto &g = superblock.geometry;
    const auto &log = superblock.log;
    LogSummary summary;
    summary.blocks = log.used();
    uint64_t serial = 0; // of the last whole block
    for (uint32_t from = 0; from < summary.blocks;) {
        const auto offset = g.logOffset(log.at(from).block);
        uint32_t count = 1; // that lie beside each other
        while (count < blocksInPiece && from + count < summary.blocks &&
                g.logOffset(log.at(from + count).block) == offset + uint64_t(count) * indexBlockBytes)
            ++count;
        const char *bytes = nullptr;
        const bool here = image.read(offset, uint64_t(count) * indexBlockBytes, bytes) == Status::ok;
        for (uint32_t i = 0; i < count; ++i) {
            IndexBlock block;
            if (here && block.decode(bytes + size_t(i) * indexBlockBytes, superblock.uuid) == Status::ok &&
                    block.position == log.at(from + i) && block.serial >= serial) {
                countBlock(block, serial, summary);
                continue;
            }
            if (!summary.lost++)
                summary.problem = "block " + std::to_string(log.at(from + i).block) + " of the index log at byte " +
                                  std::to_string(offset + uint64_t(i) * indexBlockBytes) + (here ? " is damaged" : " can't be read");
        }
        from += count;
    }
    if (summary.lost > 1)
        summary.problem += ", and " + std::to_string(summary.lost - 1) + " more are lost";
    return summary;
}

GroupsSummary
summarizeGroups(Image &image, const Superblock &superblock)
{
    GroupsSummary summary;
    const auto &g = superblock.geometry;
    while (superblock.groups && summary.chunks < g.groupsBytes / groupsChunkBytes) {
        const char *bytes = nullptr;
        SavedGroups::Chunk chunk;
        if (image.read(g.groupsOffset(superblock.groups, summary.chunks), groupsChunkBytes, bytes) != Status::ok ||
                SavedGroups::Decode(bytes, chunk, superblock.uuid) != Status::ok ||
                chunk.generation != superblock.groups || chunk.index != summary.chunks)
            break;
        ++summary.chunks;
        for (const auto &group: chunk.groups) {
            const bool isGroup = group.kind != SavedGroups::hotList;
            summary.groups += isGroup;
            (isGroup ? summary.members : summary.hotRanges) += group.members.size();
        }
    }
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
