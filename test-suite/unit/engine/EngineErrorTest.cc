// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine on devices that fail: hits may get lost, never right. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/context/StoreContext.h"
#include "fs/cluster/engine/Open.h"

#include <algorithm>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// some objects of all kinds on the device, nothing in memory
void
fill(TestStore &t)
{
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 60; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 1 + n * 401)), Status::ok);
    ASSERT_EQ(t.store(keyOf(60), bytesOf(60, 300000)), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
}

std::string
filled(const uint64_t n)
{
    return bytesOf(n, n == 60 ? 300000 : 1 + n * 401);
}

} // namespace

TEST(EngineError, aReadErrorCostsOneHit) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 1, Fault::error);
    std::string got;
    EXPECT_EQ(t.load(keyOf(30), got), Status::ioError);
    EXPECT_EQ(t.engine->stats().counters.readErrors, 1U);
    EXPECT_EQ(t.engine->state(), EngineState::serving);
    unsigned lost = 0;
    for (uint64_t n = 0; n <= 60; ++n)
        lost += !t.has(keyOf(n), filled(n));
    EXPECT_LE(lost, 1U);
}

/// Squid deletes what it could not read; we know no more of it by then
TEST(EngineError, whatCouldNotBeReadStaysAway) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 1, Fault::error, true);
    std::string got;
    EXPECT_EQ(t.load(keyOf(30), got), Status::ioError);
    t.faulty->heal();
    EXPECT_FALSE(t.engine->remove(keyOf(30)));
    t.pass(t.config.deleteTime + 1);
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_FALSE(t.remembers(keyOf(30))) << "deleted, and back";
    EXPECT_TRUE(t.has(keyOf(31), filled(31)));
}

TEST(EngineError, flippedBitsAreNeverServed) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.faulty->setRate(IoOp::read, Fault::flip, 0.5);
    unsigned lost = 0;
    for (int round = 0; round < 5; ++round) {
        for (uint64_t n = 0; n <= 60; ++n)
            lost += !t.has(keyOf(n), filled(n));
    }
    EXPECT_GT(lost, 0U);
    EXPECT_GT(t.engine->stats().counters.corrupt, 0U);
}

/// the device may give right ones the next time
TEST(EngineError, bytesThatWereWrongAreNotKept) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    const auto g = t.geometry();
    const auto reader = t.engine->read(keyOf(30));
    ASSERT_NE(reader, nullptr);
    t.damage(g.clusterStart, t.media.size());
    EXPECT_EQ(t.fetch(*reader, 0), Status::corrupt);
    t.damage(g.clusterStart, t.media.size()); // as before
    std::string got;
    EXPECT_EQ(t.readAll(*reader, got), Status::ok);
    EXPECT_TRUE(got == filled(30));
    EXPECT_EQ(t.engine->stats().counters.corrupt, 1U);
}

TEST(EngineError, rottenMediaAreNeverServed) {
    uint64_t noticed = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(fill(t));
        const auto g = t.geometry();
        std::mt19937_64 random(seed);
        for (int i = 0; i < 200; ++i)
            t.damage(g.clusterStart + random() % (30 * g.clusterBytes), 1 + random() % 8, static_cast<char>(1 + random() % 255));
        for (int round = 0; round < 2; ++round) {
            for (uint64_t n = 0; n <= 60; ++n)
                t.has(keyOf(n), filled(n));
            noticed += t.engine->stats().counters.corrupt;
            ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        }
        // and it goes on
        ASSERT_EQ(t.store(keyOf(100), bytesOf(100, 100000)), Status::ok);
        EXPECT_TRUE(t.has(keyOf(100), bytesOf(100, 100000)));
    }
    EXPECT_GT(noticed, 20U) << "hardly anything that was read was damaged";
}

