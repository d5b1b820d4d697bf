// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole engine: readers and writers that live at the same time. */

#include "test-suite/unit/support/EngineSupport.h"

#include <algorithm>
#include <random>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

/// a writer that a reader follows
class Following
{
public:
    Following(TestStore &store, const uint64_t n, const size_t size, const bool known):
        t(store),
        bytes(bytesOf(n, size)),
        writer(t.engine->create(keyOf(n), infoOf(t.clock.wallSeconds()), known ? static_cast<int64_t>(size) : -1))
    {}

    void write(const size_t n) {
        const auto more = std::min(n, bytes.size() - written);
        ASSERT_TRUE(writer->append(bytes.data() + written, more));
        written += more;
        t.step();
    }

    /// reads what there is and compares
    void follow(Reader &reader) {
        std::string got;
        ASSERT_EQ(reader.size(), written);
        ASSERT_EQ(t.readAll(reader, got, 5000), Status::ok);
        ASSERT_TRUE(got == bytes.substr(0, written)) << written;
    }

    TestStore &t;
    const std::string bytes;
    std::unique_ptr<Writer> writer;
    size_t written = 0;
};

} // namespace

TEST(EngineReader, followsAWriter) {
    for (const size_t size: {5000, 60000, 100000, 400000}) {
        for (const bool known: {true, false}) {
            TestStore t(32 * MB);
            ASSERT_NO_FATAL_FAILURE(t.start());
            Following f(t, size, size, known);
            ASSERT_NE(f.writer, nullptr);
            const auto reader = t.engine->read(*f.writer);
            ASSERT_NE(reader, nullptr);
            EXPECT_FALSE(t.remembers(keyOf(size))) << "not finished yet";
            while (f.written < size) {
                ASSERT_NO_FATAL_FAILURE(f.write(7777));
                ASSERT_NO_FATAL_FAILURE(f.follow(*reader));
            }
            const auto late = t.engine->read(*f.writer);
            ASSERT_EQ(f.writer->finish(), Status::ok);
            const auto later = t.engine->read(*f.writer);
            f.writer.reset();
            t.pack();
            for (const auto &r: {&reader, &late, &later})
                ASSERT_NO_FATAL_FAILURE(f.follow(**r));
            EXPECT_TRUE(t.has(keyOf(size), f.bytes));
        }
    }
}

/// a reader that has seen only the front when the object ends and goes away
TEST(EngineReader, keepsThePartsOfAnObjectThatWasRemoved) {
    for (const bool follows: {false, true}) {
        TestStore t(16 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        Following f(t, 1, 400000, true);
        ASSERT_NE(f.writer, nullptr);
        auto reader = t.engine->read(*f.writer);
        while (f.written < f.bytes.size())
            ASSERT_NO_FATAL_FAILURE(f.write(20000));
        ASSERT_EQ(f.writer->finish(), Status::ok);
        f.writer.reset();
        if (!follows)
            reader = t.engine->read(keyOf(1));
        t.pack();
        EXPECT_TRUE(t.engine->remove(keyOf(1)));
        EXPECT_FALSE(t.remembers(keyOf(1)));
        // everything else is written over, twice
        for (uint64_t n = 100; n < 700; ++n)
            ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 30000)), Status::ok) << n;
        ASSERT_NO_FATAL_FAILURE(f.follow(*reader));
        reader.reset();
        ASSERT_TRUE(t.pack());
        EXPECT_EQ(t.engine->stats().clustersPart, 0U);
    }
}

