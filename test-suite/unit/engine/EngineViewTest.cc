// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects of an engine as another process reads them: out of staging and out of the read cache. */

#include "test-suite/unit/support/EngineSupport.h"
#include "test-suite/unit/support/SyscallFaults.h"

#include "fs/cluster/engine/EngineView.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t most = 1 << 18; ///< bytes of an object that is read

EngineView::Descriptors
copies(const SharedTables &tables)
{
    EngineView::Descriptors descriptors;
    for (size_t i = 0; i < descriptors.size(); ++i)
        descriptors[i] = Descriptor(dup(tables.memories[i].fd));
    return descriptors;
}

/// an engine, and how another process sees it
struct Seen: TestStore {
    using TestStore::TestStore;

    void startShared() {
        ASSERT_NO_FATAL_FAILURE(start());
        ASSERT_NO_FATAL_FAILURE(look());
    }
    /// maps the engine's memory anew
    void look() {
        std::string error;
        SharedTables tables;
        ASSERT_TRUE(engine->share(tables, error)) << error;
        ASSERT_TRUE(view.map(copies(tables), tables, error)) << error;
    }

    std::string seen(const Key &key) const {
        EngineView::Copy copy;
        return view.read(key, most, copy) ? std::string(copy.data(), copy.info.size) : "none";
    }

    EngineView view;
};

} // namespace

TEST(EngineView, refusesWhatCantBe)
{
    Seen t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 1000)), Status::ok);
    const auto refused = [&](const std::function<void(SharedTables &)> &change) {
        SharedTables tables;
        std::string error;
        EXPECT_TRUE(t.engine->share(tables, error)) << error;
        change(tables);
        const auto mapped = t.view.map(copies(tables), tables, error);
        EXPECT_EQ(mapped, error.empty());
        ObjectInfo info;
        EXPECT_EQ(t.view.find(keyOf(1), info), mapped);
        EXPECT_EQ(t.seen(keyOf(1)) != "none", mapped);
        return !mapped;
    };
    EXPECT_FALSE(refused([](SharedTables &) {}));
    EXPECT_TRUE(refused([](SharedTables &tables) { tables.baseBuckets = 0; }));
    EXPECT_TRUE(refused([](SharedTables &tables) { tables.baseBuckets = 0xffffffff; }));
    EXPECT_TRUE(refused([](SharedTables &tables) { tables.memories[SharedTables::clusters].bytes += 4096; }));
    EXPECT_TRUE(refused([](SharedTables &tables) { std::swap(tables.memories[SharedTables::head], tables.memories[SharedTables::records]); }));
    EXPECT_TRUE(refused([](SharedTables &tables) { std::swap(tables.memories[SharedTables::chunks], tables.memories[SharedTables::staging]); }));
}

/// where the process may have no more memory that others map, whatever it lacks
TEST(EngineView, memoryThatCannotBeSharedIsTold)
{
    const SyscallFault none({SCMP_SYS(memfd_create)}, EMFILE);
    const auto refused = [&](SyscallFault fault, const std::string &why) {
        const auto whyNot = withFaults({std::move(fault)}, [&why] {
            TestStore t(16 * MB);
            ASSERT_NO_FATAL_FAILURE(t.start());
            SharedTables tables;
            std::string error;
            EXPECT_FALSE(t.engine->share(tables, error));
            EXPECT_NE(error.find(why), std::string::npos) << error;
        });
        return whyNot;
    };
    constexpr unsigned ofEngine = 7; // memories that it makes at its start, see SharedTables
    for (const auto &whyNot: {refused(SyscallFault(none).times(1), "no file descriptor for the index"),
                              refused(SyscallFault(none).nth(ofEngine + 1), "no shared memory"),
                              refused(SyscallFault(none).nth(ofEngine + 2), "no file descriptor for the table")}) {
        if (!whyNot.empty())
            GTEST_SKIP() << whyNot;
    }
}

TEST(EngineView, readsNothingOfAnEngineThatItHasNotMapped)
{
    const EngineView view;
    EngineView::Copy copy;
    ObjectInfo info;
    Key key;
    uint64_t cursor = 0;
    unsigned looks = 10;
    EXPECT_FALSE(view.read(keyOf(1), most, copy));
    EXPECT_FALSE(view.find(keyOf(1), info));
    EXPECT_FALSE(view.next(cursor, key, info, looks));
}

