// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts from regions that were made by hand, or that come late. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/engine/LocalEngine.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// time that passes while one looks at it
class HastyClock : public Clock
{
public:
    explicit HastyClock(const uint64_t step): step_(step) {}
    uint64_t micros() const override { return now_ += step_; }
    int64_t wallSeconds() const override { return 1700000000; }

private:
    const uint64_t step_; ///< microseconds a look
    mutable uint64_t now_ = 0;
};

/// a block of one removal
void
putBlock(PartsDevice &d, const uint32_t at, const uint64_t checkpoint, const uint32_t index, const uint32_t run)
{
    JournalBlock block;
    block.checkpoint = checkpoint;
    block.index = index;
    block.run = run;
    JournalRecord record;
    record.key = keyOf(index);
    record.sequence = Sequence(1 + index);
    block.records.push_back(record);
    const auto &g = d.superblock.geometry;
    block.encode(d.media.data() + g.journalStart[checkpoint % 2] + uint64_t(at) * journalBlockBytes, d.superblock.uuid);
}

/// a checkpoint of many blocks, the nth object in the nth cluster
void
writeLargeCheckpoint(PartsDevice &d, const uint64_t objects)
{
    Parts p(d);
    p.allFree();
    for (uint64_t n = 0; n < objects; ++n)
        p.placed(n, static_cast<uint32_t>(n % 64), 1024 + static_cast<uint32_t>(n / 64) * 64, 8);
    ASSERT_TRUE(p.runCheckpoint());
}

/// writes a cluster of one object, as another one would
void
putCluster(PartsDevice &d, const ClusterNo c, const uint64_t n, const Sequence sequence)
{
    Directory front;
    DirectoryEntry e;
    e.key = keyOf(n);
    e.offset = 1024;
    e.size = 300;
    e.info.size = 300;
    front.entries.push_back(e);
    front.header.number = c;
    front.header.uuid = d.superblock.uuid;
    front.header.sequence = sequence;
    front.header.end = 1024 + Catalog::ExtentBytes(300);
    front.encode(d.media.data() + d.superblock.geometry.clusterOffset(c), 1024);
}

/// cluster 1 has ten objects, and cluster 2, which is newer, has a directory that names object 3 and not its bytes
void
putTornNewerCopy(PartsDevice &d)
{
    Parts p(d);
    p.allFree();
    for (uint64_t n = 0; n < 10; ++n)
        p.placed(n, 1, 1024 + static_cast<uint32_t>(n) * 512, 8);
    ASSERT_TRUE(p.runCheckpoint());
    p.journal.announce(2_c, p.context.sequence);
    putCluster(d, 2_c, 3, p.context.sequence + 1); // without the bytes of the object
    ASSERT_TRUE(p.writeJournal());
}

} // namespace

TEST(Recovery, readsAJournalThatFillsItsRegion) {
    PartsDevice d;
    const auto blocks = static_cast<uint32_t>(d.superblock.geometry.journalBytes / journalBlockBytes);
    for (uint32_t i = 0; i < blocks; ++i)
        putBlock(d, i, 0, i, 1);
    Parts p(d);
    ASSERT_TRUE(p.recover());
    EXPECT_EQ(p.recovery->stats().deletes, blocks);
    EXPECT_EQ(p.journal.used(), 1.0) << "what comes now must wait for the other region";
}

TEST(Recovery, leftoversEndTheJournal) {
    const struct { const char *what; uint64_t checkpoint; uint32_t index; uint32_t run; bool counts; } cases[] = {
        {"goes on", 2, 1, 6, true},
        {"of an older run", 2, 1, 4, false},
        {"of another place", 2, 2, 5, false},
        {"of an older checkpoint", 0, 1, 5, false},
    };
    for (const auto &c: cases) {
        PartsDevice d;
        d.superblock.checkpoint = 2;
        putBlock(d, 0, 2, 0, 5);
        putBlock(d, 1, c.checkpoint, c.index, c.run);
        Parts p(d);
        ASSERT_TRUE(p.recover());
        EXPECT_EQ(p.recovery->stats().deletes, c.counts ? 2U : 1U) << c.what;
    }
}

