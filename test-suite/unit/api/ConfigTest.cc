// SPDX-License-Identifier: GPL-2.0-or-later
/* Options: names, bounds, errors. */

#include "fs/cluster/api/Options.h"
#include "fs/cluster/device/AioDevice.h"
#include "fs/cluster/layout/Geometry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

using namespace ClusterFs;

namespace {

/// the rows of numbers, or of the others
std::vector<Option>
optionsWith(const bool choices)
{
    std::vector<Option> some;
    for (const auto &option: options()) {
        if (option.choices.empty() != choices)
            some.push_back(option);
    }
    return some;
}

std::vector<Option> numbers() { return optionsWith(false); }
std::vector<Option> choices() { return optionsWith(true); }

} // namespace

TEST(Config, eachOptionIsDescribed) {
    std::set<std::string> names;
    for (const auto &o: options()) {
        EXPECT_TRUE(names.insert(o.name).second) << o.name;
        EXPECT_EQ(findOption(o.name), &o);
        EXPECT_EQ(*o.unit == 0, !o.choices.empty()) << o.name << " has a unit or choices";
        EXPECT_TRUE(!o.choices.empty() || o.least < o.most) << o.name;
        const std::string brief = o.brief, more = o.more;
        ASSERT_FALSE(brief.empty()) << o.name;
        EXPECT_NE(brief.back(), '.') << o.name << ": brief is a phrase";
        EXPECT_TRUE(more.empty() || more.back() == '.') << o.name << ": more has sentences";
        EXPECT_EQ((brief + more).find('|'), std::string::npos) << o.name << ": the texts stand in tables";
    }
}

TEST(Config, boundsAreThoseOfTheParts) {
    const auto planned = [](const uint64_t clusterKb, const uint64_t objectKb) {
        Geometry g;
        std::string error;
        return g.plan(uint64_t(1) << 40, static_cast<uint32_t>(clusterKb * 1024), static_cast<uint32_t>(objectKb * 1024), error);
    };
    const auto &cluster = *findOption("cluster-size");
    const auto &object = *findOption("object-size");
    EXPECT_TRUE(planned(cluster.least, object.least));
    EXPECT_TRUE(planned(cluster.most, object.most));
    EXPECT_FALSE(planned(cluster.least / 2, object.least));
    EXPECT_FALSE(planned(cluster.most * 2, object.least));
    EXPECT_FALSE(planned(cluster.least, object.least - 1));
    EXPECT_FALSE(planned(cluster.least, object.most + 1));
    EXPECT_EQ(findOption("depth")->most, AioDevice::maxDepth);
    EXPECT_EQ(findOption("staging")->least, Config().leastMb());
    EXPECT_EQ(findOption("read-cache")->least, Config().leastMb());
}

TEST(Config, takesNumbersWithinBounds) {
    for (const auto &n: numbers()) {
        Config c;
        std::string error;
        for (const auto value: {n.least, n.most, n.least + (n.most - n.least) / 2}) {
            EXPECT_TRUE(c.set(n.name, std::to_string(value), error)) << error;
            EXPECT_EQ(c.get(n.name), std::to_string(value));
        }
        const auto kept = c.get(n.name);
        std::vector<std::string> bad = {std::to_string(uint64_t(n.most) + 1), "", " 5", "5 ", "+5", "-1", "5k", "0x10", "5.0", "five",
                                        "99999999999", "18446744073709551617", "4294967301"};
        if (n.least)
            bad.push_back(std::to_string(n.least - 1));
        for (const auto &value: bad) {
            error.clear();
            EXPECT_FALSE(c.set(n.name, value, error)) << n.name << "=" << value;
            EXPECT_EQ(error, std::string(n.name) + "=" + value + " is not a whole number from " +
                      std::to_string(n.least) + " to " + std::to_string(n.most));
            EXPECT_EQ(c.get(n.name), kept) << "a refused value changes nothing";
        }
    }
}

TEST(Config, takesNames) {
    for (const auto &choice: choices()) {
        Config c;
        std::string error;
        for (const auto *value: choice.choices) {
            EXPECT_TRUE(c.set(choice.name, value, error)) << error;
            EXPECT_EQ(c.get(choice.name), value);
        }
        for (const auto *value: {"", "LRU", "yes", "1", "closest "}) {
            error.clear();
            EXPECT_FALSE(c.set(choice.name, value, error)) << value;
            for (const auto *good: choice.choices)
                EXPECT_NE(error.find(good), std::string::npos) << error;
            EXPECT_EQ(c.get(choice.name), choice.choices.back());
        }
    }
    EXPECT_EQ(Config().get("replacement"), "gdsf");
    EXPECT_EQ(Config().get("layout"), "closest-write");
    EXPECT_EQ(Config().get("list"), "off");
}

