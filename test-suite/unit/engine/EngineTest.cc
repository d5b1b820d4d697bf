// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine: storing, finding and reading, without accidents. */

#include "fs/cluster/engine/Open.h"
#include "fs/cluster/recovery/Format.h"
#include "test-suite/unit/support/EngineSupport.h"
#include "tools/models/ManualClock.h"

#include <algorithm>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(EngineFormat, givesEachDeviceAnIdentity) {
    ManualClock clock;
    MemoryDevice device(clock, 16 * MB);
    std::string error;
    Uuid seen[2];
    for (unsigned i = 0; i < 2; ++i) {
        ASSERT_EQ(formatDevice(device, smallConfig(), 7 + i, error), Status::ok) << error;
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(openEngine(device, clock, smallConfig(), [](LogLevel, const std::string &) {}, engine, error), Status::ok) << error;
        ASSERT_NE(engine->superblock(), nullptr);
        seen[i] = engine->superblock()->uuid;
        EXPECT_EQ(seen[i][6] >> 4, 4);
        EXPECT_EQ(seen[i][8] >> 6, 2);
        EXPECT_EQ(engine->superblock()->geometry.deviceBytes, 16 * MB);
        EXPECT_EQ(engine->superblock()->geometry.clusterBytes, 64U * 1024);
    }
    EXPECT_NE(seen[0], seen[1]);
}

TEST(EngineFormat, usesAPartOfTheDevice) {
    ManualClock clock;
    MemoryDevice device(clock, 32 * MB);
    std::string error;
    ASSERT_EQ(formatDevice(device, smallConfig(), 1, error, 16 * MB), Status::ok) << error;
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(openEngine(device, clock, smallConfig(), [](LogLevel, const std::string &) {}, engine, error), Status::ok) << error;
    EXPECT_EQ(engine->superblock()->geometry.deviceBytes, 16 * MB);
    const auto &g = engine->superblock()->geometry;
    EXPECT_LE(g.clusterOffset(ClusterNo(g.clusterCount)), 16 * MB);
}

TEST(EngineFormat, refusesWhatCannotWork) {
    ManualClock clock;
    MemoryDevice device(clock, 4 * MB);
    std::string error;
    EXPECT_EQ(formatDevice(device, smallConfig(), 1, error), Status::unsupported);
    EXPECT_NE(error.find("too small"), std::string::npos) << error;
    EXPECT_EQ(formatDevice(device, smallConfig(), 1, error, 64 * MB), Status::unsupported);
    EXPECT_NE(error.find(std::to_string(64 * MB)), std::string::npos) << error;
    auto bad = smallConfig();
    bad.clusterKb = 48;
    EXPECT_EQ(formatDevice(device, bad, 1, error), Status::unsupported);
    EXPECT_NE(error.find("cluster-size=48"), std::string::npos) << error;
}

/// a partition table, a file system or a RAID member may have left marks at both ends
TEST(EngineFormat, removesWhatOthersLeftAtBothEnds) {
    ManualClock clock;
    const uint64_t size = 16 * MB + 12288;
    MemoryDevice device(clock, size);
    memset(device.data(), 0x77, size);
    std::string error;
    ASSERT_EQ(formatDevice(device, smallConfig(), 1, error), Status::ok) << error;
    EXPECT_EQ(std::count(device.data() + 4096, device.data() + MB, '\0'), static_cast<std::ptrdiff_t>(MB - 4096));
    EXPECT_EQ(std::count(device.data() + size - MB / 2, device.data() + size, '\0'), static_cast<std::ptrdiff_t>(MB / 2));
}

TEST(EngineFormat, reportsADeviceThatFails) {
    for (uint64_t nth = 1; nth <= 7; ++nth) {
        TestStore t;
        t.faulty->script(IoOp::write, nth, Fault::error);
        std::string error;
        EXPECT_EQ(formatDevice(t.device(), t.config, 1, error), Status::ioError) << nth;
        EXPECT_FALSE(error.empty());
    }
    TestStore t;
    t.faulty->script(IoOp::flush, 1, Fault::error);
    std::string error;
    EXPECT_EQ(formatDevice(t.device(), t.config, 1, error), Status::ioError);
}

/// the former store would be found with the next start, as if it had never been formatted
TEST(EngineFormat, noticesAWriteThatTheDeviceDrops) {
    for (uint64_t nth = 6; nth <= 7; ++nth) {
        TestStore t;
        std::string error;
        ASSERT_EQ(formatDevice(t.device(), t.config, 1, error), Status::ok) << error;
        t.faulty->script(IoOp::write, 7 + nth, Fault::lost);
        EXPECT_NE(formatDevice(t.device(), t.config, 2, error), Status::ok) << nth;
        EXPECT_NE(error.find("read back"), std::string::npos) << error;
    }
}

