// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine: clean stops, crashes and power cuts. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/layout/Geometry.h"

#include <random>

#include "fs/cluster/engine/Open.h"
#include "fs/cluster/layout/IndexBlock.h"
#include "fs/cluster/recovery/Format.h"
#include "tools/models/ManualClock.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(EngineRestart, cleanStopsLoseNothing) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t round = 0; round < 5; ++round) {
        for (uint64_t n = 0; n < 40; ++n)
            ASSERT_EQ(t.store(keyOf(100 * round + n), bytesOf(100 * round + n, 1 + n * 997)), Status::ok);
        ASSERT_EQ(t.store(keyOf(100 * round + 50), bytesOf(100 * round + 50, 200000)), Status::ok);
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        EXPECT_TRUE(t.engine->stats().recovery.clean);
        EXPECT_FALSE(t.engine->stats().recovery.scanned);
        EXPECT_EQ(t.engine->objectCount(), 41 * (round + 1));
        for (uint64_t r = 0; r <= round; ++r) {
            for (uint64_t n = 0; n < 40; ++n)
                EXPECT_TRUE(t.has(keyOf(100 * r + n), bytesOf(100 * r + n, 1 + n * 997)));
            EXPECT_TRUE(t.has(keyOf(100 * r + 50), bytesOf(100 * r + 50, 200000)));
        }
    }
    EXPECT_EQ(t.errors, 0U);
}

/// the next on disk is the oldest, and not what comes first there
TEST(EngineRestart, overwritingGoesOnWhereItWas) {
    auto config = smallConfig();
    config.layout = &overwriteLayout;
    config.replacement = &fifoEviction; // moves nothing
    TestStore t(16 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    constexpr uint32_t bytes = 20000;
    uint64_t stored = 0;
    const auto store = [&](const uint64_t evictions) {
        const auto until = t.engine->stats().counters.evictedClusters + evictions;
        while (t.engine->stats().counters.evictedClusters < until) {
            for (int i = 0; i < 12; ++i, ++stored) // four clusters full
                ASSERT_EQ(t.store(keyOf(stored), bytesOf(stored, bytes)), Status::ok);
            ASSERT_TRUE(t.pack());
        }
    };
    const auto remembered = [&] {
        uint64_t n = stored;
        while (n > 0 && t.remembers(keyOf(n - 1)))
            --n;
        return stored - n;
    };
    ASSERT_NO_FATAL_FAILURE(store(t.engine->stats().clusters + 10));
    const auto before = remembered();
    ASSERT_GT(before, 100U);
    for (const bool clean: {true, false}) {
        if (clean)
            ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        else
            ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        ASSERT_NO_FATAL_FAILURE(store(20));
        EXPECT_GE(remembered() + 8, before) << "the newest are still there, without a gap";
    }
}

TEST(EngineRestart, crashesLoseNothingThatWasPacked) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    uint64_t count = 0;
    for (uint64_t round = 0; round < 6; ++round) {
        for (uint64_t n = 0; n < 50; ++n, ++count)
            ASSERT_EQ(t.store(keyOf(count), bytesOf(count, 1 + n * 531)), Status::ok);
        ASSERT_EQ(t.store(keyOf(count), bytesOf(count, 150000)), Status::ok);
        ++count;
        if (round % 3 == 1) {
            ASSERT_TRUE(t.checkpoint());
        }
        ASSERT_TRUE(t.pack());
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_FALSE(t.engine->stats().recovery.clean);
        EXPECT_FALSE(t.engine->stats().recovery.scanned);
        ASSERT_EQ(t.engine->objectCount(), count) << round;
        for (uint64_t n = 0; n < count; ++n)
            ASSERT_TRUE(t.has(keyOf(n), bytesOf(n, n % 51 == 50 ? 150000 : 1 + n % 51 * 531))) << n;
    }
}

