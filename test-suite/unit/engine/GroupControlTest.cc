// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups that the caller makes: placed, kept in memory and made to survive as told. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/engine/GroupControl.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t groupObjects = 10;
constexpr size_t objectBytes = 4000;

uint64_t
memberOf(const uint64_t group, const uint64_t n)
{
    return group * 1000 + n;
}

void
storeMember(TestStore &t, const uint64_t group, const uint64_t n)
{
    const auto object = memberOf(group, n);
    ASSERT_EQ(t.store(keyOf(object), bytesOf(object, objectBytes)), Status::ok);
}

/// stores groups 1 to count, an object of each in turn
void
storeGroups(TestStore &t, const uint64_t count, const bool numbered = true)
{
    for (uint64_t n = 0; n < groupObjects; ++n) {
        for (uint64_t group = 1; group <= count; ++group) {
            if (numbered)
                t.engine->assign(group, keyOf(memberOf(group, n)));
            ASSERT_NO_FATAL_FAILURE(storeMember(t, group, n));
        }
    }
}

/// tells which groups the members of groups 1 to count are in
void
assignGroups(TestStore &t, const uint64_t count)
{
    for (uint64_t group = 1; group <= count; ++group) {
        for (uint64_t n = 0; n < groupObjects; ++n)
            t.engine->assign(group, keyOf(memberOf(group, n)));
    }
}

/// \returns the device reads that reading a group took
uint64_t
readsOf(TestStore &t, const uint64_t group)
{
    const auto before = t.faulty->requests(IoOp::read);
    for (uint64_t n = 0; n < groupObjects; ++n) {
        const auto object = memberOf(group, n);
        EXPECT_TRUE(t.has(keyOf(object), bytesOf(object, objectBytes))) << n << " of group " << group;
    }
    return t.faulty->requests(IoOp::read) - before;
}

/// \returns how many of a group are not packed yet
uint64_t
stagedOf(TestStore &t, const uint64_t group)
{
    const auto before = t.engine->stats().counters.readFromStaging;
    (void)readsOf(t, group);
    return t.engine->stats().counters.readFromStaging - before;
}

} // namespace

TEST(GroupControl, numberedGroupsLieTogether) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 8));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t group = 1; group <= 8; ++group)
        EXPECT_EQ(readsOf(t, group), 1U) << group;
}

TEST(GroupControl, collocatedObjectsLieTogether) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t group = 1; group <= 8; ++group) {
        std::vector<Key> members;
        for (uint64_t n = 1; n < groupObjects; ++n)
            members.push_back(keyOf(memberOf(group, n)));
        t.engine->collocate(keyOf(memberOf(group, 0)), members);
    }
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 8, false));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t group = 1; group <= 8; ++group)
        EXPECT_EQ(readsOf(t, group), 1U) << group;
}

TEST(GroupControl, hatedGroupsArePackedFirst) {
    auto config = smallConfig();
    config.persist = 3600;
    TestStore t(32 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 20));
    t.engine->setFavour(20, Favour::hated);
    const auto filler = [&](const uint64_t n) { return t.store(keyOf(n), bytesOf(n, 20000)); };
    for (uint64_t n = 1000000; !t.engine->stats().counters.packs; ++n)
        ASSERT_EQ(filler(n), Status::ok);
    EXPECT_EQ(stagedOf(t, 20), 0U);
    EXPECT_EQ(stagedOf(t, 10), groupObjects) << "the usual order: the oldest goes first";
}

TEST(GroupControl, lovedGroupsStayInMemoryAndHatedOnesLeave) {
    constexpr uint64_t groups = 180; // twice what the read cache takes, with the memory of staging
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    assignGroups(t, groups);
    for (uint64_t group = 1; group <= groups; ++group) {
        for (uint64_t n = 0; n < groupObjects; ++n)
            ASSERT_NO_FATAL_FAILURE(storeMember(t, group, n));
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t group = 1; group <= groups; ++group) {
        EXPECT_EQ(readsOf(t, group), 1U) << group;
        if (group % 10 == 0)
            t.engine->setFavour(1, Favour::loved);
        if (group == groups - 1)
            t.engine->setFavour(group, Favour::hated);
    }
    // from the newest on: these reads push others out
    EXPECT_EQ(readsOf(t, groups), 0U);
    EXPECT_EQ(readsOf(t, 1), 0U) << "loved";
    EXPECT_EQ(readsOf(t, groups - 2), 0U);
    EXPECT_EQ(readsOf(t, groups - 1), 1U) << "hated";
    EXPECT_EQ(readsOf(t, 20), 1U) << "neither";
}

/// staged objects in the order of their last use: the first are the first to be packed
TEST(GroupControl, lovedGroupsStayInStaging) {
    auto config = smallConfig();
    config.persist = 3600;
    TestStore t(32 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 20));
    t.engine->setFavour(1, Favour::loved);
    for (uint64_t n = 1000000; !t.engine->stats().counters.packs; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    EXPECT_EQ(stagedOf(t, 1), groupObjects);
    EXPECT_EQ(stagedOf(t, 2), 0U) << "not loved, and as old";
}

TEST(GroupControl, aGroupMaySurviveSoonerThanOthers) {
    auto config = smallConfig();
    config.persist = 3600;
    TestStore t(32 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_EQ(t.engine->setPersist(1, 4), Status::ok);
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 2));
    t.pass(5);
    t.cut();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(readsOf(t, 1), 1U);
    unsigned others = 0;
    for (uint64_t n = 0; n < groupObjects; ++n)
        others += t.remembers(keyOf(memberOf(2, n)));
    EXPECT_LT(others, groupObjects) << "what does not fit in beside may wait";
}

