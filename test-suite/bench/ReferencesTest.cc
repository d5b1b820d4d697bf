// SPDX-License-Identifier: GPL-2.0-or-later
/* The policies that bench-policy sets beside ours, step by step. */

#include "tools/bench/policy/References.h"

#include <gtest/gtest.h>

using namespace PolicyBench;

namespace {

/// what a policy finds of the letters of a text, each an object of ten bytes: '+' or '-'
std::string
found(Reference &policy, const std::string &letters)
{
    std::string result;
    for (const auto letter: letters)
        result += policy.request(static_cast<uint32_t>(letter - 'a'), 10) ? '+' : '-';
    return result;
}

} // namespace

TEST(References, lruDropsTheLeastRecentlyUsed)
{
    LruReference lru(30);
    EXPECT_EQ(found(lru, "abcadb"), "---+--"); // a was used, so that b goes when d comes
    EXPECT_EQ(found(lru, "adbc"), "+++-");
}

TEST(References, s3FifoDropsWhatIsUsedOnceFirst)
{
    S3FifoReference s3(100);
    EXPECT_EQ(found(s3, "abcab"), "---++");
    EXPECT_EQ(found(s3, "defghijklmnopq"), "--------------"); // a flood of what is used once
    EXPECT_EQ(found(s3, "ab"), "++"); // what was used twice has stayed
    EXPECT_EQ(found(s3, "c"), "-"); // and what was used once has gone; it is known, and stays from now on
    EXPECT_EQ(found(s3, "rstuvwxyz"), "---------");
    EXPECT_EQ(found(s3, "abc"), "+++");
}

TEST(References, s3FifoKeepsWhatIsUsedForAnotherRoundEach)
{
    S3FifoReference s3(40);
    EXPECT_EQ(found(s3, "aabbccdd"), "-+-+-+-+");
    EXPECT_EQ(found(s3, "e"), "-"); // in turn from small to main; then a, not used there, goes
    EXPECT_EQ(found(s3, "bbb"), "+++");
    EXPECT_EQ(found(s3, "a"), "-"); // b has three rounds more: c goes
    EXPECT_EQ(found(s3, "b"), "+");
}

TEST(References, s3FifoRemembersNoMoreThanItMay)
{
    S3FifoReference s3(40); // three tenths are remembered
    EXPECT_EQ(found(s3, "aabbccdd"), "-+-+-+-+");
    for (uint32_t flood = 100; flood < 200; ++flood)
        EXPECT_FALSE(s3.request(flood, 10));
    EXPECT_FALSE(s3.request(100, 10)); // forgotten: as new as before
    for (uint32_t flood = 200; flood < 210; ++flood)
        EXPECT_FALSE(s3.request(flood, 10));
    EXPECT_FALSE(s3.request(100, 10));
}

TEST(References, gdsfWeighsUsesAgainstBytes)
{
    GdsfReference gdsf(85, 1), lfuda(85, 0);
    for (Reference *const policy: {static_cast<Reference *>(&gdsf), static_cast<Reference *>(&lfuda)}) {
        EXPECT_FALSE(policy->request(0, 60)); // large, used three times
        EXPECT_TRUE(policy->request(0, 60));
        EXPECT_TRUE(policy->request(0, 60));
        EXPECT_FALSE(policy->request(1, 10)); // small, used once
        EXPECT_FALSE(policy->request(2, 18)); // one has to go
    }
    EXPECT_TRUE(gdsf.request(1, 10)); // 1/10 is more than 3/60
    EXPECT_TRUE(lfuda.request(0, 60)); // 3 is more than 1
    EXPECT_FALSE(gdsf.request(0, 60));
    EXPECT_FALSE(lfuda.request(1, 10));
}

TEST(References, gdsfAges)
{
    GdsfReference lfuda(20, 0);
    EXPECT_EQ(found(lfuda, "aaa"), "-++"); // worth 3
    EXPECT_EQ(found(lfuda, "bcdea"), "----+"); // b to d go one after the other: what is new is worth more each time
    EXPECT_EQ(found(lfuda, "fghijklm"), "--------");
    EXPECT_EQ(found(lfuda, "a"), "-"); // nothing stays for ever
}

TEST(References, keepNothingThatIsTooLarge)
{
    LruReference lru(50);
    S3FifoReference s3(50);
    GdsfReference gdsf(50, 0.5);
    for (Reference *const policy: {static_cast<Reference *>(&lru), static_cast<Reference *>(&s3), static_cast<Reference *>(&gdsf)}) {
        EXPECT_FALSE(policy->request(0, 10));
        EXPECT_FALSE(policy->request(1, 51));
        EXPECT_FALSE(policy->request(1, 51));
        EXPECT_TRUE(policy->request(0, 10));
    }
}

TEST(References, areCountedBesideEachOther)
{
    References all(100);
    all.request(0, 10);
    all.request(0, 10);
    for (const auto &line: all.lines()) {
        EXPECT_EQ(line.hits, 1U) << line.name;
        EXPECT_EQ(line.hitBytes, 10U) << line.name;
    }
    all.clear();
    all.request(0, 10);
    EXPECT_EQ(all.lines().front().name, "LRU");
    EXPECT_EQ(all.lines().front().hits, 1U);
}