TEST(EngineView, readsWhatIsInMemory)
{
    Seen t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    EXPECT_EQ(t.seen(keyOf(1)), "none");
    for (const auto size: {0U, 1U, 1023U, 1024U, 1025U, 20000U})
        ASSERT_EQ(t.store(keyOf(size), bytesOf(size, size)), Status::ok);
    const auto all = [&](const char *const where) {
        for (const auto size: {0U, 1U, 1023U, 1024U, 1025U, 20000U})
            EXPECT_EQ(t.seen(keyOf(size)), bytesOf(size, size)) << where;
    };
    all("staged");
    ASSERT_TRUE(t.pack());
    all("packed just now");
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    ASSERT_NO_FATAL_FAILURE(t.look());
    EXPECT_EQ(t.seen(keyOf(1024)), "none") << "it is on the disk only";
    ObjectInfo info;
    EXPECT_TRUE(t.view.find(keyOf(1024), info));
    for (const auto size: {0U, 1U, 1023U, 1024U, 1025U, 20000U})
        EXPECT_TRUE(t.has(keyOf(size), bytesOf(size, size)));
    all("read");
}

TEST(EngineView, readsTimesAndFlags)
{
    Seen t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    const auto wanted = infoOf(t.clock.wallSeconds() - 50, flagNegative);
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 700), true, &wanted), Status::ok);
    EngineView::Copy copy;
    ASSERT_TRUE(t.view.read(keyOf(1), most, copy));
    EXPECT_EQ(copy.info.size, 700U);
    EXPECT_EQ(copy.info.timestamp, wanted.timestamp);
    EXPECT_EQ(copy.info.expires, wanted.expires);
    EXPECT_EQ(copy.info.lastModified, wanted.lastModified);
    EXPECT_EQ(copy.info.flags, wanted.flags);
    EXPECT_FALSE(t.view.read(keyOf(1), 699, copy)) << "larger than the caller wants";
}

TEST(EngineView, readsNothingThatIsGone)
{
    Seen t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 3000)), Status::ok);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 3000)), Status::ok);
    t.engine->remove(keyOf(1));
    EXPECT_EQ(t.seen(keyOf(1)), "none");
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(t.seen(keyOf(2)), bytesOf(2, 3000));
    t.engine->remove(keyOf(2));
    EXPECT_EQ(t.seen(keyOf(2)), "none");
    ASSERT_EQ(t.store(keyOf(2), bytesOf(22, 3000)), Status::ok);
    EXPECT_EQ(t.seen(keyOf(2)), bytesOf(22, 3000));
}

TEST(EngineView, leavesLargeObjectsToTheEngine)
{
    Seen t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 100000)), Status::ok);
    EXPECT_EQ(t.seen(keyOf(1)), "none") << "it has parts";
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(t.seen(keyOf(1)), "none");
}

/// the index takes two keys for one: the bytes say whose they are
TEST(EngineView, readsNoOtherObjectOfTheSameHash)
{
    Seen t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    const auto [one, two] = twins(t);
    ASSERT_EQ(t.store(one, bytesOf(1, 3000)), Status::ok);
    EXPECT_EQ(t.seen(one), bytesOf(1, 3000));
    EXPECT_EQ(t.seen(two), "none");
    ASSERT_TRUE(t.pack());
    EXPECT_EQ(t.seen(one), bytesOf(1, 3000));
    EXPECT_EQ(t.seen(two), "none");
}

/// bytes that went bad in memory are no hit
TEST(EngineView, readsNoDamagedBytes)
{
    Seen t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 3000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    ASSERT_NO_FATAL_FAILURE(t.look());
    ASSERT_TRUE(t.damageFirst(bytesOf(1, 3000)));
    std::string got;
    EXPECT_EQ(t.load(keyOf(1), got), Status::corrupt);
    EXPECT_EQ(t.seen(keyOf(1)), "none");
}