TEST(EngineReader, keepsWhatWasRemovedReplacedOrEvicted) {
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto staged = bytesOf(1, 3000);
    const auto packed = bytesOf(2, 5000);
    const auto replaced = bytesOf(3, 150000);
    ASSERT_EQ(t.store(keyOf(2), packed), Status::ok);
    ASSERT_EQ(t.store(keyOf(3), replaced), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    ASSERT_EQ(t.store(keyOf(1), staged), Status::ok);
    const auto one = t.engine->read(keyOf(1));
    const auto two = t.engine->read(keyOf(2));
    const auto three = t.engine->read(keyOf(3));
    ASSERT_TRUE(one && two && three);
    EXPECT_TRUE(t.engine->remove(keyOf(1)));
    ASSERT_EQ(t.store(keyOf(3), "newer"), Status::ok);
    for (uint64_t n = 100; n < 1000; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 30000)), Status::ok) << n;
    EXPECT_FALSE(t.remembers(keyOf(2))) << "should have been evicted by now";
    std::string got;
    ASSERT_EQ(t.readAll(*one, got), Status::ok);
    EXPECT_TRUE(got == staged);
    ASSERT_EQ(t.readAll(*two, got), Status::ok);
    EXPECT_TRUE(got == packed);
    ASSERT_EQ(t.readAll(*three, got), Status::ok);
    EXPECT_TRUE(got == replaced);
}

/// clusters that wait for slow readers must not be taken for room
TEST(EngineReader, doesNotHoldUpStores) {
    TestStore t(16 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    std::vector<std::unique_ptr<Reader>> readers;
    for (uint64_t n = 0; n < 8; ++n) {
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 400000)), Status::ok);
        readers.push_back(t.engine->read(keyOf(n)));
        ASSERT_TRUE(t.engine->remove(keyOf(n)));
    }
    for (uint64_t n = 100; n < 1000; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 30000)), Status::ok) << n;
    std::string got;
    for (uint64_t n = 0; n < 8; ++n) {
        ASSERT_EQ(t.readAll(*readers[n], got), Status::ok);
        EXPECT_TRUE(got == bytesOf(n, 400000));
    }
}

TEST(EngineReader, seesAWriterGiveUp) {
    for (const size_t size: {3000, 300000}) {
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        const auto old = bytesOf(7, 2000);
        ASSERT_EQ(t.store(keyOf(1), old), Status::ok);
        Following f(t, 1, size, true);
        ASSERT_NE(f.writer, nullptr);
        auto reader = t.engine->read(*f.writer);
        while (f.written < size - 1000)
            ASSERT_NO_FATAL_FAILURE(f.write(std::min<size_t>(2000, size - 1000 - f.written)));
        ASSERT_NO_FATAL_FAILURE(f.follow(*reader));
        f.writer.reset();
        // what was there still is; what would have followed is an error, not an end
        char c = 0;
        for (const size_t offset: {size_t(0), size_t(2999 - 1000), size - 1001}) {
            if (reader->copy(offset, &c, 1) < 0) {
                EXPECT_EQ(t.fetch(*reader, offset), Status::ok) << offset;
                EXPECT_EQ(reader->copy(offset, &c, 1), 1) << offset;
            }
            EXPECT_EQ(c, f.bytes[offset]) << offset;
        }
        EXPECT_EQ(reader->copy(size - 1000, &c, 1), -1);
        EXPECT_EQ(t.fetch(*reader, size - 1000), Status::aborted);
        reader.reset();
        EXPECT_TRUE(t.has(keyOf(1), old)) << "the older version stays";
        EXPECT_EQ(t.engine->stats().counters.aborted, 1U);
        EXPECT_EQ(t.engine->objectCount(), 1U);
        t.pack();
        EXPECT_EQ(t.engine->stats().clustersPart, 0U);
    }
}

/// what a writer could not write is nobody's to read, though some of it may be in memory
TEST(EngineReader, seesAPartFail) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    Following f(t, 1, 300000, true);
    ASSERT_NE(f.writer, nullptr);
    const auto reader = t.engine->read(*f.writer);
    t.faulty->script(IoOp::write, t.faulty->requests(IoOp::write) + 1, Fault::error, true);
    t.faulty->setDelay(2000, 2000);
    while (f.written < 200000)
        ASSERT_NO_FATAL_FAILURE(f.write(50000));
    char c = 0;
    ASSERT_TRUE(t.until([&] { return reader->copy(0, &c, 1) < 0; }, 1000));
    for (const uint64_t offset: {0, 100000, 199999}) {
        EXPECT_EQ(reader->copy(offset, &c, 1), -1) << offset;
        EXPECT_EQ(t.fetch(*reader, offset), Status::aborted) << offset;
    }
    EXPECT_FALSE(f.writer->congested());
    EXPECT_FALSE(f.writer->append("x", 1));
    EXPECT_EQ(f.writer->finish(), Status::aborted);
    t.faulty->heal();
    EXPECT_FALSE(t.remembers(keyOf(1)));
}

