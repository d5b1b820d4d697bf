// SPDX-License-Identifier: GPL-2.0-or-later
/* How a start merges what it finds: the rules, one by one. */

#include "test-suite/unit/recovery/IndexRebuilderSupport.h"

#include <algorithm>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST_F(IndexRebuilderTest, takesTheLogAsItIs) {
    table(3, ClusterState::packed, 10);
    table(4, ClusterState::bad, 0);
    object(1, 3);
    object(2, 3);
    finish();
    EXPECT_EQ(where(1), 3_c);
    EXPECT_EQ(where(2), 3_c);
    EXPECT_EQ(p.catalog.clusters()[4_c].state, ClusterState::bad);
    EXPECT_EQ(p.catalog.liveBytes(), 200U);
    EXPECT_EQ(f.highest(), 10_seq);
    EXPECT_EQ(stats.dropped, 0U);
}

TEST_F(IndexRebuilderTest, theJournalOverrulesTheLog) {
    announce(3, 20);
    release(4);
    table(3, ClusterState::packed, 10);
    table(4, ClusterState::packed, 11);
    table(5, ClusterState::packed, 12);
    object(1, 3);
    object(2, 4);
    object(3, 5);
    EXPECT_EQ(f.announced(), std::vector<ClusterNo>{3_c});
    EXPECT_EQ(f.announcedAfter(3_c), 20_seq);
    finish();
    EXPECT_EQ(where(1), noCluster);
    EXPECT_EQ(where(2), noCluster);
    EXPECT_EQ(where(3), 5_c);
}

TEST_F(IndexRebuilderTest, theLastWordOfTheJournalCounts) {
    announce(1, 10);
    release(1);
    release(2);
    announce(2, 12);
    announce(3, 13);
    release(3);
    announce(3, 14);
    announce(999999, 1);
    release(999999);
    EXPECT_EQ(f.announced(), (std::vector<ClusterNo>{2_c, 3_c}));
    EXPECT_EQ(f.announcedAfter(3_c), 14_seq);
}

TEST_F(IndexRebuilderTest, theLogAnnouncesToo) {
    table(1, ClusterState::announced, 30);
    table(2, ClusterState::announced, 31);
    EXPECT_EQ(f.announced(), (std::vector<ClusterNo>{1_c, 2_c}));
    EXPECT_EQ(f.announcedAfter(2_c), 31_seq);
}

/// announced at the checkpoint, then written, then forgotten
TEST_F(IndexRebuilderTest, whatWasReleasedSinceStaysForgotten) {
    release(1);
    table(1, ClusterState::announced, 30);
    EXPECT_TRUE(f.announced().empty());
}

TEST_F(IndexRebuilderTest, higherSequenceNumbersWin) {
    found(1, 10, 100);
    found(1, 11, 102);
    found(1, 12, 101);
    finish();
    EXPECT_EQ(where(1), 11_c);
    EXPECT_EQ(p.catalog.objects(), 1U);
    EXPECT_EQ(p.catalog.clusters()[10_c].state, ClusterState::free) << "nothing is left in it";
    EXPECT_EQ(p.catalog.liveBytes(), 200U);
}

TEST_F(IndexRebuilderTest, removalsEndAllVersionsUpToTheirs) {
    removal(1, 100);
    removal(1, 90); // an older one, replayed later
    removal(2, 100);
    found(1, 10, 100);
    found(2, 11, 101);
    table(3, ClusterState::packed, 50);
    object(1, 3);
    object(3, 3);
    finish();
    EXPECT_EQ(where(1), noCluster);
    EXPECT_EQ(where(2), 11_c);
    EXPECT_EQ(where(3), 3_c);
    EXPECT_EQ(stats.deletes, 3U);
}

TEST_F(IndexRebuilderTest, whatTheCallerDeletesNowIsGone) {
    f.removedNow(keyOf(1));
    table(3, ClusterState::packed, 50);
    object(1, 3);
    found(1, 10, 100000);
    finish();
    EXPECT_EQ(where(1), noCluster);
}

TEST_F(IndexRebuilderTest, whatTheCallerStoresNowStays) {
    const auto s = p.stage(1, "newer");
    table(3, ClusterState::packed, 50);
    object(1, 3);
    found(1, 10, 100000);
    finish();
    const auto slot = p.catalog.index().find(keyOf(1));
    ASSERT_NE(slot, noSlot);
    EXPECT_TRUE(p.catalog.index()[slot].staged());
    EXPECT_EQ(p.catalog.index()[slot].stage(), s);
}