/// a write that was lost or landed elsewhere leaves a block that is whole, and wrong
TEST(Recovery, blocksMustBeInTheirPlace) {
    const struct { const char *what; std::function<void(IndexBlock &)> change; } cases[] = {
        {"another place", [](IndexBlock &b) { ++b.position.block; }},
        {"an older lap", [](IndexBlock &b) { --b.position.lap; }},
        {"newer than what is behind it", [](IndexBlock &b) { ++b.serial; }},
    };
    for (const auto &c: cases) {
        PartsDevice d;
        ASSERT_NO_FATAL_FAILURE(writeLargeCheckpoint(d, 2000));
        Parts p(d);
        IndexBlock block;
        ASSERT_EQ(block.decode(p.logBlock(5), d.superblock.uuid), Status::ok);
        ASSERT_EQ(block.part, IndexBlock::Part::contents);
        c.change(block);
        block.encode(p.logBlock(5), d.superblock.uuid);
        ASSERT_TRUE(p.recover());
        EXPECT_EQ(p.recovery->stats().blocksLost, 1U) << c.what;
        EXPECT_FALSE(p.recovery->stats().scanned) << c.what;
        EXPECT_GT(p.catalog.objects(), 1800U) << c.what;
        EXPECT_LT(p.catalog.objects(), 2000U) << c.what;
        EXPECT_EQ(p.log.size(), 1U) << c.what;
    }
}

/// what was removed from an older checkpoint's objects is in two places
TEST(Recovery, doubtsWhatMayHaveBeenRemoved) {
    for (const unsigned copies: {0U, 1U, 2U, 3U}) {
        PartsDevice d;
        ASSERT_NO_FATAL_FAILURE(writeLargeCheckpoint(d, 500));
        const auto first = d.superblock.log.used();
        {
            Parts p(d);
            ASSERT_TRUE(p.recover());
            p.catalog.erase(p.catalog.index().find(keyOf(7)));
            p.placed(1000, 70, 1024, 8);
            p.checkpointer.beBrief(); // nothing else is said anew
            ASSERT_TRUE(p.runCheckpoint());
            p.placed(1001, 71, 1024, 8);
            ASSERT_TRUE(p.runCheckpoint());
        }
        Parts p(d);
        if (copies & 1) // removals, contents, and the removals again
            p.logBlock(first)[100] ^= 1;
        if (copies & 2)
            p.logBlock(first + 2)[100] ^= 1;
        ASSERT_TRUE(p.recover());
        EXPECT_FALSE(p.recovery->stats().scanned);
        EXPECT_EQ(p.catalog.index().find(keyOf(7)) != noSlot, copies == 3) << copies;
        const auto flags = p.catalog.info(p.catalog.index().find(keyOf(8))).flags;
        EXPECT_EQ(bool(flags & flagDoubtful), copies == 3) << copies;
        EXPECT_FALSE(p.catalog.info(p.catalog.index().find(keyOf(1001))).flags & flagDoubtful) << copies;
        EXPECT_EQ(p.catalog.objects(), 501U + (copies == 3));
    }
}

/// a whole checkpoint may be damaged: the next one knows that it was there
TEST(Recovery, missesACheckpointThatIsLost) {
    PartsDevice d;
    ASSERT_NO_FATAL_FAILURE(writeLargeCheckpoint(d, 2000));
    const auto first = d.superblock.log.used();
    {
        Parts p(d);
        ASSERT_TRUE(p.recover());
        p.checkpointer.beBrief();
        for (const uint64_t n: {7, 8}) {
            p.catalog.erase(p.catalog.index().find(keyOf(n)));
            ASSERT_TRUE(p.runCheckpoint());
        }
    }
    Parts p(d);
    ASSERT_LT(first + 3, d.superblock.log.used());
    for (uint32_t i = 0; i < (d.superblock.log.used() - first) / 2; ++i)
        p.logBlock(first + i)[100] ^= 1;
    ASSERT_TRUE(p.recover());
    EXPECT_FALSE(p.recovery->stats().scanned);
    EXPECT_EQ(p.catalog.index().find(keyOf(8)), noSlot);
    ASSERT_NE(p.catalog.index().find(keyOf(7)), noSlot);
    EXPECT_TRUE(p.catalog.info(p.catalog.index().find(keyOf(7))).flags & flagDoubtful);
}

/// requests come between the pieces of a large index: a turn takes no longer than it may
TEST(Recovery, takesABlockInAShortTurn) {
    PartsDevice d(160 * MB);
    ASSERT_NO_FATAL_FAILURE(writeLargeCheckpoint(d, 30000));
    ASSERT_GT(d.superblock.log.used(), 200U);
    d.device->setDelay(1000, 1000);
    const HastyClock hasty(6000); // a look takes longer than a turn may
    Parts p(d, hasty);
    p.beginRecovery();
    const auto aTurn = 0.8 / static_cast<double>(d.superblock.log.used());
    auto before = p.recovery->progress();
    EXPECT_EQ(before, 0.0);
    unsigned turns = 0;
    ASSERT_TRUE(p.until([&] {
        p.recovery->poll();
        const auto now = p.recovery->progress();
        if (before >= 0.2 && now > before && now < 1) {
            ++turns;
            EXPECT_LT(now - before, 1.1 * aTurn);
        }
        EXPECT_GE(now, before);
        before = now;
        return p.recovery->done();
    }));
    EXPECT_EQ(before, 1.0);
    EXPECT_GE(turns, 10U);
    EXPECT_FALSE(p.recovery->stats().scanned);
    EXPECT_EQ(p.catalog.objects(), 30000U);
}

