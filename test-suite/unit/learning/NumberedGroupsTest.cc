// SPDX-License-Identifier: GPL-2.0-or-later
/* The groups that callers number. */

#include "fs/cluster/learning/NumberedGroups.h"

#include "test-suite/unit/support/EngineSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr size_t chunk = 4000; ///< bytes of records

bool
all(const Key &)
{
    return true;
}

std::vector<Key>
membersOf(const NumberedGroups &groups, const uint64_t group)
{
    std::vector<Key> members;
    uint64_t cursor = 0;
    Key key;
    while (groups.next(group, cursor, key))
        members.push_back(key);
    return members;
}

std::vector<Key>
keys(const uint64_t from, const uint64_t to)
{
    std::vector<Key> result;
    for (uint64_t n = from; n < to; ++n)
        result.push_back(keyOf(n));
    return result;
}

/// another run that has read all records of this one
void
restoreFrom(NumberedGroups &before, NumberedGroups &after, const NumberedGroups::IsKept &isKept = all)
{
    bool again = true;
    for (auto saved = SavedGroups::Saved::some; saved != SavedGroups::Saved::all; again = false) {
        std::vector<SavedGroups::GroupRecord> records;
        saved = before.save(again, isKept, chunk, records);
        size_t bytes = 0;
        for (const auto &record: records) {
            bytes += record.bytes();
            EXPECT_TRUE(after.restore(record));
        }
        EXPECT_LE(bytes, chunk);
        EXPECT_TRUE(bytes || saved != SavedGroups::Saved::full) << "it would never end";
    }
}

} // namespace

TEST(NumberedGroups, anObjectIsInOneGroup) {
    NumberedGroups groups(MB);
    EXPECT_EQ(groups.groupOf(keyOf(1)), 0U);
    EXPECT_EQ(groups.assign(7, keyOf(1), all), Status::ok);
    EXPECT_EQ(groups.assign(7, keyOf(1), all), Status::ok);
    EXPECT_EQ(groups.assign(7, keyOf(2), all), Status::ok);
    EXPECT_EQ(membersOf(groups, 7), keys(1, 3));
    EXPECT_EQ(groups.assign(8, keyOf(1), all), Status::ok);
    EXPECT_EQ(groups.groupOf(keyOf(1)), 8U);
    EXPECT_EQ(membersOf(groups, 7), keys(2, 3));
    EXPECT_TRUE(groups.leave(keyOf(1)));
    EXPECT_FALSE(groups.leave(keyOf(1)));
    EXPECT_EQ(groups.groups(), 1U) << "an empty group is none";
    EXPECT_EQ(groups.members(), 1U);
}

TEST(NumberedGroups, neighboursComeInTheirOrder) {
    NumberedGroups groups(MB);
    for (uint64_t n = 0; n < 1000; ++n)
        EXPECT_EQ(groups.assign(1, keyOf(n), all), Status::ok);
    std::vector<Key> out;
    groups.around(keyOf(500), out, 100);
    EXPECT_EQ(out, keys(450, 550));
    groups.around(keyOf(3), out, 100);
    EXPECT_EQ(out, keys(0, 100));
    groups.around(keyOf(999), out, 100);
    EXPECT_EQ(out, keys(949, 1000));
    groups.around(keyOf(999), out, 1);
    EXPECT_EQ(out, keys(999, 1000));
    groups.around(keyOf(1000), out, 100);
    EXPECT_TRUE(out.empty());
}