TEST_F(IndexRebuilderTest, scansLeaveDoubt) {
    found(1, 10, 100, true);
    found(2, 11, 101, false);
    finish();
    EXPECT_TRUE(p.catalog.info(p.catalog.index().find(keyOf(1))).flags & flagDoubtful);
    EXPECT_FALSE(p.catalog.info(p.catalog.index().find(keyOf(2))).flags & flagDoubtful);
}

TEST_F(IndexRebuilderTest, joinsPartsThatComeLate) {
    found(1, 10, 105, false, 500, {{20_c, full, 100_seq}, {22_c, full, 101_seq}, {21_c, 700, 102_seq}});
    foundPart(21, 102, 700);
    foundPart(20, 100, full);
    foundPart(22, 101, full);
    foundPart(23, 103, full); // of nobody
    finish();
    ASSERT_EQ(where(1), 10_c);
    const auto slot = p.catalog.index().find(keyOf(1));
    EXPECT_EQ(p.catalog.objectSize(slot), 500U + 2 * full + 700);
    EXPECT_EQ(p.catalog.payloadBytes(slot), 500U);
    EXPECT_EQ(p.catalog.clusters()[20_c].nextPart, 22_c);
    EXPECT_EQ(p.catalog.clusters()[22_c].nextPart, 21_c);
    EXPECT_EQ(p.catalog.clusters()[21_c].nextPart, noCluster);
    EXPECT_EQ(p.catalog.clusters()[23_c].state, ClusterState::free);
}

/// a large object enters when its parts are known: until then, older versions must not be taken for the newest
TEST_F(IndexRebuilderTest, knowsWhatMayGiveWayToALargeObject) {
    const auto awaitsNewer = [this](const uint64_t n) { return f.awaitsNewer(p.catalog.index().find(keyOf(n))); };
    const std::vector<PartReference> parts = {{20_c, full, 100_seq}, {21_c, 700, 101_seq}};
    for (const uint64_t n: {1, 2, 3})
        found(n, ClusterNo(static_cast<uint32_t>(n)), 50);
    EXPECT_FALSE(awaitsNewer(1));
    found(1, 11, 110, false, 500, parts);
    found(2, 12, 40, false, 500, {{22_c, full, 30_seq}, {23_c, 700, 31_seq}}); // older than what is known
    found(3, 13, 111, true, 500, parts); // by a scan, which takes long
    removal(4, 200);
    found(4, 4, 201);
    found(4, 14, 112, false, 500, parts); // deleted
    EXPECT_TRUE(awaitsNewer(1));
    for (const uint64_t n: {2, 3, 4})
        EXPECT_FALSE(awaitsNewer(n)) << n;
    foundPart(20, 100, full);
    foundPart(21, 101, 700);
    finish();
    EXPECT_EQ(where(1), 11_c);
    EXPECT_FALSE(awaitsNewer(1));
}

TEST_F(IndexRebuilderTest, dropsObjectsWhosePartsAreNotTheirs) {
    const std::vector<PartReference> good = {{20_c, full, 100_seq}, {21_c, 700, 101_seq}};
    const struct { const char *what; std::vector<PartReference> parts; } cases[] = {
        {"missing", {{20_c, full, 100_seq}, {25_c, 700, 101_seq}}},
        {"rewritten", {{20_c, full, 99_seq}, {21_c, 700, 101_seq}}},
        {"of another size", {{20_c, full, 100_seq}, {21_c, 701, 101_seq}}},
        {"not full in the middle", {{21_c, 700, 101_seq}, {20_c, full, 100_seq}}},
        {"outside", {{20_c, full, 100_seq}, {0x7fffffff_c, 700, 101_seq}}},
        {"packed", {{20_c, full, 100_seq}, {10_c, 700, 105_seq}}},
    };
    foundPart(20, 100, full);
    foundPart(21, 101, 700);
    uint64_t n = 1;
    for (const auto &c: cases) {
        found(n, static_cast<uint32_t>(30 + n), 200 + n, false, 500, c.parts);
        ++n;
    }
    found(99, 90, 300, false, 500, good);
    finish();
    for (uint64_t i = 1; i < n; ++i)
        EXPECT_EQ(where(i), noCluster) << cases[i - 1].what;
    EXPECT_EQ(where(99), 90_c);
}