/// an idle Squid calls when the device has something to say, and else ten times a second
TEST(Recovery, announcesEachOfItsTurns) {
    PartsDevice d;
    ASSERT_NO_FATAL_FAILURE(writeLargeCheckpoint(d, 2000));
    const HastyClock hasty(6000); // a look takes longer than a turn may
    Parts p(d, hasty);
    p.beginRecovery();
    uint64_t announced = 0;
    unsigned unannounced = 0;
    unsigned turns = 0;
    while (!p.recovery->done() && turns < 10000) {
        ++turns;
        unannounced += d.device->idle() && d.device->wakes() == announced && turns > 1;
        announced = d.device->wakes();
        d.device->wait(1);
        d.device->poll();
        p.recovery->poll();
    }
    EXPECT_TRUE(p.recovery->done());
    EXPECT_GE(turns, 10U);
    EXPECT_EQ(unannounced, 0U);
    EXPECT_EQ(p.catalog.objects(), 2000U);
}

TEST(Recovery, saysHowFarAScanIs) {
    PartsDevice d;
    ASSERT_NO_FATAL_FAILURE(writeLargeCheckpoint(d, 100));
    d.superblock.log.tail = d.superblock.log.head; // no log
    d.superblock.removalBlocks = 0;
    d.device->setDelay(100, 5000);
    Parts p(d);
    p.beginRecovery();
    double before = 0;
    unsigned moved = 0;
    ASSERT_TRUE(p.until([&] {
        p.recovery->poll();
        if (p.recovery->scanning()) {
            const auto now = p.recovery->progress();
            EXPECT_GE(now, before);
            EXPECT_LE(now, 1.0);
            moved += now > before;
            before = now;
        }
        return p.recovery->done();
    }));
    EXPECT_GT(moved, 10U);
    EXPECT_EQ(p.recovery->progress(), 1.0);
}

/// the reads of a scan may come back with what was written after they were sent
TEST(Recovery, aScanLeavesNewerClustersAlone) {
    PartsDevice d;
    ASSERT_NO_FATAL_FAILURE(writeLargeCheckpoint(d, 100));
    d.superblock.log.tail = d.superblock.log.head; // no log: all clusters are unknown
    d.superblock.removalBlocks = 0;
    putCluster(d, 70_c, 7000, 5_seq);
    d.device->setDelay(2000, 2000);
    Parts p(d);
    p.beginRecovery();
    ASSERT_TRUE(p.until([&] { p.recovery->poll(); return p.recovery->scanning(); }));
    putCluster(d, 71_c, 7001, p.context.sequence + 1);
    ASSERT_TRUE(p.until([&] { p.recovery->poll(); return p.recovery->done(); }));
    EXPECT_NE(p.catalog.index().find(keyOf(7000)), noSlot);
    EXPECT_EQ(p.catalog.index().find(keyOf(7001)), noSlot) << "whoever writes it adds it, too";
}

/// The superblock is older than what was written last: ages of objects must not depend on that. Nor must they depend on
/// deletes of a start that did not come to its end: their numbers are high, and have the heat tick of the superblock.
TEST(Recovery, goesOnWhereTheHeatOfObjectsIs) {
    for (const bool hasDeletes: {false, true}) {
        PartsDevice d;
        Sequence newest{0};
        Sequence highest{0};
        {
            Parts p(d);
            p.allFree();
            p.placed(1, 1, 1024, 8);
            ASSERT_TRUE(p.runCheckpoint());
            p.journal.announce(2_c, p.context.sequence);
            newest = p.context.sequence + 5 * p.context.heatTickWrites();
            putCluster(d, 2_c, 3, newest);
            highest = newest;
            if (hasDeletes) {
                highest = p.context.sequence + 256 * p.context.heatTickWrites();
                p.journal.removal(keyOf(4), highest);
            }
            ASSERT_TRUE(p.writeJournal());
        }
        Parts p(d);
        p.recovery = std::make_unique<Recovery>(p.context, p.journal, d.superblock);
        p.recovery->takeNumbers();
        p.recovery->start();
        ASSERT_TRUE(p.until([&] { p.recovery->poll(); return p.recovery->done(); }));
        ASSERT_NE(p.catalog.index().find(keyOf(3)), noSlot);
        EXPECT_GT(p.context.sequence, highest);
        EXPECT_EQ((p.context.sequence - newest) % (256 * p.context.heatTickWrites()), 0U) << hasDeletes;
    }
}

