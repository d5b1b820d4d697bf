// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine where there is too little of something: memory, staging, places for objects. */

#include "fs/cluster/layout/Cluster.h"
#include "fs/cluster/recovery/Format.h"
#include "test-suite/unit/support/EngineSupport.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

using Writers = std::vector<std::unique_ptr<Writer>>;

/// objects of that size begin until no more are taken
Writers
promiseAll(TestStore &t, const int64_t size)
{
    Writers writers;
    while (auto writer = t.engine->create(keyOf(100000 + writers.size()), infoOf(1), size))
        writers.push_back(std::move(writer));
    return writers;
}

/// \returns the first answer; a second one fails the test
Status
replaceHead(TestStore &t, const uint64_t n, const uint32_t oldSize, const std::string &head)
{
    const auto answers = std::make_shared<std::vector<Status>>();
    const auto info = infoOf(t.clock.wallSeconds());
    t.engine->replaceHead(keyOf(n), oldSize, head, info, [answers](const Status s) { answers->push_back(s); });
    EXPECT_TRUE(t.until([&] { return !answers->empty(); }));
    t.step();
    EXPECT_EQ(answers->size(), 1U);
    return answers->front();
}

/// bytes of address space that this process uses
uint64_t
addressSpace()
{
    uint64_t pages = 0;
    std::unique_ptr<FILE, int (*)(FILE *)> file(fopen("/proc/self/statm", "re"), &fclose);
    if (!file || fscanf(file.get(), "%lu", &pages) != 1)
        return 0;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// opens an engine in a process that must not take that much more address space
/// \returns what went wrong, or an empty text
std::string
openWithin(TestStore &t, const uint64_t bytes)
{
    struct rlimit limit {};
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return "no limit known";
    const auto before = limit;
    limit.rlim_cur = addressSpace() + bytes;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return "no limit set";
    const auto status = t.open();
    setrlimit(RLIMIT_AS, &before);
    if (status != Status::unsupported)
        return std::string("opened: ") + statusText(status);
    const auto objects = std::to_string(t.media.size() / 1024 * 9 / 8);
    if (t.lastError.find("not enough memory for an index of " + objects + " objects, ") == std::string::npos)
        return t.lastError;
    return t.engine ? t.engine->stateText() : "";
}

} // namespace

TEST(EngineMemory, anIndexThatThereIsNoMemoryForIsNamed) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer itself takes terabytes of address space";
#endif
    if (!addressSpace())
        GTEST_SKIP() << "/proc does not tell what this process uses";
    TestStore t(uint64_t(64) << 30, smallConfig(), true); // an index of gigabytes
    std::string error;
    ASSERT_EQ(formatDevice(t.device(), t.config, 1, error), Status::ok) << error;
    fflush(nullptr);
    const auto child = fork();
    ASSERT_GE(child, 0);
    if (!child) {
        const auto wrong = openWithin(t, 256 * MB);
        fprintf(stderr, "%s", wrong.c_str());
        exit(wrong.empty() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(EngineLimits, aHeadWaitsForNoRoomInStaging) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    ASSERT_TRUE(t.pack());
    auto writers = promiseAll(t, 30000);
    auto rest = promiseAll(t, 1000);
    ASSERT_FALSE(writers.empty());
    EXPECT_EQ(replaceHead(t, 1, 100, bytesOf(2, 2000)), Status::busy);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000))) << "the old version stays";
    writers.clear();
    EXPECT_EQ(replaceHead(t, 1, 100, bytesOf(2, 2000)), Status::ok);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(2, 2000) + bytesOf(1, 5000).substr(100)));
}