TEST_F(IndexRebuilderTest, aNewHeadKeepsTheParts) {
    const std::vector<PartReference> parts = {{20_c, full, 100_seq}, {21_c, 700, 101_seq}};
    found(1, 10, 105, false, 500, parts);
    found(1, 11, 110, false, 600, parts);
    foundPart(20, 100, full);
    foundPart(21, 101, 700);
    finish();
    EXPECT_EQ(where(1), 11_c);
    EXPECT_EQ(p.catalog.objectSize(p.catalog.index().find(keyOf(1))), 600U + full + 700);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::part), 2U);
}

/// readers trust the sizes that the log tells
TEST_F(IndexRebuilderTest, partsInTheLogMakeUpTheirObject) {
    const auto sum = uint64_t(500) + full + 700;
    const struct { const char *what; uint32_t first; uint64_t total; uint32_t head; bool good; } cases[] = {
        {"as it was", full, sum, 500, true},
        {"larger", full, sum + 1, 500, false},
        {"smaller than its head", full, 41, 500, false},
        {"another head", full, sum, 501, false},
        {"not full in the middle", full - 8, sum - 8, 500, false},
        {"sizes that wrap around", full, ~uint64_t(0), 0xffffffffU, false},
    };
    table(3, ClusterState::packed, 50);
    uint64_t n = 0;
    for (const auto &c: cases) {
        const auto first = static_cast<uint32_t>(10 + 2 * n);
        tablePart(first, c.first, first + 1, c.total, c.head);
        tablePart(first + 1, 700, noCluster);
        auto r = objectRecord(n, 3, first);
        r.object.packed = flagParted;
        add(r);
        ++n;
    }
    f.endLog();
    n = 0;
    for (const auto &c: cases)
        EXPECT_EQ(where(n++) == 3_c, c.good) << c.what;
    finish();
    EXPECT_EQ(p.catalog.liveBytes(), sum);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::part), 2U);
}

/// whoever lets extents overlap could have more bytes in a cluster than 32 bits count
TEST(IndexRebuilder, holdsNoMoreThanFitsIntoACluster) {
    auto config = smallConfig();
    config.clusterKb = 16384;
    config.stagingMb = config.readCacheMb = 32;
    PartsDevice device(512 * MB, config, true);
    Parts p(device);
    RecoveryStats stats;
    IndexRebuilder f(p.context, stats);
    p.catalog.beginAdding(0);
    Directory d;
    d.header.number = 1_c;
    d.header.sequence = 5_seq;
    d.header.end = config.clusterBytes();
    for (uint64_t n = 0; n < 300; ++n) {
        DirectoryEntry e;
        e.key = keyOf(n);
        e.offset = 32768;
        e.size = d.header.end - e.offset - static_cast<uint32_t>(ExtentHeader::encodedBytes);
        e.info.size = e.size;
        d.entries.push_back(e);
    }
    f.directory(1_c, d, false);
    EXPECT_LE(p.catalog.liveBytes(), d.header.end);
    EXPECT_EQ(p.catalog.objects(), 1U);
    EXPECT_TRUE(f.finish([] { return true; }));
    EXPECT_NE(p.catalog.index().find(keyOf(0)), noSlot);
}

TEST_F(IndexRebuilderTest, aChainIsMadeOfParts) {
    table(3, ClusterState::packed, 50);
    tablePart(20, full, 3, uint64_t(500) + 2 * full, 500);
    auto r = objectRecord(1, 3, 20);
    r.object.packed = flagParted;
    add(r);
    finish();
    EXPECT_EQ(where(1), noCluster);
}

/// parts belong to one object only
TEST_F(IndexRebuilderTest, partsHaveOneOwner) {
    table(3, ClusterState::packed, 50);
    tablePart(20, full, 21, uint64_t(500) + full + 700, 500);
    tablePart(21, 700, noCluster);
    for (const uint64_t n: {1, 2}) {
        auto r = objectRecord(n, 3, 20);
        r.object.packed = flagParted;
        add(r);
    }
    found(9, 10, 105, false, 500, {{20_c, full, 0_seq}, {21_c, 700, 0_seq}});
    finish();
    EXPECT_EQ(where(1), noCluster);
    EXPECT_EQ(where(2), noCluster);
    ASSERT_EQ(where(9), 10_c) << "the newest of them";
    EXPECT_EQ(p.catalog.objectSize(p.catalog.index().find(keyOf(9))), 500U + full + 700);
}

