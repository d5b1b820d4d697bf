// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocator, packer, writers' limits and evictor, put together by hand. */

#include "test-suite/unit/support/PartsSupport.h"

#include "fs/cluster/objects/ObjectWriter.h"
#include "fs/cluster/space/Evictor.h"

#include <set>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

struct NoRoom final : public RoomMaker {
    void hurry() override {}
};

class WritingTest : public ::testing::Test
{
protected:
    WritingTest() {
        p.allFree();
    }

    void turn() {
        evictor.poll();
        p.allocator.poll();
        p.packer.poll();
        p.journal.poll();
        p.step();
    }
    bool turnUntil(const std::function<bool()> &condition) {
        for (int i = 0; i < 2000 && !condition(); ++i)
            turn();
        return condition();
    }
    StageNo staged(const uint64_t n, const size_t size, const uint32_t heat = 0, const uint8_t flags = 0) {
        const auto s = p.stage(n, bytesOf(n, size), noCluster, heat, flags);
        p.packer.noteComplete(s);
        return s;
    }

    /// an object that a cluster which makes room had
    StageNo moved(const uint64_t n, const size_t size) {
        const auto s = p.stage(n, bytesOf(n, size), noCluster, 0, 0, true);
        p.packer.noteComplete(s);
        return s;
    }
    ClusterNo clusterOf(const uint64_t n) const { return p.catalog.index()[p.catalog.index().find(keyOf(n))].cluster; }

    PartsDevice device;
    Parts p{device};
    Relocator relocator{p.context, p.cache, p.journal, p.packer};
    Evictor evictor{p.context, p.journal, p.allocator, relocator};
    WriterGroup writers{p.context, p.allocator, p.cache.windows, p.journal, p.packer, evictor};
};

} // namespace

TEST_F(WritingTest, allocatorHandsOutOnlyWhatTheJournalHas) {
    EXPECT_EQ(p.allocator.take(), noCluster);
    p.allocator.poll();
    EXPECT_EQ(p.allocator.ready(), 0U);
    EXPECT_EQ(p.allocator.take(), noCluster) << "announced, but not written yet";
    ASSERT_TRUE(p.writeJournal());
    EXPECT_EQ(p.allocator.ready(), p.allocator.reserve());
    const auto available = p.allocator.available();
    EXPECT_EQ(available, p.catalog.clusters().count());
    std::set<ClusterNo> taken;
    for (uint32_t i = 0; i < p.allocator.reserve(); ++i) {
        const auto c = p.allocator.take();
        ASSERT_NE(c, noCluster);
        EXPECT_EQ(p.catalog.clusters()[c].state, ClusterState::announced);
        EXPECT_TRUE(taken.insert(c).second);
    }
    EXPECT_EQ(p.allocator.take(), noCluster);
    EXPECT_EQ(p.allocator.available(), available - taken.size());
    p.allocator.giveBack({*taken.begin(), 0});
    EXPECT_EQ(p.allocator.take(), *taken.begin());
}

/// a start finds nothing in a cluster that the journal does not name
TEST_F(WritingTest, partsWaitForTheirAnnouncement) {
    const auto taken = p.allocator.takeSoon();
    ASSERT_NE(taken.cluster, noCluster);
    ASSERT_GT(taken.ticket, p.journal.written());
    const auto buffer = std::make_shared<Buffer>(65536);
    std::vector<int> done;
    for (const int n: {1, 2}) { // what comes behind one that waits does, too
        Io io;
        io.op = IoOp::write;
        io.offset = p.context.geometry.clusterOffset(taken.cluster);
        io.size = 65536;
        io.buffer = buffer->data();
        io.done = [&done, buffer, n](const Status status) {
            EXPECT_EQ(status, Status::ok);
            done.push_back(n);
        };
        writers.send(n == 1 ? taken.ticket : 0, std::move(io));
    }
    for (int i = 0; i < 20; ++i) {
        writers.poll();
        p.step();
    }
    EXPECT_EQ(device.device->requests(IoOp::write), 0U);
    ASSERT_TRUE(p.writeJournal());
    EXPECT_EQ(device.device->requests(IoOp::write), 1U);
    ASSERT_TRUE(p.until([&] { return writers.poll(), done.size() == 2; }));
}