TEST(Engine, findsAndStoresNothingOnceClosed) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    const auto writer = t.engine->create(keyOf(2), infoOf(1), 10);
    ASSERT_NE(writer, nullptr);
    auto &engine = *t.engine;
    EXPECT_NE(engine.superblock(), nullptr);
    ASSERT_EQ(engine.close(60000), Status::ok);
    const auto written = t.faulty->stats().of(IoOp::write).requests;
    EXPECT_EQ(engine.state(), EngineState::closed);
    EXPECT_STREQ(engine.stateText(), "closed");
    EXPECT_EQ(engine.superblock(), nullptr);
    ObjectInfo info;
    int load = 0;
    uint64_t cursor = 0;
    Key key;
    EXPECT_FALSE(engine.find(keyOf(1), info));
    EXPECT_FALSE(engine.peek(keyOf(1), info));
    EXPECT_FALSE(engine.has(keyOf(1)));
    EXPECT_FALSE(engine.canCreate(1, load));
    EXPECT_EQ(load, Engine::maxLoad);
    EXPECT_EQ(engine.create(keyOf(3), info, 1), nullptr);
    EXPECT_EQ(engine.read(keyOf(1)), nullptr);
    EXPECT_EQ(engine.read(*writer), nullptr);
    EXPECT_FALSE(engine.remove(keyOf(1)));
    unsigned looks = 10;
    EXPECT_FALSE(engine.next(cursor, key, info, looks));
    engine.touch(keyOf(1));
    engine.updateInfo(keyOf(1), info);
    engine.note(Request());
    engine.requestCheckpoint();
    engine.reconfigure(t.config);
    for (int i = 0; i < 100; ++i)
        t.step();
    EXPECT_EQ(engine.close(10), Status::ok);
    EXPECT_EQ(engine.stats().objects, 1U) << "what it did can still be read";
    EXPECT_FALSE(engine.report().empty());
    EXPECT_EQ(t.faulty->stats().of(IoOp::write).requests, written);
}

TEST(Engine, tellsWhatItHasWithoutCountingALookup) {
    // bucket and tag are the same: as long as the object is staged, its whole key is known
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto keys = twins(t);
    const auto own = keys.first;
    const auto other = keys.second;
    ASSERT_EQ(t.store(own, "own"), Status::ok);
    EXPECT_TRUE(t.engine->has(own));
    EXPECT_FALSE(t.engine->has(other));
    EXPECT_FALSE(t.engine->has(keyOf(1)));
    EXPECT_EQ(t.engine->stats().counters.lookups, 0U);
    EXPECT_TRUE(t.has(own, "own"));
    EXPECT_FALSE(t.remembers(other));
    // nor is it packed with what belongs to the other
    t.engine->collocate(keyOf(2), {other, keyOf(3)});
    ASSERT_EQ(t.store(keyOf(2), "leader"), Status::ok);
    ASSERT_EQ(t.store(keyOf(3), "member"), Status::ok);
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(t.engine->stats().counters.packedInGroups, 1U) << "the member, with its leader";
    EXPECT_TRUE(t.has(own, "own"));
}

TEST(Engine, servesAnEmptyDeviceAtOnce) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    EXPECT_EQ(t.engine->state(), EngineState::serving);
    EXPECT_EQ(t.engine->objectCount(), 0U);
    EXPECT_EQ(t.engine->recoveryProgress(), 1.0);
    EXPECT_FALSE(t.remembers(keyOf(1)));
    EXPECT_EQ(t.engine->read(keyOf(1)), nullptr);
    EXPECT_FALSE(t.engine->remove(keyOf(1)));
}

/* sizes: in staging, in a cluster, alone in a cluster, in several */

struct SizeCase {
    size_t size;
    bool known;
};

class EngineSizes : public ::testing::TestWithParam<SizeCase>
{
};

