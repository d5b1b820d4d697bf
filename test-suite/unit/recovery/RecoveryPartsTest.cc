// SPDX-License-Identifier: GPL-2.0-or-later
/* Journal, index rebuilder, recovery and superblocks, each alone. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/recovery/SuperblockFile.h"
#include "tools/models/ManualClock.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// all records of a journal region, up to the first block that is not whole
std::vector<JournalRecord>
journalOf(const PartsDevice &d, const uint64_t checkpoint)
{
    std::vector<JournalRecord> all;
    const auto &g = d.superblock.geometry;
    for (uint32_t i = 0; i < g.journalBytes / journalBlockBytes; ++i) {
        JournalBlock block;
        if (block.decode(d.media.data() + g.journalStart[checkpoint % 2] + uint64_t(i) * journalBlockBytes, d.superblock.uuid) != Status::ok ||
                block.checkpoint != checkpoint || block.index != i)
            break;
        all.insert(all.end(), block.records.begin(), block.records.end());
    }
    return all;
}

} // namespace

TEST(Journal, writesAllInOrder) {
    PartsDevice d;
    Parts p(d);
    for (uint64_t n = 0; n < 3000; ++n) {
        p.journal.removal(keyOf(n), Sequence(n));
        p.journal.announce(ClusterNo(static_cast<uint32_t>(n)), Sequence(2 * n));
        p.journal.release(ClusterNo(static_cast<uint32_t>(n)));
    }
    EXPECT_EQ(p.journal.issued(), 9000U);
    EXPECT_EQ(p.journal.pendingRemovals(), 3000U);
    ASSERT_TRUE(p.writeJournal());
    EXPECT_EQ(p.journal.written(), 9000U);
    EXPECT_EQ(p.journal.pendingRemovals(), 0U);
    EXPECT_EQ(d.device->unflushedSectors(), 0U) << "deletes must survive a power cut";
    const auto all = journalOf(d, 0);
    ASSERT_EQ(all.size(), 9000U);
    for (uint64_t n = 0; n < 3000; ++n) {
        EXPECT_EQ(all[3 * n].key, keyOf(n));
        EXPECT_EQ(all[3 * n].sequence, Sequence(n));
        EXPECT_EQ(all[3 * n + 1].kind, JournalRecord::Kind::announce);
        EXPECT_EQ(all[3 * n + 1].sequence, Sequence(2 * n));
        EXPECT_EQ(all[3 * n + 2].kind, JournalRecord::Kind::release);
        EXPECT_EQ(all[3 * n + 2].cluster.value(), n);
    }
}

TEST(Journal, waitsAsToldAndNoLonger) {
    PartsDevice d;
    d.config.deleteCount = 5;
    d.config.deleteTime = 10;
    Parts p(d);
    const auto wrote = [&] {
        const auto before = d.device->requests(IoOp::write);
        for (int i = 0; i < 5; ++i) {
            p.journal.poll();
            p.step();
        }
        return d.device->requests(IoOp::write) - before;
    };
    for (uint64_t n = 0; n < 4; ++n)
        p.journal.removal(keyOf(n), Sequence(n));
    EXPECT_EQ(wrote(), 0U);
    p.journal.removal(keyOf(4), 4_seq);
    EXPECT_EQ(wrote(), 1U) << "the fifth delete";
    p.journal.removal(keyOf(5), 5_seq);
    EXPECT_EQ(wrote(), 0U);
    d.clock.advance(10000000);
    EXPECT_EQ(wrote(), 1U) << "ten seconds";
    p.journal.release(3_c);
    EXPECT_EQ(wrote(), 0U);
    d.clock.advance(10000000);
    EXPECT_EQ(wrote(), 1U) << "releases, too";
    const auto ticket = p.journal.announce(1_c, 1_seq);
    EXPECT_LT(p.journal.written(), ticket);
    EXPECT_EQ(wrote(), 1U) << "somebody waits";
    EXPECT_GE(p.journal.written(), ticket);
    EXPECT_EQ(wrote(), 0U);
    EXPECT_EQ(journalOf(d, 0).size(), 8U);
}

/// what was evicted may be deleted afterwards, and we would not know of which cluster it was
TEST(Journal, releasesSurviveAPowerCutInTime) {
    PartsDevice d;
    d.config.deleteTime = 10;
    Parts p(d);
    const auto flushed = [&] {
        const auto before = d.device->requests(IoOp::flush);
        for (int i = 0; i < 5; ++i) {
            p.journal.poll();
            p.step();
        }
        return d.device->requests(IoOp::flush) - before;
    };
    p.journal.release(3_c);
    d.clock.advance(4000000);
    p.journal.announce(4_c, 1_seq); // takes the release along
    EXPECT_EQ(flushed(), 0U);
    EXPECT_EQ(journalOf(d, 0).size(), 2U);
    d.clock.advance(4000000);
    p.journal.release(5_c);
    EXPECT_EQ(flushed(), 0U);
    d.clock.advance(2000000);
    EXPECT_EQ(flushed(), 1U) << "ten seconds after the first";
    d.clock.advance(8000000);
    EXPECT_EQ(flushed(), 1U) << "ten seconds after the second";
    EXPECT_EQ(journalOf(d, 0).size(), 3U);
    EXPECT_EQ(d.device->unflushedSectors(), 0U);
    d.clock.advance(60000000);
    EXPECT_EQ(flushed(), 0U) << "nothing is at risk";
}

TEST(Journal, triesADiskThatTakesNothingNowAndThen) {
    PartsDevice d;
    Parts p(d);
    d.device->script(IoOp::write, 1, Fault::error, true);
    p.context.health.level = Health::Level::noWrites;
    p.journal.announce(1_c, 1_seq);
    p.journal.hurry();
    const auto writesIn = [&](const unsigned seconds) {
        const auto before = d.device->requests(IoOp::write);
        for (unsigned i = 0; i < seconds; ++i) {
            p.journal.poll();
            EXPECT_TRUE(p.idle());
            d.clock.advance(1000000);
        }
        return d.device->requests(IoOp::write) - before;
    };
    EXPECT_EQ(writesIn(9), 1U);
    EXPECT_EQ(writesIn(10), 1U);
    p.context.health.level = Health::Level::gone;
    EXPECT_EQ(writesIn(30), 0U);
}

/// answers come late, after all that asked is gone
TEST(Journal, mayEndWhileItsFlushIsUnderWay) {
    PartsDevice d;
    d.device->setDelay(1000, 1000);
    {
        Parts p(d);
        p.journal.removal(keyOf(1), 1_seq);
        p.journal.hurry();
        ASSERT_TRUE(p.until([&] { p.journal.poll(); return d.device->requests(IoOp::flush) == 1; }));
    }
    for (int i = 0; i < 5; ++i) {
        d.device->wait(1);
        d.device->poll();
    }
    EXPECT_TRUE(d.device->idle());
    EXPECT_EQ(d.device->unflushedSectors(), 0U);
    EXPECT_EQ(journalOf(d, 0).size(), 1U);
}

TEST(Journal, triesAgainAfterErrors) {
    PartsDevice d;
    Parts p(d);
    d.device->script(IoOp::write, 1, Fault::error);
    d.device->script(IoOp::write, 2, Fault::torn);
    const auto ticket = p.journal.announce(7_c, 1_seq);
    for (int i = 0; i < 20; ++i) {
        p.journal.poll();
        p.step();
    }
    EXPECT_GE(p.journal.written(), ticket);
    ASSERT_EQ(journalOf(d, 0).size(), 1U);
    EXPECT_EQ(journalOf(d, 0)[0].cluster, 7_c);
}

TEST(Journal, changesRegionsWithCheckpoints) {
    PartsDevice d;
    Parts p(d);
    p.journal.removal(keyOf(1), 1_seq);
    ASSERT_TRUE(p.writeJournal());
    EXPECT_GT(p.journal.used(), 0.0);
    p.journal.follow(1);
    EXPECT_EQ(p.journal.used(), 0.0);
    p.journal.removal(keyOf(2), 2_seq);
    ASSERT_TRUE(p.writeJournal());
    p.journal.follow(1); // tried again: goes on
    p.journal.removal(keyOf(3), 3_seq);
    ASSERT_TRUE(p.writeJournal());
    ASSERT_EQ(journalOf(d, 0).size(), 1U);
    ASSERT_EQ(journalOf(d, 1).size(), 2U);
    EXPECT_EQ(journalOf(d, 1)[1].key, keyOf(3));
    Parts q(d);
    q.journal.resume(1, 2);
    q.journal.removal(keyOf(4), 4_seq);
    ASSERT_TRUE(q.writeJournal());
    ASSERT_EQ(journalOf(d, 1).size(), 3U);
}

/// a write to the old region that fails after the change goes to the new one
TEST(Journal, losesNothingBetweenRegions) {
    for (const auto fault: {Fault::none, Fault::error}) {
        PartsDevice d;
        Parts p(d);
        d.device->setDelay(5000, 5000);
        d.device->script(IoOp::write, 1, fault);
        p.journal.removal(keyOf(1), 1_seq);
        p.journal.hurry();
        p.journal.poll();
        p.journal.removal(keyOf(2), 2_seq);
        p.journal.follow(1);
        p.journal.removal(keyOf(3), 3_seq);
        ASSERT_TRUE(p.writeJournal());
        const auto before = journalOf(d, 0);
        const auto after = journalOf(d, 1);
        EXPECT_EQ(before.size(), fault == Fault::none ? 1U : 0U);
        ASSERT_EQ(before.size() + after.size(), 3U);
        EXPECT_EQ(after.back().key, keyOf(3));
    }
}

TEST(Journal, hasALimit) {
    PartsDevice d;
    Parts p(d);
    for (uint64_t n = 0; n < Journal::maxPending; ++n)
        p.journal.removal(Key(), Sequence(n));
    EXPECT_FALSE(p.journal.overflowed());
    p.journal.removal(Key(), 1_seq);
    EXPECT_TRUE(p.journal.overflowed());
    ASSERT_EQ(p.log.size(), 1U);
    p.journal.removal(Key(), 1_seq);
    EXPECT_EQ(p.log.size(), 1U) << "said once";
}

TEST(Journal, stopsAtTheEndOfItsRegion) {
    PartsDevice d;
    Parts p(d);
    const auto blocks = d.superblock.geometry.journalBytes / journalBlockBytes;
    for (uint64_t n = 0; n < (blocks + 10) * (JournalBlock::Capacity() / 25); ++n)
        p.journal.removal(keyOf(n), Sequence(n));
    p.journal.hurry();
    for (uint64_t i = 0; i < blocks; ++i) {
        p.journal.poll();
        p.step();
    }
    EXPECT_EQ(p.journal.used(), 1.0);
    EXPECT_GT(p.journal.pendingRemovals(), 0U);
    p.journal.follow(1);
    ASSERT_TRUE(p.writeJournal());
    EXPECT_EQ(journalOf(d, 0).size() + journalOf(d, 1).size(), p.journal.issued());
}

/* superblocks */

