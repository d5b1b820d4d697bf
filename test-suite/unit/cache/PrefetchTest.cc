// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading ahead: what a page will want is on its way before anybody asks. */

#include "test-suite/unit/support/PageSupport.h"

#include "fs/cluster/base/Memory.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

constexpr uint64_t pages = 8; ///< with what lies beside their objects, they are more than staging and read cache take
constexpr uint64_t members = 10; ///< the document included

/// pages whose objects lie in many clusters
class Prefetch : public ::testing::Test
{
protected:
    static std::string contentOf(const uint64_t object) { return bytesOf(object, 3000 + object % 16); }

    /// \param apart whether something else fills the cluster of each object
    void prepare(const bool apart) {
        ASSERT_NO_FATAL_FAILURE(t.start());
        for (uint64_t page = 1; page <= pages; ++page) {
            for (uint64_t n = 0; n < members; ++n) {
                const auto object = objectOf(page, n);
                ASSERT_EQ(t.store(keyOf(object), contentOf(object)), Status::ok);
                if (apart) {
                    ASSERT_EQ(t.store(keyOf(object + 500), bytesOf(object, 60000)), Status::ok);
                }
            }
        }
        restart();
        for (uint64_t page = 1; page <= pages; ++page) {
            for (uint64_t n = 0; n < members; ++n)
                t.engine->note(requestFor(page, n, 1));
        }
        restart();
    }

    /// nothing is in memory after it
    void restart() {
        ASSERT_NO_FATAL_FAILURE(t.closeAndReopen());
        t.settle();
    }

    uint64_t reads() const { return t.faulty->requests(IoOp::read); }
    PrefetchStats prefetches() const { return t.engine->stats().prefetches; }

    /// somebody opens a page \returns the reads that this began
    uint64_t open(const uint64_t page, const uint64_t client = 2) {
        const auto before = reads();
        t.engine->note(requestFor(page, 0, client));
        for (int i = 0; i < 20; ++i)
            t.step();
        return reads() - before;
    }

    /// \returns the reads that it took to have all of a page
    uint64_t fetch(const uint64_t page, const uint64_t client = 2) {
        const auto before = reads();
        for (uint64_t n = 0; n < members; ++n) {
            t.engine->note(requestFor(page, n, client));
            const auto object = objectOf(page, n);
            EXPECT_TRUE(t.has(keyOf(object), contentOf(object))) << n << " of page " << page;
        }
        return reads() - before;
    }

    /// lets the device find out what reads cost, in microseconds, and forget what they did
    void teach(const double request, const double byte) {
        Buffer buffer(16384);
        for (int i = 0; i < 8192; ++i) {
            Io io;
            io.op = IoOp::read;
            io.size = i % 2 ? 4096 : 16384;
            io.buffer = buffer.data();
            bool done = false;
            io.done = [&done](Status) { done = true; };
            const auto micros = static_cast<uint64_t>(request + byte * io.size);
            t.faulty->setDelay(micros, micros);
            t.faulty->submit(std::move(io));
            while (!done) {
                t.clock.advance(micros);
                t.faulty->poll();
            }
        }
        t.faulty->setDelay(0, 0);
    }

    TestStore t{64 * MB};
};

} // namespace

TEST_F(Prefetch, whatLiesApartIsReadAtOnce) {
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    EXPECT_EQ(open(3), members - 1) << "all but the document, which is asked for next";
    EXPECT_EQ(fetch(3), 1U) << "the document";
    EXPECT_EQ(prefetches().reads, members - 1);
    EXPECT_EQ(prefetches().objects, members - 1);
    EXPECT_EQ(open(3, 3), 0U) << "all is in memory";
}

TEST_F(Prefetch, aBusyDeviceIsLeftAlone) {
    t.config.depth = 2;
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    t.faulty->setDelay(5000, 5000);
    std::vector<std::unique_ptr<Reader>> hits;
    for (uint64_t n = 0; n < 2; ++n) {
        hits.push_back(t.engine->read(keyOf(objectOf(1, n))));
        hits.back()->fetch(0, [](Status) {});
    }
    t.engine->note(requestFor(2, 0, 3));
    t.pass(1);
    EXPECT_EQ(prefetches().reads, 0U) << "all that it takes at once was in flight";
    t.engine->note(requestFor(3, 0, 4));
    t.pass(1);
    EXPECT_EQ(prefetches().reads, members - 1);
}

