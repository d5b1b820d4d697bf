// SPDX-License-Identifier: GPL-2.0-or-later
/* Options: names, bounds, errors. */

#include "test-suite/unit/api/ConfigSupport.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(Config, knowsItsOptions) {
    std::set<std::string> expected;
    for (const auto &n: numbers)
        expected.insert(n.name);
    for (const auto &c: choices)
        expected.insert(c.name);
    const auto &names = Config::Names();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected);
    EXPECT_EQ(names.size(), expected.size());
}

TEST(Config, takesNumbersWithinBounds) {
    for (const auto &n: numbers) {
        Config c;
        std::string error;
        for (const auto value: {n.least, n.most, (n.least + n.most) / 2}) {
            EXPECT_TRUE(c.set(n.name, std::to_string(value), error)) << error;
            EXPECT_EQ(c.get(n.name), std::to_string(value));
        }
        const auto kept = c.get(n.name);
        std::vector<std::string> bad = {std::to_string(n.most + 1), "", " 5", "5 ", "+5", "-1", "5k", "0x10", "5.0", "five",
                                        "99999999999", "18446744073709551617", "4294967301"};
        if (n.least)
            bad.push_back(std::to_string(n.least - 1));
        for (const auto &value: bad) {
            error.clear();
            EXPECT_FALSE(c.set(n.name, value, error)) << n.name << "=" << value;
            EXPECT_NE(error.find(std::string(n.name) + "=" + value), std::string::npos) << error;
            EXPECT_NE(error.find(std::to_string(n.least)), std::string::npos) << error;
            EXPECT_NE(error.find(std::to_string(n.most)), std::string::npos) << error;
            EXPECT_EQ(c.get(n.name), kept) << "a refused value changes nothing";
        }
    }
}

TEST(Config, takesNames) {
    for (const auto &choice: choices) {
        Config c;
        std::string error;
        for (const auto *value: choice.values) {
            EXPECT_TRUE(c.set(choice.name, value, error)) << error;
            EXPECT_EQ(c.get(choice.name), value);
        }
        for (const auto *value: {"", "LRU", "yes", "1", "closest "}) {
            error.clear();
            EXPECT_FALSE(c.set(choice.name, value, error)) << value;
            for (const auto *good: choice.values)
                EXPECT_NE(error.find(good), std::string::npos) << error;
            EXPECT_EQ(c.get(choice.name), choice.values.back());
        }
    }
}

TEST(Config, refusesUnknownOptions) {
    Config c;
    std::string error;
    for (const auto *name: {"", "nothing", "Depth", "depth "}) {
        EXPECT_FALSE(c.set(name, "1", error));
        EXPECT_NE(error.find(std::string("'") + name + "'"), std::string::npos) << error;
        EXPECT_EQ(c.get(name), "");
        EXPECT_FALSE(Config::Live(name));
    }
}

TEST(Config, knowsWhatMayChange) {
    for (const auto &n: numbers)
        EXPECT_EQ(Config::Live(n.name), n.live) << n.name;
    for (const auto &c: choices)
        EXPECT_EQ(Config::Live(c.name), c.live) << c.name;
}

TEST(Config, goesThroughTextUnchanged) {
    Config a;
    std::string error;
    for (const auto &n: numbers)
        ASSERT_TRUE(a.set(n.name, std::to_string(n.most), error)) << error;
    for (const auto &c: choices)
        ASSERT_TRUE(a.set(c.name, c.values.back(), error));
    Config b;
    for (const auto &name: Config::Names()) {
        EXPECT_NE(a.get(name), b.get(name)) << name << ": should differ from the default for this test";
        ASSERT_TRUE(b.set(name, a.get(name), error)) << error;
        EXPECT_EQ(a.get(name), b.get(name));
    }
}

TEST(Config, defaultsAreValid) {
    Config c;
    std::string error;
    EXPECT_TRUE(c.validate(error)) << error;
    EXPECT_EQ(c.clusterBytes(), 1024U * 1024);
    for (const auto &name: Config::Names()) {
        Config d;
        if (name != "object-size") { // 0 stands for the caller's choice
            EXPECT_TRUE(d.set(name, c.get(name), error)) << error;
        }
    }
}

TEST(Config, checksWhatBelongsTogether) {
    const struct { uint32_t cluster, staging, cache; const char *error; } cases[] = {
        {16, 2, 2, nullptr}, {1024, 2, 2, nullptr}, {16384, 32, 32, nullptr}, {2048, 4, 4, nullptr},
        {24, 32, 32, "cluster-size=24"}, {1000, 32, 32, "cluster-size=1000"}, {2048, 3, 32, "staging=3"},
        {2048, 32, 3, "read-cache=3 MB"}, {16384, 31, 32, "staging=31 MB"}, {16384, 32, 31, "read-cache=31 MB"},
        {64, 32, 1, "read-cache=1 MB is too little for clusters of 64 KB: raise it to 2"},
        {16384, 32, 2, "raise it to 32, or choose a smaller cluster-size"}, {2048, 2, 4, "clusters of 2048 KB: raise it to 4,"},
    };
    for (const auto &c: cases) {
        Config config;
        config.clusterKb = c.cluster;
        config.stagingMb = c.staging;
        config.readCacheMb = c.cache;
        std::string error;
        EXPECT_EQ(config.validate(error), !c.error) << error;
        if (c.error) {
            EXPECT_NE(error.find(c.error), std::string::npos) << error;
        }
    }
}

/// a device keeps the clusters that it was formatted with
TEST(Config, raisesMemoryThatIsTooLittleForItsClusters) {
    Config config;
    std::string error;
    for (const uint32_t kb: {16U, 1024U, 2048U, 16384U}) {
        config.clusterKb = kb;
        config.stagingMb = config.readCacheMb = 2;
        config.suitClusters();
        EXPECT_TRUE(config.validate(error)) << error;
        EXPECT_EQ(config.stagingMb, std::max(2U, kb / 512));
        EXPECT_EQ(config.readCacheMb, std::max(2U, kb / 512));
    }
    config.stagingMb = 100;
    config.suitClusters();
    EXPECT_EQ(config.stagingMb, 100U);
}