/// what was deleted is to be on the device within its time, whatever became of a flush
TEST_F(WritingTest, aFlushThatFailedIsRepeated) {
    device.device->script(IoOp::flush, 1, Fault::error);
    p.journal.removal(keyOf(1), 7_seq);
    p.journal.hurry();
    ASSERT_TRUE(p.until([&] { return p.journal.poll(), device.device->requests(IoOp::flush) == 1; }));
    for (int i = 0; i < 20; ++i) {
        p.step();
        p.journal.poll();
    }
    EXPECT_FALSE(p.journal.idle());
    EXPECT_EQ(device.device->requests(IoOp::flush), 1U) << "not at once";
    device.clock.advance(1000000);
    ASSERT_TRUE(p.until([&] { return p.journal.poll(), p.journal.idle(); }));
    EXPECT_EQ(device.device->requests(IoOp::flush), 2U);
}

/// or a start would find the object without its doubt, which only a store of it may end
TEST_F(WritingTest, packerWritesDownTheDoubtAboutAnObject) {
    for (uint64_t n = 0; n < 4; ++n)
        staged(n, 1000, 0, n % 2 ? flagDoubtful : 0);
    p.packer.packAll(Packer::All::fromTail);
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0 && p.packer.nothingInFlight(); }));
    const auto c = p.catalog.index()[p.catalog.index().find(keyOf(1))].cluster;
    Directory d;
    ASSERT_EQ(d.decode(device.media.data() + p.context.geometry.clusterOffset(c), 65536, c, p.context.uuid, 65536), Status::ok);
    ASSERT_EQ(d.entries.size(), 4U);
    for (const auto &e: d.entries)
        EXPECT_EQ(e.info.flags & flagDoubtful, e.key == keyOf(1) || e.key == keyOf(3) ? flagDoubtful : 0);
}

TEST(Allocator, followsItsLayout) {
    const struct { const LayoutPolicy *layout; std::vector<ClusterNo> order; } cases[] = {
        {&closestLayout, {12_c, 37_c, 45_c}}, // to the last read
        {&closestWriteLayout, {37_c, 45_c, 12_c}}, // to the last write, each time
        {&overwriteLayout, {45_c, 12_c, 37_c}}, // round and round
    };
    for (const auto &c: cases) {
        PartsDevice d;
        d.config.layout = c.layout;
        Parts p(d);
        p.context.recovered = true;
        p.catalog.addEmpty(38_c, true);
        p.allocator.poll();
        ASSERT_TRUE(p.writeJournal());
        ASSERT_EQ(p.allocator.take(), 38_c);
        p.allocator.noteAccess(13_c);
        for (const ClusterNo n: {12_c, 37_c, 45_c})
            p.catalog.addEmpty(n, true);
        p.allocator.poll();
        ASSERT_TRUE(p.writeJournal());
        std::vector<ClusterNo> order;
        for (int i = 0; i < 3; ++i)
            order.push_back(p.allocator.take());
        EXPECT_EQ(order, c.order);
        EXPECT_EQ(p.allocator.take(), noCluster);
    }
}

TEST(Allocator, keepsTheMiddleForWhatIsWanted) {
    PartsDevice d;
    d.config.layout = &middleLayout;
    Parts p(d);
    p.context.recovered = true;
    const auto middle = p.catalog.clusters().count() / 2;
    for (const auto n: {3U, middle - 9, middle + 8, 40U})
        p.catalog.addEmpty(ClusterNo(n), true);
    p.allocator.poll();
    EXPECT_EQ(p.allocator.take(true), noCluster) << "announced, but not written yet";
    ASSERT_TRUE(p.writeJournal());
    EXPECT_EQ(p.allocator.take(true), ClusterNo(middle + 8));
    EXPECT_EQ(p.allocator.take(false), 3_c);
    EXPECT_EQ(p.allocator.takeSoon().cluster, 40_c) << "parts of large objects are read one after the other, from anywhere";
    EXPECT_EQ(p.allocator.take(false), ClusterNo(middle - 9)) << "better than none";
    EXPECT_EQ(p.allocator.take(true), noCluster);
}

TEST(Allocator, hasMiddleAndEndsReady) {
    PartsDevice d;
    d.config.layout = &middleLayout;
    Parts p(d);
    p.allFree();
    const auto count = p.catalog.clusters().count();
    for (int i = 0; i < 40; ++i) {
        p.allocator.poll();
        ASSERT_TRUE(p.writeJournal());
        EXPECT_LT(p.allocator.take(false), ClusterNo(count / 4)) << "while there are any";
    }
    p.allocator.poll();
    ASSERT_TRUE(p.writeJournal());
    const auto c = p.allocator.take(true);
    EXPECT_GT(c, ClusterNo(count / 2 - 5));
    EXPECT_LT(c, ClusterNo(count / 2 + 5));
}