TEST(EngineRestart, powerCutsLoseNothingOlderThanTheWindow) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start(seed));
        for (uint64_t n = 0; n < 100; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n * 301)), Status::ok);
        ASSERT_EQ(t.store(keyOf(200), bytesOf(200, 150000)), Status::ok);
        if (seed % 2) {
            ASSERT_TRUE(t.checkpoint());
        }
        t.pass(t.config.persist + 1);
        for (uint64_t n = 300; n < 400; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n * 101)), Status::ok);
        t.cut();
        ASSERT_NO_FATAL_FAILURE(t.reopen());
        for (uint64_t n = 0; n < 100; ++n)
            EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 1 + n * 301))) << n << " of seed " << seed;
        EXPECT_TRUE(t.has(keyOf(200), bytesOf(200, 150000)));
        for (uint64_t n = 300; n < 400; ++n)
            t.has(keyOf(n), bytesOf(n, 1 + n * 101)); // here or not, but whole
    }
}

TEST(EngineRestart, aShorterWindowHoldsFromTheChangeOn) {
    TestStore t(32 * MB);
    t.config.persist = 60;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    t.pass(31); // packed and flushed; the next flush may take as long
    ASSERT_EQ(t.engine->stats().stagedObjects, 0U);
    t.config.persist = 2;
    t.engine->reconfigure(t.config);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 20000)), Status::ok);
    t.pass(t.config.persist + 0.5);
    t.cut();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 20000)));
}

TEST(EngineRestart, deletedObjectsStayDeleted) {
    for (const bool power: {false, true}) {
        for (const bool checkpoints: {false, true}) {
            TestStore t(32 * MB);
            ASSERT_NO_FATAL_FAILURE(t.start());
            for (uint64_t n = 0; n < 90; ++n)
                ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 100 + n)), Status::ok);
            ASSERT_EQ(t.store(keyOf(90), bytesOf(90, 200000)), Status::ok);
            ASSERT_TRUE(t.pack());
            if (checkpoints) {
                ASSERT_TRUE(t.checkpoint());
            }
            for (uint64_t n = 0; n <= 90; n += 3)
                EXPECT_TRUE(t.engine->remove(keyOf(n)));
            t.pass(t.config.deleteTime + 0.5);
            EXPECT_EQ(t.engine->stats().deletesPending, 0U);
            if (power) {
                t.cut();
                ASSERT_NO_FATAL_FAILURE(t.reopen());
            } else {
                ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
            }
            for (int again = 0; again < 3; ++again) {
                for (uint64_t n = 0; n < 90; ++n) {
                    EXPECT_EQ(t.remembers(keyOf(n)), n % 3 != 0) << n;
                    EXPECT_EQ(t.has(keyOf(n), bytesOf(n, 100 + n)), n % 3 != 0) << n;
                }
                EXPECT_FALSE(t.remembers(keyOf(90)));
                if (again == 1) {
                    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
                } else {
                    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
                }
            }
        }
    }
}

TEST(EngineRestart, manyDeletesDoNotWaitForTheirTime) {
    TestStore t(32 * MB);
    t.config.deleteCount = 10;
    t.config.deleteTime = 3600;
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 30; ++n)
        ASSERT_EQ(t.store(keyOf(n), "x"), Status::ok);
    ASSERT_TRUE(t.pack());
    for (uint64_t n = 0; n < 10; ++n)
        EXPECT_TRUE(t.engine->remove(keyOf(n)));
    t.settle();
    EXPECT_EQ(t.engine->stats().deletesPending, 0U);
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t n = 0; n < 30; ++n)
        EXPECT_EQ(t.remembers(keyOf(n)), n >= 10);
}

TEST(EngineRestart, replacedObjectsDoNotComeBack) {
    for (const bool checkpoints: {false, true}) {
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
        ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 5000)), Status::ok);
        ASSERT_TRUE(t.pack());
        if (checkpoints) {
            ASSERT_TRUE(t.checkpoint());
        }
        ASSERT_EQ(t.store(keyOf(1), "newer"), Status::ok);
        ASSERT_EQ(t.store(keyOf(2), "packed"), Status::ok);
        t.pass(t.config.deleteTime + 0.5);
        EXPECT_GT(t.engine->stats().stagedObjects, 0U);
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_FALSE(t.remembers(keyOf(1))) << "only the replaced version is on the device";
        ASSERT_EQ(t.store(keyOf(1), "third"), Status::ok);
        ASSERT_TRUE(t.pack());
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_TRUE(t.has(keyOf(1), "third"));
    }
}