/// any garbage in the metadata regions: served are whole objects, or none
TEST(EngineError, damagedMetadataIsSurvived) {
    std::mt19937_64 random(99);
    for (int run = 0; run < 60; ++run) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(fill(t));
        for (uint64_t n = 0; n < 60; n += 7)
            EXPECT_TRUE(t.engine->remove(keyOf(n)));
        t.pass(t.config.deleteTime + 1);
        const auto g = t.geometry();
        t.crash();
        const uint64_t starts[] = {0, g.logStart, g.groupsStart[0], g.journalStart[0], g.journalStart[1], g.clusterStart};
        for (int i = 0; i < 3; ++i) {
            const auto at = starts[random() % 6] + random() % 300000;
            t.damage(at, 1 + random() % 5000, static_cast<char>(1 + random() % 255));
        }
        if (t.open() != Status::ok)
            continue;
        ASSERT_NO_FATAL_FAILURE(t.recover());
        for (uint64_t n = 0; n <= 60; ++n)
            t.has(keyOf(n), filled(n));
        if (t.engine->state() == EngineState::serving) {
            ASSERT_EQ(t.store(keyOf(100), bytesOf(100, 30000)), Status::ok);
        }
    }
}

TEST(EngineError, writeErrorsPutAClusterAsideAndKeepTheObjects) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 50; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 5000)), Status::ok);
    t.settle();
    const auto writes = t.faulty->requests(IoOp::write);
    t.faulty->script(IoOp::write, writes + 1, Fault::error);
    t.faulty->script(IoOp::write, writes + 3, Fault::torn);
    t.pack();
    EXPECT_EQ(t.engine->state(), EngineState::serving);
    EXPECT_GE(t.engine->stats().counters.writeErrors, 1U);
    for (uint64_t n = 0; n < 50; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 5000))) << n;
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t n = 0; n < 50; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 5000))) << n;
}

TEST(EngineError, aLargeObjectThatCannotBeWrittenIsNotThere) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    t.faulty->setDelay(1000, 1000);
    unsigned gone = 0;
    for (uint64_t which = 1; which <= 5; ++which) {
        t.settle();
        t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + which, Fault::error);
        const auto bytes = bytesOf(which, 300000);
        const auto status = t.store(keyOf(which), bytes);
        t.settle();
        t.faulty->heal();
        std::string got;
        const auto found = t.load(keyOf(which), got);
        EXPECT_TRUE(found != Status::ok || got == bytes) << which << " " << statusText(status);
        EXPECT_EQ(t.faulty->injected(Fault::error), which) << "no write failed";
        gone += found != Status::ok;
        EXPECT_TRUE(status == Status::ok || found == Status::notFound) << which;
    }
    EXPECT_GE(gone, 3U) << "of five, the failed write was a part's; others may be those of the journal";
    t.pack();
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t which = 1; which <= 5; ++which)
        t.has(keyOf(which), bytesOf(which, 300000));
    ASSERT_EQ(t.store(keyOf(9), bytesOf(9, 300000)), Status::ok);
    EXPECT_TRUE(t.has(keyOf(9), bytesOf(9, 300000)));
}

TEST(EngineError, stopsStoringOnAWornDiskButServes) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::error, true);
    for (uint64_t n = 100; n < 400 && t.engine->state() == EngineState::serving; ++n) {
        t.store(keyOf(n), bytesOf(n, 20000));
        t.pass(1);
    }
    EXPECT_EQ(t.engine->state(), EngineState::readOnly);
    EXPECT_STREQ(t.engine->stateText(), "read-only");
    EXPECT_GT(t.errors, 0U);
    int load = 0;
    EXPECT_FALSE(t.engine->canCreate(10, load));
    EXPECT_EQ(load, 1000);
    EXPECT_EQ(t.engine->create(keyOf(1000), infoOf(1), 10), nullptr);
    for (uint64_t n = 0; n <= 60; ++n)
        EXPECT_TRUE(t.has(keyOf(n), filled(n))) << n;
    EXPECT_TRUE(t.engine->remove(keyOf(0)));
    EXPECT_FALSE(t.remembers(keyOf(0)));
    EXPECT_NE(t.engine->close(1000), Status::ok);

    // the disk is well again: what was there is there
    t.faulty->heal();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    for (uint64_t n = 1; n <= 60; ++n)
        EXPECT_TRUE(t.has(keyOf(n), filled(n))) << n;
}