TEST_F(IndexRebuilderTest, aDirectoryMustBeTheOneThatTheTableKnows) {
    table(3, ClusterState::packed, 50);
    table(4, ClusterState::packed, 51);
    table(5, ClusterState::packed, 52);
    table(6, ClusterState::bad, 0);
    found(1, 3, 49);
    foundPart(4, 51, full);
    found(2, 5, 52);
    found(3, 6, 53);
    finish();
    EXPECT_EQ(where(1), noCluster);
    EXPECT_EQ(where(2), 5_c);
    EXPECT_EQ(where(3), noCluster);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::part), 0U);
}

/// A large object that is being stored has parts, and nobody to own them yet. A device that has lost a superblock lets a start begin
/// with numbers that are in use.
TEST_F(IndexRebuilderTest, partsThatAreWrittenMeanwhileStay) {
    foundPart(20, 100, full);
    p.catalog.addEmpty(21_c, true);
    p.catalog.announce(21_c, 49_seq);
    p.catalog.addPart(21_c, noCluster, 50_seq, 65536, 0);
    finish();
    EXPECT_EQ(p.catalog.clusters()[20_c].state, ClusterState::free);
    EXPECT_EQ(p.catalog.clusters()[21_c].state, ClusterState::part);
}

/// The log was damaged, so objects are found by a scan, and those that the log had are read meanwhile.
TEST_F(IndexRebuilderTest, partsThatSomebodyReadsStay) {
    found(1, 10, 105, false, 500, {{20_c, full, 100_seq}, {22_c, full, 101_seq}, {21_c, 700, 102_seq}});
    foundPart(20, 100, full);
    foundPart(21, 102, 700);
    foundPart(22, 101, full);
    found(2, 12, 106, false, 500, {{23_c, 700, 103_seq}});
    foundPart(23, 103, 700);
    f.joinParts();
    stats.scanned = true;
    p.catalog.pin(20_c);
    p.catalog.pin(23_c);
    found(1, 11, 110, true);
    found(2, 13, 111, true, 400, {{23_c, 700, 103_seq}}); // a new head of the same parts
    finish();
    EXPECT_EQ(where(1), 11_c);
    EXPECT_EQ(where(2), 13_c);
    for (const auto part: {20_c, 21_c, 22_c})
        EXPECT_EQ(p.catalog.clusters()[part].state, ClusterState::draining) << "somebody reads it";
    p.catalog.unpin(20_c);
    for (const auto part: {20_c, 21_c, 22_c})
        EXPECT_EQ(p.catalog.clusters()[part].state, ClusterState::free);
    p.catalog.unpin(23_c);
    EXPECT_EQ(p.catalog.clusters()[23_c].state, ClusterState::part);
}

/// a log of somebody who means harm
TEST_F(IndexRebuilderTest, survivesHostileRecords) {
    table(0xffffffffU, ClusterState::packed, 1);
    table(1, static_cast<ClusterState>(200), 1);
    table(2, ClusterState::packed, 5, 0xffffffffU);
    table(3, ClusterState::packed, 6);
    table(3, ClusterState::part, 7); // twice
    tablePart(5, 65536 - partPayloadAt, 6);
    tablePart(6, 65536 - partPayloadAt, 5); // a ring
    tablePart(7, 65536 - partPayloadAt, 0x70000000);
    IndexSection part;
    part.cluster = 8_c;
    part.state = static_cast<uint8_t>(ClusterState::part);
    part.end = 100; // ends before it starts
    f.section(part, false, serial);

    auto r = objectRecord(1, 3);
    r.object.hashed.bucket = 0xffffffffU;
    add(r);
    object(2, 0xfffffffeU);
    object(3, 2);
    object(4, 3, 0xffffffffU);
    add(objectRecord(5, 3, 100, 65536));
    for (const ClusterNo first: {5_c, 6_c, 7_c, 8_c, 0xfffffff0_c, noCluster}) {
        r = objectRecord(100 + first.value(), 3);
        r.object.packed = flagParted;
        r.object.size = first.value();
        add(r);
    }
    object(7, 3);
    object(7, 3); // twice
    IndexRemoval removal;
    removal.cluster = 0xfffffff0_c;
    f.removal(removal, 1);
    f.announced(removal);
    removal.kind = IndexRemoval::Kind::object;
    removal.cluster = 3_c;
    removal.offset = 0xfffffff8U;
    f.removal(removal, 1);
    f.use({0xfffffff0_c, 0xffffffffU}, 1);
    f.use({3_c, 0xffffffffU}, 1);
    finish();
    EXPECT_EQ(p.catalog.objects(), 1U);
    EXPECT_EQ(where(7), 3_c);
    EXPECT_EQ(p.catalog.liveBytes(), 100U);
}