TEST_P(EngineSizes, comesBackFromMemoryDiskAndRestart) {
    const auto size = GetParam().size;
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto bytes = bytesOf(size, size);
    const auto before = bytesOf(size + 1, 100);
    ASSERT_EQ(t.store(keyOf(2), before), Status::ok);
    ASSERT_EQ(t.store(keyOf(1), bytes, GetParam().known), Status::ok);
    EXPECT_TRUE(t.has(keyOf(1), bytes)) << "from staging";
    EXPECT_EQ(t.engine->liveBytes(), size + before.size());

    ASSERT_TRUE(t.pack());
    EXPECT_TRUE(t.has(keyOf(1), bytes)) << "from the read cache";
    EXPECT_EQ(t.engine->objectCount(), 2U);

    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    EXPECT_TRUE(t.has(keyOf(1), bytes, 1000)) << "after a clean restart";
    EXPECT_TRUE(t.has(keyOf(1), bytes, 100000)) << "in one piece";
    EXPECT_TRUE(t.has(keyOf(2), before));
    EXPECT_EQ(t.engine->liveBytes(), size + before.size());

    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_TRUE(t.has(keyOf(1), bytes)) << "after a crash";
    EXPECT_TRUE(t.engine->remove(keyOf(1)));
    EXPECT_FALSE(t.remembers(keyOf(1)));
    EXPECT_TRUE(t.has(keyOf(2), before));
    EXPECT_EQ(t.engine->liveBytes(), before.size());
}

INSTANTIATE_TEST_SUITE_P(all, EngineSizes, ::testing::Values(
    SizeCase{0, true}, SizeCase{0, false}, SizeCase{1, true}, SizeCase{7, false}, SizeCase{1023, true}, SizeCase{1024, true},
    SizeCase{1025, false}, SizeCase{4096, true}, SizeCase{13000, false}, SizeCase{32000, false},
    // the limits of a cluster of 64 KB: 65328 bytes fit as one extent, 64304 with room to grow, 61440 into a part
    SizeCase{32663, false}, SizeCase{32664, false}, SizeCase{32665, false}, SizeCase{61440, true}, SizeCase{61441, true}, SizeCase{64304, true}, SizeCase{64305, true},
    SizeCase{65327, true}, SizeCase{65328, true}, SizeCase{65329, true}, SizeCase{65536, true}, SizeCase{65536, false},
    SizeCase{32664 + 61440, false}, SizeCase{32664 + 61441, false}, SizeCase{122880, true}, SizeCase{130000, true},
    SizeCase{61440 * 3 + 16384, true}, SizeCase{500000, true}, SizeCase{500000, false}, SizeCase{1500000, false}),
    [](const ::testing::TestParamInfo<SizeCase> &p) {
        return std::to_string(p.param.size) + (p.param.known ? "known" : "unknown");
    });

TEST(Engine, takesMoreOrLessThanAnnounced) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const struct { int64_t expected; size_t size; } cases[] = {
        {1000, 10}, {1000, 20000}, {100, 200000}, {200000, 100}, {200000, 400000}, {65328, 65329}, {0, 5},
    };
    uint64_t n = 0;
    for (const auto &c: cases) {
        const auto bytes = bytesOf(++n, c.size);
        const auto w = t.engine->create(keyOf(n), infoOf(t.clock.wallSeconds()), c.expected);
        ASSERT_NE(w, nullptr);
        for (size_t at = 0; at < bytes.size(); at += 4096) {
            ASSERT_TRUE(w->append(bytes.data() + at, std::min<size_t>(4096, bytes.size() - at))) << c.size;
            t.step();
        }
        ASSERT_EQ(w->finish(), Status::ok);
        EXPECT_TRUE(t.has(keyOf(n), bytes)) << c.expected << " " << c.size;
    }
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    for (uint64_t i = 1; i <= n; ++i)
        EXPECT_TRUE(t.has(keyOf(i), bytesOf(i, cases[i - 1].size))) << i;
}

TEST(Engine, readsFromAnyOffset) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto bytes = bytesOf(5, 300000);
    ASSERT_EQ(t.store(keyOf(5), bytes), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    const auto reader = t.engine->read(keyOf(5));
    ASSERT_NE(reader, nullptr);
    std::mt19937_64 random(3);
    std::vector<char> piece(20000);
    for (int i = 0; i < 300; ++i) {
        const auto offset = random() % bytes.size();
        const auto size = 1 + random() % piece.size();
        auto n = reader->copy(offset, piece.data(), size);
        if (n < 0) {
            ASSERT_EQ(t.fetch(*reader, offset), Status::ok);
            n = reader->copy(offset, piece.data(), size);
        }
        ASSERT_GT(n, 0);
        ASSERT_EQ(std::string(piece.data(), static_cast<size_t>(n)), bytes.substr(offset, static_cast<size_t>(n)));
    }
    EXPECT_EQ(reader->copy(bytes.size(), piece.data(), 10), 0);
    EXPECT_EQ(reader->copy(bytes.size() + 5, piece.data(), 10), 0);
    EXPECT_EQ(t.fetch(*reader, bytes.size()), Status::aborted);
}