/// objects of which nothing has come yet take no bytes, but each takes an entry of a table
TEST(EngineLimits, stagingHoldsSoManyObjects) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    ASSERT_TRUE(t.pack());
    auto writers = promiseAll(t, 0);
    EXPECT_EQ(writers.size(), 2048U);
    EXPECT_EQ(t.engine->stats().stagingBytes, 0U);
    EXPECT_EQ(t.engine->stats().counters.refused, 1U);
    EXPECT_EQ(t.engine->create(keyOf(2), infoOf(1), 500), nullptr);
    EXPECT_EQ(t.engine->stats().counters.refused, 2U);
    EXPECT_EQ(replaceHead(t, 1, 100, "head"), Status::busy);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 5000)));
    writers.clear();
    EXPECT_EQ(replaceHead(t, 1, 100, "head"), Status::ok);
    EXPECT_EQ(promiseAll(t, 2 * MB / 100).size(), 127U) << "a promise to an object that was refused is taken back";
}

/// what is free may be a part of a chunk, of which nothing can be promised
TEST(EngineLimits, onlyWholeChunksArePromised) {
    constexpr int64_t chunk = 1024;
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto first = t.engine->create(keyOf(1), infoOf(1), chunk);
    ASSERT_NE(first, nullptr);
    ASSERT_TRUE(first->append(bytesOf(1, 100).data(), 100)); // takes a chunk, the promise of the rest stays
    Writers writers;
    for (uint64_t n = 0; n < 136; ++n)
        writers.push_back(t.engine->create(keyOf(2 + n), infoOf(1), 15 * chunk));
    ASSERT_NE(writers.back(), nullptr);
    const auto left = 2048 * chunk - 136 * 15 * chunk - chunk - (chunk - 100);
    int load = 0;
    EXPECT_TRUE(t.engine->canCreate(left - 1, load));
    EXPECT_EQ(t.engine->create(keyOf(500), infoOf(1), left - 1), nullptr) << "its last bytes have no chunk";
    EXPECT_EQ(t.engine->stats().counters.refused, 1U);
    EXPECT_NE(t.engine->create(keyOf(500), infoOf(1), left / chunk * chunk), nullptr);
}

/// who takes what was promised to nobody, past his own size, must not take the others' memory
TEST(EngineLimits, aWriterThatMeetsFullStagingIsRefused) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    auto small = t.engine->create(keyOf(1), infoOf(1), 100);
    auto large = t.engine->create(keyOf(2), infoOf(1), 20000);
    ASSERT_TRUE(small && large);
    ASSERT_TRUE(small->append(bytesOf(1, 100).data(), 100));
    ASSERT_TRUE(large->append(bytesOf(2, 20000).data(), 20000));
    const auto others = promiseAll(t, 30000);
    const auto rest = promiseAll(t, 500);
    ASSERT_FALSE(others.empty());
    EXPECT_FALSE(small->append(bytesOf(3, 2000).data(), 2000)) << "its head would have no room";
    EXPECT_EQ(t.engine->read(*small), nullptr);
    EXPECT_EQ(small->finish(), Status::aborted);
    EXPECT_FALSE(t.remembers(keyOf(1)));
    ASSERT_TRUE(large->append(bytesOf(3, 8000).data(), 8000)) << "goes past staging";
    const auto reader = t.engine->read(*large);
    std::string got;
    ASSERT_EQ(t.readAll(*reader, got), Status::ok);
    EXPECT_TRUE(got == bytesOf(2, 20000) + bytesOf(3, 8000)) << "the part that is being filled is in memory";
    EXPECT_EQ(t.fetch(*reader, 21000), Status::ok);
    ASSERT_EQ(large->finish(), Status::ok);
    EXPECT_TRUE(t.has(keyOf(2), bytesOf(2, 20000) + bytesOf(3, 8000)));
    EXPECT_EQ(t.engine->stats().counters.parts, 1U);
}

