// SPDX-License-Identifier: GPL-2.0-or-later
/* Index records and the hash index, beside an oracle. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/catalog/ClusterTable.h"
#include "fs/cluster/catalog/Index.h"

#include <algorithm>
#include <limits>
#include <list>
#include <random>
#include <set>
#include <unordered_map>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

const HashSecret secret = {0x123456789abcdef0ULL, 0x0fedcba987654321ULL, 0x5555aaaa3333ccccULL, 0x9999666611112222ULL};

constexpr int64_t expiresExact = (1 << 25) - 3; ///< seconds after the timestamp
constexpr int64_t modifiedExact = (int64_t(1) << 31) - 2; ///< seconds before it

ObjectInfo
packed(const ObjectInfo &info)
{
    Record r = Record();
    r.setInfo(info);
    return r.info();
}

} // namespace

TEST(Record, keepsTimesThatHttpNeeds) {
    const int64_t stamps[] = {1, 1000, 1700000000, 0x7fffffff, 0xffffffffLL};
    const int64_t distances[] = {0, 1, 2, 59, 60, 3600, 86399, 86400, 31536000, expiresExact - 1, expiresExact};
    for (const auto stamp: stamps) {
        for (const auto d: distances) {
            for (unsigned flags = 0; flags < 16; ++flags) {
                ObjectInfo info;
                info.timestamp = stamp;
                info.expires = stamp + d;
                info.lastModified = stamp > d * 2 ? stamp - d * 2 : 0;
                info.flags = static_cast<uint8_t>(flags);
                const auto got = packed(info);
                ASSERT_EQ(got.timestamp, stamp);
                ASSERT_EQ(got.expires, info.expires) << stamp << " " << d;
                ASSERT_EQ(got.lastModified, info.lastModified);
                ASSERT_EQ(got.flags, flags);
            }
        }
    }
}

/// what Squid says in If-Modified-Since, and tells clients by theirs
TEST(Record, keepsEveryDateOfModificationSince1970) {
    for (const int64_t stamp: {1700000000LL, 1800000000LL, 2147483646LL}) {
        for (int64_t modified = 0; modified <= stamp; modified += 12345678) {
            ObjectInfo info;
            info.timestamp = stamp;
            info.expires = stamp + 31536000;
            info.lastModified = modified;
            const auto got = packed(info);
            ASSERT_EQ(got.lastModified, modified);
            ASSERT_EQ(got.expires, info.expires);
        }
    }
}

TEST(Record, movesOtherTimesTowardsRevalidation) {
    const int64_t now = 1700000000;
    const auto pack = [&](const int64_t expires, const int64_t modified, const int64_t stamp) {
        ObjectInfo info;
        info.timestamp = stamp;
        info.expires = expires;
        info.lastModified = modified;
        return packed(info);
    };
    // far futures end sooner, never later
    EXPECT_EQ(pack(now + expiresExact + 1, -1, now).expires, now + expiresExact);
    EXPECT_EQ(pack(now + (int64_t(1) << 40), -1, now).expires, now + expiresExact);
    EXPECT_EQ(pack(std::numeric_limits<int64_t>::max(), -1, 0).expires, expiresExact);
    // what has expired stays so
    for (const int64_t ago: {1LL, 100LL, 1000000000LL}) {
        EXPECT_LT(pack(now - ago, -1, now).expires, now);
        EXPECT_GE(pack(now - ago, -1, now).expires, 0);
    }
    // future modifications are now
    EXPECT_EQ(pack(-1, now + 500, now).lastModified, now);
    // those that are too long ago are unknown: a client that has an older version must not be told that it is this one
    const int64_t late = 0xffffffffLL;
    EXPECT_EQ(pack(-1, late - modifiedExact, late).lastModified, late - modifiedExact);
    EXPECT_EQ(pack(-1, late - modifiedExact - 1, late).lastModified, -1);
    // unknown stays unknown
    EXPECT_EQ(pack(-1, -1, now).expires, -1);
    EXPECT_EQ(pack(-1, -1, now).lastModified, -1);
    EXPECT_EQ(pack(-1, -1, -1).timestamp, -1);
    EXPECT_EQ(pack(-1, -1, -77).timestamp, -1);
    EXPECT_EQ(pack(-1, -1, int64_t(1) << 40).timestamp, 0xffffffffLL);
}

TEST(Record, neverGrowsFresher) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 200000; ++i) {
        ObjectInfo info;
        info.timestamp = static_cast<int64_t>(random() % (uint64_t(1) << (random() % 34)));
        info.expires = static_cast<int64_t>(random() % (uint64_t(1) << (random() % 40))) - 1;
        info.lastModified = static_cast<int64_t>(random() % (uint64_t(1) << (random() % 40))) - 1;
        const auto got = packed(info);
        if (info.expires >= 0) {
            ASSERT_LE(got.expires, std::max(info.expires, std::max<int64_t>(0, got.timestamp - 1)));
            ASSERT_GE(got.expires, 0);
        } else {
            ASSERT_EQ(got.expires, -1);
        }
        ASSERT_EQ(got.lastModified < 0, info.lastModified < 0 || got.timestamp - info.lastModified > modifiedExact);
        ASSERT_LE(got.lastModified, got.timestamp < 0 ? 0 : got.timestamp);
        // what was packed once is not changed by packing it again
        const auto again = packed(got);
        ASSERT_EQ(again.lastModified, got.lastModified);
        ASSERT_EQ(again.timestamp, got.timestamp);
    }
}

TEST(Record, keepsPlaceAndHeat) {
    for (const uint32_t offset: {0U, 8U, 65528U, 1048576U, 16U * 1024 * 1024 - 8}) {
        for (const uint32_t heat: {0U, 1U, 7U, 1000U, Record::maxHeat, Record::maxHeat + 1, 0xffffffffU}) {
            Record r = Record();
            r.setPlace(offset, heat);
            EXPECT_EQ(r.offset(), offset);
            EXPECT_EQ(r.heat(), std::min(heat, Record::maxHeat));
            r.setHeat(5);
            EXPECT_EQ(r.heat(), 5U);
            EXPECT_EQ(r.offset(), offset);
        }
    }
}

TEST(Record, keepsFlagsBesideTimes) {
    Record r = Record();
    r.setInfo(infoOf(1700000000, flagNegative));
    r.setFlags(r.flags() | flagParted | Record::flagDead);
    EXPECT_TRUE(r.parted());
    EXPECT_TRUE(r.dead());
    EXPECT_EQ(r.info().flags, flagNegative | flagParted) << "the dead mark is nobody's business";
    EXPECT_EQ(r.info().expires, 1700003600);
}

TEST(Index, isSmallEnough) {
    // 36 bytes a record, half a bucket each, and a share of a 64-byte cluster line: 1 MB holds 80 objects of 13 KB
    EXPECT_LE(sizeof(Record) + sizeof(uint32_t) / 2.0 + sizeof(ClusterEntry) * 13.0 / 1024, 40.0);
    // whatever size was expected
    for (const uint64_t count: {uint64_t(20000), uint64_t(300000)}) {
        Index index(1 << 20, 512, secret, false);
        for (uint64_t n = 0; n < count; ++n)
            index.insert(keyOf(n));
        EXPECT_LE(static_cast<double>(index.bytesInUse()) / static_cast<double>(count), 38.1);
    }
}

TEST(Index, doesWhatAMapDoes) {
    for (const uint64_t buckets: {uint64_t(1), uint64_t(7), uint64_t(512), uint64_t(4096)}) {
        for (const bool keys: {false, true}) {
            constexpr uint64_t capacity = 500;
            Index index(capacity, static_cast<uint32_t>(buckets), secret, keys);
            std::unordered_map<uint64_t, SlotNo> oracle;
            std::list<SlotNo> unlinked;
            std::mt19937_64 random(buckets);
            for (int i = 0; i < 20000; ++i) {
                const auto n = random() % 900;
                const auto known = oracle.find(n);
                const auto slot = index.find(keyOf(n));
                ASSERT_EQ(slot, known == oracle.end() ? noSlot : known->second);
                if (known == oracle.end()) {
                    const auto s = index.insert(keyOf(n));
                    ASSERT_EQ(s == noSlot, oracle.size() + unlinked.size() == capacity);
                    if (s != noSlot) {
                        oracle[n] = s;
                        ASSERT_EQ(index[s].tag, index.hashOf(keyOf(n)).tag);
                        ASSERT_EQ(index[s].cluster, noCluster);
                        ASSERT_EQ(index[s].size, 0U) << "a used slot must be clean";
                        index[s].size = 7;
                    }
                } else if (random() % 2) {
                    ASSERT_EQ(index.hashedOf(slot), index.hashOf(keyOf(n)));
                    if (keys) {
                        ASSERT_EQ(index.keyOf(slot), keyOf(n));
                    }
                    index.unlink(slot);
                    oracle.erase(known);
                    unlinked.push_back(slot);
                }
                if (!unlinked.empty() && random() % 3 == 0) {
                    index.release(unlinked.front());
                    unlinked.pop_front();
                }
                ASSERT_EQ(index.linked(), oracle.size());
                ASSERT_EQ(index.used(), oracle.size() + unlinked.size());
            }
            EXPECT_LE(index.slotsTouched(), capacity);
        }
    }
}

TEST(Index, fillsToItsCapacityAndNotBeyond) {
    Index index(1000, 500, secret, false);
    for (uint64_t n = 0; n < 1000; ++n)
        ASSERT_NE(index.insert(keyOf(n)), noSlot);
    EXPECT_EQ(index.insert(keyOf(1000)), noSlot);
    EXPECT_EQ(index.capacity(), 1000U);
    EXPECT_EQ(index.linked(), 1000U);
    for (uint64_t n = 0; n < 1000; ++n)
        EXPECT_NE(index.find(keyOf(n)), noSlot);
    const auto first = index.find(keyOf(0));
    index.unlink(first);
    EXPECT_EQ(index.insert(keyOf(1000)), noSlot) << "unlinked is not released";
    index.release(first);
    EXPECT_EQ(index.insert(keyOf(1000)), first);
}

TEST(Index, tellsKeysApartByBucketAndTag) {
    Index index(10, 1 << 16, secret, true);
    const HashedKey a{0x1111, 5};
    const auto key = keyOf(1);
    const auto slot = index.insert(a, &key);
    EXPECT_EQ(index.find(HashedKey{0x9999, 5}), noSlot) << "same tag, another bucket";
    EXPECT_EQ(index.find(HashedKey{0x1111, 6}), noSlot) << "same bucket, another tag";
    EXPECT_EQ(index.find(HashedKey{0x10000, 5}), noSlot) << "no such bucket";
    EXPECT_EQ(index.find(a), slot) << "whoever reads compares the whole key";
    EXPECT_EQ(index.hashedOf(slot), a);
    EXPECT_EQ(index.keyOf(slot), key);
}

TEST(Index, spreadsOverAllBuckets) {
    for (const uint32_t buckets: {1U, 1000U, 1U << 30, (1U << 31) - 1}) {
        const KeyHasher hash(secret, buckets);
        for (uint64_t n = 0; n < 1000; ++n)
            ASSERT_LT(hash(keyOf(n)).bucket, buckets);
    }
    const KeyHasher hash(secret, 100);
    unsigned counts[100] = {};
    unsigned tags[16] = {};
    for (uint64_t n = 0; n < 100000; ++n) {
        ++counts[hash(keyFrom(n, 0)).bucket]; // keys that differ in few bits
        ++tags[hash(keyFrom(0, n)).tag % 16];
    }
    for (const auto n: counts) {
        EXPECT_GT(n, 500U);
        EXPECT_LT(n, 1500U);
    }
    for (const auto n: tags) {
        EXPECT_GT(n, 5000U);
        EXPECT_LT(n, 7500U);
    }
}

/// whoever does not know the secret can't tell which keys share a bucket
TEST(Index, hashesEachStoreInItsOwnWay) {
    const KeyHasher one({1, 2, 3, 4}, 1 << 20);
    const KeyHasher other({5, 6, 7, 8}, 1 << 20);
    std::vector<uint64_t> together; // in one store
    for (uint64_t n = 0; together.size() < 50; ++n) {
        if (one(keyOf(n)).bucket >> 12 == 7)
            together.push_back(n);
    }
    std::set<uint32_t> buckets;
    for (const auto n: together)
        buckets.insert(other(keyOf(n)).bucket >> 12);
    EXPECT_GT(buckets.size(), 25U);
}

/// buckets are split one by one, and all that was in them is found before and after
TEST(Index, growsWithWhatIsInIt) {
    Index index(100000, 3, secret, false);
    EXPECT_EQ(index.bucketCount(), 3U);
    for (uint64_t n = 0; n < 50000; ++n) {
        ASSERT_NE(index.insert(keyOf(n)), noSlot);
        ASSERT_LE(index.bucketCount() * 2, std::max<uint64_t>(6, n + 3));
        ASSERT_EQ(index.hashedOf(index.find(keyOf(n / 2))), index.hashOf(keyOf(n / 2))) << n;
    }
    for (uint64_t n = 0; n < 50000; ++n)
        ASSERT_NE(index.find(keyOf(n)), noSlot);
    EXPECT_GE(index.bucketCount(), 24999U);
}

/// one that knows how much will come splits no bucket until then, and goes on as others do
TEST(Index, isAsLargeAsIsExpected) {
    for (const uint64_t expected: {0, 1, 6, 7, 11, 12, 13, 1000, 1000000}) {
        Index index(100000, 3, secret, false);
        index.expect(expected);
        const auto buckets = index.bucketCount();
        EXPECT_EQ(buckets, std::min<uint64_t>(std::max<uint64_t>(3, expected / 2), 100000 / 2 + 1));
        for (uint64_t n = 0; n < 50000; ++n) {
            ASSERT_NE(index.insert(keyOf(n)), noSlot);
            ASSERT_LE(index.bucketCount(), std::max(buckets, (n + 3) / 2));
            ASSERT_EQ(index.hashedOf(index.find(keyOf(n / 2))), index.hashOf(keyOf(n / 2))) << n;
        }
        for (uint64_t n = 0; n < 50000; ++n)
            ASSERT_NE(index.find(keyOf(n)), noSlot);
        EXPECT_GE(index.bucketCount(), 24999U);
    }
}