TEST(Engine, keepsTimesAndFlags) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto now = t.clock.wallSeconds();
    auto info = infoOf(now, flagRevalidateAlways | flagBadLength);
    ASSERT_EQ(t.store(keyOf(1), "abc", true, &info), Status::ok);
    ObjectInfo none;
    none.flags = flagNegative;
    ASSERT_EQ(t.store(keyOf(2), "de", true, &none), Status::ok);
    const auto check = [&] {
        ObjectInfo got;
        ASSERT_TRUE(t.engine->find(keyOf(1), got));
        EXPECT_EQ(got.timestamp, info.timestamp);
        EXPECT_EQ(got.expires, info.expires);
        EXPECT_EQ(got.lastModified, info.lastModified);
        EXPECT_EQ(got.flags, info.flags);
        EXPECT_EQ(got.size, 3U);
        ASSERT_TRUE(t.engine->find(keyOf(2), got));
        EXPECT_EQ(got.timestamp, -1);
        EXPECT_EQ(got.expires, -1);
        EXPECT_EQ(got.lastModified, -1);
        EXPECT_EQ(got.flags, flagNegative);
    };
    check();
    ASSERT_TRUE(t.pack());
    check();
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    check();

    info.timestamp = now + 50;
    info.expires = now + 100;
    info.lastModified = now - 5;
    info.flags = flagRevalidateStale;
    t.engine->updateInfo(keyOf(1), info);
    t.engine->updateInfo(keyOf(99), info);
    check();
    EXPECT_TRUE(t.has(keyOf(1), "abc"));
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    check();
    EXPECT_TRUE(t.has(keyOf(1), "abc"));
}

TEST(Engine, updatesInfoOfStagedAndLargeObjects) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto bytes = bytesOf(1, 200000);
    ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
    ASSERT_EQ(t.store(keyOf(2), "x"), Status::ok);
    const auto info = infoOf(t.clock.wallSeconds() + 77, flagRevalidateAlways);
    ObjectInfo got;
    for (uint64_t n = 1; n <= 2; ++n)
        t.engine->updateInfo(keyOf(n), info);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    for (uint64_t n = 1; n <= 2; ++n) {
        ASSERT_TRUE(t.engine->find(keyOf(n), got));
        EXPECT_EQ(got.timestamp, info.timestamp) << n;
        EXPECT_EQ(got.flags & flagsOfCaller, info.flags);
    }
    t.engine->updateInfo(keyOf(1), infoOf(t.clock.wallSeconds() + 99));
    EXPECT_TRUE(t.has(keyOf(1), bytes));
    EXPECT_TRUE(t.has(keyOf(2), "x"));
}

TEST(Engine, replacesAnObject) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const size_t sizes[] = {500, 200000, 30000, 0, 150000, 1};
    uint64_t version = 0;
    for (const bool packed: {false, true}) {
        for (const auto size: sizes) {
            const auto bytes = bytesOf(++version, size);
            ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
            EXPECT_TRUE(t.has(keyOf(1), bytes));
            EXPECT_EQ(t.engine->objectCount(), 1U);
            EXPECT_EQ(t.engine->liveBytes(), size);
            if (packed) {
                ASSERT_TRUE(t.pack());
            }
            EXPECT_TRUE(t.has(keyOf(1), bytes));
        }
    }
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(version, 1)));
    EXPECT_EQ(t.engine->objectCount(), 1U);
}

/// what find() does not find any more is not listed either
TEST(Engine, listsNoObjectsWhoseTimeIsOver) {
    auto config = smallConfig();
    config.list = true;
    config.fileLifetime = 100;
    TestStore t(16 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    t.clock.stepWall(90);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 1000)), Status::ok);
    t.clock.stepWall(20);
    ASSERT_FALSE(t.engine->has(keyOf(1)));
    uint64_t cursor = 0;
    unsigned looks = 100;
    Key key;
    ObjectInfo info;
    ASSERT_TRUE(t.engine->next(cursor, key, info, looks));
    EXPECT_EQ(key, keyOf(2));
    EXPECT_FALSE(t.engine->next(cursor, key, info, looks));
}