/// A power cut may leave a cluster and not the journal that names it. What a start
/// did not find must not be found by the next one, which takes the numbers of that
/// run's clusters for newer than its own.
TEST(EngineRestart, whatAStartDidNotFindStaysAway) {
    TestStore t(32 * MB);
    std::string error;
    ASSERT_EQ(formatDevice(t.device(), t.config, 1, error), Status::ok) << error;
    // the superblock, then the announcements
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 2, Fault::lost);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    ASSERT_FALSE(t.remembers(keyOf(1))) << "the announcement was not lost: nothing is tested";
    for (int again = 0; again < 3; ++again) {
        t.settle(); // new announcements, and a checkpoint
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        EXPECT_FALSE(t.remembers(keyOf(1))) << again;
        EXPECT_EQ(t.engine->objectCount(), 0U) << again;
    }
}

/* what the caller does while the index is not whole yet */

TEST(EngineRestart, deletesDuringRecoveryCount) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_TRUE(t.checkpoint());
    for (uint64_t n = 0; n < 100; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1000)), Status::ok);
    ASSERT_TRUE(t.pack());
    t.crash();
    t.faulty->setDelay(2000, 2000);
    ASSERT_EQ(t.open(), Status::ok);
    ASSERT_EQ(t.engine->state(), EngineState::recovering);
    for (uint64_t n = 0; n < 100; n += 2)
        t.engine->remove(keyOf(n));
    ASSERT_EQ(t.store(keyOf(1), "newer"), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.recover());
    for (int again = 0; again < 2; ++again) {
        for (uint64_t n = 0; n < 100; ++n)
            EXPECT_EQ(t.remembers(keyOf(n)), n % 2 == 1) << n << " " << again;
        EXPECT_TRUE(t.has(keyOf(1), "newer"));
        if (!again) {
            ASSERT_TRUE(t.pack());
            ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        }
    }
}

/// the same, when the next crash comes before the checkpoint that follows, and
/// the run before may have had none
TEST(EngineRestart, deletesDuringRecoveryCountWithoutACheckpointToo) {
    for (const bool before: {true, false}) {
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        if (before) {
            ASSERT_TRUE(t.checkpoint());
        }
        for (uint64_t n = 0; n < 100; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1000)), Status::ok);
        ASSERT_TRUE(t.pack());
        t.crash();
        t.faulty->setDelay(2000, 2000);
        t.config.deleteCount = 1;
        ASSERT_EQ(t.open(), Status::ok);
        for (uint64_t n = 0; n < 100; n += 2)
            t.engine->remove(keyOf(n));
        ASSERT_NO_FATAL_FAILURE(t.recover());
        ASSERT_TRUE(t.until([&] { return t.engine->stats().deletesPending == 0; }));
        ASSERT_EQ(t.engine->stats().counters.checkpoints, 0U) << "too late for this test";
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        for (uint64_t n = 0; n < 100; ++n)
            EXPECT_EQ(t.remembers(keyOf(n)), n % 2 == 1) << n << " " << before;
    }
}

TEST(EngineRestart, servesWhatItKnowsDuringRecovery) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 100; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1000)), Status::ok);
    ASSERT_TRUE(t.pack());
    t.crash();
    t.faulty->setDelay(500, 500);
    ASSERT_EQ(t.open(), Status::ok);
    unsigned steps = 0;
    double progress = 0;
    while (t.engine->state() == EngineState::recovering && ++steps < 10000) {
        for (uint64_t n = 0; n < 100; n += 10)
            t.has(keyOf(n), bytesOf(n, 1000));
        EXPECT_GE(t.engine->recoveryProgress(), progress);
        progress = t.engine->recoveryProgress();
        t.step();
    }
    EXPECT_EQ(t.engine->recoveryProgress(), 1.0);
    for (uint64_t n = 0; n < 100; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 1000)));
}