TEST(GroupControl, aGroupMaySurviveLaterThanOthersOrNotAtAll) {
    TestStore t(32 * MB); // most have Config::persist
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_EQ(t.engine->setPersist(1, 3600), Status::ok);
    EXPECT_EQ(t.engine->setPersist(2, neverPersist), Status::ok);
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 2));
    t.pass(10 * t.config.persist);
    EXPECT_EQ(stagedOf(t, 1), groupObjects);
    EXPECT_EQ(stagedOf(t, 2), groupObjects);
    t.pass(3600);
    EXPECT_EQ(stagedOf(t, 1), 0U);
    t.engine->setPersist(1, 0);
    ASSERT_NO_FATAL_FAILURE(storeMember(t, 1, 100));
    t.pass(2 * t.config.persist);
    EXPECT_EQ(t.engine->stats().stagedObjects, 0U) << "as others; what may wait goes with it";
}

/// also when they are written, and read again
TEST(GroupControl, hatedGroupsLeaveMemoryAfterEachUse) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_EQ(t.engine->setFavour(1, Favour::hated), Status::ok);
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 2));
    ASSERT_TRUE(t.pack());
    // more than the read cache takes, while somebody uses group 2
    const auto useMemory = [&](const uint64_t from) {
        (void)readsOf(t, 2);
        for (uint64_t n = from; n < from + 240; ++n) {
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
            if (n % 5 == 0) {
                EXPECT_EQ(readsOf(t, 2), 0U) << n;
            }
        }
        ASSERT_TRUE(t.pack());
    };
    ASSERT_NO_FATAL_FAILURE(useMemory(1000000));
    EXPECT_EQ(readsOf(t, 1), 1U);
    ASSERT_NO_FATAL_FAILURE(useMemory(2000000));
    EXPECT_EQ(readsOf(t, 1), 1U) << "again";
    EXPECT_EQ(t.engine->setFavour(1, Favour::none), Status::ok);
    EXPECT_EQ(readsOf(t, 1), 0U);
    for (uint64_t n = 3000000; n < 3000020; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(readsOf(t, 1), 0U) << "as others";
}

TEST(GroupControl, ordersAndMembersOutliveARestart) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_EQ(t.engine->setFavour(1, Favour::hated), Status::ok);
    EXPECT_EQ(t.engine->setPersist(2, 3600), Status::ok);
    ASSERT_NO_FATAL_FAILURE(storeGroups(t, 2));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    for (uint64_t n = 0; n < groupObjects; ++n) {
        EXPECT_EQ(t.engine->groupOf(keyOf(memberOf(1, n))), 1U);
        EXPECT_EQ(t.engine->groupOf(keyOf(memberOf(2, n))), 2U);
    }
    ASSERT_NO_FATAL_FAILURE(storeMember(t, 2, 3));
    t.pass(10 * t.config.persist);
    EXPECT_EQ(t.engine->stats().stagedObjects, 1U) << "it may wait for an hour";
    EXPECT_TRUE(t.engine->unassign(keyOf(memberOf(2, 3))));
    EXPECT_EQ(t.engine->groupOf(keyOf(memberOf(2, 3))), 0U);
    EXPECT_TRUE(t.engine->dissolve(1));
    EXPECT_EQ(t.engine->groupOf(keyOf(memberOf(1, 0))), 0U);
    uint64_t cursor = 0;
    Key key;
    EXPECT_FALSE(t.engine->nextOfGroup(1, cursor, key));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    EXPECT_EQ(t.engine->groupOf(keyOf(memberOf(1, 0))), 0U) << "stays dissolved";
    EXPECT_EQ(t.engine->groupOf(keyOf(memberOf(2, 4))), 2U);
}

/// more than a cluster has room for
TEST(GroupControl, aLargeGroupLiesInRunsOfNeighbours) {
    constexpr uint64_t many = 1000;
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < many; ++n) {
        EXPECT_EQ(t.engine->assign(1, keyOf(n)), Status::ok);
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, objectBytes)), Status::ok);
        ASSERT_EQ(t.store(keyOf(many + n), bytesOf(many + n, objectBytes)), Status::ok);
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    const auto before = t.faulty->requests(IoOp::read);
    for (uint64_t n = 0; n < many; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, objectBytes))) << n;
    const auto clusters = many * objectBytes / t.engine->clusterBytes();
    EXPECT_LE(t.faulty->requests(IoOp::read) - before, 3 * clusters) << "half of each cluster of others would be twice as many at least";
}

TEST(GroupControl, whatIsNotThereIsIgnored) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    t.engine->setFavour(1, Favour::loved);
    t.engine->setFavour(1, Favour::hated);
    t.engine->assign(1, Key());
    t.engine->assign(1, keyOf(1));
    t.engine->assign(1, keyOf(2));
    t.engine->setFavour(1, Favour::loved);
    t.engine->setFavour(1, Favour::hated);
    EXPECT_EQ(t.engine->close(1000), Status::ok);
    t.engine->collocate(keyOf(1), {keyOf(2)});
    t.engine->assign(1, keyOf(1));
    t.engine->setFavour(1, Favour::loved);
    t.engine->setFavour(1, Favour::hated);
    EXPECT_EQ(t.engine->setPersist(1, 1), Status::aborted);
}