TEST_F(WritingTest, packerTellsWhatWasUsedFromWhatIsNew) {
    p.context.config.layout = &middleLayout;
    const auto count = p.catalog.clusters().count();
    uint64_t n = 0;
    for (int round = 0; round < 8; ++round) {
        const bool used = round % 2;
        for (const auto end = n + 12; n < end; ++n)
            staged(n, 5000, p.context.heatOf(used ? 2 : 0));
        device.clock.advance(uint64_t(device.config.persist) * 500000);
        ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0 && p.packer.nothingInFlight(); }));
        const auto c = p.catalog.index()[p.catalog.index().find(keyOf(n - 1))].cluster;
        const bool inside = c.value() > count / 4 && c.value() < count - count / 4;
        EXPECT_EQ(inside, used) << "round " << round << ": cluster " << c.value() << " of " << count;
    }
}

TEST_F(WritingTest, packerFillsClustersOldestFirst) {
    for (uint64_t n = 0; n < 30; ++n)
        staged(n, 5000);
    turnUntil([] { return false; });
    EXPECT_EQ(p.context.counters.packs, 0U) << "nothing is due yet";
    device.clock.advance(uint64_t(device.config.persist) * 500000);
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0 && p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packs, 3U) << "12 objects fit into a cluster";
    EXPECT_EQ(p.context.counters.packedObjects, 30U);
    EXPECT_EQ(p.context.counters.packedBytes, 150000U);
    EXPECT_TRUE(p.packer.dirty());
    const auto first = p.catalog.index()[p.catalog.index().find(keyOf(0))].cluster;
    for (uint64_t n = 0; n < 12; ++n)
        EXPECT_EQ(p.catalog.index()[p.catalog.index().find(keyOf(n))].cluster, first);

    // what is on the device can be read without us
    Directory front;
    const auto at = device.media.data() + p.context.geometry.clusterOffset(first);
    ASSERT_EQ(front.decode(at, 65536, first, p.context.uuid, 65536), Status::ok);
    ASSERT_EQ(front.entries.size(), 12U);
    for (const auto &e: front.entries) {
        ExtentHeader h;
        h.size = e.size;
        h.sequence = front.header.sequence;
        h.key = e.key;
        EXPECT_EQ(checkExtent(at + e.offset, 65536 - e.offset, h, p.context.uuid, first, e.offset), Status::ok);
    }
}

/// once they fill one: the others wait, and so does what was moved until then
TEST_F(WritingTest, packerGivesWhatWasMovedClustersOfItsOwn) {
    for (uint64_t n = 0; n < 6; ++n)
        staged(n, 5000);
    for (uint64_t n = 100; n < 112; ++n)
        moved(n, 5000);
    turnUntil([] { return false; });
    EXPECT_EQ(p.context.counters.packs, 0U);
    for (uint64_t n = 112; n < 116; ++n)
        moved(n, 5000); // more than nine eighths of a cluster
    // groups do not change that
    p.groups.groupOf = [&](const StageNo s, std::vector<StageNo> &mates) {
        std::vector<StageNo> group;
        for (const uint64_t n: {0, 1, 2, 100, 101, 102}) {
            const auto slot = p.catalog.index().find(keyOf(n));
            if (p.catalog.index()[slot].staged())
                group.push_back(p.catalog.index()[slot].stage());
        }
        if (std::find(group.begin(), group.end(), s) != group.end())
            mates = group;
    };
    ASSERT_TRUE(turnUntil([&] { return p.context.counters.packs && p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packs, 1U);
    EXPECT_EQ(p.context.counters.packedObjects, 12U);
    for (uint64_t n = 100; n < 112; ++n)
        EXPECT_EQ(clusterOf(n), clusterOf(100)) << n;
    EXPECT_EQ(p.catalog.staging().objects(), 6U + 4);
}

/// clusters that are half empty would cost more than objects of different worth side by side
TEST_F(WritingTest, packerMixesWhatWasMovedWithOthersThatDoNotFillACluster) {
    for (uint64_t n = 0; n < 6; ++n)
        staged(n, 5000);
    for (uint64_t n = 100; n < 106; ++n)
        moved(n, 5000);
    device.clock.advance(uint64_t(device.config.persist) * 500000);
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0 && p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packs, 1U);
    EXPECT_EQ(clusterOf(105), clusterOf(0));
}

TEST_F(WritingTest, packerTakesWhatWasMovedAtOnceWhenClustersWaitForIt) {
    for (uint64_t n = 100; n < 103; ++n)
        moved(n, 5000);
    turnUntil([] { return false; });
    EXPECT_EQ(p.context.counters.packs, 0U);
    p.packer.hurryMoved();
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0 && p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packedObjects, 3U);
    staged(1, 5000);
    moved(104, 5000);
    turnUntil([] { return false; });
    EXPECT_EQ(p.context.counters.packs, 1U) << "that was for those who waited then";
}