/// Of two versions, the older one is found first, in another new cluster or in the log, and the newer one was written so
/// shortly before the crash that no removal of the older one got to the journal.
TEST(EngineRestart, servesNoOlderVersionWhileANewerOneMayBeFound) {
    for (const bool large: {false, true}) {
        TestStore t(32 * MB);
        t.config.depth = 1; // in the order of their places
        ASSERT_NO_FATAL_FAILURE(t.start());
        const auto older = bytesOf(1, 1000);
        const auto newer = bytesOf(2, large ? 200000 : 2000);
        ASSERT_EQ(t.store(keyOf(1), older), Status::ok);
        ASSERT_EQ(t.store(keyOf(3), bytesOf(3, 1000)), Status::ok);
        ASSERT_TRUE(t.pack());
        if (large) {
            ASSERT_TRUE(t.checkpoint());
        }
        const auto g = t.geometry();
        const auto journal = [&](const unsigned n) { return t.media.data() + g.journalStart[n]; };
        const std::string before[] = {std::string(journal(0), g.journalBytes), std::string(journal(1), g.journalBytes)};
        ASSERT_EQ(t.store(keyOf(1), newer, false), Status::ok); // of unknown size: parts go to clusters that are announced already
        ASSERT_TRUE(t.pack());
        t.crash();
        for (const unsigned n: {0, 1})
            memcpy(journal(n), before[n].data(), before[n].size());
        t.faulty->setDelay(2000, 2000);
        ASSERT_EQ(t.open(), Status::ok);
        unsigned early = 0;
        ASSERT_TRUE(t.until([&] {
            ObjectInfo info;
            const bool starting = t.engine->state() == EngineState::recovering;
            early += starting && t.remembers(keyOf(3));
            if (t.engine->find(keyOf(1), info)) {
                EXPECT_EQ(info.size, newer.size()) << large;
            }
            return !starting;
        }));
        if (large) {
            EXPECT_GT(early, 0U) << "nothing else is held back";
        }
        EXPECT_TRUE(t.has(keyOf(1), newer)) << large;
        EXPECT_TRUE(t.has(keyOf(3), bytesOf(3, 1000)));
    }
}

/* crashes at any moment, the oracle beside it */

TEST(EngineRestart, survivesCrashesAtAnyRequest) {
    std::mt19937_64 random(11);
    for (uint64_t run = 0; run < 40; ++run) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start(run));
        std::map<uint64_t, std::pair<uint64_t, size_t>> newest; // number -> version, size
        uint64_t version = 0;
        for (int life = 0; life < 4; ++life) {
            t.faulty->cutAt(t.faulty->requests() + 1 + random() % 60);
            t.faulty->setDelay(0, 3000);
            for (int i = 0; i < 150 && t.faulty->powered(); ++i) {
                const auto n = random() % 60;
                if (random() % 4) {
                    const auto size = random() % 5 ? random() % 9000 : random() % 200000;
                    if (t.store(keyOf(n), bytesOf(++version, size)) == Status::ok)
                        newest[n] = {version, size};
                } else if (t.engine->remove(keyOf(n))) {
                    newest.erase(n);
                }
                if (random() % 10 == 0)
                    t.engine->requestCheckpoint();
                if (random() % 5 == 0)
                    t.clock.advance(random() % 5000000);
                t.step();
            }
            t.cut();
            t.faulty->setDelay(0, 0);
            ASSERT_NO_FATAL_FAILURE(t.reopen());
            // whatever is there must be some version that was stored, whole; then it is the one
            for (uint64_t n = 0; n < 60; ++n) {
                std::string got;
                if (t.load(keyOf(n), got) != Status::ok)
                    continue;
                bool known = false;
                for (uint64_t v = version; v > 0 && !known; --v)
                    known = got == bytesOf(v, got.size());
                EXPECT_TRUE(known) << "bytes that nobody stored, run " << run;
            }
        }
    }
}

/* opening what is not right */

TEST(EngineOpen, refusesOtherDevices) {
    TestStore t(16 * MB);
    EXPECT_EQ(t.open(), Status::notOurs);
    EXPECT_FALSE(t.lastError.empty());
    EXPECT_EQ(t.engine, nullptr);
    memset(t.media.data(), 0xff, 4 * MB);
    EXPECT_EQ(t.open(), Status::notOurs);
}

