// SPDX-License-Identifier: GPL-2.0-or-later
/* Deletes that no engine could record. */

#include "fs/cluster/engine/MissedDeletes.h"
#include "test-suite/unit/support/EngineSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr int64_t now = 1700000000;

/// an engine that has the first few objects of the tests
class MissedDeletesTest : public ::testing::Test
{
protected:
    static constexpr uint64_t stored = 4;

    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(store.start());
        for (uint64_t n = 0; n < stored; ++n)
            ASSERT_EQ(store.store(keyOf(n), bytesOf(n, 1000)), Status::ok);
    }
    std::vector<uint64_t> left() const {
        std::vector<uint64_t> numbers;
        for (uint64_t n = 0; n < stored; ++n) {
            if (store.engine->has(keyOf(n)))
                numbers.push_back(n);
        }
        return numbers;
    }

    TestStore store;
    MissedDeletes missed;
};

} // namespace

TEST_F(MissedDeletesTest, tellsTheEngineOnce) {
    missed.note(keyOf(1));
    missed.noteReplaced(keyOf(2));
    missed.note(keyOf(77));
    missed.tell(*store.engine, now);
    EXPECT_EQ(left(), (std::vector<uint64_t>{0, 3}));
    EXPECT_FALSE(missed.doubts(now)) << "all of them were known";
    ASSERT_EQ(store.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    missed.tell(*store.engine, now);
    EXPECT_EQ(left(), (std::vector<uint64_t>{0, 1, 3})) << "the next time is another time";
}

TEST_F(MissedDeletesTest, doubtsWhatMayHaveBeenReplaced) {
    EXPECT_FALSE(missed.doubts(std::numeric_limits<int64_t>::min() + 1));
    missed.noteAnyReplaced();
    EXPECT_FALSE(missed.doubts(now)) << "there is no engine yet";
    missed.tell(*store.engine, now);
    EXPECT_EQ(left().size(), stored);
    EXPECT_TRUE(missed.doubts(now));
    EXPECT_TRUE(missed.doubts(-1));
    EXPECT_FALSE(missed.doubts(now + 1)) << "stored since";
    missed.tell(*store.engine, now + 100);
    EXPECT_FALSE(missed.doubts(now + 1)) << "nothing was replaced this time";
    EXPECT_TRUE(missed.doubts(now));
}

/// replaced objects leave room for deleted ones, which cannot be doubted
TEST_F(MissedDeletesTest, remembersAFewOnly) {
    for (uint64_t n = 0; n < MissedDeletes::replacedLimit; ++n)
        missed.noteReplaced(keyOf(1000 + n));
    missed.noteReplaced(keyOf(0));
    for (uint64_t n = 0; n < MissedDeletes::limit - MissedDeletes::replacedLimit; ++n) {
        EXPECT_FALSE(missed.full());
        missed.note(keyOf(n ? 1000000 + n : 1));
    }
    EXPECT_TRUE(missed.full()) << "more may have been deleted";
    missed.note(keyOf(2));
    missed.tell(*store.engine, now);
    EXPECT_FALSE(missed.full());
    EXPECT_EQ(left(), (std::vector<uint64_t>{0, 2, 3}));
    EXPECT_TRUE(missed.doubts(now)) << "one that was replaced has not been remembered";
}
