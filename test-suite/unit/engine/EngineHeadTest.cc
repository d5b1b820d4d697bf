// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine: new heads for old objects. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/layout/Cluster.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// calls with a function that takes the answer, which must come once and later
Status
answerOf(TestStore &t, const std::function<void(std::function<void(Status)>)> &call)
{
    auto answers = std::make_shared<std::vector<Status>>();
    call([answers](const Status s) { answers->push_back(s); });
    EXPECT_TRUE(answers->empty()) << "answered before the call returned";
    EXPECT_TRUE(t.until([&] { return !answers->empty(); }));
    for (int i = 0; i < 5; ++i)
        t.step();
    EXPECT_EQ(answers->size(), 1U);
    return answers->empty() ? Status::aborted : answers->front();
}

Status
replaceHead(TestStore &t, const Key &key, const uint32_t oldSize, const std::string &head, const ObjectInfo &info)
{
    return answerOf(t, [&](const auto &done) { t.engine->replaceHead(key, oldSize, head, info, done); });
}

Status
rename(TestStore &t, const Key &from, const Key &to, const uint32_t oldSize, const std::string &head)
{
    return answerOf(t, [&](const auto &done) { t.engine->rename(from, to, oldSize, head, done); });
}

/// changes a byte of the newest copy of an object on the media
void
damageNewest(TestStore &t, const Geometry &g, const Key &key)
{
    Sequence newest{0};
    uint64_t place = 0;
    for (ClusterNo c{0}; g.has(c); ++c) {
        const auto *const bytes = t.media.data() + g.clusterOffset(c);
        ClusterHeader header;
        Directory d;
        if (!Directory::Peek(bytes, g.clusterBytes, header) || header.sequence <= newest ||
                d.decode(bytes, g.clusterBytes, c, header.uuid, g.clusterBytes) != Status::ok)
            continue;
        for (const auto &e: d.entries) {
            if (e.key == key) {
                newest = header.sequence;
                place = g.clusterOffset(c) + e.offset + ExtentHeader::encodedBytes;
            }
        }
    }
    ASSERT_GT(newest, 0_seq);
    t.damage(place, 1);
}

} // namespace

struct HeadCase {
    size_t size;
    uint32_t oldHead;
    size_t newHead;
};

class EngineHeads : public ::testing::TestWithParam<HeadCase>
{
};