TEST(EngineOpen, doesWithOneSuperblock) {
    unsigned kept = 0;
    for (const uint64_t which: {uint64_t(0), superblockSpacing}) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_EQ(t.store(keyOf(1), "abc"), Status::ok);
        ASSERT_EQ(t.engine->close(60000), Status::ok);
        // the older one is worn out
        t.damage(which, 512);
        const auto status = t.open();
        ASSERT_EQ(status, Status::ok) << t.lastError;
        ASSERT_NO_FATAL_FAILURE(t.recover());
        std::string got;
        const auto found = t.load(keyOf(1), got);
        EXPECT_TRUE(found == Status::notFound || got == "abc");
        kept += found == Status::ok;
    }
    EXPECT_GE(kept, 1U) << "the newer one alone leads to everything";
}

TEST(EngineOpen, refusesASmallerDevice) {
    ManualClock clock;
    MemoryDevice large(clock, 32 * MB);
    MemoryDevice small(clock, 16 * MB);
    std::string error;
    ASSERT_EQ(formatDevice(large, smallConfig(), 1, error), Status::ok);
    memcpy(small.data(), large.data(), 16 * MB);
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(openEngine(small, clock, smallConfig(), [](LogLevel, const std::string &) {}, engine, error), Status::unsupported);
    EXPECT_NE(error.find(std::to_string(32 * MB)), std::string::npos) << error;
}

TEST(EngineOpen, countsTheBytesThatWereWrittenSinceItWasFormatted) {
    TestStore t(32 * MB);
    const auto bytes = [&t] { return t.device().stats().of(IoOp::write).bytes; };
    std::string error;
    ASSERT_EQ(formatDevice(t.device(), t.config, 1, error), Status::ok) << error;
    auto before = bytes();
    ASSERT_EQ(t.open(), Status::ok);
    t.settle();
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    ASSERT_TRUE(t.checkpoint());
    EXPECT_EQ(t.engine->stats().writtenSinceFormat, bytes() - before);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 1000)), Status::ok);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    const auto first = bytes() - before;
    t.crash(); // another device object, which counts from 0
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(t.engine->superblock()->written, first - superblockBytes) << "the copy does not count itself";
    EXPECT_GT(first, 4 * superblockBytes + 2000) << "clusters are counted";
    ASSERT_TRUE(t.checkpoint());
    const auto atCheckpoint = t.engine->superblock()->written;
    EXPECT_EQ(atCheckpoint, first + bytes() - 2 * superblockBytes);
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_GE(t.engine->stats().writtenSinceFormat, atCheckpoint);
}

/// what it holds stays, and the new space takes objects
TEST(EngineOpen, growsWithItsDevice) {
    for (const bool crash: {false, true}) {
        TestStore t(32 * MB);
        std::string error;
        ASSERT_EQ(formatDevice(t.device(), t.config, 1, error, 16 * MB), Status::ok) << error;
        ASSERT_EQ(t.open(), Status::ok) << t.lastError;
        t.settle();
        const auto fill = [&t](const uint64_t from, const uint64_t to) {
            for (auto n = from; n < to; ++n)
                ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
        };
        ASSERT_NO_FATAL_FAILURE(fill(0, 300));
        t.pass(t.config.persist + 1.0); // until all is packed
        ASSERT_TRUE(t.checkpoint());
        ASSERT_TRUE(crash || t.engine->close(60000) == Status::ok);
        t.crash();
        Superblock superblock;
        ASSERT_EQ(growDevice(t.device(), superblock, error, 16 * MB + 4096), Status::ok) << error;
        EXPECT_EQ(superblock.geometry.deviceBytes, 16 * MB) << "there is no room for a cluster more";
        ASSERT_EQ(growDevice(t.device(), superblock, error), Status::ok) << error;
        EXPECT_EQ(superblock.geometry.deviceBytes, 32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.reopen());
        EXPECT_EQ(t.engine->objectCount(), 300U);
        ASSERT_NO_FATAL_FAILURE(fill(300, 1000));
        EXPECT_EQ(t.engine->stats().counters.evictedObjects, 0U) << "20 MB find room now";
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        for (uint64_t n = 0; n < 1000; ++n)
            ASSERT_TRUE(t.has(keyOf(n), bytesOf(n, 20000))) << n;
        ASSERT_EQ(t.engine->close(60000), Status::ok);
        EXPECT_EQ(growDevice(t.device(), superblock, error), Status::ok) << "there is nothing to do";
        EXPECT_EQ(growDevice(t.device(), superblock, error, 24 * MB), Status::unsupported);
        EXPECT_EQ(growDevice(t.device(), superblock, error, 40 * MB), Status::unsupported);
    }
}