TEST(NumberedGroups, ordersStay) {
    NumberedGroups groups(MB);
    EXPECT_EQ(groups.setFavour(1, Favour::hated), Status::ok) << "before it has members";
    EXPECT_EQ(groups.setPersist(1, 5), Status::ok);
    EXPECT_EQ(groups.setPersist(2, 3), Status::ok);
    EXPECT_EQ(groups.setPersist(3, neverPersist), Status::ok);
    EXPECT_EQ(groups.leastPersist(), 3U);
    EXPECT_EQ(groups.assign(1, keyOf(1), all), Status::ok);
    EXPECT_EQ(groups.favourOf(keyOf(1)), Favour::hated);
    EXPECT_EQ(groups.persistOf(keyOf(1)), 5U);
    EXPECT_EQ(groups.favourOf(keyOf(2)), Favour::none);
    EXPECT_EQ(groups.persistOf(keyOf(2)), 0U);
    EXPECT_TRUE(groups.leave(keyOf(1)));
    EXPECT_EQ(groups.groups(), 3U);
    EXPECT_EQ(groups.setPersist(2, 0), Status::ok);
    EXPECT_EQ(groups.leastPersist(), 5U);
    EXPECT_EQ(groups.setPersist(1, 0), Status::ok);
    EXPECT_EQ(groups.setFavour(1, Favour::none), Status::ok);
    EXPECT_TRUE(groups.dissolve(3));
    EXPECT_EQ(groups.groups(), 0U);
    EXPECT_EQ(groups.leastPersist(), neverPersist);
    EXPECT_EQ(groups.setPersist(4, 0), Status::ok) << "nothing to end";
    EXPECT_EQ(groups.groups(), 0U);
}

TEST(NumberedGroups, aDissolvedGroupIsGoneAtOnce) {
    NumberedGroups groups(MB);
    for (uint64_t n = 0; n < 2000; ++n)
        EXPECT_EQ(groups.assign(1, keyOf(n), all), Status::ok);
    EXPECT_TRUE(groups.dissolve(1));
    EXPECT_FALSE(groups.dissolve(1));
    EXPECT_EQ(groups.groupOf(keyOf(1)), 0U);
    EXPECT_EQ(groups.assign(1, keyOf(1), all), Status::ok);
    EXPECT_EQ(groups.assign(2, keyOf(2), all), Status::ok);
    EXPECT_EQ(membersOf(groups, 1), keys(1, 2)) << "a new one with that number";
    unsigned turns = 1;
    while (groups.sweep())
        ++turns;
    EXPECT_GT(turns, 2U) << "each a piece";
    EXPECT_EQ(groups.members(), 2U);
    EXPECT_EQ(groups.groupOf(keyOf(1)), 1U);
    EXPECT_EQ(groups.groupOf(keyOf(2)), 2U);
}

TEST(NumberedGroups, whoIsNotStoredMakesRoom) {
    constexpr uint64_t room = 100 + 3 * NumberedGroups::groupTakes;
    NumberedGroups groups(room * NumberedGroups::bytesEach);
    uint64_t n = 0;
    while (groups.assign(1 + n % 3, keyOf(n), all) == Status::ok)
        ++n;
    EXPECT_EQ(groups.members(), 100U);
    EXPECT_EQ(groups.assign(1, keyOf(n), all), Status::busy);
    EXPECT_EQ(groups.setFavour(99, Favour::loved), Status::busy);
    EXPECT_EQ(groups.assign(1, keyOf(0), all), Status::ok) << "it only moves";
    const auto isKept = [](const Key &key) { return key != keyOf(11) && key != keyOf(50); };
    for (unsigned found = 0, calls = 0; found < 2 && calls < 8; ++calls) // a call looks at some members only
        found += groups.assign(1, keyOf(n + found), isKept) == Status::ok;
    EXPECT_EQ(groups.groupOf(keyOf(n + 1)), 1U);
    EXPECT_EQ(groups.groupOf(keyOf(11)), 0U);
    EXPECT_EQ(groups.groupOf(keyOf(50)), 0U);
    EXPECT_EQ(groups.assign(1, keyOf(n + 2), isKept), Status::busy);
    EXPECT_EQ(groups.members(), 100U);
}