TEST(EngineError, aBadPlaceThatManyWritesMeetDoesNotEndStoring) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    for (uint64_t n = 0; n < Health::maxWriteErrors; ++n)
        t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1 + n, Fault::error);
    for (uint64_t n = 100; n < 160; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 20000)), Status::ok);
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(t.engine->stats().counters.writeErrors, uint64_t(Health::maxWriteErrors));
    EXPECT_EQ(t.engine->state(), EngineState::serving);
    EXPECT_TRUE(t.logged("places on the device are bad"));
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t n = 100; n < 160; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 20000))) << n;
}

TEST(EngineError, givesUpADeadDisk) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 1, Fault::error, true);
    std::vector<std::unique_ptr<Reader>> readers;
    for (int i = 0; i < 3 && t.engine->state() == EngineState::serving; ++i) {
        readers.clear();
        for (uint64_t n = 0; n <= 60; ++n) {
            if (auto r = t.engine->read(keyOf(n)))
                readers.push_back(std::move(r));
        }
        for (const auto &r: readers) {
            for (int tries = 0; tries < 3; ++tries)
                t.fetch(*r, 0);
        }
    }
    EXPECT_EQ(t.engine->state(), EngineState::offline);
    EXPECT_STREQ(t.engine->stateText(), "offline");
    for (uint64_t n = 0; n <= 60; ++n)
        EXPECT_FALSE(t.remembers(keyOf(n)));
    EXPECT_EQ(t.engine->create(keyOf(1000), infoOf(1), 10), nullptr);
    t.engine->remove(keyOf(7));
    const auto pending = t.engine->removalsPending();
    EXPECT_EQ(std::count(pending.begin(), pending.end(), keyOf(7)), 1);
    t.engine->close(1000);
    t.faulty->heal();
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    unsigned found = 0;
    for (uint64_t n = 0; n <= 60; ++n)
        found += t.has(keyOf(n), filled(n));
    EXPECT_GT(found, 0U);
}

TEST(EngineError, opensForReadingWhenNothingCanBeWritten) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.crash();
    t.faulty->script(IoOp::write, 1, Fault::error, true);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_EQ(t.engine->state(), EngineState::readOnly);
    EXPECT_TRUE(t.logged("superblock"));
    for (uint64_t n = 0; n <= 60; ++n)
        EXPECT_TRUE(t.has(keyOf(n), filled(n))) << n;
    EXPECT_EQ(t.engine->create(keyOf(1000), infoOf(1), 10), nullptr);
}

TEST(EngineError, refusesToOpenWhatCannotBeRead) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.crash();
    t.faulty->script(IoOp::read, 1, Fault::error, true);
    EXPECT_EQ(t.open(), Status::ioError);
    EXPECT_FALSE(t.lastError.empty());
}

TEST(EngineError, readErrorsDuringRecoveryCostHitsOnly) {
    for (uint64_t nth = 1; nth < 40; ++nth) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(fill(t));
        ASSERT_EQ(t.store(keyOf(99), bytesOf(99, 4000)), Status::ok);
        t.pack();
        t.crash();
        t.faulty->script(IoOp::read, nth, Fault::error);
        ASSERT_EQ(t.open(), Status::ok) << t.lastError;
        ASSERT_NO_FATAL_FAILURE(t.recover());
        unsigned found = 0;
        for (uint64_t n = 0; n <= 60; ++n)
            found += t.has(keyOf(n), filled(n));
        EXPECT_GT(found, 20U) << nth;
        t.has(keyOf(99), bytesOf(99, 4000));
    }
}

TEST(EngineError, lostAndMisdirectedWritesAreNoticed) {
    std::mt19937_64 random(5);
    for (const auto fault: {Fault::lost, Fault::misdirected}) {
        unsigned older = 0; ///< of those that were stored anew
        unsigned newer = 0;
        for (int run = 0; run < 15; ++run) {
            TestStore t(16 * MB);
            ASSERT_NO_FATAL_FAILURE(fill(t));
            t.faulty->setRate(IoOp::write, fault, 0.3);
            std::vector<uint64_t> again;
            for (uint64_t n = 0; n < 60; n += 1 + random() % 3) {
                t.store(keyOf(n), filled(n) + "v2");
                again.push_back(n);
            }
            t.pack();
            t.faulty->heal();
            t.crash();
            if (t.open() != Status::ok)
                continue;
            ASSERT_NO_FATAL_FAILURE(t.recover());
            for (uint64_t n = 0; n < 60; ++n) {
                std::string got;
                if (t.load(keyOf(n), got) == Status::ok) {
                    EXPECT_TRUE(got == filled(n) || got == filled(n) + "v2") << n;
                    newer += got == filled(n) + "v2";
                }
                older += got != filled(n) + "v2" && std::count(again.begin(), again.end(), n);
            }
        }
        EXPECT_GT(older, 0U) << "no write of a cluster got lost";
        EXPECT_GT(newer, 0U) << "none got through";
    }
}