/// a page of many objects that lie apart has not even half of the device at a time
TEST_F(Prefetch, hitsGoFirst) {
    t.config.depth = 4;
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    t.faulty->setDelay(5000, 5000);
    t.engine->note(requestFor(1, 0, 2));
    EXPECT_EQ(t.faulty->inFlight(), 2U);
    EXPECT_EQ(t.faulty->queued(), 0U);
    const auto before = reads();
    const auto hit = t.engine->read(keyOf(objectOf(2, 1)));
    bool done = false;
    hit->fetch(0, [&](Status) { done = true; });
    EXPECT_EQ(reads(), before + 1) << "begun at once";
    ASSERT_TRUE(t.until([&] { return done; }));
    EXPECT_LT(prefetches().reads, members - 1);
    EXPECT_EQ(t.faulty->queued(), 0U);
    t.pass(1);
    EXPECT_EQ(prefetches().reads, members - 1) << "the rest came as room came";
    EXPECT_EQ(fetch(1), 1U);
}

/// what waited for too long is no longer read; until then, pages take turns
TEST_F(Prefetch, clientsTakeTurns) {
    t.config.depth = 2; // one at a time
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    t.faulty->setDelay(5000, 5000);
    t.engine->note(requestFor(1, 0, 2));
    t.engine->note(requestFor(2, 0, 3));
    ASSERT_TRUE(t.until([&] { return prefetches().reads == 10; }));
    t.clock.advance(3000000);
    t.pass(1);
    EXPECT_EQ(prefetches().reads, 10U);
    EXPECT_EQ(fetch(1), members - 6);
    EXPECT_EQ(fetch(2), members - 4);
}

/// who has gone on to another page wants no more of the last one
TEST_F(Prefetch, aClientWaitsForOnePage) {
    t.config.depth = 2;
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    t.faulty->setDelay(5000, 5000);
    t.engine->note(requestFor(1, 0, 2));
    ASSERT_TRUE(t.until([&] { return prefetches().reads == 3; }));
    while (t.faulty->inFlight())
        t.device().wait(1), t.device().poll(); // the engine does not hear of it yet
    t.engine->note(requestFor(2, 0, 2));
    t.pass(1);
    EXPECT_EQ(prefetches().reads, 3 + members - 1);
    EXPECT_EQ(fetch(2), 1U);
    EXPECT_EQ(fetch(1), members - 3);
}

TEST_F(Prefetch, neighboursAreReadInOneRequest) {
    ASSERT_NO_FATAL_FAILURE(prepare(false));
    EXPECT_EQ(open(1), 1U);
    EXPECT_EQ(fetch(1), 0U);
    EXPECT_EQ(prefetches().reads, 1U);
    EXPECT_EQ(prefetches().objects, members);
}

TEST_F(Prefetch, whereBytesCostMostNeighboursComeInSeveral) {
    ASSERT_NO_FATAL_FAILURE(prepare(false));
    teach(1000, 0.8); // a read ends at 10,000 bytes: three objects of the page
    EXPECT_EQ(open(1), members / 3);
    EXPECT_EQ(fetch(1), 0U) << "the last object came with the block that the one before it ends in";
    EXPECT_EQ(prefetches().objects, members - 1);
}

TEST_F(Prefetch, whoAsksMeanwhileWaitsForThatRead) {
    ASSERT_NO_FATAL_FAILURE(prepare(false));
    const auto before = reads();
    t.faulty->setDelay(5000, 5000);
    t.engine->note(requestFor(1, 0, 2));
    fetch(1);
    EXPECT_EQ(reads() - before, 1U);
    EXPECT_EQ(t.engine->stats().counters.readFromDisk, 1U);
}

TEST_F(Prefetch, whatIsInMemoryIsNotReadAgain) {
    ASSERT_NO_FATAL_FAILURE(t.start());
    for (uint64_t n = 0; n < members; ++n) {
        t.engine->note(requestFor(1, n, 1)); // and so packed as a group
        ASSERT_EQ(t.store(keyOf(objectOf(1, n)), contentOf(objectOf(1, n))), Status::ok);
    }
    restart();
    t.faulty->setDelay(5000, 5000); // so that groups pay
    t.pass(60);
    for (uint64_t n = 0; n < members / 2; ++n)
        t.engine->note(requestFor(1, n, 3));
    t.pass(60);
    for (uint64_t n = 9000; n < 9200; ++n) // pushes out of memory what that has brought
        ASSERT_EQ(t.store(keyOf(n), bytesOf(n, 60000)), Status::ok);
    ASSERT_TRUE(t.pack());
    const auto objects = prefetches().objects;
    EXPECT_EQ(open(1), 1U) << "what the last visit wanted";
    EXPECT_EQ(prefetches().objects - objects, members / 2);
    const auto before = t.faulty->stats().of(IoOp::read).bytes;
    const auto last = objectOf(1, members - 1);
    EXPECT_TRUE(t.has(keyOf(last), contentOf(last)));
    EXPECT_EQ(t.engine->stats().groupReads, 1U);
    EXPECT_EQ(t.engine->stats().matesRead, members / 2 - 1) << "the rest of the group";
    EXPECT_LE(t.faulty->stats().of(IoOp::read).bytes - before, members / 2 * 3100 + 8192);
    EXPECT_EQ(fetch(1), 0U);
}