TEST_F(WritingTest, packerPutsGroupsTogether) {
    for (uint64_t n = 0; n < 24; ++n)
        staged(n, 5000);
    // even ones belong together
    p.groups.groupOf = [&](const StageNo s, std::vector<StageNo> &mates) {
        for (uint64_t n = 0; n < 24; n += 2) {
            const auto slot = p.catalog.index().find(keyOf(n));
            if (p.catalog.staging()[s].key == keyOf(0) && p.catalog.index()[slot].staged())
                mates.push_back(p.catalog.index()[slot].stage());
        }
    };
    p.packer.packAll(Packer::All::fromTail);
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0; }));
    const auto home = p.catalog.index()[p.catalog.index().find(keyOf(0))].cluster;
    for (uint64_t n = 0; n < 24; ++n)
        EXPECT_EQ(p.catalog.index()[p.catalog.index().find(keyOf(n))].cluster == home, n % 2 == 0) << n;
}

/// which group an object has is no cheap question
TEST_F(WritingTest, packerAsksForAGroupThatDoesNotFitOnlyOnce) {
    constexpr uint64_t mates = 8; // 48000 bytes: one group in each cluster
    for (uint64_t n = 0; n < 10 * mates; ++n)
        staged(n, 6000);
    unsigned asked = 0;
    p.groups.groupOf = [&](const StageNo s, std::vector<StageNo> &group) {
        ++asked;
        for (uint64_t n = 0; n < 10 * mates; ++n) {
            if (p.catalog.staging()[s].key == keyOf(n)) {
                for (auto mate = n / mates * mates; mate < (n / mates + 1) * mates; ++mate)
                    group.push_back(p.catalog.index()[p.catalog.index().find(keyOf(mate))].stage());
            }
        }
    };
    p.packer.packAll(Packer::All::fromTail);
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0; }));
    EXPECT_EQ(p.context.counters.packs, 10U);
    EXPECT_LE(asked, 10U + 9 + 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1);
}

TEST_F(WritingTest, packerFillsTheGapsThatLargeOnesLeave) {
    staged(1, 40000);
    for (uint64_t n = 2; n < 40; ++n)
        staged(n, 40000); // none of these fits beside it
    for (uint64_t n = 40; n < 44; ++n)
        staged(n, 5000);
    p.packer.packAll(Packer::All::fromTail);
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0; }));
    EXPECT_EQ(p.context.counters.packs, 39U);
}

TEST_F(WritingTest, packerForgetsWhatWasDeletedMeanwhile) {
    device.device->setDelay(5000, 5000);
    for (uint64_t n = 0; n < 5; ++n)
        staged(n, 5000);
    p.packer.packAll(Packer::All::fromTail);
    ASSERT_TRUE(turnUntil([&] { return !p.packer.nothingInFlight(); }));
    p.catalog.erase(p.catalog.index().find(keyOf(2)));
    staged(2, 100); // and stored anew, perhaps in the same slots
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0 && p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.catalog.objectSize(p.catalog.index().find(keyOf(2))), 100U);
    EXPECT_EQ(p.catalog.objects(), 5U);
}

