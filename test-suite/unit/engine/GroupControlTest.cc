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
    t.engine->hate(20);
    const auto filler = [&](const uint64_t n) { return t.store(keyOf(n), bytesOf(n, 20000)); };
    for (uint64_t n = 1000000; !t.engine->stats().counters.packs; ++n)
        ASSERT_EQ(filler(n), Status::ok);
    EXPECT_EQ(stagedOf(t, 20), 0U);
    EXPECT_EQ(stagedOf(t, 10), groupObjects) << "the usual order: the oldest goes first";
}

TEST(GroupControl, lovedGroupsStayInMemoryAndHatedOnesLeave) {
    constexpr uint64_t groups = 90; // twice what the read cache takes
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    assignGroups(t, groups);
    for (uint64_t group = 1; group <= groups; ++group) {
        for (uint64_t n = 0; n < groupObjects; ++n)
            ASSERT_NO_FATAL_FAILURE(storeMember(t, group, n));
    }
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    assignGroups(t, groups); // which is forgotten at close
    for (uint64_t group = 1; group <= groups; ++group) {
        EXPECT_EQ(readsOf(t, group), 1U) << group;
        if (group % 10 == 0)
            t.engine->love(1);
        if (group == groups - 1)
            t.engine->hate(group);
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
    t.engine->love(1);
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
    EXPECT_TRUE(t.engine->setPersist(1, 4));
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

TEST(GroupControl, timesOfGroupsAreBounded) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_FALSE(t.engine->setPersist(1, 0)) << "there was none";
    for (uint64_t group = 0; group < GroupControl::maxPersist; ++group)
        EXPECT_TRUE(t.engine->setPersist(group, 7));
    EXPECT_FALSE(t.engine->setPersist(GroupControl::maxPersist, 7));
    EXPECT_TRUE(t.engine->setPersist(5, 8)) << "a known one may change";
    EXPECT_TRUE(t.engine->setPersist(5, 0));
    EXPECT_TRUE(t.engine->setPersist(GroupControl::maxPersist, 7));
}

TEST(GroupControl, whatIsNotThereIsIgnored) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    t.engine->love(1);
    t.engine->hate(1);
    t.engine->assign(1, Key());
    t.engine->assign(1, keyOf(1));
    t.engine->assign(1, keyOf(2));
    t.engine->love(1);
    t.engine->hate(1);
    EXPECT_EQ(t.engine->close(1000), Status::ok);
    t.engine->collocate(keyOf(1), {keyOf(2)});
    t.engine->assign(1, keyOf(1));
    t.engine->love(1);
    t.engine->hate(1);
    EXPECT_FALSE(t.engine->setPersist(1, 1));
}
