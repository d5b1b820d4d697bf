// SPDX-License-Identifier: GPL-2.0-or-later
/* Large clusters of small objects: what one turn of the event loop does with them. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/space/Evictor.h"
#include "test-suite/unit/support/EngineSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr ClusterNo large{5}; ///< cluster with many objects
constexpr uint32_t payload = 100;
constexpr unsigned maxTurn = 1024; ///< records in one turn

class EvictionTurns : public ::testing::Test
{
protected:
    EvictionTurns() {
        p.allFree();
        evictor.poll(); // looks for what has expired already
    }

    static uint32_t offsetOf(const uint64_t n) { return static_cast<uint32_t>(n * Catalog::ExtentBytes(payload)); }

    void fill(const uint64_t objects) {
        for (uint64_t n = 0; n < objects; ++n)
            p.placed(n, large, offsetOf(n), payload);
    }

    /// the bytes of all objects of the large cluster
    BufferPointer bytesOfAll(const uint64_t objects) {
        const auto buffer = std::make_shared<Buffer>(p.context.geometry.clusterBytes);
        memset(buffer->data(), 0, buffer->size());
        for (uint64_t n = 0; n < objects; ++n) {
            char *const extent = buffer->data() + offsetOf(n);
            ExtentHeader header;
            header.size = payload;
            header.sequence = p.catalog.clusters()[large].sequence;
            header.key = keyOf(n);
            memcpy(extent + ExtentHeader::encodedBytes, bytesOf(n, payload).data(), payload);
            sealExtent(extent, header, p.context.uuid, large, offsetOf(n));
        }
        return buffer;
    }

    /// there is no cluster but the large one, and one that is being written
    void takeAllOthers() {
        for (ClusterNo c{0}; p.catalog.clusters().has(c); ++c) {
            if (c != 0_c && c != large)
                p.makeBad(c);
        }
        p.announce(0);
        p.catalog.beginWrite(0_c, p.context.sequence);
    }

    ClusterState state() const { return p.catalog.clusters()[large].state; }

    PartsDevice device{256 * MB, largeClusters()};
    Parts p{device};
    CompleteObjects complete;
    const std::vector<StageNo> &staged = complete.stages; ///< again
    Relocator relocator{p.context, p.cache, p.journal, complete};
    Evictor evictor{p.context, p.journal, p.allocator, relocator};
};

} // namespace

/// a cluster goes in as many turns as it takes, and nobody else gets hold of it meanwhile
TEST_F(EvictionTurns, aLargeClusterGoesInSeveralTurns) {
    constexpr uint64_t objects = 10000;
    fill(objects);
    p.context.config.clusterLifetime = 100;
    device.clock.advance(101 * uint64_t(1000000));
    p.entryOf(large).written = static_cast<uint32_t>(device.clock.wallSeconds() - 101);
    unsigned turns = 0;
    for (; state() == ClusterState::packed && turns < 100; ++turns) {
        const auto before = p.catalog.objects();
        const auto issued = p.journal.issued();
        evictor.poll();
        ASSERT_LE(before - p.catalog.objects(), maxTurn);
        ASSERT_LE(evictor.lastRecords(), maxTurn);
        EXPECT_EQ(relocator.holds(large), state() == ClusterState::packed);
        EXPECT_EQ(p.journal.issued(), issued + 1) << "what is gone must not come back, even if the rest is there";
    }
    EXPECT_GE(turns, objects / maxTurn);
    EXPECT_EQ(state(), ClusterState::free);
    EXPECT_EQ(p.catalog.objects(), 0U);
    EXPECT_EQ(p.context.counters.evictedClusters, 1U);
    EXPECT_EQ(p.context.counters.evictedObjects, objects);
    EXPECT_EQ(p.context.counters.expiredObjects, objects);
    EXPECT_EQ(p.catalog.index().used(), 0U);
}

/// deletes may empty it before its turn comes
TEST_F(EvictionTurns, whatDeletesHaveEmptiedIsLeftAlone) {
    fill(3000);
    p.context.config.clusterLifetime = 100;
    device.clock.advance(101 * uint64_t(1000000));
    p.entryOf(large).written = static_cast<uint32_t>(device.clock.wallSeconds() - 101);
    evictor.poll();
    ASSERT_EQ(state(), ClusterState::packed);
    for (uint64_t n = 0; n < 3000; ++n) {
        const auto slot = p.catalog.index().find(keyOf(n));
        if (slot != noSlot)
            p.catalog.erase(slot);
    }
    ASSERT_EQ(state(), ClusterState::free);
    p.placed(7777, large, 0, payload); // it is used again
    evictor.poll();
    EXPECT_FALSE(relocator.holds(large));
    EXPECT_NE(p.catalog.index().find(keyOf(7777)), noSlot);
    EXPECT_EQ(state(), ClusterState::packed);
}

/// what is wanted is found, and relocated, in several turns, too
TEST_F(EvictionTurns, manyObjectsAreRelocatedInSeveralTurns) {
    constexpr uint64_t objects = 6000;
    constexpr uint64_t used = 2000; ///< the first of them
    fill(objects);
    p.cache.windows.insert(large, p.catalog.clusters()[large].sequence, bytesOfAll(objects), p.context.geometry.clusterBytes);
    for (uint64_t n = 0; n < used; ++n)
        evictor.touch(p.catalog.index().find(keyOf(n)));
    takeAllOthers();
    p.context.rewrites.notePacked(uint64_t(1) << 30); // a budget for relocating
    keepWhatWasUsed(relocator, payload);
    size_t most = 0;
    for (unsigned turns = 0; turns < 100 && staged.size() < used; ++turns) {
        const auto before = staged.size();
        evictor.poll();
        ASSERT_LE(evictor.lastRecords(), maxTurn);
        most = std::max(most, staged.size() - before);
        p.step();
    }
    ASSERT_EQ(staged.size(), used);
    EXPECT_LE(most, maxTurn / 4);
    EXPECT_GT(most, 0U);
    EXPECT_EQ(p.context.counters.relocatedBytes, used * payload);
    for (const auto s: staged) {
        const auto n = p.catalog.staging()[s].originOffset / Catalog::ExtentBytes(payload);
        std::string got(payload, '\0');
        Staging::Cursor cursor;
        ASSERT_EQ(p.catalog.staging().copy(s, 0, &got[0], payload, cursor), payload);
        ASSERT_TRUE(got == bytesOf(n, payload)) << n;
        ASSERT_LT(n, used);
    }
    EXPECT_EQ(p.context.counters.corrupt, 0U);
    EXPECT_EQ(state(), ClusterState::packed) << "until they are on the device elsewhere";
    EXPECT_EQ(p.catalog.clusters()[large].live, objects - used);
}

/// the rest of a cluster is still to be copied when the first copies are gone already
TEST_F(EvictionTurns, aRelocationGoesOnThoughItsFirstCopiesAreDeleted) {
    constexpr uint64_t objects = 2000;
    fill(objects);
    p.cache.windows.insert(large, p.catalog.clusters()[large].sequence, bytesOfAll(objects), p.context.geometry.clusterBytes);
    for (uint64_t n = 0; n < objects; ++n)
        evictor.touch(p.catalog.index().find(keyOf(n)));
    takeAllOthers();
    p.context.rewrites.notePacked(uint64_t(1) << 30); // a budget for relocating
    keepWhatWasUsed(relocator, payload);
    const auto deleteCopies = [this](const size_t from) {
        for (auto i = from; i < staged.size(); ++i)
            p.catalog.erase(p.catalog.staging()[staged[i]].record);
        return staged.size();
    };
    size_t deleted = 0;
    for (unsigned turns = 0; turns < 100 && staged.size() < objects; ++turns) {
        evictor.poll();
        p.step();
        if (staged.size() == objects)
            break;
        deleted = deleteCopies(deleted);
        EXPECT_TRUE(relocator.beginFlush().empty()) << "there are more to come";
    }
    ASSERT_GT(deleted, 0U) << "or this tests nothing";
    ASSERT_EQ(staged.size(), objects);
    EXPECT_EQ(state(), ClusterState::packed);
    EXPECT_TRUE(relocator.beginFlush().empty()) << "the last ones are nowhere but in memory";
    deleteCopies(deleted);
    relocator.flushed(relocator.beginFlush());
    for (uint64_t records = 0; records < objects; records += Evictor::turnRecords)
        evictor.poll();
    EXPECT_EQ(state(), ClusterState::free);
    EXPECT_EQ(relocator.held(), 0U);
}

/// a look for what has expired takes as many turns as it needs
TEST_F(EvictionTurns, expiredObjectsGoInSeveralTurns) {
    constexpr uint64_t objects = 5000;
    fill(objects);
    p.context.config.fileLifetime = 100;
    for (uint64_t n = 0; n < objects; ++n) {
        if (n % 5)
            p.recordOf(p.catalog.index().find(keyOf(n))).timestamp = static_cast<uint32_t>(device.clock.wallSeconds() - 101);
    }
    device.clock.advance(1000000);
    for (unsigned turns = 0; turns < 100 && p.catalog.objects() > objects / 5; ++turns) {
        const auto before = p.catalog.objects();
        evictor.poll();
        ASSERT_LE(before - p.catalog.objects(), maxTurn);
    }
    EXPECT_EQ(p.catalog.objects(), objects / 5);
    for (uint64_t n = 0; n < objects; ++n)
        ASSERT_EQ(p.catalog.index().find(keyOf(n)) != noSlot, n % 5 == 0) << n;
}

/// who needs a cluster at once can't wait for the next turn
TEST_F(EvictionTurns, aClusterThatIsNeededAtOnceIsThere) {
    fill(10000);
    takeAllOthers();
    ASSERT_EQ(p.allocator.available(), 0U);
    evictor.poll();
    ASSERT_EQ(p.allocator.available(), 0U);
    evictor.hurry();
    EXPECT_EQ(p.allocator.available(), 1U);
}

/// an object of a cluster that has gone in part is deleted, and the rest is still there when the process dies
TEST(EngineTurns, whatWentFirstStaysAwayAfterItsDelete) {
    auto config = largeClusters();
    config.clusterLifetime = 1000;
    config.deleteTime = 1;
    TestStore t(256 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    constexpr uint64_t objects = 8000;
    for (uint64_t n = 0; n < objects; ++n) {
        const auto bytes = bytesOf(n, payload);
        const auto writer = t.engine->create(keyOf(n), infoOf(t.clock.wallSeconds()), payload);
        ASSERT_TRUE(writer && writer->append(bytes.data(), payload));
        ASSERT_EQ(writer->finish(), Status::ok);
    }
    ASSERT_TRUE(t.pack());
    ASSERT_TRUE(t.checkpoint());
    t.clock.advance(1001 * uint64_t(1000000));
    const auto gone = [&] {
        uint64_t n = 0;
        while (n < objects && t.remembers(keyOf(n)))
            ++n;
        return n;
    };
    ASSERT_TRUE(t.until([&] { return gone() < objects; }, 10));
    const auto first = gone();
    t.engine->remove(keyOf(first));
    t.clock.advance(1100000);
    const auto blocks = t.engine->stats().counters.journalBlocks;
    ASSERT_TRUE(t.until([&] { return t.engine->stats().counters.journalBlocks > blocks; }, 4));
    ASSERT_GT(t.engine->objectCount(), 0U) << "or this tests nothing";
    t.config.clusterLifetime = 0; // the start must not let them expire
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    EXPECT_FALSE(t.remembers(keyOf(first)));
}