/// the index has places for objects that were removed until their clusters are free
TEST(EngineLimits, aFullIndexRefuses) {
    auto config = smallConfig();
    config.stagingMb = 128;
    TestStore t(8 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto capacity = t.engine->stats().indexCapacity;
    // stored within one turn: nothing makes room meanwhile
    uint64_t stored = 0;
    for (; stored < capacity; ++stored) {
        const auto writer = t.engine->create(keyOf(stored), infoOf(1), 10);
        ASSERT_NE(writer, nullptr);
        ASSERT_TRUE(writer->append(bytesOf(stored, 10).data(), 10));
        ASSERT_EQ(writer->finish(), Status::ok);
    }
    for (const size_t size: {10, 100000}) {
        const auto writer = t.engine->create(keyOf(stored), infoOf(1), static_cast<int64_t>(size));
        ASSERT_NE(writer, nullptr);
        ASSERT_TRUE(writer->append(bytesOf(stored, size).data(), size));
        EXPECT_EQ(writer->finish(), Status::full) << size;
        EXPECT_FALSE(t.remembers(keyOf(stored)));
    }
    EXPECT_EQ(t.engine->objectCount(), capacity);
    t.pack();
    EXPECT_EQ(t.engine->stats().clustersPart, 0U) << "of the one that was refused";
    ASSERT_EQ(t.store(keyOf(stored), bytesOf(stored, 10)), Status::ok);
    EXPECT_TRUE(t.has(keyOf(stored), bytesOf(stored, 10)));
}

/// a revalidated object has a new version, which needs a second place
TEST(EngineLimits, aFullIndexRefusesNewHeads) {
    auto config = smallConfig();
    config.stagingMb = 128;
    for (const size_t size: {5000, 100000}) {
        TestStore t(8 * MB, config);
        ASSERT_NO_FATAL_FAILURE(t.start());
        ASSERT_EQ(t.store(keyOf(1), bytesOf(1, size)), Status::ok);
        ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 100)), Status::ok); // keeps the cluster
        ASSERT_TRUE(t.pack());
        ASSERT_TRUE(t.has(keyOf(1), bytesOf(1, size)));
        std::vector<Status> answers;
        bool stays = false;
        t.engine->replaceHead(keyOf(1), 100, "head", infoOf(1), [&](const Status s) {
            answers.push_back(s);
            stays = t.remembers(keyOf(1)); // later on it may have been evicted
        });
        const auto capacity = t.engine->stats().indexCapacity;
        for (uint64_t n = 3; t.engine->objectCount() < capacity; ++n) {
            const auto writer = t.engine->create(keyOf(n), infoOf(1), 10);
            ASSERT_NE(writer, nullptr);
            ASSERT_TRUE(writer->append("0123456789", 10));
            ASSERT_EQ(writer->finish(), Status::ok);
        }
        ASSERT_TRUE(t.until([&] { return !answers.empty(); }));
        EXPECT_EQ(answers, std::vector<Status>{Status::full});
        EXPECT_EQ(t.engine->stats().counters.headUpdates, 0U);
        EXPECT_TRUE(stays) << "the old version";
        t.pack();
        (void)t.has(keyOf(1), bytesOf(1, size)); // its bytes, if any
        EXPECT_EQ(t.engine->stats().clustersPart > 0, size > 60000 && t.remembers(keyOf(1))) << "no parts without their object";
    }
}

/// nobody need wait for the answer
TEST(EngineLimits, aHeadMayBeReplacedWithoutAnAnswer) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    t.engine->replaceHead(keyOf(1), 100, "head", infoOf(1), nullptr);
    t.settle();
    EXPECT_TRUE(t.has(keyOf(1), "head" + bytesOf(1, 5000).substr(100)));
}