/// an object of which two copies are found: the newer one counts when its cluster, which is read, has it whole
TEST(Recovery, waitsForTheCopiesThatItChecks) {
    uint64_t last = 0; ///< number of the read of that cluster
    for (const auto fault: {Fault::none, Fault::error}) {
        PartsDevice d;
        ASSERT_NO_FATAL_FAILURE(putTornNewerCopy(d));
        d.device->setDelay(1000, 1000);
        d.device->script(IoOp::read, last, fault);
        Parts p(d);
        p.beginRecovery();
        bool waited = false;
        ASSERT_TRUE(p.until([&] {
            p.recovery->poll();
            waited = waited || (!p.recovery->done() && p.recovery->progress() == 1.0);
            return p.recovery->done();
        }));
        EXPECT_TRUE(waited);
        last = d.device->requests(IoOp::read);
        EXPECT_EQ(d.device->injected(Fault::error), fault == Fault::error ? 1U : 0U);
        const auto slot = p.catalog.index().find(keyOf(3));
        ASSERT_NE(slot, noSlot);
        EXPECT_EQ(p.catalog.index()[slot].cluster, 1_c) << "the newer copy is torn";
        EXPECT_EQ(p.catalog.objects(), 10U);
    }
}

/// somebody reads the newer copy before the start looks at it: nothing is lost by that
TEST(Recovery, aReadDuringTheStartDoesNotForgetTheOlderCopy) {
    PartsDevice d;
    ASSERT_NO_FATAL_FAILURE(putTornNewerCopy(d));
    d.device->setDelay(1000, 1000);
    LocalEngine engine(*d.device, d.clock, d.config, [](LogLevel, const std::string &) {}, d.superblock);
    const auto &catalog = engine.context().catalog;
    std::unique_ptr<Reader> reader;
    auto status = Status::pending;
    while (engine.state() == EngineState::recovering) {
        ObjectInfo info;
        if (!reader && engine.find(keyOf(3), info)) {
            reader = engine.read(keyOf(3));
            ASSERT_TRUE(reader);
            d.device->setDelay(1500, 1500); // until the log was read, and the copies were not
            reader->fetch(0, [&](const Status s) {
                status = s;
                EXPECT_NE(catalog.index().find(keyOf(4)), noSlot) << "the log has the older copy";
            });
            d.device->setDelay(1000, 1000);
        }
        d.clock.advance(100);
        engine.poll();
    }
    EXPECT_EQ(status, Status::corrupt) << "this test is to read the newer copy";
    const auto slot = catalog.index().find(keyOf(3));
    ASSERT_NE(slot, noSlot);
    EXPECT_EQ(catalog.index()[slot].cluster, 1_c);
}

TEST(Recovery, readsDirectoriesThatAreLongerThanItsFirstRead) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto &g = t.geometry();
    constexpr uint64_t objects = 500;
    for (uint64_t n = 0; n < objects; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n % 3)), Status::ok);
    ASSERT_TRUE(t.pack());
    const auto *const first = t.media.data() + g.clusterOffset(0_c);
    ClusterHeader header;
    ASSERT_TRUE(Directory::Peek(first, 4096, header));
    ASSERT_GT(header.directoryBytes(), 16384U);
    const std::string image(first, g.clusterBytes);
    const auto clusterStart = g.clusterOffset(0_c);
    t.crash();
    const std::string disk(t.media.data(), t.media.size());
    const auto startsWith = [&](const std::string &bytes) {
        t.crash();
        memcpy(t.media.data(), disk.data(), disk.size());
        memcpy(t.media.data() + clusterStart, bytes.data(), bytes.size());
        t.reopen();
        uint64_t found = 0;
        for (uint64_t n = 0; n < objects; ++n)
            found += t.has(keyOf(n), bytesOf(n, 1 + n % 3));
        return found;
    };
    EXPECT_EQ(startsWith(image), objects);
    auto foreign = image;
    foreign[16] ^= 1; // another device's
    EXPECT_EQ(startsWith(foreign), 0U);
    auto larger = image;
    ByteWriter(&larger[48], 4).u32(0x7fffffff);
    EXPECT_EQ(startsWith(larger), 0U) << "a directory larger than its cluster";
    auto torn = image;
    torn[17000] ^= 1;
    EXPECT_EQ(startsWith(torn), 0U);
}