TEST_P(EngineHeads, takeThePlaceOfOldOnes) {
    const auto &c = GetParam();
    for (const int where: {0, 1, 2}) { // staged, in memory, on the device
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        const auto bytes = bytesOf(1, c.size);
        const auto head = bytesOf(2, c.newHead);
        ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
        if (where > 0) {
            ASSERT_TRUE(t.pack());
        }
        if (where > 1) {
            ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        }
        t.settle();
        const auto old = t.engine->read(keyOf(1));
        const auto info = infoOf(t.clock.wallSeconds() + 1234);
        ASSERT_EQ(replaceHead(t, keyOf(1), c.oldHead, head, info), Status::ok) << where;
        const auto wanted = head + bytes.substr(c.oldHead);
        EXPECT_TRUE(t.has(keyOf(1), wanted));
        EXPECT_EQ(t.engine->liveBytes(), wanted.size());
        EXPECT_EQ(t.engine->objectCount(), 1U);
        ObjectInfo got;
        ASSERT_TRUE(t.engine->find(keyOf(1), got));
        EXPECT_EQ(got.timestamp, info.timestamp);
        t.pack(); // the reader holds the old version
        EXPECT_TRUE(t.has(keyOf(1), wanted));

        // the reader of the old version still sees it
        std::string before;
        ASSERT_EQ(t.readAll(*old, before), Status::ok);
        EXPECT_TRUE(before == bytes);

        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_TRUE(t.has(keyOf(1), wanted));
        const auto third = bytesOf(3, 50);
        ASSERT_EQ(replaceHead(t, keyOf(1), static_cast<uint32_t>(c.newHead), third, info), Status::ok);
        EXPECT_TRUE(t.has(keyOf(1), third + bytes.substr(c.oldHead)));
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        EXPECT_TRUE(t.has(keyOf(1), third + bytes.substr(c.oldHead)));
        EXPECT_TRUE(t.engine->remove(keyOf(1)));
        EXPECT_EQ(t.engine->liveBytes(), 0U);
        EXPECT_EQ(t.engine->stats().clustersPart, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(all, EngineHeads, ::testing::Values(
    HeadCase{1000, 100, 100}, HeadCase{1000, 100, 300}, HeadCase{1000, 300, 100}, HeadCase{1000, 1000, 10},
    HeadCase{1000, 0, 10}, HeadCase{1000, 10, 0}, HeadCase{20000, 500, 700}, HeadCase{60000, 500, 600},
    HeadCase{200000, 500, 700}, HeadCase{200000, 700, 500}, HeadCase{500000, 400, 400}),
    [](const ::testing::TestParamInfo<HeadCase> &p) {
        return std::to_string(p.param.size) + "_" + std::to_string(p.param.oldHead) + "_" + std::to_string(p.param.newHead);
    });

TEST(EngineHead, refusesWhatCannotBe) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto info = infoOf(t.clock.wallSeconds());
    const auto small = bytesOf(1, 1000);
    const auto large = bytesOf(2, 200000);
    ASSERT_EQ(t.store(keyOf(1), small), Status::ok);
    ASSERT_EQ(t.store(keyOf(2), large), Status::ok);
    t.settle();
    EXPECT_EQ(replaceHead(t, keyOf(9), 1, "x", info), Status::notFound);
    EXPECT_EQ(replaceHead(t, keyOf(1), 1001, "x", info), Status::unsupported) << "the head is larger than the object";
    EXPECT_EQ(replaceHead(t, keyOf(2), 150000, "x", info), Status::unsupported) << "the head goes on in a part";
    EXPECT_EQ(replaceHead(t, keyOf(1), 10, bytesOf(3, 70000), info), Status::unsupported) << "does not fit a cluster";
    EXPECT_TRUE(t.has(keyOf(1), small));
    EXPECT_TRUE(t.has(keyOf(2), large));
}

TEST(EngineHead, movesToAnotherKey) {
    for (const int where: {0, 1, 2}) { // staged, in memory, on the device
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        const auto bytes = bytesOf(1, 20000);
        const auto wanted = bytesOf(2, 90) + bytes.substr(90);
        ASSERT_EQ(t.store(keyOf(2), bytesOf(3, 5000)), Status::ok);
        ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
        if (where > 0) {
            ASSERT_TRUE(t.pack());
        }
        if (where > 1) {
            ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        }
        t.settle();
        ObjectInfo before, after;
        ASSERT_TRUE(t.engine->peek(keyOf(1), before));
        ASSERT_EQ(rename(t, keyOf(1), keyOf(2), 90, bytesOf(2, 90)), Status::ok) << where;
        EXPECT_TRUE(t.has(keyOf(2), wanted));
        EXPECT_FALSE(t.engine->has(keyOf(1)));
        EXPECT_EQ(t.engine->objectCount(), 1U);
        EXPECT_EQ(t.engine->stats().counters.headUpdates, 0U);
        ASSERT_TRUE(t.engine->peek(keyOf(2), after));
        EXPECT_EQ(after.timestamp, before.timestamp);
        EXPECT_EQ(after.flags, before.flags);
        ASSERT_TRUE(t.pack());
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_TRUE(t.has(keyOf(2), wanted));
        EXPECT_FALSE(t.engine->has(keyOf(1)));
    }
}

/// what happens to the new key while the object is being read for its move counts
TEST(EngineHead, aMoveGivesWayToWhatHappensMeanwhile) {
    for (const auto newer: {false, true}) {
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        const auto bytes = bytesOf(1, 20000);
        ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
        ASSERT_TRUE(t.pack());
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        t.settle();
        const auto status = answerOf(t, [&](const auto &done) {
            t.engine->rename(keyOf(1), keyOf(2), 90, bytesOf(2, 90), done);
            if (!newer) {
                EXPECT_FALSE(t.engine->remove(keyOf(2))) << "it is not there yet";
                return;
            }
            const auto writer = t.engine->create(keyOf(2), infoOf(t.clock.wallSeconds()), 5000);
            ASSERT_TRUE(writer->append(bytesOf(3, 5000).data(), 5000));
            ASSERT_EQ(writer->finish(), Status::ok);
        });
        EXPECT_EQ(status, Status::notFound);
        EXPECT_TRUE(t.has(keyOf(1), bytes));
        EXPECT_EQ(t.has(keyOf(2), bytesOf(3, 5000)), newer);
        EXPECT_EQ(rename(t, keyOf(1), keyOf(2), 90, bytesOf(2, 90)), Status::ok) << "later it may move";
        EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 90) + bytes.substr(90)));
    }
}

TEST(EngineHead, staysWhereItIsWhenItCannotMove) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto large = bytesOf(1, 200000);
    ASSERT_EQ(t.store(keyOf(1), large), Status::ok);
    t.settle();
    EXPECT_EQ(rename(t, keyOf(1), keyOf(2), 90, bytesOf(2, 90)), Status::unsupported) << "parts name their key";
    EXPECT_EQ(rename(t, keyOf(1), keyOf(1), 90, bytesOf(2, 90)), Status::notFound);
    EXPECT_EQ(rename(t, keyOf(3), keyOf(2), 90, bytesOf(2, 90)), Status::notFound);
    EXPECT_TRUE(t.has(keyOf(1), large));
    EXPECT_FALSE(t.engine->has(keyOf(2)));
}

