// SPDX-License-Identifier: GPL-2.0-or-later
/* More objects than Squid's file numbers can count (16.7 M in a cache_dir). */

#include "test-suite/unit/support/PartsSupport.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr uint64_t count = 500000; ///< objects; the real number would take minutes
#else
constexpr uint64_t count = 17000000; ///< objects
static_assert(count > (uint64_t(1) << 24), "the point of this test");
#endif
constexpr uint32_t perCluster = 500;

/// in the order of their buckets, so that the processor's caches help
Key
manyOf(const uint64_t n)
{
    return keyFrom(n * (~uint64_t(0) / count), mix(n));
}

} // namespace

/// an index of that size goes to the device and comes back, each object in its place
TEST(Scale, holdsMoreObjectsThanSquidHasNumbers) {
    auto config = smallConfig();
    config.clusterKb = 1024;
    config.objectKb = 2;
    PartsDevice d(count * 2400, config, true);
    ASSERT_GE(d.superblock.geometry.maxObjects, count);
    ASSERT_GE(d.superblock.geometry.clusterCount, count / perCluster);
    {
        Parts p(d);
        p.context.recovered = true;
        auto &catalog = p.catalog;
        for (ClusterNo c{0}; c.value() < count / perCluster; ++c) {
            ClusterHeader header;
            header.sequence = ++p.context.sequence;
            header.end = 1024 * 1024;
            catalog.addRead(c, header);
        }
        uint64_t refused = 0;
        for (uint64_t n = 0; n < count; ++n) {
            const auto key = manyOf(n);
            Record r = Record();
            r.cluster = static_cast<ClusterNo>(n / perCluster);
            r.setPlace(static_cast<uint32_t>(65536 + n % perCluster * 1024), 0);
            r.size = static_cast<uint32_t>(n % 900);
            refused += catalog.addFound(catalog.index().hashOf(key), nullptr, r, r.size) == noSlot;
        }
        ASSERT_EQ(refused, 0U);
        ASSERT_EQ(catalog.objects(), count);
        const auto bytes = static_cast<double>(catalog.index().bytesInUse() + catalog.clusters().count() * sizeof(ClusterEntry));
        EXPECT_LE(bytes / static_cast<double>(count), 40.0) << "bytes of memory for each object, all in";
        ASSERT_TRUE(p.until([&] { p.checkpointer.request(); p.checkpointer.poll(); return p.checkpointer.completed() > 0; }, 100000));
        d.superblock = p.checkpointer.superblock();
    }
    Parts q(d);
    q.recovery = std::make_unique<Recovery>(q.context, q.journal, d.superblock);
    q.recovery->start();
    ASSERT_TRUE(q.until([&] { q.recovery->poll(); return q.recovery->done(); }, 100000));
    EXPECT_FALSE(q.recovery->stats().scanned);
    ASSERT_EQ(q.catalog.objects(), count);
    uint64_t wrong = 0;
    for (uint64_t n = 0; n < count; ++n) {
        const auto slot = q.catalog.index().find(manyOf(n));
        if (slot == noSlot || q.catalog.index()[slot].cluster.value() != n / perCluster || q.catalog.index()[slot].size != n % 900)
            ++wrong; // two keys of 17.5 M may share bucket and tag
    }
    EXPECT_LE(wrong, 2U);
}
