// SPDX-License-Identifier: GPL-2.0-or-later
/* When groups are saved, and where. */

#include "test-suite/unit/support/PartsSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

/// they are written whole, and so not each time
TEST(GroupSaver, comesNowAndThen) {
    PartsDevice device;
    Parts p(device);
    p.allFree();
    p.learned.saving = [](uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) {
        if (!at++)
            records.emplace_back();
        return SavedGroups::Saved::all;
    };
    uint64_t checkpoints = 0;
    for (; device.superblock.groups < 3; ++checkpoints)
        ASSERT_TRUE(p.runCheckpoint());
    EXPECT_GT(checkpoints, 3 * 4U * groupsChunkBytes / indexBlockBytes / 8);
    p.checkpointer.beBrief();
    ASSERT_TRUE(p.runCheckpoint());
    EXPECT_EQ(device.superblock.groups, 4U) << "the last one may be the last for long";
}

namespace {

/// a group in each chunk
SavedGroups::Saved
oneForEach(uint32_t &at, std::vector<SavedGroups::GroupRecord> &records, const uint32_t count)
{
    SavedGroups::GroupRecord r;
    r.name = ++at;
    records.push_back(r);
    return at < count ? SavedGroups::Saved::full : SavedGroups::Saved::all;
}

} // namespace

TEST(GroupSaver, saysWhereChunksGo) {
    PartsDevice device;
    Parts p(device);
    p.learned.saving = [](uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) { return oneForEach(at, records, 2); };
    GroupSaver saver(p.context, p.learned);
    const auto &g = p.context.geometry;
    Superblock superblock;
    for (uint64_t generation = 1; generation <= 3; ++generation) {
        saver.begin(superblock.groups);
        saver.describe(superblock);
        EXPECT_EQ(superblock.groups, generation - 1) << "no chunk was written";
        std::vector<char> buffer(groupsChunkBytes);
        for (uint32_t chunk = 0; chunk < 2; ++chunk) {
            EXPECT_EQ(saver.gather(true), chunk ? SavedGroups::Saved::all : SavedGroups::Saved::full);
            ASSERT_TRUE(saver.hasChunk());
            EXPECT_EQ(saver.takeChunk(buffer.data()), g.groupsStart[generation % 2] + chunk * groupsChunkBytes);
            EXPECT_FALSE(saver.hasChunk());
            SavedGroups::Chunk read;
            ASSERT_EQ(SavedGroups::Decode(buffer.data(), read, p.context.uuid), Status::ok);
            EXPECT_EQ(read.generation, generation);
            EXPECT_EQ(read.index, chunk);
            ASSERT_EQ(read.groups.size(), 1U);
            EXPECT_EQ(read.groups[0].name, chunk + 1);
        }
        EXPECT_EQ(saver.bytes(), 2 * groupsChunkBytes);
        saver.describe(superblock);
        EXPECT_EQ(superblock.groups, generation);
        saver.done();
    }
}

/// of a checkpoint that fails, the next one saves them
TEST(GroupSaver, whatWasNotCompletedIsSavedAgain) {
    PartsDevice device;
    Parts p(device);
    p.learned.saving = [](uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) { return oneForEach(at, records, 1); };
    GroupSaver saver(p.context, p.learned);
    std::vector<char> buffer(groupsChunkBytes);
    const auto save = [&] {
        saver.begin(0);
        saver.gather(false);
        if (!saver.hasChunk())
            return false;
        saver.takeChunk(buffer.data());
        return true;
    };
    EXPECT_TRUE(save());
    EXPECT_TRUE(save()) << "the first one was not complete";
    saver.done();
    saver.noteLogged(4 * groupsChunkBytes - 1);
    EXPECT_FALSE(save()) << "their time has not come";
    saver.noteLogged(1);
    EXPECT_TRUE(save());
    saver.done();
    EXPECT_FALSE(save());
}