/// fetched beside what the writer is filling
TEST(EngineReader, comesBackToEarlierParts) {
    auto config = smallConfig();
    config.clusterKb = 128;
    config.readCacheMb = 2;
    TestStore t(64 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    Following f(t, 1, 300000, true);
    ASSERT_NE(f.writer, nullptr);
    const auto reader = t.engine->read(*f.writer);
    while (f.written < 290000)
        ASSERT_NO_FATAL_FAILURE(f.write(10000));
    t.settle();
    for (uint64_t n = 10; n < 60; ++n) // its parts leave memory
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 100000)), Status::ok);
    t.pass(60);
    char c = 0;
    unsigned fetched = 0;
    for (const uint64_t offset: {60000, 150000, 289999}) {
        if (reader->copy(offset, &c, 1) < 0) {
            EXPECT_EQ(t.fetch(*reader, offset), Status::ok) << offset;
            ++fetched;
        }
        EXPECT_EQ(reader->copy(offset, &c, 1), 1) << offset;
        EXPECT_EQ(c, f.bytes[offset]) << offset;
    }
    EXPECT_GT(fetched, 0U);
    EXPECT_EQ(t.fetch(*reader, 289999), Status::ok) << "being filled: in memory";
}

TEST(EngineReader, outlivesTheEngine) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 300000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    auto reader = t.engine->read(keyOf(1));
    auto writer = t.engine->create(keyOf(2), infoOf(1), -1);
    auto following = t.engine->read(*writer);
    ASSERT_TRUE(writer->append("abc", 3));
    bool answered = false;
    reader->fetch(0, [&](Status) { answered = true; });
    t.engine.reset();
    char c = 0;
    EXPECT_EQ(reader->copy(0, &c, 1), -1);
    reader->fetch(0, [&](Status) { answered = true; });
    EXPECT_FALSE(writer->append("abc", 3));
    EXPECT_EQ(writer->finish(), Status::aborted);
    EXPECT_EQ(following->copy(0, &c, 1), -1);
    for (int i = 0; i < 10; ++i) {
        t.device().poll();
        t.device().wait(1);
    }
    EXPECT_FALSE(answered);
    reader.reset();
    following.reset();
    writer.reset();
}

TEST(EngineReader, doesNotAnswerAfterItsEnd) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 300000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.faulty->setDelay(5000, 5000);
    bool answered = false;
    for (const uint64_t offset: {0, 200000, 300000}) {
        auto reader = t.engine->read(keyOf(1));
        reader->fetch(offset, [&](Status) { answered = true; });
        if (offset < 300000)
            t.step();
        reader.reset();
        for (int i = 0; i < 50; ++i)
            t.step();
    }
    EXPECT_FALSE(answered);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 300000)));
}

TEST(EngineReader, sharesReadsOfOneObject) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto bytes = bytesOf(1, 20000);
    ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    const auto before = t.faulty->requests(IoOp::read);
    std::vector<std::unique_ptr<Reader>> readers;
    unsigned answers = 0;
    for (int i = 0; i < 50; ++i) {
        readers.push_back(t.engine->read(keyOf(1)));
        readers.back()->fetch(4096, [&](const Status s) { answers += s == Status::ok; });
    }
    ASSERT_TRUE(t.until([&] { return answers == 50; }));
    EXPECT_EQ(t.faulty->requests(IoOp::read), before + 1);
    std::string got;
    for (const auto &r: readers) {
        ASSERT_EQ(t.readAll(*r, got), Status::ok);
        EXPECT_TRUE(got == bytes);
    }
    EXPECT_EQ(t.faulty->requests(IoOp::read), before + 1);
}