/* the log: newer checkpoints come first */

TEST_F(IndexRebuilderTest, aWholeSectionOverrulesOlderOnes) {
    IndexSection newer;
    newer.cluster = 3_c;
    newer.state = static_cast<uint8_t>(ClusterState::packed);
    newer.whole = true;
    newer.sequence = 10_seq;
    newer.end = 65536;
    newer.objects = {objectRecord(1, 3).object};
    f.section(newer, false, 7);
    newer.objects = {objectRecord(2, 3).object};
    f.section(newer, false, 7); // another piece of it
    newer.objects = {objectRecord(4, 3).object};
    f.section(newer, false, 6);
    finish();
    EXPECT_EQ(where(1), 3_c);
    EXPECT_EQ(where(2), 3_c);
    EXPECT_EQ(where(4), noCluster);
}

TEST_F(IndexRebuilderTest, aPieceWithNewTimesLeavesTheOthersToOlderSections) {
    auto updated = objectRecord(1, 3);
    updated.object.timestamp = 1700000000;
    table(3, ClusterState::packed, 10);
    add(updated);
    serial = 0;
    object(1, 3);
    object(2, 3);
    finish();
    EXPECT_EQ(p.catalog.info(p.catalog.index().find(keyOf(1))).timestamp, 1700000000);
    EXPECT_EQ(where(2), 3_c);
    EXPECT_EQ(p.catalog.objects(), 2U);
    EXPECT_EQ(stats.dropped, 0U);
}

TEST_F(IndexRebuilderTest, removalsOverruleOlderSectionsOnly) {
    IndexRemoval r;
    r.cluster = 3_c;
    f.removal(r, 7);
    r.kind = IndexRemoval::Kind::object;
    r.cluster = 4_c;
    r.offset = 1024 + 1024 * 2;
    f.removal(r, 7);
    serial = 7;
    table(3, ClusterState::packed, 10);
    object(1, 3);
    serial = 6;
    table(4, ClusterState::packed, 11);
    object(2, 4);
    object(3, 4);
    object(5, 3);
    finish();
    EXPECT_EQ(where(1), 3_c) << "what the checkpoint itself says of the cluster";
    EXPECT_EQ(where(5), noCluster);
    EXPECT_EQ(where(2), noCluster);
    EXPECT_EQ(where(3), 4_c);
}

TEST_F(IndexRebuilderTest, theNewestUseOfAnObjectCounts) {
    Record r = Record();
    r.setPlace(1024 + 1024, 99);
    f.use({3_c, r.place}, 8);
    r.setPlace(1024 + 1024, 5);
    f.use({3_c, r.place}, 7);
    table(3, ClusterState::packed, 10);
    object(1, 3);
    object(2, 3);
    finish();
    EXPECT_EQ(p.catalog.index()[p.catalog.index().find(keyOf(1))].heat(), 99U);
    EXPECT_EQ(p.catalog.index()[p.catalog.index().find(keyOf(2))].heat(), 0U);
}

TEST_F(IndexRebuilderTest, whatIsDoubtedIsRevalidated) {
    table(3, ClusterState::packed, 10);
    object(1, 3);
    f.doubtFromHere();
    object(2, 3);
    finish();
    EXPECT_FALSE(p.catalog.info(p.catalog.index().find(keyOf(1))).flags & flagDoubtful);
    EXPECT_TRUE(p.catalog.info(p.catalog.index().find(keyOf(2))).flags & flagDoubtful);
}

/// the journal that ended it does not outlive the next checkpoint
TEST_F(IndexRebuilderTest, whatTheLogSaysInVainIsAChange) {
    removal(1, 100);
    table(3, ClusterState::packed, 50);
    object(2, 3);
    EXPECT_FALSE(p.catalog.changes().any());
    object(1, 3);
    EXPECT_TRUE(p.catalog.changes().any());
    p.catalog.beginCheckpoint();
    ASSERT_EQ(p.catalog.changes().collectedGone().size(), 1U);
    EXPECT_EQ(p.catalog.changes().collectedGone()[0].cluster, 3_c);
    EXPECT_EQ(p.catalog.changes().collectedGone()[0].offset, 2048U);
}