TEST(SuperblockFile, takesTheNewerWholeCopy) {
    PartsDevice d;
    Superblock read;
    std::string error;
    EXPECT_EQ(readSuperblock(*d.device, read, error), Status::notOurs);
    for (uint64_t update = 1; update <= 5; ++update) {
        d.superblock.update = update;
        d.superblock.lastSequence = Sequence(100 * update);
        d.superblock.encode(d.media.data() + superblockOffset(update));
        ASSERT_EQ(readSuperblock(*d.device, read, error), Status::ok) << error;
        EXPECT_EQ(read.update, update);
        EXPECT_EQ(read.lastSequence, Sequence(100 * update));
    }
    d.media.data()[superblockOffset(5) + 50] ^= 1;
    ASSERT_EQ(readSuperblock(*d.device, read, error), Status::ok);
    EXPECT_EQ(read.update, 4U);
    d.media.data()[superblockOffset(4) + 50] ^= 1;
    EXPECT_EQ(readSuperblock(*d.device, read, error), Status::corrupt);
    EXPECT_NE(error.find("checksum"), std::string::npos) << error;
}

TEST(SuperblockFile, doesWithOneReadableCopy) {
    for (const uint64_t bad: {1, 2, 3}) {
        PartsDevice d;
        for (d.superblock.update = 1; d.superblock.update <= 2; ++d.superblock.update)
            d.superblock.encode(d.media.data() + superblockOffset(d.superblock.update));
        for (uint64_t nth = 1; nth <= 2; ++nth) {
            if (bad & nth)
                d.device->script(IoOp::read, nth, Fault::error);
        }
        Superblock read;
        std::string error;
        EXPECT_EQ(readSuperblock(*d.device, read, error), bad == 3 ? Status::ioError : Status::ok);
    }
}

TEST(SuperblockFile, doesNotReadBehindTheEndOfADevice) {
    ManualClock clock;
    MemoryDevice tiny(clock, 512 * 1024);
    Superblock read;
    std::string error;
    EXPECT_EQ(readSuperblock(tiny, read, error), Status::notOurs);
    EXPECT_EQ(tiny.stats().of(IoOp::read).errors, 0U);
}

TEST(SuperblockFile, givesUpWaiting) {
    PartsDevice d;
    d.device->script(IoOp::read, 1, Fault::hang, true);
    const auto buffer = std::make_shared<Buffer>(4096);
    const auto before = d.clock.micros();
    EXPECT_EQ(doAndWait(*d.device, IoOp::read, 0, buffer, 4096, 1000), Status::ioError);
    EXPECT_GE(d.clock.micros(), before + 1000000);
    EXPECT_LE(d.clock.micros(), before + 2000000);
}