/// many readers of many clusters with a cache of a few of them
TEST(EngineReader, manyWithLittleMemory) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    constexpr uint64_t count = 150;
    for (uint64_t n = 0; n < count; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 60000)), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.faulty->setDelay(100, 9000);
    t.faulty->setShuffle(true);
    struct One {
        std::unique_ptr<Reader> reader;
        std::string got;
        bool done = false;
    };
    std::vector<One> all(count);
    std::function<void(uint64_t)> pump = [&](const uint64_t n) {
        auto &one = all[n];
        char piece[4096];
        for (;;) {
            const auto c = one.reader->copy(one.got.size(), piece, sizeof(piece));
            if (c > 0) {
                one.got.append(piece, static_cast<size_t>(c));
                continue;
            }
            if (c == 0) {
                one.done = true;
                return;
            }
            one.reader->fetch(one.got.size(), [&pump, n](const Status s) {
                ASSERT_TRUE(s == Status::ok || s == Status::busy);
                pump(n);
            });
            return;
        }
    };
    for (uint64_t n = 0; n < count; ++n) {
        all[n].reader = t.engine->read(keyOf(n));
        ASSERT_NE(all[n].reader, nullptr);
        pump(n);
    }
    uint64_t most = 0;
    ASSERT_TRUE(t.until([&] {
        most = std::max(most, t.engine->stats().readCacheBytes);
        for (const auto &one: all) {
            if (!one.done)
                return false;
        }
        return true;
    }));
    for (uint64_t n = 0; n < count; ++n)
        EXPECT_TRUE(all[n].got == bytesOf(n, 60000)) << n;
    EXPECT_LE(most, 4 * MB);
}

/// reads that wait for memory go on when packing has given it back
TEST(EngineReader, isNotForgottenWhilePackingTakesAllMemory) {
    auto config = smallConfig();
    config.clusterKb = 1024;
    TestStore t(64 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto bytes = bytesOf(1, 700000);
    ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
    ASSERT_TRUE(t.pack());
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    t.settle();
    t.faulty->setDelay(20000, 20000);
    for (uint64_t n = 10; n < 12; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 800000)), Status::ok);
    t.clock.advance(20 * MB); // packing is due
    ASSERT_TRUE(t.until([&] { return t.engine->stats().readCacheBytes >= 1600000; }, 1000)) << "both should be on their way";
    EXPECT_TRUE(t.has(keyOf(1), bytes));
}

/// The index takes keys for one that agree in bucket and tag, which somebody
/// can find for his URLs. No bytes may go to the wrong one, and neither the
/// object nor its cluster may suffer.
TEST(EngineReader, givesNoObjectToAnotherKey) {
    for (const size_t size: {5000, 200000}) {
        TestStore t(32 * MB);
        ASSERT_NO_FATAL_FAILURE(t.start());
        const auto keys = twins(t);
        const auto own = keys.first;
        const auto other = keys.second;
        const auto bytes = bytesOf(1, size);
        ASSERT_EQ(t.store(own, bytes), Status::ok);
        ASSERT_TRUE(t.pack());
        const auto refuses = [&](const char *const when) {
            for (const uint64_t at: {uint64_t(0), uint64_t(size - 1)}) {
                const auto reader = t.engine->read(other);
                ASSERT_NE(reader, nullptr);
                char byte = 0;
                EXPECT_EQ(reader->copy(at, &byte, 1), -1) << when;
                EXPECT_EQ(t.fetch(*reader, at), Status::notFound) << when;
                EXPECT_EQ(reader->copy(at, &byte, 1), -1) << when;
            }
        };
        ASSERT_NO_FATAL_FAILURE(refuses("what was just written"));
        ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
        ASSERT_NO_FATAL_FAILURE(refuses("what is on the device"));
        EXPECT_TRUE(t.has(own, bytes));
        ASSERT_NO_FATAL_FAILURE(refuses("what was checked for its owner"));
        EXPECT_TRUE(t.has(own, bytes));
        EXPECT_EQ(t.engine->stats().counters.corrupt, 0U);
    }
}