TEST(EngineError, checkpointsAreTriedAgain) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(fill(t));
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::error);
    t.engine->requestCheckpoint();
    ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.checkpointErrors > 0; }));
    EXPECT_TRUE(t.logged("checkpoint could not be written"));
    EXPECT_TRUE(t.engine->remove(keyOf(3)));
    ASSERT_TRUE(t.checkpoint());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_FALSE(t.remembers(keyOf(3)));
    for (uint64_t n = 4; n <= 60; ++n)
        EXPECT_TRUE(t.has(keyOf(n), filled(n))) << n;
}

/// whatever goes wrong at random, and the power too: never a wrong byte
TEST(EngineError, everythingAtOnce) {
    std::mt19937_64 random(17);
    for (uint64_t run = 0; run < 15; ++run) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start(run));
        uint64_t version = 0;
        for (int life = 0; life < 3; ++life) {
            for (const auto fault: {Fault::error, Fault::flip, Fault::rot})
                t.faulty->setRate(IoOp::read, fault, 0.01);
            for (const auto fault: {Fault::error, Fault::torn, Fault::lost, Fault::misdirected})
                t.faulty->setRate(IoOp::write, fault, 0.005);
            t.faulty->setDelay(0, 2000);
            t.faulty->setShuffle(true);
            for (int i = 0; i < 200; ++i) {
                const auto n = random() % 80;
                if (random() % 3) {
                    t.store(keyOf(n), bytesOf(++version, random() % 6 ? random() % 12000 : random() % 200000));
                } else {
                    std::string got;
                    if (t.load(keyOf(n), got) == Status::ok) {
                        bool known = false;
                        for (uint64_t v = version; v > 0 && !known; --v)
                            known = got == bytesOf(v, got.size());
                        EXPECT_TRUE(known) << "bytes that nobody stored, run " << run;
                    }
                }
                t.clock.advance(random() % 400000);
            }
            t.cut();
            if (t.open() != Status::ok)
                break;
            ASSERT_NO_FATAL_FAILURE(t.recover());
        }
    }
}

TEST(EngineError, anObjectWithoutBytesIsCheckedLikeAnyOther) {
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 3; ++n)
        ASSERT_EQ(t.store(keyOf(n), ""), Status::ok);
    EXPECT_TRUE(t.has(keyOf(0), "")) << "in staging";
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    // its key is in the directory, and then in its extent
    const auto key = keyOf(1).bytes;
    const auto clusters = t.media.data() + t.geometry().clusterStart;
    const auto end = t.media.data() + t.media.size();
    const auto same = [](const char a, const uint8_t b) { return static_cast<uint8_t>(a) == b; };
    const auto entry = std::search(clusters, end, key.begin(), key.end(), same);
    ASSERT_NE(entry, end);
    const auto extent = std::search(entry + 1, end, key.begin(), key.end(), same);
    ASSERT_NE(extent, end);
    t.damage(static_cast<uint64_t>(extent - t.media.data()) - 4, 1);
    EXPECT_TRUE(t.has(keyOf(0), ""));
    EXPECT_FALSE(t.has(keyOf(1), ""));
    EXPECT_TRUE(t.has(keyOf(2), ""));
    EXPECT_GT(t.engine->stats().counters.corrupt, 0U);
    EXPECT_FALSE(t.remembers(keyOf(1)));
}

namespace {

/// a cluster with so many objects, which are not in memory
void
packOne(TestStore &t, const uint64_t count)
{
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < count; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 2000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_EQ(t.engine->stats().counters.packs, 1U);
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
}

} // namespace

