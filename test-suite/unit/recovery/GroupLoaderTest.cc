// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups on the device: saved with a checkpoint, read back after a start. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/recovery/GroupLoader.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

class GroupLoading : public ::testing::Test
{
protected:
    GroupLoading() {
        p.allFree();
        p.checkpointer.beBrief(); // they are saved each time
        p.learned.saving = [this](uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) {
            return save(at, records);
        };
    }

    /// groups 1 to count, some in a chunk
    SavedGroups::Saved save(uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) const {
        while (records.size() < inChunk && at < count) {
            SavedGroups::GroupRecord r;
            r.name = ++at;
            records.push_back(r);
        }
        return at < count ? SavedGroups::Saved::full : SavedGroups::Saved::all;
    }

    std::vector<uint64_t> upTo(const uint64_t n) const {
        std::vector<uint64_t> all;
        for (uint64_t i = 1; i <= n; ++i)
            all.push_back(i);
        return all;
    }

    /// a chunk of what was saved last
    char *chunkAt(const uint32_t index) {
        return device.media.data() + device.superblock.geometry.groupsOffset(device.superblock.groups, index);
    }

    void load() {
        loader.start(device.superblock.groups);
        ASSERT_TRUE(p.until([this] { return !loader.loading(); }));
    }

    static constexpr uint32_t inChunk = 10;

    PartsDevice device{64 * MB};
    Parts p{device};
    GroupLoader loader{p.context, p.learned};
    const std::vector<uint64_t> &names = p.learned.names; ///< that came back
    uint32_t count = 25;
};

} // namespace

TEST_F(GroupLoading, allComeBack) {
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(25));
}

/// when the last chunk is full, nothing says so but the next one
TEST_F(GroupLoading, wholeChunks) {
    count = 20;
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(20));
}

TEST_F(GroupLoading, thereMayBeNone) {
    count = 0;
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_TRUE(names.empty());
    p.learned.saving = nullptr;
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_TRUE(names.empty());
}

/// who saves may need several turns to fill a chunk
TEST_F(GroupLoading, aChunkMayTakeSeveralTurns) {
    unsigned turns = 0;
    p.learned.saving = [&](uint32_t &at, std::vector<SavedGroups::GroupRecord> &records) {
        if (++turns % 3 == 0)
            return save(at, records);
        SavedGroups::GroupRecord r;
        r.name = at + 1;
        if (turns % 3 == 1 && at < count) {
            records.push_back(r);
            ++at;
        }
        return SavedGroups::Saved::some;
    };
    const auto writes = device.device->requests(IoOp::write);
    ASSERT_TRUE(p.runCheckpoint());
    EXPECT_EQ(device.device->requests(IoOp::write) - writes, 1 + 3 + 1) << "the log, three chunks, and the superblock";
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(25));
}

TEST_F(GroupLoading, whatTheRegionHasNoRoomForIsLearnedAgain) {
    const auto &g = device.superblock.geometry;
    const auto chunks = static_cast<uint32_t>(g.groupsBytes / groupsChunkBytes);
    count = (chunks + 5) * inChunk;
    const char *const after = device.media.data() + g.groupsStart[1] + g.groupsBytes;
    const std::string before(after, 4096);
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_EQ(device.superblock.groups, 1U);
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(chunks * inChunk));
    EXPECT_TRUE(before == std::string(after, 4096)) << "what lies behind the region";
}

TEST_F(GroupLoading, endsWhenThereIsNoRoom) {
    p.learned.most = 7;
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(7));
}

TEST_F(GroupLoading, endsBeforeTheFirstThatIsNotWhole) {
    const struct { const char *what; std::function<void(SavedGroups::Chunk &)> change; } cases[] = {
        {"another place", [](SavedGroups::Chunk &c) { ++c.index; }},
        {"an older generation", [](SavedGroups::Chunk &c) { c.generation -= 2; }},
    };
    for (const auto &c: cases) {
        p.learned.names.clear();
        ASSERT_TRUE(p.runCheckpoint());
        SavedGroups::Chunk chunk;
        ASSERT_EQ(SavedGroups::Decode(chunkAt(1), chunk, device.superblock.uuid), Status::ok);
        c.change(chunk);
        SavedGroups::Encode(chunkAt(1), chunk, device.superblock.uuid);
        ASSERT_NO_FATAL_FAILURE(load());
        EXPECT_EQ(names, upTo(10)) << c.what;
    }
    p.learned.names.clear();
    ASSERT_TRUE(p.runCheckpoint());
    chunkAt(2)[1000] ^= 1;
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(20)) << "a flipped bit";
}

TEST_F(GroupLoading, endsWithAFailedRead) {
    ASSERT_TRUE(p.runCheckpoint());
    device.device->script(IoOp::read, device.device->requests(IoOp::read) + 2, Fault::error);
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(10));
}

/// the answer comes when nobody is there any more
TEST_F(GroupLoading, mayBeCutOff) {
    ASSERT_TRUE(p.runCheckpoint());
    loader.start(device.superblock.groups);
    *p.context.alive = false;
    ASSERT_TRUE(p.idle());
    EXPECT_TRUE(names.empty());
}
