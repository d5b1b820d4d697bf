// SPDX-License-Identifier: GPL-2.0-or-later
/* Cluster table, free map and staging, beside oracles. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/catalog/ClusterTable.h"
#include "fs/cluster/catalog/FreeMap.h"
#include "fs/cluster/catalog/Staging.h"

#include <algorithm>
#include <fstream>
#include <list>
#include <random>
#include <set>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(ClusterTable, countsStates) {
    Changes changes(100);
    ClusterTable table(100, changes);
    EXPECT_EQ(table.count(), 100U);
    EXPECT_EQ(table.inState(ClusterState::unknown), 100U);
    std::mt19937_64 random(1);
    for (int i = 0; i < 50000; ++i) {
        const auto n = ClusterNo(static_cast<uint32_t>(random() % 100));
        const auto next = static_cast<ClusterState>(random() % clusterStateCount);
        const bool isLast = next == ClusterState::bad || next == ClusterState::log;
        if (ClusterTable::MayFollow(table[n].state, next) && (!isLast || random() % 100 == 0))
            table.enter(n, next);
    }
    for (unsigned s = 0; s < clusterStateCount; ++s) {
        uint32_t n = 0;
        for (ClusterNo c{0}; c < 100_c; ++c)
            n += table[c].state == static_cast<ClusterState>(s);
        EXPECT_EQ(table.inState(static_cast<ClusterState>(s)), n);
    }
}

/// opening a store of millions of clusters must not take as long as going through them
TEST(ClusterTable, takesNoMemoryUntilSomethingIsKnown) {
    constexpr uint32_t count = 1 << 22;
    const auto resident = [] {
        uint64_t all = 0;
        uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> all >> pages;
        return pages * 4096;
    };
    Changes changes(count);
    const auto before = resident();
    const ClusterTable table(count, changes);
    EXPECT_LT(resident(), before + (uint64_t(count) * sizeof(ClusterEntry) / 16));
    EXPECT_EQ(table.inState(ClusterState::unknown), count);
    for (const auto n: {0_c, ClusterNo(count / 2), ClusterNo(count - 1)}) {
        EXPECT_EQ(table[n].state, ClusterState::unknown);
        EXPECT_EQ(table[n].first, noSlot);
        EXPECT_EQ(table[n].nextPart, noCluster);
        EXPECT_FALSE(table.linked(n));
    }
}

namespace {

/// the clusters that a checkpoint has to name
std::vector<ClusterNo>
collected(const Changes &changes)
{
    std::vector<ClusterNo> found;
    for (ClusterNo from{0};;) {
        unsigned looks = 1000000;
        const auto n = changes.next(from, looks);
        if (n == noCluster)
            return found;
        found.push_back(n);
    }
}

} // namespace

TEST(Changes, namesWhatLiesFarApart) {
    constexpr uint32_t count = 1000000;
    Changes changes(count);
    const std::vector<ClusterNo> first = {0_c, 63_c, 64_c, 32767_c, 32768_c, 500000_c, ClusterNo(count - 1)};
    for (const auto n: first)
        changes.cluster(n);
    EXPECT_EQ(collected(changes), std::vector<ClusterNo>());
    changes.begin();
    EXPECT_EQ(collected(changes), first);
    EXPECT_FALSE(changes.any());
    changes.again(40000_c); // while a checkpoint is written
    changes.cluster(500000_c);
    EXPECT_EQ(collected(changes), first);
    changes.failed();
    changes.begin();
    const std::vector<ClusterNo> all = {0_c, 63_c, 64_c, 32767_c, 32768_c, 40000_c, 500000_c, ClusterNo(count - 1)};
    EXPECT_EQ(collected(changes), all);
    changes.cluster(7_c);
    changes.done();
    EXPECT_EQ(collected(changes), std::vector<ClusterNo>());
    changes.begin();
    EXPECT_EQ(collected(changes), std::vector<ClusterNo>{7_c});
    changes.done();
    changes.begin();
    EXPECT_EQ(collected(changes), std::vector<ClusterNo>());
}

TEST(ClusterTable, keepsAListInOrder) {
    Changes changes(50);
    ClusterTable table(50, changes);
    std::list<ClusterNo> oracle; // front = head
    std::mt19937_64 random(2);
    for (int i = 0; i < 20000; ++i) {
        const auto n = ClusterNo(static_cast<uint32_t>(random() % 50));
        const auto at = std::find(oracle.begin(), oracle.end(), n);
        ASSERT_EQ(table.linked(n), at != oracle.end());
        const auto enter = [&](const std::initializer_list<ClusterState> states) {
            for (const auto s: states)
                table.enter(n, s);
        };
        if (at == oracle.end()) {
            if (table[n].state == ClusterState::free)
                enter({ClusterState::announced, ClusterState::writing});
            enter({ClusterState::packed});
            oracle.push_front(n);
        } else if (i % 3 == 0) {
            enter({ClusterState::draining, ClusterState::free});
            oracle.erase(at);
        } else if (i % 3 == 1) {
            table.toHead(n);
            oracle.splice(oracle.begin(), oracle, at);
        } else {
            table.toTail(n);
            oracle.splice(oracle.end(), oracle, at);
        }
        auto c = table.tail();
        for (auto o = oracle.rbegin(); o != oracle.rend(); ++o, c = table.towardsHead(c))
            ASSERT_EQ(c, *o);
        ASSERT_EQ(c, noCluster);
    }
}

TEST(FreeMap, doesWhatASetDoes) {
    for (const uint32_t count: {1U, 63U, 64U, 65U, 128U, 1000U}) {
        FreeMap map(count);
        std::set<ClusterNo> oracle;
        std::mt19937_64 random(count);
        EXPECT_EQ(map.closest(0_c), noCluster);
        EXPECT_EQ(map.following(0_c), noCluster);
        for (int i = 0; i < 8000; ++i) {
            const auto n = ClusterNo(static_cast<uint32_t>(random() % count));
            ASSERT_EQ(map.contains(n), oracle.count(n) > 0);
            // sparse at times, dense at others
            if (oracle.count(n) && random() % 8 > static_cast<unsigned>(i / 1000)) {
                map.remove(n);
                oracle.erase(n);
            } else if (!oracle.count(n)) {
                map.add(n);
                oracle.insert(n);
            }
            ASSERT_EQ(map.size(), oracle.size());
            const auto from = ClusterNo(static_cast<uint32_t>(random() % (count + 3)));
            const auto after = oracle.lower_bound(from);
            const auto following = after != oracle.end() ? *after : oracle.empty() ? noCluster : *oracle.begin();
            ASSERT_EQ(map.following(from), following);
            const auto to = from.value() < count ? from : 0_c;
            auto best = noCluster;
            for (const auto m: oracle) {
                const auto distance = m > to ? m - to : to - m;
                const auto bestDistance = best == noCluster ? ~0U : best > to ? best - to : to - best;
                if (distance < bestDistance || (distance == bestDistance && m > best))
                    best = m;
            }
            ASSERT_EQ(map.closest(from), best) << from.value();
        }
    }
}

namespace {

/// what staging should hold
struct Twin {
    StageNo stage;
    std::string bytes;
    StageState state;
    unsigned pins;
};

void
compare(const Staging &staging, const Twin &twin)
{
    ASSERT_EQ(staging[twin.stage].size, twin.bytes.size());
    ASSERT_EQ(staging[twin.stage].state, twin.state);
    std::string got(twin.bytes.size() + 100, 'x');
    Staging::Cursor cursor;
    size_t at = 0;
    while (const auto n = staging.copy(twin.stage, static_cast<uint32_t>(at), &got[at], 700, cursor))
        at += n;
    ASSERT_EQ(at, twin.bytes.size());
    ASSERT_TRUE(got.compare(0, at, twin.bytes) == 0);
}

} // namespace

TEST(Staging, doesWhatAMapDoes) {
    Staging staging(200 * 1024);
    std::vector<Twin> all;
    std::mt19937_64 random(5);
    uint64_t seed = 0;
    const auto forget = [&](const size_t i) {
        all[i] = all.back();
        all.pop_back();
    };
    for (int i = 0; i < 30000; ++i) {
        const auto what = random() % 12;
        if (what < 3 || all.empty()) {
            const auto s = staging.open(keyOf(++seed), ObjectInfo());
            if (s != noStage) {
                EXPECT_EQ(staging[s].id, seed);
                EXPECT_EQ(staging[s].record, noSlot);
                all.push_back({s, "", StageState::writing, 0});
            } else {
                --seed;
            }
            continue;
        }
        const auto n = random() % all.size();
        auto &o = all[n];
        if (what < 7 && o.state == StageState::writing) {
            const auto more = bytesOf(seed + static_cast<uint64_t>(i), random() % 3000);
            const auto before = staging.bytesFree();
            if (staging.append(o.stage, more.data(), more.size())) {
                o.bytes += more;
            } else {
                EXPECT_LT(before, more.size() + 1024) << "refused although there was room";
                o.bytes += more.substr(0, staging[o.stage].size - o.bytes.size()); // what fitted stays
                staging.drop(o.stage);
                if (o.pins)
                    o.state = StageState::leaving;
                else
                    forget(n);
                continue;
            }
        } else if (what == 7 && o.state == StageState::writing) {
            staging.complete(o.stage, 1);
            o.state = StageState::complete;
        } else if (what == 8 && o.state == StageState::complete) {
            staging.startPacking(o.stage);
            o.state = StageState::packing;
        } else if (what == 8 && o.state == StageState::packing) {
            staging.packingFailed(o.stage);
            o.state = StageState::complete;
        } else if (what == 9) {
            staging.pin(o.stage);
            ++o.pins;
        } else if (what == 10 && o.pins) {
            staging.unpin(o.stage);
            if (--o.pins == 0 && o.state == StageState::leaving) {
                forget(n);
                continue;
            }
        } else if (what == 11 && o.state != StageState::leaving) {
            staging.drop(o.stage);
            o.state = StageState::leaving;
            if (!o.pins) {
                forget(n);
                continue;
            }
        }
        ASSERT_NO_FATAL_FAILURE(compare(staging, all[n]));
        uint64_t used = 0;
        uint64_t complete = 0;
        for (const auto &t: all) {
            used += roundUp(t.bytes.size(), 1024);
            if (t.state == StageState::complete)
                complete += std::max<uint64_t>(roundUp(t.bytes.size(), 1024), 1024);
        }
        ASSERT_EQ(staging.bytesUsed(), used);
        ASSERT_EQ(staging.completeBytes(), complete);
        ASSERT_EQ(staging.objects(), all.size());
    }
    for (const auto &t: all)
        ASSERT_NO_FATAL_FAILURE(compare(staging, t));
}

TEST(Staging, listsCompleteObjectsByUse) {
    Staging staging(1 << 20);
    std::list<StageNo> oracles[2]; // those that were moved are in the second; front = used last
    std::vector<StageNo> all;
    for (uint64_t n = 0; n < 50; ++n) {
        const bool moved = n % 3 == 0;
        all.push_back(staging.open(keyOf(n), ObjectInfo()));
        ASSERT_TRUE(staging.append(all.back(), "abc", 3));
        staging.complete(all.back(), n, moved);
        EXPECT_EQ(staging[all.back()].since, n);
        EXPECT_EQ(staging[all.back()].moved, moved);
        oracles[moved].push_front(all.back());
    }
    std::mt19937_64 random(6);
    for (int i = 0; i < 5000; ++i) {
        const auto s = all[random() % all.size()];
        auto &oracle = oracles[staging[s].moved];
        const auto at = std::find(oracle.begin(), oracle.end(), s);
        switch (random() % 4) {
        case 0:
            staging.touch(s);
            if (at != oracle.end())
                oracle.splice(oracle.begin(), oracle, at);
            break;
        case 1:
            if (at != oracle.end()) {
                staging.startPacking(s);
                oracle.erase(at);
            }
            break;
        case 2:
            if (at == oracle.end()) {
                staging.packingFailed(s);
                oracle.push_front(s);
            }
            break;
        case 3:
            staging.putLast(s);
            if (at != oracle.end())
                oracle.splice(oracle.end(), oracle, at);
            break;
        }
        for (const bool moved: {false, true}) {
            auto c = staging.leastRecent(moved);
            for (auto o = oracles[moved].rbegin(); o != oracles[moved].rend(); ++o, c = staging.moreRecent(c))
                ASSERT_EQ(c, *o);
            ASSERT_EQ(c, noStage);
            ASSERT_EQ(staging.completeBytes(moved), oracles[moved].size() * Staging::chunkBytes);
        }
        ASSERT_EQ(staging.completeBytes(), (oracles[0].size() + oracles[1].size()) * Staging::chunkBytes);
    }
}

TEST(Staging, copiesFromAnyOffsetWithAnyCursor) {
    Staging staging(1 << 20);
    const auto bytes = bytesOf(1, 50000);
    const auto s = staging.open(keyOf(1), ObjectInfo());
    ASSERT_TRUE(staging.append(s, bytes.data(), bytes.size()));
    std::mt19937_64 random(7);
    Staging::Cursor cursor;
    std::vector<char> piece(9000);
    for (int i = 0; i < 3000; ++i) {
        const auto offset = random() % 51000;
        const auto size = random() % piece.size();
        const auto n = staging.copy(s, static_cast<uint32_t>(offset), piece.data(), size, cursor);
        const auto wanted = offset < bytes.size() ? bytes.substr(offset, size) : std::string();
        ASSERT_EQ(std::string(piece.data(), n), wanted);
    }
}

TEST(Staging, countsPromises) {
    Staging staging(64 * 1024);
    EXPECT_EQ(staging.bytesFree(), 64U * 1024);
    EXPECT_TRUE(staging.promise(60 * 1024));
    EXPECT_FALSE(staging.promise(5 * 1024));
    EXPECT_EQ(staging.bytesFree(), 4U * 1024);
    EXPECT_TRUE(staging.promise(4 * 1024));
    EXPECT_EQ(staging.bytesFree(), 0U);
    staging.unpromise(64 * 1024);
    const auto s = staging.open(keyOf(1), ObjectInfo());
    ASSERT_TRUE(staging.append(s, "x", 1));
    EXPECT_EQ(staging.bytesFree(), 63U * 1024);
    EXPECT_EQ(Staging::MemoryOf(0), 1024U);
    EXPECT_EQ(Staging::MemoryOf(1024), 1024U);
    EXPECT_EQ(Staging::MemoryOf(1025), 2048U);
}

TEST(Staging, isFullAtItsLimit) {
    Staging staging(20 * 1024);
    std::vector<StageNo> all;
    for (uint64_t n = 0; n < 20; ++n) {
        all.push_back(staging.open(keyOf(n), ObjectInfo()));
        ASSERT_NE(all.back(), noStage);
        ASSERT_TRUE(staging.append(all.back(), "x", 1));
    }
    EXPECT_EQ(staging.open(keyOf(99), ObjectInfo()), noStage);
    EXPECT_FALSE(staging.append(all[0], bytesOf(1, 1024).data(), 1024));
    staging.drop(all[1]);
    const auto s = staging.open(keyOf(99), ObjectInfo());
    ASSERT_NE(s, noStage);
    EXPECT_TRUE(staging.append(s, bytesOf(1, 1024).data(), 1024));
}