TEST(EngineLimits, nothingNewComesWhileTheDeviceIsBehind) {
    TestStore t(128 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto piece = bytesOf(7, 65536);
    const auto writer = t.engine->create(keyOf(1), infoOf(1), -1);
    ASSERT_NE(writer, nullptr);
    t.faulty->setDelay(1000000, 1000000);
    while (!writer->congested())
        ASSERT_TRUE(writer->append(piece.data(), piece.size()));
    int load = 0;
    EXPECT_FALSE(t.engine->canCreate(100, load));
    EXPECT_EQ(load, 1000);
    EXPECT_EQ(t.engine->create(keyOf(2), infoOf(1), 100), nullptr);
    EXPECT_EQ(t.engine->stats().counters.refused, 1U);
    ASSERT_TRUE(t.until([&] { return !writer->congested(); }));
    EXPECT_TRUE(t.engine->canCreate(100, load));
    // a writer that goes on nonetheless is refused
    while (writer->append(piece.data(), piece.size())) {
    }
    EXPECT_FALSE(writer->congested()) << "it has ended";
    EXPECT_EQ(t.engine->stats().counters.refused, 2U);
}

/// the references to all parts of an object share a cluster with its front
TEST(EngineLimits, anObjectHasOnlySoManyPartsMoreThanAnnounced) {
    TestStore t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto piece = bytesOf(1, 16384);
    auto writer = t.engine->create(keyOf(1), infoOf(1), 64000);
    ASSERT_NE(writer, nullptr);
    while (writer->append(piece.data(), piece.size())) {
        ASSERT_LT(writer->size(), t.engine->maxObjectSize());
        t.step();
    }
    EXPECT_GE(t.engine->stats().counters.parts, 64U) << "this is what was left room for";
    EXPECT_LT(t.engine->stats().counters.parts, 128U);
    EXPECT_EQ(writer->finish(), Status::aborted);
    writer.reset();
    t.settle();
    EXPECT_FALSE(t.remembers(keyOf(1)));
    EXPECT_EQ(t.engine->stats().clustersPart, 0U);
    // one that tells has room for more
    writer = t.engine->create(keyOf(1), infoOf(1), 10 * MB);
    ASSERT_NE(writer, nullptr);
    while (writer->size() < 10 * MB) {
        ASSERT_TRUE(writer->append(piece.data(), piece.size()));
        t.step();
    }
    EXPECT_EQ(writer->finish(), Status::ok);
}

/// objects that come in together have their parts side by side all the same, and clusters that they took ahead come back
TEST(EngineLimits, partsOfObjectsThatComeInTogetherLieSideBySide) {
    constexpr uint64_t count = 4;
    constexpr size_t size = 900000; // 14 parts
    TestStore t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    Writers writers;
    for (uint64_t n = 0; n < count; ++n)
        writers.push_back(t.engine->create(keyOf(n), infoOf(1), size));
    for (size_t at = 0; at < size; at += 20000) {
        for (uint64_t n = 0; n < count; ++n)
            ASSERT_TRUE(writers[n]->append(bytesOf(n, size).data() + at, 20000));
        t.step();
    }
    EXPECT_EQ(writers[0]->finish(), Status::ok);
    EXPECT_EQ(writers[1]->finish(), Status::ok);
    writers.clear(); // the others are given up
    ASSERT_TRUE(t.pack());
    const auto g = t.geometry();
    for (const uint64_t object: {0, 1}) {
        std::vector<uint32_t> places;
        for (ClusterNo c{0}; g.has(c); ++c) {
            ClusterHeader h;
            if (Directory::Peek(t.media.data() + g.clusterOffset(c), ClusterHeader::encodedBytes, h) && h.kind == ClusterKind::part && h.key == keyOf(object))
                places.push_back(c.value());
        }
        ASSERT_EQ(places.size(), 14U) << "the rest is its head";
        EXPECT_EQ(places.back() - places.front(), 13U);
        EXPECT_TRUE(t.has(keyOf(object), bytesOf(object, size)));
    }
    // all but the parts of the two, and a cluster of heads, can be filled
    for (uint64_t n = 100; n < 100 + g.clusterCount - 2 * 14 - 30; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 60000)), Status::ok);
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(t.engine->stats().counters.evictedClusters, 0U);
}