TEST(EngineOpen, usesAStoreOfVersion4AsItIs) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 100; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1000)), Status::ok);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    for (const uint64_t at: {uint64_t(0), superblockSpacing}) {
        Superblock s;
        std::string error;
        ASSERT_EQ(s.decode(t.media.data() + at, error), Status::ok) << error;
        EXPECT_TRUE(!s.clean || s.objects == 100) << s.objects;
        s.version = 4;
        s.objects = 0;
        s.encode(t.media.data() + at);
    }
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_FALSE(t.engine->stats().recovery.scanned);
    EXPECT_EQ(t.engine->objectCount(), 100U);
    EXPECT_EQ(t.engine->superblock()->version, 4U);
    ASSERT_TRUE(t.checkpoint());
    EXPECT_EQ(t.engine->superblock()->version, formatVersion);
}

TEST(EngineOpen, refusesBlocksThatAreTooLarge) {
    ManualClock clock;
    MemoryDevice small(clock, 32 * MB);
    MemoryDevice large(clock, 32 * MB, 2 * superblockBytes);
    std::string error;
    EXPECT_EQ(formatDevice(large, smallConfig(), 1, error), Status::unsupported);
    EXPECT_NE(error.find("in blocks of 8192 bytes"), std::string::npos) << error;
    ASSERT_EQ(formatDevice(small, smallConfig(), 1, error), Status::ok);
    memcpy(large.data(), small.data(), 32 * MB);
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(openEngine(large, clock, smallConfig(), [](LogLevel, const std::string &) {}, engine, error), Status::unsupported);
    EXPECT_NE(error.find("in blocks of 8192 bytes"), std::string::npos) << error;
}

TEST(EngineOpen, keepsTheClusterSizeOfTheFormat) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 100000)), Status::ok);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.config.clusterKb = 1024;
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(t.logged("cluster-size=64"));
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 100000)));
}

/// what suits the configured size of a cluster may be less than one cluster of the format
TEST(EngineOpen, aNewLimitOfMemorySuitsTheFormat) {
    auto config = smallConfig();
    config.clusterKb = 4096;
    config.stagingMb = config.readCacheMb = 16;
    TestStore t(256 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.config = smallConfig();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(t.engine->stats().readCacheLimit, (8 + 8) * MB);
    t.config.readCacheMb = 3;
    t.engine->reconfigure(t.config);
    EXPECT_EQ(t.engine->stats().readCacheLimit, (8 + 8) * MB) << "that of staging, which is empty, too";
    t.config.readCacheMb = 9;
    t.engine->reconfigure(t.config);
    EXPECT_EQ(t.engine->stats().readCacheLimit, (9 + 8) * MB);
}

TEST(EngineOpen, refusesABadConfiguration) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    t.config.clusterKb = 17;
    EXPECT_EQ(t.open(), Status::unsupported);
}

/* an index log that is damaged */

TEST(EngineScan, findsEverythingWithoutALog) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 300; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n * 101)), Status::ok);
    ASSERT_EQ(t.store(keyOf(500), bytesOf(500, 300000)), Status::ok);
    const auto g = t.geometry();
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.damage(g.logStart, uint64_t(g.logBlocks) * indexBlockBytes);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(t.engine->stats().recovery.scanned);
    EXPECT_TRUE(t.logged("blocks of the index log are damaged: scanning all clusters"));
    ASSERT_EQ(t.engine->objectCount(), 301U);
    for (uint64_t n = 0; n < 300; ++n) {
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 1 + n * 101))) << n;
        ObjectInfo info;
        ASSERT_TRUE(t.engine->find(keyOf(n), info));
        EXPECT_TRUE(info.flags & flagDoubtful);
    }
    EXPECT_TRUE(t.has(keyOf(500), bytesOf(500, 300000)));
    t.settle();
    // the next start has a log again
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_FALSE(t.engine->stats().recovery.scanned);
    EXPECT_EQ(t.engine->stats().recovery.blocksLost, 0U);
    EXPECT_EQ(t.engine->objectCount(), 301U);
}