/// as after a power cut that tore it: what is whole in a cluster is no less wanted than before
TEST(EngineError, aClusterThatIsPutOutOfUseLosesOnlyWhatIsDamaged) {
    constexpr uint64_t count = 28; // nearly a cluster full
    constexpr uint64_t damaged = 4;
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(packOne(t, count));
    const auto free = t.engine->stats().clustersFree;
    for (uint64_t n = 0; n < damaged; ++n)
        ASSERT_TRUE(t.damageFirst(bytesOf(n, 2000)));
    for (uint64_t n = 0; n < damaged; ++n)
        EXPECT_FALSE(t.has(keyOf(n), bytesOf(n, 2000)));
    ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.quarantined > 0; }));
    EXPECT_TRUE(t.logged("read errors and is put out of use"));
    ASSERT_TRUE(t.pack());
    t.pass(5);
    for (uint64_t n = damaged; n < count; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 2000))) << n;
    const auto stats = t.engine->stats();
    EXPECT_EQ(stats.counters.quarantined, 1U);
    EXPECT_EQ(stats.objects, count - damaged);
    // moving them frees it only when they are safe elsewhere, and then it stays out of use
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    EXPECT_EQ(t.engine->stats().clustersBad, 1U);
    EXPECT_EQ(t.engine->stats().clustersFree, free - 1); // the others took another cluster, one is bad
    for (uint64_t n = damaged; n < count; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 2000))) << n;
}

/// a place that can't be read spoils the read of all that is whole
TEST(EngineError, aClusterThatIsPutOutOfUseIsReadObjectByObjectIfNeedBe) {
    constexpr uint64_t count = 28;
    constexpr uint64_t damaged = 3;
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(packOne(t, count));
    for (uint64_t n = 0; n < damaged; ++n) {
        t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 1, Fault::error);
        EXPECT_FALSE(t.has(keyOf(n), bytesOf(n, 2000)));
    }
    const auto reads = t.faulty->requests(IoOp::read);
    t.faulty->script(IoOp::read, reads + 1, Fault::error); // of all
    t.faulty->script(IoOp::read, reads + 5, Fault::error); // of one of them
    ASSERT_TRUE(t.pack());
    t.pass(5);
    EXPECT_EQ(t.engine->stats().counters.quarantined, 1U);
    EXPECT_EQ(t.engine->objectCount(), count - damaged - 1);
    uint64_t whole = 0;
    for (uint64_t n = damaged; n < count; ++n)
        whole += t.has(keyOf(n), bytesOf(n, 2000));
    EXPECT_EQ(whole, count - damaged - 1);
}

/// a disk may take seconds to find out that it can't read a place, and nobody else has it meanwhile
TEST(EngineError, aClusterThatIsBadAllOverIsGivenUp) {
    constexpr uint64_t count = 28;
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(packOne(t, count));
    t.faulty->script(IoOp::read, t.faulty->requests(IoOp::read) + 1, Fault::error, true);
    for (uint64_t n = 0; n < 3; ++n)
        EXPECT_FALSE(t.has(keyOf(n), bytesOf(n, 2000)));
    const auto reads = t.faulty->requests(IoOp::read);
    t.pass(5);
    EXPECT_EQ(t.engine->stats().counters.quarantined, 1U);
    EXPECT_EQ(t.faulty->requests(IoOp::read), reads + 4) << "of all, and of three of them";
    ASSERT_EQ(t.store(keyOf(count), bytesOf(count, 2000)), Status::ok);
    ASSERT_TRUE(t.pack()); // with a flush behind it
    EXPECT_TRUE(t.until([&] { return t.engine->objectCount() == 1; }));
}

/// a disk of a million clusters, of which nothing but the superblock can be read, may not fill the log
TEST(EngineError, fewOfManyClustersThatArePutOutOfUseAreLogged) {
    constexpr uint64_t clusters = 20;
    constexpr uint64_t each = 28; // nearly a cluster full
    constexpr uint64_t damaged = 4;
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t c = 0; c < clusters; ++c) {
        for (uint64_t n = 0; n < each; ++n)
            ASSERT_EQ(t.store(keyOf(c * each + n), bytesOf(c * each + n, 2000)), Status::ok);
        ASSERT_TRUE(t.pack());
    }
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t c = 0; c < clusters; ++c) {
        for (uint64_t n = 0; n < damaged; ++n)
            ASSERT_TRUE(t.damageFirst(bytesOf(c * each + n, 2000)));
        for (uint64_t n = 0; n < damaged; ++n)
            EXPECT_FALSE(t.has(keyOf(c * each + n), bytesOf(c * each + n, 2000)));
    }
    ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.quarantined == clusters; }));
    EXPECT_EQ(std::count_if(t.log.begin(), t.log.end(), [](const std::string &line) {
        return line.find("put out of use") != std::string::npos;
    }), 16);
}