/// objects that tell a length and bring nothing keep a sixteenth of all clusters at most
TEST(EngineLimits, slowObjectsKeepFewClusters) {
    uint64_t clusters = 0;
    const auto evictions = [&clusters](const int64_t length) {
        TestStore t(32 * MB);
        EXPECT_NO_FATAL_FAILURE(t.start());
        clusters = t.engine->stats().clusters;
        Writers writers;
        for (uint64_t n = 0; n < 40; ++n) {
            writers.push_back(t.engine->create(keyOf(n), infoOf(1), length));
            EXPECT_TRUE(writers.back()->append(bytesOf(n, 100000).data(), 100000));
            t.step();
        }
        EXPECT_EQ(t.engine->stats().counters.parts, 40U);
        for (uint64_t n = 100; n < 100 + clusters - 40; ++n)
            EXPECT_EQ(t.store(keyOf(n), bytesOf(n, 60000)), Status::ok);
        EXPECT_TRUE(t.until([&] { return t.engine->stats().stagedObjects <= 40; }));
        return t.engine->stats().counters.evictedClusters;
    };
    EXPECT_LE(evictions(2000000), evictions(-1) + clusters / 16 + 2);
}

TEST(EngineLimits, aLargeObjectEndsWhenTheDiskTakesNoWrites) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto writer = t.engine->create(keyOf(1), infoOf(1), 200000);
    ASSERT_NE(writer, nullptr);
    ASSERT_TRUE(writer->append(bytesOf(1, 1000).data(), 1000));
    t.faulty->setRate(IoOp::write, Fault::error, 1);
    for (uint64_t n = 2; n < 20; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 50000)), Status::ok);
    t.clock.advance(uint64_t(t.config.persist) * 1000000);
    ASSERT_TRUE(t.until([&] { return t.engine->state() == EngineState::readOnly; }));
    EXPECT_FALSE(writer->append(bytesOf(1, 190000).data(), 190000));
    EXPECT_EQ(writer->finish(), Status::aborted);
    EXPECT_EQ(t.engine->stats().counters.parts, 0U);
}

/// more hits than the device's queue takes wait for a disk that resets its link; it costs the wait, and nothing else
TEST(EngineLimits, aDiskThatHangsAndComesBackIsWell) {
    auto config = smallConfig();
    config.readCacheMb = 512;
    config.stagingMb = 32;
    config.localityMb = 0;
    constexpr uint64_t count = Device::maxQueue + 200;
    TestStore t(128 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < count; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 4000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    t.pass(1);
    t.faulty->setDelay(20000000, 20000000);
    std::vector<std::unique_ptr<Reader>> readers;
    std::vector<Status> answers;
    for (uint64_t n = 0; n < count; ++n) {
        readers.push_back(t.engine->read(keyOf(n)));
        ASSERT_NE(readers.back(), nullptr);
        readers.back()->fetch(0, [&](const Status s) { answers.push_back(s); });
    }
    // what is stored meanwhile is packed, a large object's parts are written, what is deleted is written down
    ASSERT_EQ(t.store(keyOf(count), bytesOf(count, 5000)), Status::ok);
    ASSERT_EQ(t.store(keyOf(count + 1), bytesOf(count + 1, 200000)), Status::ok);
    ASSERT_TRUE(t.engine->remove(keyOf(0)));
    t.clock.advance(uint64_t(t.config.persist) * 1000000);
    for (int i = 0; i < 100; ++i)
        t.engine->poll();
    t.faulty->setDelay(100, 100);
    EXPECT_TRUE(t.until([&] { return answers.size() == count; }));
    EXPECT_EQ(std::count(answers.begin(), answers.end(), Status::ok), int64_t(count));
    EXPECT_TRUE(t.pack());
    EXPECT_EQ(t.engine->state(), EngineState::serving);
    const auto stats = t.engine->stats();
    EXPECT_EQ(stats.clustersBad, 0U);
    EXPECT_EQ(stats.counters.quarantined, 0U);
    EXPECT_EQ(stats.counters.writeErrors, 0U);
    EXPECT_EQ(stats.counters.readErrors, 0U);
    EXPECT_EQ(t.errors, 0U);
    EXPECT_TRUE(t.has(keyOf(count), bytesOf(count, 5000)));
    EXPECT_TRUE(t.has(keyOf(count + 1), bytesOf(count + 1, 200000)));
    EXPECT_FALSE(t.remembers(keyOf(0)));
}
