// SPDX-License-Identifier: GPL-2.0-or-later
/* A list of numbers in the order of their serial numbers. */

#include "fs/cluster/learning/MemberList.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace ClusterFs;

namespace {

struct Entry {
    uint64_t serial = 0;
};

class MemberListTest : public ::testing::Test
{
protected:
    void append(const uint32_t n) {
        entries[n].serial = ++serial;
        list.append(n);
        wanted.insert(serial);
    }
    void erase(const uint32_t n) {
        list.erase(n);
        wanted.erase(entries[n].serial);
    }

    /// compares what lies around a serial number
    void look(const uint64_t at) const {
        const auto above = wanted.upper_bound(at), notBelow = wanted.lower_bound(at);
        const auto after = list.after(at), before = list.before(at);
        EXPECT_EQ(after ? entries[after].serial : 0, above == wanted.end() ? 0 : *above) << at;
        EXPECT_EQ(before ? entries[before].serial : 0, notBelow == wanted.begin() ? 0 : *std::prev(notBelow)) << at;
    }

    static constexpr uint32_t most = 3000;
    std::vector<Entry> entries{most + 1};
    MemberList<std::vector<Entry>> list{entries};
    std::set<uint64_t> wanted; ///< serial numbers
    uint64_t serial = 0;
};

} // namespace

TEST_F(MemberListTest, emptyAndOne) {
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.after(0), nothing);
    EXPECT_EQ(list.before(9), nothing);
    append(7);
    EXPECT_FALSE(list.empty());
    EXPECT_EQ(list.after(0), 7U);
    EXPECT_EQ(list.after(1), nothing);
    EXPECT_EQ(list.before(1), nothing);
    EXPECT_EQ(list.before(2), 7U);
    erase(7);
    EXPECT_TRUE(list.empty());
}

TEST_F(MemberListTest, anyOrderOfComingAndGoing) {
    std::mt19937 random(3);
    std::set<uint32_t> in;
    for (unsigned step = 0; step < 60000; ++step) {
        const auto n = static_cast<uint32_t>(1 + random() % most);
        // long, short, long
        const bool grow = random() % 100 < (step < 20000 ? 80 : step < 40000 ? 20 : 60);
        if (grow && !in.count(n)) {
            append(n);
            in.insert(n);
        } else if (!grow && !in.empty()) {
            const auto at = in.lower_bound(n);
            const auto gone = at == in.end() ? *in.begin() : *at;
            erase(gone);
            in.erase(gone);
        }
        look(random() % (serial + 2));
        ASSERT_EQ(list.empty(), in.empty());
    }
    std::vector<uint64_t> all;
    for (auto n = list.after(0); n; n = list.after(entries[n].serial))
        all.push_back(entries[n].serial);
    EXPECT_EQ(all, std::vector<uint64_t>(wanted.begin(), wanted.end()));
}
