// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups on the device: written behind a checkpoint's end, read back after it. */

#include "PartsSupport.h"

#include "fs/cluster/recovery/GroupLoader.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

class GroupLoading : public ::testing::Test
{
protected:
    GroupLoading() {
        p.allFree();
        loader.onGroup = [this](const Checkpoint::GroupRecord &r) {
            names.push_back(r.name);
            return names.size() < most;
        };
        p.checkpointer.saveGroups = [this](uint32_t &at, std::vector<Checkpoint::GroupRecord> &records) {
            return save(at, records);
        };
    }

    /// groups 1 to count, some in a chunk
    Checkpoint::Saved save(uint32_t &at, std::vector<Checkpoint::GroupRecord> &records) const {
        while (records.size() < inChunk && at < count) {
            Checkpoint::GroupRecord r;
            r.name = ++at;
            records.push_back(r);
        }
        return at < count ? Checkpoint::Saved::full : Checkpoint::Saved::all;
    }

    std::vector<uint64_t> upTo(const uint64_t n) const {
        std::vector<uint64_t> all;
        for (uint64_t i = 1; i <= n; ++i)
            all.push_back(i);
        return all;
    }

    /// the chunk of the newest checkpoint
    char *chunkAt(const uint32_t index) {
        const auto &g = device.superblock.geometry;
        return device.media.data() + g.checkpointStart[device.superblock.checkpoint % 2] + uint64_t(index) * checkpointChunkBytes;
    }

    void load(const uint32_t from = behind) {
        loader.start(device.superblock.checkpoint, from);
        ASSERT_TRUE(p.until([this] { return !loader.loading(); }));
    }

    static constexpr uint32_t behind = 1; ///< there are no clusters, and no objects
    static constexpr uint32_t inChunk = 10;

    PartsDevice device{64 * MB};
    Parts p{device};
    GroupLoader loader{p.shared};
    std::vector<uint64_t> names; ///< that came back
    size_t most = 1000;
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
    p.checkpointer.saveGroups = nullptr;
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_TRUE(names.empty());
    ASSERT_NO_FATAL_FAILURE(load(~uint32_t(0)));
    EXPECT_TRUE(names.empty());
}

/// who saves may need several turns to fill a chunk
TEST_F(GroupLoading, aChunkMayTakeSeveralTurns) {
    unsigned turns = 0;
    p.checkpointer.saveGroups = [&](uint32_t &at, std::vector<Checkpoint::GroupRecord> &records) {
        if (++turns % 3 == 0)
            return save(at, records);
        Checkpoint::GroupRecord r;
        r.name = at + 1;
        if (turns % 3 == 1 && at < count) {
            records.push_back(r);
            ++at;
        }
        return Checkpoint::Saved::some;
    };
    const auto writes = device.device->requests(IoOp::write);
    ASSERT_TRUE(p.runCheckpoint());
    EXPECT_EQ(device.device->requests(IoOp::write) - writes, behind + 3 + 1) << "three chunks, and the superblock";
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(25));
}

TEST_F(GroupLoading, whatTheRegionHasNoRoomForIsLearnedAgain) {
    const auto &g = device.superblock.geometry;
    const auto chunks = static_cast<uint32_t>(g.checkpointBytes / checkpointChunkBytes);
    count = (chunks + 5) * inChunk;
    const char *const after = device.media.data() + g.checkpointStart[1] + g.checkpointBytes;
    const std::string before(after, 4096);
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_EQ(device.superblock.checkpoint, 1U);
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo((chunks - behind) * inChunk));
    EXPECT_TRUE(before == std::string(after, 4096)) << "what lies behind the region";
}

TEST_F(GroupLoading, endsWhenThereIsNoRoom) {
    most = 7;
    ASSERT_TRUE(p.runCheckpoint());
    ASSERT_NO_FATAL_FAILURE(load());
    EXPECT_EQ(names, upTo(7));
}

TEST_F(GroupLoading, endsBeforeTheFirstThatIsNotWhole) {
    const struct { const char *what; std::function<void(Checkpoint::Chunk &)> change; } cases[] = {
        {"another place", [](Checkpoint::Chunk &c) { ++c.index; }},
        {"an older checkpoint", [](Checkpoint::Chunk &c) { c.checkpoint -= 2; }},
        {"another kind", [](Checkpoint::Chunk &c) { c.kind = Checkpoint::objects; }},
    };
    for (const auto &c: cases) {
        names.clear();
        ASSERT_TRUE(p.runCheckpoint());
        Checkpoint::Chunk chunk;
        ASSERT_EQ(Checkpoint::Decode(chunkAt(behind + 1), chunk, device.superblock.uuid), Status::ok);
        c.change(chunk);
        Checkpoint::Encode(chunkAt(behind + 1), chunk, device.superblock.uuid);
        ASSERT_NO_FATAL_FAILURE(load());
        EXPECT_EQ(names, upTo(10)) << c.what;
    }
    names.clear();
    ASSERT_TRUE(p.runCheckpoint());
    chunkAt(behind + 2)[1000] ^= 1;
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
    loader.start(device.superblock.checkpoint, behind);
    *p.shared.alive = false;
    ASSERT_TRUE(p.idle());
    EXPECT_TRUE(names.empty());
}