TEST(EngineError, aPartThatFailsIsPutOutOfUse) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto free = t.engine->stats().clustersFree;
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 3, Fault::error);
    ASSERT_NE(t.store(keyOf(1), bytesOf(1, 600000)), Status::ok);
    t.pass(5);
    const auto stats = t.engine->stats();
    EXPECT_EQ(stats.counters.writeErrors, 1U);
    EXPECT_EQ(stats.counters.quarantined, 1U);
    EXPECT_EQ(stats.clustersBad, 1U);
    EXPECT_EQ(stats.clustersFree, free - 1);
    // for good
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    EXPECT_EQ(t.engine->stats().clustersBad, 1U);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 600000)), Status::ok);
    EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 600000)));
}

namespace {

/// appends until the writer asks to be slowed down, or has taken that much
uint64_t
appendUntilCongested(Writer &writer, const std::string &piece, const uint64_t most)
{
    while (!writer.congested() && writer.size() < most) {
        if (!writer.append(piece.data(), piece.size()))
            return 0;
    }
    return writer.size();
}

} // namespace

TEST(EngineError, slowDevicesSlowTheProducer) {
    TestStore t(128 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto piece = bytesOf(7, 65536);
    auto writer = t.engine->create(keyOf(1), infoOf(t.clock.wallSeconds()), -1);
    ASSERT_TRUE(writer);
    t.faulty->setDelay(20000, 20000);
    unsigned pauses = 0;
    while (writer->size() < 40 * MB) {
        ASSERT_GT(appendUntilCongested(*writer, piece, 40 * MB), 0U) << "refused";
        if (writer->congested()) {
            ++pauses;
            ASSERT_TRUE(t.until([&] { return !writer->congested(); }));
        }
    }
    EXPECT_GT(pauses, 2U);
    ASSERT_EQ(writer->finish(), Status::ok);
    std::string wanted;
    while (wanted.size() < 40 * MB)
        wanted += piece;
    EXPECT_TRUE(t.has(keyOf(1), wanted, 65536));
}

TEST(EngineError, hungDevicesDoNotStopTheProducer) {
    TestStore t(128 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto piece = bytesOf(7, 65536);
    auto writer = t.engine->create(keyOf(1), infoOf(t.clock.wallSeconds()), -1);
    ASSERT_TRUE(writer);
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::hang, true);
    ASSERT_GT(appendUntilCongested(*writer, piece, 40 * MB), 0U);
    EXPECT_TRUE(writer->congested());
    t.pass(5);
    EXPECT_FALSE(writer->congested());
    // the limit is met, the object is lost
    while (writer->size() < 40 * MB && writer->append(piece.data(), piece.size())) {
    }
    EXPECT_LT(writer->size(), 40 * MB);
    writer.reset();
    t.faulty->cut();
}

/// a power cut has torn one copy of the superblock, and the device is another one now
TEST(EngineErrors, aSmallerDeviceIsSaidToBeSmaller) {
    for (const uint64_t torn: {0, 1}) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_EQ(t.engine->close(10000), Status::ok);
        MemoryDevice smaller(t.clock, 15 * MB, t.media.alignment());
        memcpy(smaller.data(), t.media.data(), smaller.size());
        smaller.data()[torn * superblockSpacing + 100] ^= 1;
        std::unique_ptr<Engine> engine;
        std::string error;
        EXPECT_EQ(openEngine(smaller, t.clock, t.config, [](LogLevel, const std::string &) {}, engine, error), Status::unsupported) << torn;
        EXPECT_NE(error.find("has only " + std::to_string(smaller.size())), std::string::npos) << error;
    }
}