/// the engine counts what others have read, and keeps it in memory as if it were read here
TEST(EngineView, itsReadsAreUses)
{
    Seen t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 3000)), Status::ok);
    t.engine->noteRead(keyOf(1));
    t.engine->noteRead(keyOf(2)); // which nobody has
    EXPECT_EQ(t.engine->stats().counters.readFromStaging, 1U);
    ASSERT_TRUE(t.pack());
    for (unsigned n = 0; n < 3000; ++n) {
        t.engine->noteRead(keyOf(1));
        const auto key = keyOf(100 + n);
        ASSERT_EQ(t.store(key, bytesOf(n, 3000)), Status::ok);
        if (n % 100 == 0) {
            ASSERT_TRUE(t.pack());
        }
    }
    EXPECT_EQ(t.seen(keyOf(1)), bytesOf(1, 3000)) << "three times the read cache came in since";
    EXPECT_EQ(t.engine->stats().counters.readFromCache, 3000U);
    EXPECT_EQ(t.engine->stats().counters.opens, 3001U);
}

/// each object once, with its own properties
TEST(EngineView, listsObjects)
{
    for (const auto list: {false, true}) {
        auto config = smallConfig();
        config.list = list;
        Seen t(64 * MB, config);
        ASSERT_NO_FATAL_FAILURE(t.startShared());
        for (unsigned n = 0; n < 500; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 100 + n)), Status::ok);
        for (unsigned n = 0; n < 500; n += 5)
            t.engine->remove(keyOf(n));
        for (unsigned n = 0; n < 500; n += 10) // some slots are used again
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 100 + n)), Status::ok);
        std::map<Key, uint64_t, bool (*)(const Key &, const Key &)> found([](const Key &a, const Key &b) { return a.bytes < b.bytes; });
        uint64_t cursor = 0;
        Key key;
        ObjectInfo info;
        for (unsigned turn = 0; turn < 20; ++turn) {
            unsigned looks = 60;
            while (t.view.next(cursor, key, info, looks))
                EXPECT_TRUE(found.emplace(key, info.size).second) << "twice";
        }
        EXPECT_EQ(found.size(), list ? 450U : 0U);
        for (unsigned n = 0; n < 500 && list; ++n) {
            const auto is = found.find(keyOf(n));
            ASSERT_EQ(is != found.end(), n % 10 == 0 || n % 5 != 0) << n;
            EXPECT_TRUE(is == found.end() || is->second == 100 + n);
        }
    }
}

/// two processes read all the time while the engine stores, packs, removes and evicts: each object that they read is whole
TEST(EngineView, otherProcessesReadWholeObjects)
{
    constexpr unsigned keys = 3000;
    constexpr unsigned readers = 2;
    struct Tally {
        std::atomic<bool> enough;
        std::atomic<uint64_t> read[readers];
        std::atomic<uint64_t> wrong;
    };
    Seen t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.startShared());
    auto &tally = *new (mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Tally();
    const auto sizeOf = [](const uint64_t n) { return 16 + mix(n) % 12000; };
    const auto contentOf = [&](const uint64_t key, const uint64_t version) {
        auto bytes = bytesOf(key << 32 | version, sizeOf(key + version));
        memcpy(&bytes[0], &key, sizeof(key));
        memcpy(&bytes[8], &version, sizeof(version));
        return bytes;
    };
    pid_t pids[readers];
    for (unsigned r = 0; r < readers; ++r) {
        pids[r] = fork();
        ASSERT_GE(pids[r], 0);
        if (pids[r])
            continue;
        alarm(60); // however the test ends
        for (uint64_t n = r; !tally.enough; ++n) {
            const auto key = mix(n) % keys;
            EngineView::Copy copy;
            if (!t.view.read(keyOf(key), most, copy))
                continue;
            uint64_t version = 0;
            memcpy(&version, copy.data() + 8, sizeof(version));
            tally.wrong += std::string(copy.data(), copy.info.size) != contentOf(key, version);
            ++tally.read[r];
        }
        _exit(0);
    }
    for (uint64_t n = 1; n < 6000 || tally.read[0] < 2000 || tally.read[1] < 2000; ++n) {
        const auto key = mix(n * 3) % keys;
        if (n % 7 == 0)
            t.engine->remove(keyOf(key));
        else
            EXPECT_EQ(t.store(keyOf(key), contentOf(key, n)), Status::ok);
        std::string got;
        if (n % 5 == 0)
            (void)t.load(keyOf(mix(n) % keys), got);
        if (n % 200 == 0)
            t.pass(t.config.persist);
        ASSERT_LT(n, 1000000U);
    }
    tally.enough = true;
    for (const auto pid: pids) {
        int status = 0;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(tally.wrong, 0U);
    EXPECT_GT(t.engine->stats().counters.evictedClusters, 0U);
    munmap(&tally, sizeof(Tally));
}