TEST_F(Prefetch, nothingWhenAPageIsNew) {
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    EXPECT_EQ(open(pages + 1), 0U);
    EXPECT_EQ(prefetches().reads, 0U);
}

TEST_F(Prefetch, nothingWhenNothingIsLearned) {
    t.config.localityMb = 0;
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    EXPECT_EQ(open(3), 0U);
    EXPECT_EQ(fetch(3), members);
}

TEST_F(Prefetch, notWhatIsInStagingOrLarge) {
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    ASSERT_EQ(t.store(keyOf(objectOf(3, 1)), contentOf(objectOf(3, 1))), Status::ok);
    ASSERT_EQ(t.store(keyOf(objectOf(3, 2)), bytesOf(1, 300000)), Status::ok);
    EXPECT_EQ(open(3), members - 3);
    EXPECT_TRUE(t.has(keyOf(objectOf(3, 2)), bytesOf(1, 300000)));
}

/// wrong bytes cost the object, as ever, and nothing before it is asked for
TEST_F(Prefetch, wrongBytesAreFoundWhenTheyAreWanted) {
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    const auto flip = reads() + 1;
    t.faulty->script(IoOp::read, flip, Fault::flip);
    EXPECT_EQ(open(3), members - 1);
    EXPECT_EQ(t.engine->stats().counters.corrupt, 0U);
    unsigned there = 0;
    for (uint64_t n = 1; n < members; ++n) {
        const auto object = objectOf(3, n);
        std::string bytes;
        const auto status = t.load(keyOf(object), bytes);
        there += status == Status::ok;
        EXPECT_TRUE(status != Status::ok || bytes == contentOf(object)) << n;
    }
    EXPECT_GE(there, members - 2);
}

/// a failed read ahead is nobody's loss
TEST_F(Prefetch, failuresAreTriedAgain) {
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    t.faulty->script(IoOp::read, reads() + 1, Fault::error);
    EXPECT_EQ(open(3), members - 1);
    EXPECT_EQ(fetch(3), 2U) << "the document, and what could not be read";
    EXPECT_EQ(t.engine->stats().counters.readErrors, 0U);
}

/// browsers that have all of it, or a crawler, end it; a trial now and then begins it again
TEST_F(Prefetch, endsWhenNobodyWantsIt) {
    t.config.readCacheMb = 2;
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    uint64_t last = 0;
    for (int round = 0; round < 60; ++round) {
        last = 0;
        for (uint64_t page = 1; page <= pages; ++page) {
            last += open(page, 100 + static_cast<uint64_t>(round));
            for (uint64_t n = 1; n < members; ++n) // it asks the proxy, but not for the bytes
                t.engine->note(requestFor(page, n, 100 + static_cast<uint64_t>(round)));
            t.clock.advance(60000000);
            // something else goes through memory meanwhile
            for (uint64_t n = 0; n < members; ++n)
                ASSERT_TRUE(t.has(keyOf(objectOf(page, n) + 500), bytesOf(objectOf(page, n), 60000)));
        }
    }
    EXPECT_LE(last, 2U) << "of " << pages * (members - 1);
    EXPECT_LT(t.engine->stats().usefulnessOfPrefetches, 0.75);
    EXPECT_GT(prefetches().unused, 10 * prefetches().wanted);
}

/// a client that opens pages and wants nothing of them ends it for itself
TEST_F(Prefetch, oneClientDoesNotEndItForOthers) {
    t.config.readCacheMb = 2;
    ASSERT_NO_FATAL_FAILURE(prepare(true));
    uint64_t vain = 0;
    for (int round = 0; round < 40; ++round) {
        vain = 0;
        for (uint64_t page = 2; page <= pages; ++page) {
            vain += open(page, 100);
            for (uint64_t n = 1; n < members; ++n)
                t.engine->note(requestFor(page, n, 100));
            t.clock.advance(60000000);
            for (uint64_t n = 0; n < members; ++n)
                ASSERT_TRUE(t.has(keyOf(objectOf(page, n) + 500), bytesOf(objectOf(page, n), 60000)));
        }
    }
    EXPECT_LE(vain, 2U) << "of " << (pages - 1) * (members - 1);
    EXPECT_LT(t.engine->stats().usefulnessOfPrefetches, 0.75);
    EXPECT_EQ(open(1, 3), members - 1);
    EXPECT_EQ(fetch(1, 3), 1U);
}