/// more than can be learned from at a time
TEST(EngineReader, manyObjectsInOneTurn) {
    constexpr uint64_t count = 1200;
    auto config = smallConfig();
    config.readCacheMb = 16;
    TestStore t(32 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < count; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 9000)), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    std::vector<std::unique_ptr<Reader>> readers;
    uint64_t answers = 0;
    for (uint64_t n = 0; n < count; ++n) {
        readers.push_back(t.engine->read(keyOf(n)));
        ASSERT_NE(readers.back(), nullptr);
        readers.back()->fetch(0, [&](const Status s) { answers += s == Status::ok; });
    }
    EXPECT_TRUE(t.until([&] { return answers == count; }));
    for (uint64_t n = 0; n < count; ++n)
        EXPECT_TRUE(t.has(keyOf(n), bytesOf(n, 9000))) << n;
}

/// errors of a cluster are counted, but not so far that it would seem unfit for being written
TEST(EngineReader, aClusterMayFailVeryOften) {
    constexpr uint64_t count = 300;
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < count; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 60)), Status::ok);
    ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
    t.settle();
    ASSERT_EQ(t.engine->stats().clustersPacked, 1U);
    const auto g = t.geometry();
    for (ClusterNo c{0}; g.has(c); ++c)
        t.damage(g.clusterOffset(c), g.clusterBytes);
    std::vector<std::unique_ptr<Reader>> readers;
    uint64_t failures = 0;
    for (uint64_t n = 0; n < count; ++n) {
        readers.push_back(t.engine->read(keyOf(n)));
        ASSERT_NE(readers.back(), nullptr);
        readers.back()->fetch(0, [&](const Status s) { failures += s == Status::corrupt; });
    }
    ASSERT_TRUE(t.until([&] { return failures == count; }));
    EXPECT_EQ(t.engine->stats().counters.corrupt, count);
    EXPECT_EQ(t.engine->objectCount(), 0U);
    readers.clear();
    EXPECT_EQ(t.engine->stats().clustersBad, 0U) << "nothing is left there: it may be written";
    EXPECT_EQ(t.engine->stats().clustersFree, t.engine->stats().clusters);
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 60)), Status::ok);
    EXPECT_TRUE(t.has(keyOf(1), bytesOf(1, 60)));
}

/// the read cache is full at nearly all times: the next part of a large object comes nonetheless, before it is asked for
TEST(EngineReader, readsTheNextPartWithFullMemory) {
    TestStore t(32 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto bytes = bytesOf(1, 600000);
    ASSERT_EQ(t.store(keyOf(1), bytes), Status::ok);
    for (uint64_t n = 2; n < 100; ++n)
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 60000)), Status::ok);
    ASSERT_TRUE(t.pack());
    for (uint64_t n = 2; n < 100; ++n)
        ASSERT_TRUE(t.has(keyOf(n), bytesOf(n, 60000)));
    ASSERT_GT(t.engine->stats().readCacheBytes + 2 * 65536, t.engine->stats().readCacheLimit);
    const auto reader = t.engine->read(keyOf(1));
    ASSERT_NE(reader, nullptr);
    char piece[1000];
    const auto expect = [&](const uint64_t at) {
        ASSERT_EQ(reader->copy(at, piece, sizeof(piece)), int64_t(sizeof(piece))) << at;
        EXPECT_EQ(memcmp(piece, bytes.data() + at, sizeof(piece)), 0) << at;
    };
    constexpr uint64_t first = 100000; // in a part
    ASSERT_LT(reader->copy(first, piece, sizeof(piece)), 0) << "or this tests nothing";
    ASSERT_EQ(t.fetch(*reader, first), Status::ok);
    expect(first);
    for (int i = 0; i < 20; ++i)
        t.step();
    const auto reads = t.faulty->requests(IoOp::read);
    expect(first + 65536);
    EXPECT_EQ(t.faulty->requests(IoOp::read), reads);
    EXPECT_LE(t.engine->stats().readCacheBytes, t.engine->stats().readCacheLimit);
}
