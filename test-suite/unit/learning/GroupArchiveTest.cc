// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of groups, and groups from records. */

#include "test-suite/unit/learning/TrackerSupport.h"

#include "fs/cluster/learning/GroupArchive.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

using Keys = std::vector<Key>;
using Records = std::vector<SavedGroups::GroupRecord>;

/// a life of a tracker's memory
struct Memory {
    explicit Memory(const uint32_t objects = 1000): table(objects, 1) {}

    uint32_t object(const std::string &name) { return table.objectFor(keyOf(name)); }
    uint32_t page(const uint64_t name) { return table.groupFor(name, 1, GroupKind::page); }
    void visit(const uint64_t name, const Names &members) {
        now += 60 * second;
        groups.visit(page(name), now);
        for (const auto &m: members)
            groups.sight(object(m), 1, page(name), Evidence::referer, now);
    }
    Records saved() const {
        Records records;
        uint32_t at = 0;
        EXPECT_EQ(archive.save(at, [](const Key &) { return true; }, 1 << 20, records), SavedGroups::Saved::all);
        return records;
    }
    Keys members(const uint64_t name) const {
        Keys keys;
        table.list(table.find(name), keys, 1000);
        return keys;
    }

    GroupTable table;
    Groups groups{table};
    GroupArchive archive{table, groups};
    uint64_t now = 1000 * second;
};

} // namespace

TEST(GroupArchive, savesGroupsOfTwoOrMore) {
    Memory m;
    m.table.lead(m.page(1), m.object("page"));
    m.visit(1, {"a", "b"});
    m.visit(2, {"c"});
    m.table.lead(m.page(3), m.object("leader"));
    m.visit(3, {"d"});
    const auto records = m.saved();
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].name, 1U);
    EXPECT_EQ(records[0].leader, keyOf("page"));
    ASSERT_EQ(records[0].members.size(), 2U);
    EXPECT_EQ(records[0].members[0].key, keyOf("a"));
    EXPECT_EQ(records[0].members[0].weight, weightOfNew);
    EXPECT_TRUE(records[0].members[0].home);
    EXPECT_FALSE(records[0].members[0].confirmed);
    EXPECT_EQ(records[1].name, 3U);
}

TEST(GroupArchive, leavesOutWhatIsNotKept) {
    Memory m;
    m.visit(1, {"a", "b", "c"});
    m.visit(2, {"d", "e"});
    Records records;
    uint32_t at = 0;
    const auto kept = [](const Key &key) { return key != keyOf("b") && key != keyOf("d"); };
    EXPECT_EQ(m.archive.save(at, kept, 1 << 20, records), SavedGroups::Saved::all);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].members.size(), 2U);
}

TEST(GroupArchive, goesOnWhereAChunkWasFull) {
    Memory m;
    for (uint64_t name = 1; name <= 10; ++name)
        m.visit(name, {"a" + std::to_string(name), "b" + std::to_string(name)});
    const auto each = SavedGroups::GroupRecord::encodedBytes + 2 * SavedGroups::MemberRecord::encodedBytes;
    std::vector<size_t> chunks;
    uint32_t at = 0;
    for (auto saved = SavedGroups::Saved::full; saved != SavedGroups::Saved::all;) {
        Records records;
        saved = m.archive.save(at, [](const Key &) { return true; }, 4 * each, records);
        chunks.push_back(records.size());
    }
    EXPECT_EQ(chunks, (std::vector<size_t>{4, 4, 2}));
}

TEST(GroupArchive, looksAtAFewAtATime) {
    Memory m(100000);
    for (uint64_t name = 1; name <= 5000; ++name)
        m.visit(name, {"a" + std::to_string(name), "b" + std::to_string(name)});
    Records records;
    uint32_t at = 0;
    unsigned calls = 1;
    while (m.archive.save(at, [](const Key &) { return true; }, 1 << 20, records) == SavedGroups::Saved::some)
        ++calls;
    EXPECT_EQ(records.size(), 5000U);
    EXPECT_EQ(calls, 7U) << "25,000 looks";
}

TEST(GroupArchive, bringsBackWhatWasSaved) {
    Memory before;
    before.table.lead(before.page(1), before.object("page"));
    for (int n = 0; n < 3; ++n)
        before.visit(1, {"a", "b"});
    before.visit(2, {"c", "a"});
    before.groups.settle(before.object("d"), before.page(2));
    Memory after;
    for (const auto &r: before.saved())
        EXPECT_TRUE(after.archive.restore(r));
    EXPECT_EQ(after.members(1), before.members(1));
    EXPECT_EQ(after.members(2), before.members(2));
    EXPECT_EQ(after.table.report().restored, 2U);
    Keys company;
    EXPECT_TRUE(after.groups.isGuest(keyOf("a"), company, 10)) << "as it was: its last visit was elsewhere";
    const auto m = after.table.scan(after.object("d"), after.page(2)).member;
    EXPECT_EQ(after.table.membership(m).until, forever);
    const auto records = after.saved();
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].members[0].weight, before.saved()[0].members[0].weight);
}

/// the new run knows better
TEST(GroupArchive, whatWasLearnedSinceCountsMore) {
    Memory before;
    for (int n = 0; n < 3; ++n)
        before.visit(1, {"a", "b"});
    Memory after;
    after.visit(1, {"a"});
    after.visit(2, {"b"});
    for (const auto &r: before.saved())
        EXPECT_TRUE(after.archive.restore(r));
    const auto m = after.table.scan(after.object("a"), after.page(1)).member;
    EXPECT_EQ(after.table.membership(m).until - after.table[after.page(1)].faded, weightOfNew) << "not what it weighed before";
    EXPECT_EQ(after.table.homeOf(after.object("b")), after.page(1)) << "an older home is one nonetheless";
    EXPECT_EQ(after.table[after.page(1)].seen, 1U) << "nobody has fetched what comes back";
}

TEST(GroupArchive, guestsComeBack) {
    Memory before;
    for (uint64_t name = 1; name <= 5; ++name)
        before.visit(name, {"logo", "own" + std::to_string(name)});
    Keys was, is;
    before.groups.listWanted(5, was, 10);
    Memory after;
    for (const auto &r: before.saved())
        after.archive.restore(r);
    after.groups.visit(after.page(5), after.now);
    after.groups.listWanted(5, is, 10);
    EXPECT_EQ(is, was);
}

TEST(GroupArchive, nothingIsForgottenForIt) {
    Memory before;
    before.visit(1, {"a", "b"});
    const auto records = before.saved();
    Memory small(25); // five groups
    for (uint64_t name = 11; name <= 15; ++name)
        small.page(name);
    EXPECT_FALSE(small.archive.restore(records[0])) << "no room for a group";
    EXPECT_EQ(small.table.find(uint64_t(1)), nothing);
    Memory full(25);
    for (int n = 0; n < 24; ++n)
        full.object("o" + std::to_string(n));
    EXPECT_TRUE(full.archive.restore(records[0]));
    EXPECT_EQ(full.members(1), Keys{keyOf("a")}) << "no room for another object";
}

TEST(GroupArchive, leavesOutWhatItDoesNotKnow) {
    Memory before;
    before.visit(1, {"a", "b"});
    auto record = before.saved()[0];
    record.kind = 200;
    Memory after;
    EXPECT_TRUE(after.archive.restore(record)) << "others may follow";
    EXPECT_EQ(after.table.find(uint64_t(1)), nothing);
    record.kind = 0;
    record.members[0].evidence = 200;
    EXPECT_TRUE(after.archive.restore(record));
    EXPECT_EQ(after.members(1), Keys{keyOf("b")});
}
