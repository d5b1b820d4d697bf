// SPDX-License-Identifier: GPL-2.0-or-later
/* Look-ups in an index by another process, while it changes and when it has nonsense. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/catalog/Catalog.h"
#include "fs/cluster/catalog/Index.h"
#include "fs/cluster/catalog/IndexView.h"
#include "fs/cluster/engine/LocalEngine.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

const HashSecret secret = {1, 2, 3, 4};

IndexView::Tables
tablesOf(const Index &index, const Region &clusters, const uint32_t base)
{
    IndexView::Tables t;
    t.head = reinterpret_cast<const IndexHead *>(index.headMemory().data());
    t.buckets = reinterpret_cast<const uint32_t *>(index.bucketMemory().data());
    t.bucketsAtMost = index.bucketMemory().size() / sizeof(uint32_t);
    t.records = reinterpret_cast<const Record *>(index.recordMemory().data());
    t.recordsAtMost = index.recordMemory().size() / sizeof(Record);
    t.keys = index.keyMemory() ? reinterpret_cast<const Key *>(index.keyMemory()->data()) : nullptr;
    t.keysAtMost = index.keyMemory() ? index.keyMemory()->size() / sizeof(Key) : 0;
    t.clusters = reinterpret_cast<const ClusterEntry *>(clusters.data());
    t.clusterCount = static_cast<uint32_t>(clusters.size() / sizeof(ClusterEntry));
    t.baseBuckets = base;
    return t;
}

/// an index alone, whose records say by themselves whether they are whole
struct Alone {
    static constexpr uint32_t base = 16;
    static constexpr uint32_t capacity = 4096;

    Index index{capacity, base, secret, false};
    Region clusters{sizeof(ClusterEntry)};
    IndexView view{tablesOf(index, clusters, base), secret};

    /// all numbers of a record come from one
    static ObjectInfo infoFor(const uint32_t n) {
        ObjectInfo info;
        info.timestamp = 1600000000 + n;
        info.expires = info.timestamp + n % 1000;
        info.lastModified = info.timestamp - n % 1000;
        info.size = n;
        info.flags = n % 2 ? flagNegative : 0;
        return info;
    }
    static bool whole(const ObjectInfo &i) {
        const auto wanted = infoFor(static_cast<uint32_t>(i.size));
        return i.timestamp == wanted.timestamp && i.expires == wanted.expires && i.lastModified == wanted.lastModified && i.flags == wanted.flags;
    }

    void fill(Record &r, const uint32_t n) {
        r.setInfo(infoFor(n));
        r.size = n;
    }
    SlotNo insert(const Key &key, const uint32_t n) {
        const auto changing = index.change(key);
        const auto slot = index.insert(key);
        if (slot != noSlot)
            fill(index[slot], n);
        return slot;
    }
    void erase(const SlotNo slot) {
        index.unlink(slot);
        index.release(slot);
    }
};

} // namespace

TEST(IndexView, seesWhatTheIndexHas)
{
    Alone a;
    ObjectInfo info;
    EXPECT_FALSE(a.view.find(keyOf(1), info));
    std::vector<SlotNo> slots;
    for (uint32_t n = 0; n < 1000; ++n) // the buckets are split many times
        slots.push_back(a.insert(keyOf(n), n));
    EXPECT_GT(a.index.bucketCount(), 10 * Alone::base);
    for (uint32_t n = 0; n < 1000; ++n) {
        ASSERT_TRUE(a.view.find(keyOf(n), info)) << n;
        EXPECT_EQ(info.size, n);
        EXPECT_TRUE(Alone::whole(info)) << n;
    }
    EXPECT_FALSE(a.view.find(keyOf(1000), info));
    for (uint32_t n = 0; n < 1000; n += 2)
        a.erase(slots[n]);
    for (uint32_t n = 0; n < 1000; ++n)
        EXPECT_EQ(a.view.find(keyOf(n), info), n % 2 == 1) << n;
}

TEST(IndexView, takesNothingThatChanges)
{
    Alone a;
    a.insert(keyOf(1), 1);
    ObjectInfo info;
    {
        const auto changing = a.index.change(keyOf(1));
        EXPECT_FALSE(a.view.find(keyOf(1), info));
        {
            const auto again = a.index.change(keyOf(1));
        }
        EXPECT_FALSE(a.view.find(keyOf(1), info)) << "the outer change goes on";
    }
    EXPECT_TRUE(a.view.find(keyOf(1), info));
}

/// objects of a whole engine's catalog: staged, placed, large, with new times, relocated, gone
TEST(IndexView, seesTheObjectsOfAStore)
{
    TestStore t(64 * MB);
    ASSERT_NO_FATAL_FAILURE(t.start());
    const auto &catalog = dynamic_cast<const LocalEngine &>(*t.engine).context().catalog;
    const IndexView view(tablesOf(catalog.index(), catalog.clusters().memory(), t.geometry().baseBuckets), t.engine->superblock()->secret);
    const auto agree = [&](const Key &key) {
        ObjectInfo seen;
        ObjectInfo has;
        const auto sees = view.find(key, seen);
        EXPECT_EQ(sees, t.engine->peek(key, has));
        if (sees) {
            EXPECT_EQ(seen.size, has.size);
            EXPECT_EQ(seen.timestamp, has.timestamp);
            EXPECT_EQ(seen.expires, has.expires);
            EXPECT_EQ(seen.lastModified, has.lastModified);
            EXPECT_EQ(seen.flags, has.flags);
        }
        return sees;
    };
    EXPECT_FALSE(agree(keyOf(1)));
    ASSERT_EQ(t.store(keyOf(1), bytesOf(1, 5000)), Status::ok);
    ASSERT_EQ(t.store(keyOf(2), bytesOf(2, 5 * MB)), Status::ok);
    EXPECT_TRUE(agree(keyOf(1)));
    EXPECT_TRUE(agree(keyOf(2)));
    ASSERT_TRUE(t.pack());
    EXPECT_TRUE(agree(keyOf(1)));
    EXPECT_TRUE(agree(keyOf(2)));
    auto info = infoOf(t.clock.wallSeconds() + 50);
    t.engine->updateInfo(keyOf(2), info);
    EXPECT_TRUE(agree(keyOf(2)));
    EXPECT_TRUE(t.engine->remove(keyOf(1)));
    EXPECT_TRUE(t.engine->remove(keyOf(2)));
    EXPECT_FALSE(agree(keyOf(1)));
    EXPECT_FALSE(agree(keyOf(2)));
}

/// another process looks objects up all the time, while this one changes them: each is whole
TEST(IndexView, anotherProcessNeverSeesHalfOfARecord)
{
    constexpr uint32_t keys = 200;
    Alone a;
    const auto shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto &enough = *new (shared) std::atomic<bool>(false);
    auto &started = *new (static_cast<char *>(shared) + 64) std::atomic<bool>(false);
    const auto child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        uint64_t found = 0;
        for (uint32_t n = 0; !enough; n = (n + 1) % (keys + 1)) {
            ObjectInfo info;
            started = true;
            if (!a.view.find(keyOf(n), info))
                continue;
            ++found;
            if (!Alone::whole(info) || info.size % (keys + 1) != n)
                _exit(1); // of two versions, or another object's
        }
        _exit(found ? 0 : 2);
    }
    std::minstd_rand random(1);
    std::vector<SlotNo> slots(keys, noSlot);
    for (uint32_t change = 0; change < 2000000 || !started; ++change) {
        const auto n = static_cast<uint32_t>(random() % keys);
        const auto number = change % 1000000 * (keys + 1) + n; // the remainder names the key
        if (slots[n] == noSlot) {
            slots[n] = a.insert(keyOf(n), number);
        } else if (random() % 2) {
            a.erase(slots[n]);
            slots[n] = noSlot;
        } else {
            const auto changing = a.index.change(slots[n]);
            a.fill(a.index[slots[n]], number);
        }
    }
    enough = true;
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    munmap(shared, 4096);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "1 = half of a record, 2 = none was ever found";
}

/// whatever the memory has, a look-up stays within it and ends
TEST(IndexView, endsInNonsense)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::minstd_rand random(seed + 1);
        const auto head = std::make_unique<IndexHead>();
        std::vector<char> buckets(64 * sizeof(uint32_t)); // on the heap, where a sanitizer guards their ends
        std::vector<char> records(50 * sizeof(Record));
        std::vector<char> keys(40 * sizeof(Key));
        std::vector<char> clusters(10 * sizeof(ClusterEntry));
        for (auto *const memory: {&buckets, &records, &keys, &clusters}) {
            for (auto &c: *memory)
                c = static_cast<char>(seed % 2 ? random() : random() % 4 ? 0 : random() % 60);
        }
        head->buckets = seed % 3 ? 16 + random() % 49 : random();
        head->slots = random();
        IndexView::Tables t;
        t.head = head.get();
        t.buckets = reinterpret_cast<const uint32_t *>(buckets.data());
        t.bucketsAtMost = 64;
        t.records = reinterpret_cast<const Record *>(records.data());
        t.recordsAtMost = 50;
        t.keys = reinterpret_cast<const Key *>(keys.data());
        t.keysAtMost = 40;
        t.clusters = reinterpret_cast<const ClusterEntry *>(clusters.data());
        t.clusterCount = 10;
        t.baseBuckets = 16;
        const IndexView view(t, secret);
        ObjectInfo info;
        for (uint32_t n = 0; n < 200; ++n)
            (void)view.find(keyOf(n), info);
        uint64_t cursor = 0;
        Key key;
        unsigned looks = 1000;
        while (view.next(cursor, key, info, looks)) {}
        EXPECT_LE(cursor, 40U);
    }
}
