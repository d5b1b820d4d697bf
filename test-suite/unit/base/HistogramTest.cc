// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the histogram. */

#include "fs/cluster/base/Histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using ClusterFs::Histogram;

TEST(HistogramTest, emptyHasZeros)
{
    const Histogram histogram;
    EXPECT_EQ(histogram.total(), 0U);
    EXPECT_EQ(histogram.most(), 0U);
    for (const double share: {0.0, 0.5, 0.999, 1.0})
        EXPECT_EQ(histogram.percentile(share), 0U);
}

TEST(HistogramTest, oneValueIsEveryPercentile)
{
    for (const uint64_t value: {uint64_t(0), uint64_t(1), uint64_t(7), uint64_t(8), uint64_t(12345), UINT64_MAX}) {
        Histogram histogram;
        histogram.add(value);
        EXPECT_EQ(histogram.total(), 1U);
        EXPECT_EQ(histogram.most(), value);
        for (const double share: {0.0, 0.5, 1.0})
            EXPECT_EQ(histogram.percentile(share), value);
    }
}

TEST(HistogramTest, smallValuesAreExact)
{
    Histogram histogram;
    for (uint64_t value = 0; value < 8; ++value)
        histogram.add(value);
    for (uint64_t value = 0; value < 8; ++value)
        EXPECT_EQ(histogram.percentile(static_cast<double>(value) / 7), value);
}

TEST(HistogramTest, bucketsAreNarrow)
{
    // every value up to 40 bits or so is reported at most an eighth too high
    for (uint64_t value = 1; value < uint64_t(1) << 40; value += value / 7 + 1) {
        Histogram histogram;
        histogram.add(value);
        histogram.add(UINT64_MAX); // so that the largest value does not help
        const auto reported = histogram.percentile(0.0);
        ASSERT_GE(reported, value);
        ASSERT_LE(reported - value, value / 8);
    }
}

TEST(HistogramTest, hugeValuesShareTheLastBucket)
{
    Histogram histogram;
    histogram.add(uint64_t(1) << 50);
    histogram.add(uint64_t(1) << 60);
    EXPECT_EQ(histogram.total(), 2U);
    EXPECT_EQ(histogram.most(), uint64_t(1) << 60);
    EXPECT_EQ(histogram.percentile(1.0), histogram.most());
    EXPECT_GE(histogram.percentile(0.0), uint64_t(1) << 50);
}

TEST(HistogramTest, percentilesBoundTheSortedValues)
{
    std::mt19937_64 random(42);
    Histogram histogram;
    std::vector<uint64_t> values;
    for (unsigned i = 0; i < 10000; ++i) {
        const auto value = random() >> (30 + random() % 34);
        values.push_back(value);
        histogram.add(value);
    }
    std::sort(values.begin(), values.end());
    uint64_t previous = 0;
    for (unsigned percent = 0; percent <= 100; ++percent) {
        const double share = percent / 100.0;
        const auto exact = values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
        const auto reported = histogram.percentile(share);
        ASSERT_GE(reported, exact) << percent;
        ASSERT_LE(reported, exact + exact / 8) << percent;
        ASSERT_GE(reported, previous);
        previous = reported;
    }
    EXPECT_EQ(histogram.percentile(1.0), histogram.most());
}

TEST(HistogramTest, aShareOfMoreThanAllIsTheLargest)
{
    Histogram histogram;
    for (const uint64_t value: {1, 20, 3000})
        histogram.add(value);
    EXPECT_EQ(histogram.percentile(2.0), 3000U);
}

TEST(HistogramTest, copiesAreIndependent)
{
    Histogram first;
    first.add(100);
    Histogram second = first;
    second.add(200);
    EXPECT_EQ(first.total(), 1U);
    EXPECT_EQ(second.total(), 2U);
    EXPECT_EQ(first.most(), 100U);
}