TEST(Engine, listsWhenAskedTo) {
    auto config = smallConfig();
    config.list = true;
    TestStore t(16 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < 300; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 10 + n)), Status::ok);
    for (uint64_t n = 0; n < 300; n += 3)
        EXPECT_TRUE(t.engine->remove(keyOf(n)));
    for (unsigned round = 0; round < 4; ++round) {
        std::map<std::string, uint64_t> seen;
        uint64_t cursor = 0;
        Key key;
        ObjectInfo info;
        unsigned slices = 0;
        for (unsigned looks = 0; !looks; ++slices) {
            looks = 50;
            for (unsigned before = looks; t.engine->next(cursor, key, info, looks); before = looks) {
                EXPECT_LT(looks, before);
                EXPECT_TRUE(seen.emplace(key.hex(), info.size).second);
            }
        }
        EXPECT_GE(slices, 200U / 50);
        EXPECT_EQ(seen.size(), 200U) << round;
        for (uint64_t n = 0; n < 300; ++n) {
            EXPECT_EQ(seen.count(keyOf(n).hex()), n % 3 ? 1U : 0U);
            if (n % 3) {
                EXPECT_EQ(seen[keyOf(n).hex()], 10 + n);
            }
        }
        if (round == 0) {
            ASSERT_TRUE(t.pack());
        } else if (round == 1) {
            ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        } else if (round == 2) {
            ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        }
    }
}

TEST(Engine, doesNotListWhenNotAskedTo) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), "x"), Status::ok);
    uint64_t cursor = 0;
    Key key;
    ObjectInfo info;
    unsigned looks = 10;
    EXPECT_FALSE(t.engine->next(cursor, key, info, looks));
    EXPECT_GT(looks, 0U) << "the end, not a pause";
}

TEST(Engine, reportsWhatItDid) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000)));
    EXPECT_FALSE(t.remembers(keyOf(2)));
    ASSERT_TRUE(t.pack());
    EXPECT_TRUE(t.engine->remove(keyOf(1)));
    const auto s = t.engine->stats();
    EXPECT_EQ(s.counters.lookups, 2U);
    EXPECT_EQ(s.counters.found, 1U);
    EXPECT_EQ(s.counters.stored, 1U);
    EXPECT_EQ(s.counters.storedBytes, 5000U);
    EXPECT_EQ(s.counters.packs, 1U);
    EXPECT_EQ(s.counters.packedObjects, 1U);
    EXPECT_EQ(s.counters.removed, 1U);
    EXPECT_EQ(s.objects, 0U);
    const auto text = t.engine->report();
    EXPECT_NE(text.find(uuidText(t.engine->superblock()->uuid)), std::string::npos);
    for (const auto *name: {"serving", "[space]"})
        EXPECT_NE(text.find(name), std::string::npos) << text;
}

TEST(Engine, reportsHowItStarted) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    const auto line = [&](const std::string &name) {
        const auto text = t.engine->report();
        const auto from = text.find(name);
        return from == text.npos ? text : text.substr(from, text.find('\n', from) - from);
    };
    const auto says = [&](const std::string &name, const std::string &value) {
        const auto found = line(name);
        return found.size() > value.size() && found.substr(found.size() - value.size()) == value;
    };
    EXPECT_TRUE(says("checkpoint age s", "none since start")) << line("checkpoint age s");
    ASSERT_TRUE(t.checkpoint());
    t.clock.advance(12 * MB);
    EXPECT_TRUE(says("checkpoint age s", " 12")) << line("checkpoint age s");
    const auto geometry = t.geometry();
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    ASSERT_EQ(t.open(), Status::ok);
    EXPECT_STREQ(t.engine->stateText(), "recovering");
    EXPECT_TRUE(says("state", "recovering")) << line("state");
    ASSERT_NO_FATAL_FAILURE(t.recover());
    EXPECT_TRUE(says("index from", "log")) << line("index from");
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    t.damage(geometry.logStart, uint64_t(geometry.logBlocks) * indexBlockBytes);
    ASSERT_NO_FATAL_FAILURE(t.reopen());
    EXPECT_TRUE(says("index from", "scan")) << line("index from");
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000)));
}

/// the longest call is shown, whoever it was that called
TEST(Engine, theLongestTurnIsMeasured) {
    TestStore t;
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    EXPECT_EQ(t.engine->stats().counters.longestTurn, 0U) << "this clock stands still meanwhile";
    const auto reader = t.engine->read(keyOf(1));
    bool done = false;
    const auto takeLong = [&](const uint64_t micros) {
        done = false;
        reader->fetch(0, [&, micros](Status) {
            t.clock.advance(micros);
            done = true;
        });
        ASSERT_TRUE(t.until([&] { return done; }));
    };
    takeLong(7000);
    EXPECT_EQ(t.engine->stats().counters.longestTurn, 7000U);
    takeLong(3000);
    EXPECT_EQ(t.engine->stats().counters.longestTurn, 7000U);
    EXPECT_NE(t.engine->report().find("longest turn us"), std::string::npos);
    ASSERT_EQ(t.engine->close(60000), Status::ok);
    EXPECT_EQ(t.engine->stats().counters.longestTurn, 7000U) << "waiting for the end is none";
}