TEST_F(WritingTest, packerWaitsForTheIndexAndForADiskThatTakesWrites) {
    staged(1, 5000);
    p.packer.packAll(Packer::All::fromTail);
    p.allocator.poll();
    ASSERT_TRUE(p.writeJournal());
    p.context.recovered = false;
    p.packer.poll();
    p.context.recovered = true;
    p.context.health.level = Health::Level::noWrites;
    p.packer.poll();
    EXPECT_TRUE(p.packer.nothingInFlight());
    p.context.health.level = Health::Level::good;
    p.packer.poll();
    EXPECT_FALSE(p.packer.nothingInFlight());
    ASSERT_TRUE(turnUntil([&] { return p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packedObjects, 1U);
}

TEST(PackingPolicy, tearsNoGroupThatFitsIntoACluster) {
    EXPECT_TRUE(wholeGroups.takes({2, 1000}, {5, 1000}));
    EXPECT_FALSE(wholeGroups.takes({2, 1001}, {5, 1000}));
}

/// a policy is asked for each group, with what is left of the cluster; a cluster that has nothing takes any
TEST_F(WritingTest, packerAsksItsPolicy) {
    class Told final : public PackingPolicy
    {
    public:
        bool takes(const GroupView &group, const PackView &pack) const override {
            EXPECT_EQ(group.objects, 2U);
            EXPECT_GE(group.bytes, 10000U);
            EXPECT_EQ(pack.objects, 1U);
            EXPECT_LE(pack.bytesLeft, 65536U - 5000);
            ++asked;
            return false;
        }
        mutable unsigned asked = 0;
    };
    const Told policy;
    p.context.config.packing = &policy;
    Packer packer(p.context, p.allocator, p.cache, p.groups);
    p.stage(1, bytesOf(1, 5000));
    const auto leader = p.stage(2, bytesOf(2, 5000));
    const auto mate = p.stage(3, bytesOf(3, 5000));
    p.groups.groupOf = [&](const StageNo s, std::vector<StageNo> &group) {
        if (s == leader || s == mate)
            group = {leader, mate};
    };
    packer.packAll(Packer::All::fromTail);
    for (int i = 0; i < 1000 && p.catalog.staging().objects(); ++i) {
        p.allocator.poll();
        packer.poll();
        p.journal.poll();
        p.step();
    }
    EXPECT_EQ(p.context.counters.packedObjects, 3U);
    EXPECT_EQ(p.context.counters.packs, 2U);
    EXPECT_EQ(policy.asked, 1U);
}

/// a group may name what is on its way to the device already
TEST_F(WritingTest, packerPacksEachObjectOnce) {
    const auto one = staged(1, 5000);
    const auto two = staged(2, 5000);
    p.catalog.staging().startPacking(one); // by somebody else
    p.groups.groupOf = [&](StageNo, std::vector<StageNo> &group) { group = {one, two, two}; };
    p.packer.packAll(Packer::All::fromTail);
    ASSERT_TRUE(turnUntil([&] { return p.context.counters.packs == 1 && p.packer.nothingInFlight(); }));
    EXPECT_EQ(p.context.counters.packedObjects, 1U);
    EXPECT_EQ(p.context.counters.packedInGroups, 0U) << "alone in the end";
    EXPECT_TRUE(p.catalog.index()[p.catalog.index().find(keyOf(1))].staged());
    EXPECT_FALSE(p.catalog.index()[p.catalog.index().find(keyOf(2))].staged());
}

/// one object that waits long must not keep the memory of all that came and went behind it
TEST_F(WritingTest, packerRemembersFewArrivals) {
    staged(0, 100);
    for (uint64_t n = 1; n <= 30000; ++n) {
        const auto s = staged(n, 100);
        p.catalog.erase(p.catalog.staging()[s].record); // replaced, say
        ASSERT_LE(p.packer.arrivals(), 5000U);
    }
    EXPECT_EQ(p.catalog.objects(), 1U);
}

TEST_F(WritingTest, packerPutsBrokenClustersAside) {
    p.allocator.poll();
    ASSERT_TRUE(p.writeJournal());
    device.device->script(IoOp::write, device.device->requests(IoOp::write) + 1, Fault::error);
    for (uint64_t n = 0; n < 5; ++n)
        staged(n, 5000);
    p.packer.packAll(Packer::All::fromTail);
    ASSERT_TRUE(turnUntil([&] { return p.catalog.staging().objects() == 0; }));
    EXPECT_EQ(p.catalog.clusters().inState(ClusterState::bad), 1U);
    EXPECT_EQ(p.context.counters.quarantined, 1U);
    EXPECT_EQ(p.catalog.objects(), 5U);
    EXPECT_EQ(p.cache.windows.bytes(), 5 * 8192U) << "of the cluster that could be written; nothing is left of the other";
}

/// whatever a writer may take must fit the cluster that it will be packed into
TEST(Writers, neverTakeMoreThanCanBePacked) {
    for (uint32_t clusterKb = 16; clusterKb <= 16384; clusterKb *= 2) {
        auto config = smallConfig();
        config.clusterKb = clusterKb;
        config.objectKb = 16384;
        config.stagingMb = config.readCacheMb = 32;
        PartsDevice d(uint64_t(clusterKb) * 1024 * 100000, config, true);
        Parts p(d);
        NoRoom room;
        WriterGroup w(p.context, p.allocator, p.cache.windows, p.journal, p.packer, room);
        const auto most = w.largestObject();
        EXPECT_GT(most, 10U * clusterKb * 1024);
        const auto whole = p.context.extentCapacity();
        const auto part = p.context.partCapacity();
        const uint64_t sizes[] = {0, 1, whole / 2, whole / 2 + 1, whole - 1024, whole - 1, whole, whole + 1, part, part + 1,
                                  2 * part - 1, 2 * part, 2 * part + 17000, 77 * part + 20000, most / 2, most - 1, most};
        for (const auto size: sizes) {
            const auto front = w.frontOf(static_cast<int64_t>(size));
            EXPECT_LE(front, whole);
            const auto parts = size > front ? (size - front + part - 1) / part : 0;
            EXPECT_LE(front + parts * PartReference::encodedBytes, whole) << clusterKb << " KB clusters, object of " << size;
        }
        EXPECT_EQ(w.frontOf(-1), whole / 2);
    }
}

TEST_F(WritingTest, evictorKeepsAReserve) {
    const auto count = p.catalog.clusters().count();
    for (uint32_t c = 0; c < count; ++c)
        p.placed(c, c, 4096, 30000);
    EXPECT_EQ(p.allocator.available(), 0U);
    ASSERT_TRUE(turnUntil([&] { return p.allocator.available() >= p.allocator.reserve(); }));
    EXPECT_GE(p.catalog.objects(), count - 2 * p.allocator.reserve() - Relocator::maxEvicting) << "not more than needed";
    EXPECT_GT(p.context.counters.evictedClusters, 0U);
}

/// a checkpoint may say of any extent that it is any object's
TEST_F(WritingTest, relocatorTakesNoObjectForAnother) {
    constexpr uint32_t offset = 4096;
    p.placed(1, 5, offset, 500);
    p.placed(2, 6, offset, 500);
    const auto slot = p.catalog.index().find(keyOf(1));
    const auto &entry = p.catalog.clusters()[5_c];
    const auto buffer = std::make_shared<Buffer>(65536);
    memset(buffer->data(), 0, buffer->size());
    const auto relocate = [&](const uint64_t n) {
        ExtentHeader header;
        header.size = 500;
        header.sequence = entry.sequence;
        header.key = keyOf(n);
        sealExtent(buffer->data() + offset, header, p.context.uuid, 5_c, offset);
        p.cache.windows.insert(5_c, entry.sequence, buffer, 65536);
        return relocator.regroup(5_c, entry.sequence, {{slot, p.catalog.index()[slot].tag, offset, 500}});
    };
    EXPECT_EQ(relocate(2), 0U);
    relocator.flushed(relocator.beginFlush());
    EXPECT_EQ(p.context.counters.corrupt, 1U);
    p.catalog.erase(p.catalog.index().find(keyOf(2)));
    EXPECT_EQ(p.catalog.index().find(keyOf(2)), noSlot) << "it was there once";
    EXPECT_EQ(relocate(1), 500U);
}

TEST_F(WritingTest, evictorTakesTheLeastUsed) {
    for (const bool lru: {true, false}) {
        PartsDevice d;
        if (!lru)
            d.config.replacement = &fifoEviction;
        Parts q(d);
        q.allFree();
        CompleteObjects staged;
        Relocator relocatorOfQ(q.context, q.cache, q.journal, staged);
        Evictor e(q.context, q.journal, q.allocator, relocatorOfQ);
        const auto count = q.catalog.clusters().count();
        for (uint32_t c = 0; c < count; ++c)
            q.placed(c, c, 4096, 30000);
        // the oldest clusters are those in use
        for (uint32_t c = 0; c < 40; ++c)
            e.touch(q.catalog.index().find(keyOf(c)));
        EXPECT_EQ(q.catalog.clusters().tail(), lru ? 40_c : 0_c);
        q.context.rewrites.noteEvicted(uint64_t(1) << 40); // no budget for relocating
        for (int i = 0; i < 20; ++i) {
            e.poll();
            q.allocator.poll();
            q.step();
        }
        EXPECT_EQ(q.catalog.index().find(keyOf(0)) != noSlot, lru);
        EXPECT_NE(q.catalog.index().find(keyOf(count - 1)), noSlot);
    }
}

/// a full device needs many free clusters at its start, but not within one turn
TEST_F(WritingTest, onlySoManyClustersGoInATurn) {
    const auto count = p.catalog.clusters().count();
    for (uint32_t c = 0; c < count; ++c)
        p.placed(c, c, 4096, 30000);
    p.context.rewrites.noteEvicted(uint64_t(1) << 40); // no budget for relocating
    const auto wanted = p.allocator.reserve() * 2;
    ASSERT_GT(wanted, 8U);
    evictor.poll();
    EXPECT_EQ(p.context.counters.evictedClusters, 8U);
    evictor.poll();
    EXPECT_EQ(p.context.counters.evictedClusters, wanted);
}

/// pieces of a page each, one for each small object, would take many times the memory, and long to look through
TEST_F(WritingTest, smallObjectsStayInMemoryTogether) {
    p.context.config.persist = 1;
    for (uint64_t n = 0; n < 100; ++n)
        staged(n, 200);
    ASSERT_TRUE(turnUntil([&] { return p.context.counters.packs == 1; }));
    const auto r = p.catalog.index()[p.catalog.index().find(keyOf(1))];
    const auto end = p.catalog.clusters()[r.cluster].end;
    EXPECT_LE(p.cache.windows.bytes(), end + end / 4);
    const auto sequence = p.catalog.clusters()[r.cluster].sequence;
    for (uint64_t n = 0; n < 100; ++n) {
        const auto &record = p.catalog.index()[p.catalog.index().find(keyOf(n))];
        EXPECT_NE(p.cache.windows.find({r.cluster, sequence, record.offset(), 232}), nullptr) << n;
    }
}

TEST_F(WritingTest, memoryOfObjectsThatAreGoneIsGivenBack) {
    p.context.config.persist = 1;
    std::vector<StageNo> stages;
    for (uint64_t n = 0; n < 3; ++n)
        stages.push_back(staged(n, 10000));
    ASSERT_TRUE(turnUntil([&] { return p.context.counters.packs == 1; }));
    const auto slot = p.catalog.index().find(keyOf(1));
    const auto r = p.catalog.index()[slot];
    const auto sequence = p.catalog.clusters()[r.cluster].sequence;
    const auto all = p.cache.windows.bytes();
    ASSERT_NE(p.cache.windows.find({r.cluster, sequence, r.offset(), 10000}), nullptr) << "what was written is in memory";
    std::vector<uint32_t> offsets;
    ASSERT_TRUE(p.catalog.offsetsIn(r.cluster, offsets));
    p.cache.windows.forgetUnused(r.cluster, sequence, offsets);
    EXPECT_EQ(p.cache.windows.bytes(), all);
    p.catalog.erase(slot);
    ASSERT_TRUE(p.catalog.offsetsIn(r.cluster, offsets));
    p.cache.windows.forgetUnused(r.cluster, sequence, offsets);
    EXPECT_EQ(p.cache.windows.find({r.cluster, sequence, r.offset(), 10000}), nullptr);
    EXPECT_EQ(p.cache.windows.bytes(), all / 3 * 2) << "the others are still there";
}

TEST(Relocation, movesWhatLiesTogether) {
    using Candidate = Relocation::Candidate;
    const auto candidate = [](const uint32_t offset, const uint32_t payload) { return Candidate{noSlot, 0, offset, payload}; };
    const auto offsets = [](const std::vector<Candidate> &list) {
        std::vector<uint32_t> all;
        for (const auto &w: list)
            all.push_back(w.offset);
        return all;
    };
    std::vector<Candidate> near = {candidate(60000, 10000), candidate(4096, 10000)};
    EXPECT_EQ(Relocation::KeepNear(near, 20000), 20000U);
    EXPECT_EQ(offsets(near), (std::vector<uint32_t> {4096, 60000}));

    std::vector<Candidate> apart = {candidate(0, 10000), candidate(300000, 10000)};
    EXPECT_EQ(Relocation::KeepNear(apart, 20000), 20000U) << "fifteen bytes are read for each that moves";
    EXPECT_EQ(offsets(apart), (std::vector<uint32_t> {0, 300000}));

    std::vector<Candidate> front = {candidate(0, 100), candidate(900000, 10000), candidate(920000, 10000)};
    EXPECT_EQ(Relocation::KeepNear(front, 20100), 20000U);
    EXPECT_EQ(offsets(front), (std::vector<uint32_t> {900000, 920000}));

    std::vector<Candidate> back = {candidate(0, 10000), candidate(20000, 10000), candidate(1000000, 10000)};
    EXPECT_EQ(Relocation::KeepNear(back, 30000), 20000U);
    EXPECT_EQ(offsets(back), (std::vector<uint32_t> {0, 20000}));

    std::vector<Candidate> one = {candidate(500000, 1)};
    EXPECT_EQ(Relocation::KeepNear(one, 1), 1U);
    std::vector<Candidate> none;
    EXPECT_EQ(Relocation::KeepNear(none, 0), 0U);
}

/// parts of objects that come in together, each object's side by side
TEST_F(WritingTest, partsOfAnObjectLieSideBySide) {
    p.allocator.poll();
    const auto before = p.allocator.available();
    const auto one = p.allocator.takeRun(noCluster, 8), other = p.allocator.takeRun(noCluster, 8);
    ASSERT_EQ(one.size(), 8U);
    ASSERT_EQ(other.size(), 8U);
    EXPECT_EQ(p.allocator.available(), before - 16);
    std::set<ClusterNo> taken;
    for (const auto *const run: {&one, &other}) {
        for (size_t i = 0; i < run->size(); ++i) {
            EXPECT_EQ((*run)[i].cluster, (*run)[0].cluster + static_cast<uint32_t>(i));
            EXPECT_EQ(p.catalog.clusters()[(*run)[i].cluster].state, ClusterState::announced);
            EXPECT_TRUE(taken.insert((*run)[i].cluster).second);
        }
    }
    const auto onward = p.allocator.takeRun(other.back().cluster, 3);
    ASSERT_EQ(onward.size(), 3U);
    EXPECT_EQ(onward[0].cluster, other.back().cluster + 1) << "where it ended";
    EXPECT_NE(p.allocator.takeRun(one.back().cluster, 3).at(0).cluster, one.back().cluster + 1) << "somebody has that";
    p.context.config.layout = &closestLayout;
    p.allocator.noteAccess(one.front().cluster);
    EXPECT_EQ(p.allocator.takeRun(ClusterNo(200), 3).at(0).cluster, 201_c) << "wherever the layout would begin";
    for (const auto &t: one)
        p.allocator.giveBack(t);
    ASSERT_TRUE(p.writeJournal());
    std::set<ClusterNo> again;
    for (auto c = p.allocator.take(); c != noCluster; c = p.allocator.take())
        again.insert(c);
    for (const auto &t: one)
        EXPECT_EQ(again.count(t.cluster), 1U) << "what was given back is used";
}

TEST_F(WritingTest, runsLeaveClustersForOthers) {
    const auto count = p.catalog.clusters().count();
    for (unsigned n = 0; n < count / 16; ++n) // also those that are kept for the index log
        ASSERT_NE(p.allocator.takeSoon().cluster, noCluster);
    uint32_t taken = 0;
    for (unsigned n = 0; n < 2 * count; ++n) {
        const auto run = p.allocator.takeRun(noCluster, 8);
        if (run.size() < 2)
            break;
        taken += static_cast<uint32_t>(run.size());
        for (const auto &t: run)
            EXPECT_GE(t.cluster.value(), p.context.logClusters + count / 32) << "the index log may want those";
    }
    EXPECT_GE(taken, count / 2);
    EXPECT_GE(p.allocator.available() + 1, p.allocator.reserve());
}

TEST_F(WritingTest, clustersOfARunComeBackWithItsObject) {
    const auto before = p.allocator.available();
    const auto stage = p.catalog.staging().open(keyOf(1), infoOf(1));
    constexpr size_t front = 16384;
    const auto bytes = bytesOf(1, front + p.context.partCapacity());
    {
        ObjectWriter writer(writers, keyOf(1), stage, {2000000, front, 0});
        ASSERT_TRUE(writer.append(bytes.data(), bytes.size()));
        EXPECT_EQ(writers.clustersInRuns, 15U);
        EXPECT_EQ(p.allocator.available(), before - 16);
    }
    EXPECT_EQ(writers.clustersInRuns, 0U);
    EXPECT_EQ(p.allocator.available(), before - 1) << "but for the part that is being written";
}
