// SPDX-License-Identifier: GPL-2.0-or-later
/* Packing large clusters of small objects: what one turn of the event loop does of it. */

#include "test-suite/unit/support/PartsSupport.h"

#include "test-suite/unit/support/EngineSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint32_t payload = 100;
constexpr unsigned maxTurn = 1024; ///< objects in one turn

class PackingTurns : public ::testing::Test
{
protected:
    PackingTurns() {
        p.allFree();
        p.allocator.poll();
        EXPECT_TRUE(p.writeJournal());
        p.packer.packAll(Packer::All::fromTail);
    }

    void stage(const uint64_t objects, const uint32_t size = payload) {
        for (uint64_t n = 0; n < objects; ++n)
            p.packer.noteComplete(p.stage(n, bytesOf(n, size)));
    }

    /// objects that are staged, and not chosen yet
    uint64_t waiting() const { return p.catalog.staging().completeBytes() / Staging::MemoryOf(payload); }

    PartsDevice device{256 * MB, largeClusters()};
    Parts p{device};
};

} // namespace

TEST_F(PackingTurns, aLargeClusterIsPackedInSeveralTurns) {
    constexpr uint64_t objects = 10000;
    stage(objects);
    unsigned turns = 0;
    for (; turns < 1000 && (turns == 0 || !p.packer.nothingInFlight()); ++turns) {
        const auto before = waiting();
        const auto placed = p.context.counters.packedObjects;
        p.packer.poll();
        ASSERT_LE(before - waiting() + p.context.counters.packedObjects - placed, maxTurn);
        EXPECT_TRUE(p.packer.hasWork() || p.packer.nothingInFlight() || !device.device->idle()) << "or nobody would call again";
        p.step();
    }
    EXPECT_GE(turns, 3 * objects / maxTurn) << "chosen, copied, placed";
    EXPECT_EQ(p.context.counters.packs, 1U);
    EXPECT_EQ(p.context.counters.packedObjects, objects);
    EXPECT_EQ(p.catalog.staging().objects(), 0U);

    const auto c = p.catalog.index()[p.catalog.index().find(keyOf(0))].cluster;
    EXPECT_EQ(p.catalog.clusters()[c].live, objects);
    const char *const at = device.media.data() + p.context.geometry.clusterOffset(c);
    Directory front;
    ASSERT_EQ(front.decode(at, p.context.geometry.clusterBytes, c, p.context.uuid, p.context.geometry.clusterBytes), Status::ok);
    ASSERT_EQ(front.entries.size(), objects);
    for (uint64_t n = 0; n < objects; ++n) {
        const auto slot = p.catalog.index().find(keyOf(n));
        ASSERT_NE(slot, noSlot);
        const auto offset = p.catalog.index()[slot].offset();
        ASSERT_EQ(memcmp(at + offset + ExtentHeader::encodedBytes, bytesOf(n, payload).data(), payload), 0) << n;
        ASSERT_NE(p.cache.windows.find({c, p.catalog.clusters()[c].sequence, offset, Catalog::ExtentBytes(payload)}), nullptr) << n;
    }
    // who follows whom in the cluster does so in the list of its records
    auto last = p.catalog.clusters()[c].first;
    for (auto s = p.catalog.index()[last].sibling; s != noSlot; last = s, s = p.catalog.index()[s].sibling)
        ASSERT_LT(p.catalog.index()[last].offset(), p.catalog.index()[s].offset());
}