/// whichever block it is: nothing comes back, nothing else goes, and nothing is doubted
TEST(EngineScan, aDamagedBlockCostsWhatItDescribed) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 600; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n * 17)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_TRUE(t.checkpoint());
    for (uint64_t n = 0; n < 600; n += 3)
        EXPECT_TRUE(t.engine->remove(keyOf(n)));
    ASSERT_TRUE(t.checkpoint());
    ASSERT_EQ(t.store(keyOf(700), bytesOf(700, 300000)), Status::ok);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    const auto sb = *t.engine->superblock();
    t.crash();
    const std::string disk(t.media.data(), t.media.size());
    ASSERT_GT(sb.log.used(), 10U);
    uint64_t costly = 0;
    for (uint32_t block = 0; block < sb.log.used(); ++block) {
        t.crash();
        memcpy(t.media.data(), disk.data(), disk.size());
        t.damage(sb.geometry.logOffset(sb.log.at(block).block) + 300, 8);
        ASSERT_NO_FATAL_FAILURE(t.reopen());
        EXPECT_FALSE(t.engine->stats().recovery.scanned) << block;
        EXPECT_EQ(t.engine->stats().recovery.blocksLost, 1U) << block;
        EXPECT_TRUE(t.logged("1 of " + std::to_string(sb.log.used()) + " blocks of the index log are damaged")) << block;
        uint64_t lost = 0;
        for (uint64_t n = 0; n < 600; ++n) {
            ObjectInfo info;
            if (!t.engine->find(keyOf(n), info)) {
                lost += n % 3 != 0;
                continue;
            }
            EXPECT_NE(n % 3, 0U) << n << " came back with block " << block;
            EXPECT_FALSE(info.flags & flagDoubtful) << n << " with block " << block;
            EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 1 + n * 17))) << n;
        }
        EXPECT_LE(lost, indexBlockBytes / IndexObject::encodedBytes) << block;
        costly += lost > 0;
    }
    EXPECT_GT(costly, 1U);
}

TEST(EngineScan, goesOnBesideStores) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 300; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    const auto g = t.geometry();
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.damage(g.logStart, uint64_t(g.logBlocks) * indexBlockBytes);
    t.faulty->setDelay(3000, 9000);
    ASSERT_EQ(t.open(), Status::ok);
    uint64_t n = 0;
    while (t.engine->state() == EngineState::recovering) {
        if (n < 150) {
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n + 1000, 21000)), Status::ok);
            ++n;
        }
        t.engine->remove(keyOf(200 + n % 50));
        t.step();
    }
    EXPECT_GT(n, 20U);
    t.faulty->setDelay(0, 0);
    for (int again = 0; again < 2; ++again) {
        for (uint64_t i = 0; i < 300; ++i) {
            const bool newer = i < n;
            const auto wanted = newer ? bytesOf(i + 1000, 21000) : bytesOf(i, 20000);
            const bool removed = i >= 200 && i < 250;
            EXPECT_EQ(t.has(keyOf(i), wanted), !removed) << i << " of " << n;
        }
        ASSERT_TRUE(t.pack());
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    }
}

/// Near its end, all that a scan knows is that there is little room: what the
/// parts that it has found belong to comes last.
TEST(EngineScan, makesNoRoomBeforeItKnowsWhatIsThere) {
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    uint64_t n = 0;
    for (; !t.engine->stats().counters.evictedClusters; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 150000)), Status::ok);
    ASSERT_TRUE(t.checkpoint());
    for (uint64_t i = 0; i < n; i += 2)
        t.engine->remove(keyOf(i));
    ASSERT_TRUE(t.pack());
    std::vector<uint64_t> there;
    for (uint64_t i = 0; i < n; ++i) {
        if (t.remembers(keyOf(i)))
            there.push_back(i);
    }
    ASSERT_GT(there.size(), 10U);
    const auto g = t.geometry();
    t.crash();
    t.damage(g.logStart, uint64_t(g.logBlocks) * indexBlockBytes);
    t.faulty->setDelay(500, 5000);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(t.engine->stats().recovery.scanned);
    for (const auto i: there)
        EXPECT_TRUE(t.has(keyOf(i), bytesOf(i, 150000))) << i;
}