TEST(NumberedGroups, theNextRunKnowsThem) {
    NumberedGroups before(MB), after(MB);
    for (uint64_t n = 0; n < 1500; ++n)
        EXPECT_EQ(before.assign(n < 1000 ? 5 : UINT64_MAX, keyOf(n), all), Status::ok); // more than a chunk has room for
    EXPECT_EQ(before.setFavour(5, Favour::hated), Status::ok);
    EXPECT_EQ(before.setPersist(6, 77), Status::ok) << "without members";
    EXPECT_EQ(before.setPersist(UINT64_MAX, neverPersist), Status::ok);
    EXPECT_EQ(after.assign(9, keyOf(3), all), Status::ok);
    EXPECT_EQ(after.setFavour(UINT64_MAX, Favour::loved), Status::ok);
    restoreFrom(before, after, [](const Key &key) { return key != keyOf(4); });
    EXPECT_EQ(after.groupOf(keyOf(0)), 5U);
    EXPECT_EQ(after.groupOf(keyOf(3)), 9U) << "this run knows better";
    EXPECT_EQ(after.groupOf(keyOf(4)), 0U) << "it was not in the store";
    EXPECT_EQ(membersOf(after, UINT64_MAX), keys(1000, 1500));
    EXPECT_EQ(after.favourOf(keyOf(0)), Favour::hated);
    EXPECT_EQ(after.favourOf(keyOf(1200)), Favour::loved);
    EXPECT_EQ(after.persistOf(keyOf(1200)), neverPersist);
    EXPECT_EQ(after.leastPersist(), 77U);
    EXPECT_EQ(after.members(), 1499U);
}

TEST(NumberedGroups, recordsThatCannotBeAreSurvived) {
    NumberedGroups groups((19 + NumberedGroups::groupTakes) * NumberedGroups::bytesEach);
    SavedGroups::GroupRecord record;
    record.kind = SavedGroups::numbered;
    record.name = 1;
    record.site = 250;
    record.members.resize(3); // all of them the same key
    EXPECT_TRUE(groups.restore(record));
    EXPECT_EQ(groups.members(), 1U);
    EXPECT_EQ(groups.favourOf(Key()), Favour::none);
    record.members.clear();
    for (uint64_t n = 0; n < 100; ++n) {
        record.members.emplace_back();
        record.members.back().key = keyOf(n);
    }
    EXPECT_FALSE(groups.restore(record)) << "no room";
    EXPECT_EQ(groups.members(), 19U);
}

/// random orders: what next(), groupOf() and members() say agrees, with a sweep at any time
TEST(NumberedGroups, countsAgree) {
    std::mt19937 random(7);
    NumberedGroups groups(300 * NumberedGroups::bytesEach);
    std::map<uint64_t, uint64_t> where; // object -> group
    for (unsigned step = 0; step < 20000; ++step) {
        const auto object = random() % 200;
        const auto group = 1 + random() % 5;
        switch (random() % 8) {
        case 0:
            EXPECT_EQ(groups.leave(keyOf(object)), where.erase(object) > 0);
            break;
        case 1:
            if (random() % 20 == 0) {
                (void)groups.dissolve(group);
                for (auto at = where.begin(); at != where.end();)
                    at = at->second == group ? where.erase(at) : std::next(at);
            }
            break;
        case 2:
            (void)groups.sweep();
            break;
        case 3:
            EXPECT_EQ(groups.setFavour(group, static_cast<Favour>(random() % 3)), Status::ok);
            break;
        default:
            ASSERT_EQ(groups.assign(group, keyOf(object), all), Status::ok);
            where[object] = group;
        }
        const auto at = where.find(object);
        ASSERT_EQ(groups.groupOf(keyOf(object)), at == where.end() ? 0 : at->second);
    }
    while (groups.sweep());
    size_t sum = 0;
    for (uint64_t group = 1; group <= 5; ++group)
        sum += membersOf(groups, group).size();
    EXPECT_EQ(sum, where.size());
    EXPECT_EQ(groups.members(), where.size());
}