/// bytes count, too
TEST_F(PackingTurns, manyBytesAreCopiedInSeveralTurns) {
    constexpr uint32_t size = 65000;
    constexpr uint64_t objects = 60;
    constexpr auto turnsOfCopying = (objects * size + Packer::turnBytes - 1) / Packer::turnBytes;
    stage(objects, size);
    for (unsigned turn = 0; turn + 1 < turnsOfCopying; ++turn) {
        p.packer.poll();
        EXPECT_EQ(device.device->requests(IoOp::write), 1U) << "of the journal";
        EXPECT_EQ(device.device->inFlight(), 0U) << turn;
    }
    p.packer.poll();
    EXPECT_EQ(device.device->inFlight(), 1U);
    ASSERT_TRUE(p.until([&] { p.packer.poll(); return p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packedObjects, objects);
}

/// a checkpoint waits for what was begun, and for nothing else
TEST_F(PackingTurns, whatWasBegunIsFinished) {
    constexpr uint64_t objects = 5000;
    stage(objects);
    p.packer.poll(false);
    EXPECT_TRUE(p.packer.nothingInFlight());
    p.packer.poll();
    ASSERT_TRUE(p.until([&] { p.packer.poll(false); return p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packedObjects, objects);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::writing), 0U);
}

TEST_F(PackingTurns, whatIsDeletedMeanwhileIsNotWritten) {
    constexpr uint64_t objects = 6000;
    stage(objects);
    const auto erase = [&](const uint64_t n) { p.catalog.erase(p.catalog.index().find(keyOf(n))); };
    while (waiting() > 3000)
        p.packer.poll();
    erase(7); // chosen, and without a cluster yet
    while (!p.catalog.clusters().inState(ClusterState::writing))
        p.packer.poll();
    erase(5500); // there is a cluster, and nothing copied
    ASSERT_TRUE(p.until([&] { p.packer.poll(); return p.packer.nothingInFlight(); }));
    const auto c = p.catalog.index()[p.catalog.index().find(keyOf(0))].cluster;
    Directory front;
    ASSERT_EQ(front.decode(device.media.data() + p.context.geometry.clusterOffset(c), p.context.geometry.clusterBytes, c,
                           p.context.uuid, p.context.geometry.clusterBytes), Status::ok);
    EXPECT_EQ(front.entries.size(), objects - 2);
    for (const auto &e: front.entries)
        EXPECT_TRUE(e.key != keyOf(7) && e.key != keyOf(5500));
    EXPECT_EQ(p.context.counters.packedObjects, objects - 2);
}

TEST_F(PackingTurns, whenAllAreDeletedTheClusterIsForOthers) {
    stage(3 * maxTurn); // as many as three turns choose
    while (!p.catalog.clusters().inState(ClusterState::writing))
        p.packer.poll();
    const auto available = p.allocator.available();
    for (uint64_t n = 0; n < 3 * maxTurn; ++n)
        p.catalog.erase(p.catalog.index().find(keyOf(n)));
    const auto writes = device.device->requests(IoOp::write);
    ASSERT_TRUE(p.until([&] { p.packer.poll(); return p.packer.nothingInFlight(); }));
    EXPECT_EQ(device.device->requests(IoOp::write), writes);
    EXPECT_EQ(p.allocator.available(), available + 1);
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::writing), 0U);
    stage(10);
    ASSERT_TRUE(p.until([&] { p.packer.poll(); return p.packer.nothingInFlight() && p.catalog.staging().objects() == 0; }));
    EXPECT_EQ(p.catalog.objects(), 10U);
}

/// whatever turn a delete or a newer version falls into, a start after a kill gives the same
TEST(EnginePackingTurns, deletesAndNewVersionsHoldAfterAKill) {
    auto config = largeClusters();
    config.deleteTime = 1;
    TestStore t(256 * MB, config);
    ASSERT_NO_FATAL_FAILURE(t.start());
    constexpr uint64_t objects = 8000;
    const auto store = [&](const uint64_t n, const uint64_t version) {
        const auto bytes = bytesOf(version, payload);
        const auto writer = t.engine->create(keyOf(n), infoOf(t.clock.wallSeconds()), payload);
        ASSERT_TRUE(writer && writer->append(bytes.data(), payload));
        ASSERT_EQ(writer->finish(), Status::ok);
    };
    for (uint64_t n = 0; n < objects; ++n)
        ASSERT_NO_FATAL_FAILURE(store(n, n));
    t.clock.advance(uint64_t(t.config.persist) * 500000);
    uint64_t changed = 0;
    while (t.engine->stats().counters.packedObjects < objects / 2 && changed < objects / 10) {
        t.step();
        for (const uint64_t n: {changed, objects / 2 + changed, objects - 500 + changed}) { // of what comes early, and late
            t.engine->remove(keyOf(n));
            ASSERT_NO_FATAL_FAILURE(store(n + 1, 1000000 + n + 1));
        }
        changed += 2;
    }
    ASSERT_GT(changed, 20U);
    ASSERT_LT(changed, 500U);
    ASSERT_TRUE(t.pack());
    const auto check = [&] {
        for (const uint64_t first: {uint64_t(0), objects / 2, objects - 500}) {
            for (uint64_t n = first; n < first + changed; n += 2) {
                EXPECT_FALSE(t.remembers(keyOf(n))) << n;
                EXPECT_TRUE(t.has(keyOf(n + 1), bytesOf(1000000 + n + 1, payload))) << n;
            }
        }
        EXPECT_EQ(t.engine->objectCount(), objects - 3 * changed / 2);
    };
    check();
    ASSERT_NO_FATAL_FAILURE(t.crashAndReopen());
    check();
}