TEST(EngineHead, givesWayToANewerVersion) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 20000)), Status::ok);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 20000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    std::vector<Status> answers;
    const auto info = infoOf(t.clock.wallSeconds());
    t.engine->replaceHead(keyOf(1), 10, "head", info, [&](const Status s) { answers.push_back(s); });
    t.engine->replaceHead(keyOf(2), 10, "head", info, [&](const Status s) { answers.push_back(s); });
    ASSERT_EQ(t.store(keyOf(1), "newer"), Status::ok);
    EXPECT_TRUE(t.engine->remove(keyOf(2)));
    ASSERT_EQ(t.store(keyOf(3), bytesOf(3, 500)), Status::ok); // both versions are staged
    t.engine->replaceHead(keyOf(3), 10, "head", info, [&](const Status s) { answers.push_back(s); });
    const auto writer = t.engine->create(keyOf(3), info, 5);
    ASSERT_TRUE(writer && writer->append("newer", 5));
    ASSERT_EQ(writer->finish(), Status::ok);
    ASSERT_TRUE(t.until([&] { return answers.size() == 3; }));
    EXPECT_EQ(answers, std::vector<Status>(3, Status::notFound));
    EXPECT_TRUE(t.has(keyOf(3), "newer"));
    EXPECT_TRUE(t.has(keyOf(1), "newer"));
    EXPECT_FALSE(t.remembers(keyOf(2)));
}

TEST(EngineHead, keepsTheOldVersionWhenTheDeviceFails) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto large = bytesOf(2, 200000);
    ASSERT_EQ(t.store(keyOf(2), large), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 1, Fault::error);
    EXPECT_NE(replaceHead(t, keyOf(2), 10, "head", infoOf(1)), Status::ok);
    t.faulty->heal();
    std::string got;
    const auto status = t.load(keyOf(2), got);
    EXPECT_TRUE(status == Status::notFound || got == large);
}

/// the old version stays when the engine ends half way
TEST(EngineHead, leavesTheOldVersionToTheNextEngine) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 20000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.engine->replaceHead(keyOf(1), 10, "head", infoOf(1), [](Status) {});
    t.engine->poll();
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 20000)));
}

/// A power cut may leave the directory of the new head's cluster and not its bytes,
/// nor the delete of the old version, which is what there is then, with its own head.
TEST(EngineHead, givesWayWhenItIsTorn) {
    for (const size_t size: {5000, 200000}) {
        for (const bool checkpoint: {false, true}) {
            TestStore t(32 * MB);
            t.config.deleteTime = 3600;
            ASSERT_NO_FATAL_FAILURE(t.start());
            const auto g = t.geometry();
            ASSERT_EQ(t.store(keyOf(1), bytesOf(1, size)), Status::ok);
            ASSERT_TRUE(t.pack());
            if (checkpoint) {
                ASSERT_TRUE(t.checkpoint());
            }
            ASSERT_EQ(replaceHead(t, keyOf(1), 500, bytesOf(2, 700), infoOf(t.clock.wallSeconds())), Status::ok);
            ASSERT_TRUE(t.pack());
            ASSERT_GT(t.engine->stats().deletesPending, 0U) << "the delete is in the journal: nothing is tested";
            t.crash();
            ASSERT_NO_FATAL_FAILURE(damageNewest(t, g, keyOf(1)));
            for (int again = 0; again < 3; ++again) {
                ASSERT_NO_FATAL_FAILURE(t.reopen());
                EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, size))) << size << " " << checkpoint << " " << again;
                EXPECT_EQ(t.engine->liveBytes(), size);
                t.settle();
                t.crash();
            }
        }
    }
}

/// A checkpoint names clusters at different moments. One that has named the old head, and then the parts with the
/// length of the new one, must not count before the journal says that the old version is no more.
TEST(EngineHeadsAndCheckpoints, fitTogetherAfterACrash) {
    auto config = smallConfig();
    config.deleteTime = 60;
    unsigned during = 0;
    for (unsigned turns = 0; turns < 40; ++turns) {
        TestStore t(16 * MB, config);
        ASSERT_NO_FATAL_FAILURE(t.start());
        const auto bytes = bytesOf(1, 200000);
        ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
        ASSERT_TRUE(t.pack());
        ASSERT_TRUE(t.checkpoint());
        t.engine->updateInfo(keyOf(1), infoOf(t.clock.wallSeconds() + 5)); // names the head alone
        const auto before = t.engine->stats().counters.checkpoints;
        t.clock.tick(1000); // each step of the checkpoint takes a turn
        t.engine->requestCheckpoint();
        for (unsigned i = 0; i < turns; ++i)
            t.step();
        const auto head = bytesOf(2, 50);
        bool done = false;
        t.engine->replaceHead(keyOf(1), 100, head, infoOf(t.clock.wallSeconds()), [&](const Status s) { done = s == Status::ok; });
        ASSERT_TRUE(t.until([&] { return done; }));
        during += t.engine->stats().counters.checkpoints == before;
        ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.checkpoints > before; }));
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        std::string got;
        const auto status = t.load(keyOf(1), got);
        if (status == Status::ok)
            EXPECT_TRUE(got == bytes || got == head + bytes.substr(100)) << turns;
        else
            EXPECT_EQ(status, Status::notFound) << "after " << turns << " turns";
        EXPECT_EQ(t.engine->stats().counters.corrupt, 0U) << "after " << turns << " turns";
    }
    EXPECT_GT(during, 5U) << "or this tests little";
}