TEST(Config, refusesUnknownOptions) {
    Config c;
    std::string error;
    for (const auto *name: {"", "nothing", "Depth", "depth "}) {
        EXPECT_FALSE(c.set(name, "1", error));
        EXPECT_NE(error.find(std::string("'") + name + "'"), std::string::npos) << error;
        EXPECT_EQ(c.get(name), "");
        EXPECT_FALSE(findOption(name));
    }
}

TEST(Config, goesThroughTextUnchanged) {
    Config a;
    std::string error;
    for (const auto &n: numbers())
        ASSERT_TRUE(a.set(n.name, std::to_string(n.most), error)) << error;
    for (const auto &c: choices())
        ASSERT_TRUE(a.set(c.name, Config().get(c.name) == c.choices.back() ? c.choices.front() : c.choices.back(), error));
    const Config usual;
    Config b;
    for (const auto &o: options()) {
        EXPECT_NE(o.read(a), o.read(usual)) << o.name << ": should differ from the default for this test";
        ASSERT_TRUE(o.take(b, o.valueIn(a), error)) << error;
        EXPECT_EQ(o.read(a), o.read(b));
    }
}

TEST(Config, defaultsAreValid) {
    Config c;
    std::string error;
    EXPECT_TRUE(c.validate(error)) << error;
    EXPECT_EQ(c.clusterBytes(), 1024U * 1024);
    for (const auto &o: options()) {
        Config d;
        EXPECT_TRUE(o.take(d, o.defaultValue(), error)) << error;
        EXPECT_TRUE(*o.defaultFrom || o.read(d) == o.read(c)) << o.name;
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

TEST(Config, memoryHoldsTheOthers) {
    const struct { uint32_t memory, staging, locality; const char *error; } cases[] = {
        {0, 32, 16, nullptr}, {50, 32, 16, nullptr}, {1000, 32, 16, nullptr}, {12, 2, 8, nullptr}, {4, 2, 0, nullptr},
        {49, 32, 16, "memory=49 MB is less than staging=32, locality=16 and 2 MB for the read cache together: raise it to 50"},
        {1, 2, 0, "raise it to 4,"},
    };
    for (const auto &c: cases) {
        Config config;
        config.memoryMb = c.memory;
        config.stagingMb = c.staging;
        config.localityMb = c.locality;
        std::string error;
        EXPECT_EQ(config.validate(error), !c.error) << error;
        if (c.error) {
            EXPECT_NE(error.find(c.error), std::string::npos) << error;
        }
        config.clusterKb = 16384; // that of the device
        config.suitOthers();
        EXPECT_TRUE(config.validate(error)) << error;
        EXPECT_EQ(config.memoryMb > 0, c.memory > 0);
    }
}

/// whatever the order of the options is
TEST(Config, memoryIsSharedUnlessTheOthersAreGiven) {
    using Words = std::vector<std::pair<const char *, const char *>>;
    const struct { Words options; uint32_t staging, locality; } cases[] = {
        {{}, 32, 16}, {{{"memory", "0"}}, 32, 16}, {{{"memory", "800"}}, 100, 160}, {{{"memory", "4"}}, 2, 0},
        {{{"memory", "100000"}}, 256, 20000}, {{{"memory", "1048576"}}, 256, 65536}, {{{"memory", "800"}, {"cluster-size", "16384"}}, 100, 160},
        {{{"memory", "100"}, {"cluster-size", "16384"}}, 32, 20}, {{{"memory", "800"}, {"staging", "7"}}, 7, 160},
        {{{"staging", "7"}, {"memory", "800"}}, 7, 160}, {{{"locality", "0"}, {"memory", "800"}, {"depth", "3"}}, 100, 0},
    };
    for (const auto &c: cases) {
        Config config;
        std::string error;
        for (const auto &[name, value]: c.options)
            EXPECT_TRUE(config.set(name, value, error)) << error;
        EXPECT_EQ(config.stagingMb, c.staging) << config.memoryMb;
        EXPECT_EQ(config.localityMb, c.locality) << config.memoryMb;
        EXPECT_TRUE(config.validate(error)) << error;
    }
}

/// a device keeps the clusters that it was formatted with
TEST(Config, raisesMemoryThatIsTooLittleForItsClusters) {
    Config config;
    std::string error;
    for (const uint32_t kb: {16U, 1024U, 2048U, 16384U}) {
        config.clusterKb = kb;
        config.stagingMb = config.readCacheMb = 2;
        config.suitOthers();
        EXPECT_TRUE(config.validate(error)) << error;
        EXPECT_EQ(config.stagingMb, std::max(2U, kb / 512));
        EXPECT_EQ(config.readCacheMb, std::max(2U, kb / 512));
    }
    config.stagingMb = 100;
    config.suitOthers();
    EXPECT_EQ(config.stagingMb, 100U);
}
