// SPDX-License-Identifier: GPL-2.0-or-later
/* Policies that a program brings along. */

#include "test-suite/library/LibrarySupport.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>

namespace ClusterFs::Library::Testing {
namespace {

class PoliciesTest : public LibraryTest
{
protected:
    void open(const clusterfs_policies &policies) {
        auto options = smallOptions();
        options.setPolicies(policies);
        start(1, 32 * MB, options);
    }

    /// stores so much that the device is written over
    void wrapAround(const size_t small, const size_t large) {
        for (unsigned n = 0; n < 3000; ++n) {
            const auto size = n % 2 ? small : large;
            store->write((n % 2 ? "small" : "large") + std::to_string(n), bytesOf(n, size));
        }
        store->run(CLUSTERFS_PACK);
    }

    /// how many objects there are of a kind, each with the right bytes
    unsigned count(const std::string &kind, const size_t size) {
        unsigned found = 0;
        for (unsigned n = kind == "small" ? 1 : 0; n < 3000; n += 2) {
            const auto object = get(kind + std::to_string(n));
            if (!object)
                continue;
            EXPECT_TRUE(*object == bytesOf(n, size)) << kind << n;
            ++found;
        }
        return found;
    }
};

double
likesSmall(void *, const clusterfs_candidate *const object)
{
    return object->bytes < 8000 ? 0 : -20;
}

double
likesLarge(void *, const clusterfs_candidate *const object)
{
    return object->bytes < 8000 ? -20 : 0;
}

TEST_F(PoliciesTest, theWorthDecidesWhatIsKept) {
    unsigned small[2] = {};
    for (const int turn: {0, 1}) {
        clusterfs_policies policies{};
        policies.worth = turn ? &likesLarge : &likesSmall;
        ASSERT_NO_FATAL_FAILURE(open(policies));
        wrapAround(7000, 30000);
        small[turn] = count("small", 7000);
        EXPECT_GT(count("large", 30000), 100U);
        TearDown();
        paths.clear();
        SetUp();
    }
    EXPECT_GT(small[0], small[1] * 5 / 4) << "kept by one who likes them, and by one who does not";
}

TEST_F(PoliciesTest, aWorthThatIsNoNumberDoesNoHarm) {
    static std::atomic<unsigned> calls;
    clusterfs_policies policies{};
    policies.worth = [](void *, const clusterfs_candidate *) {
        const double odd[] = {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 1e300, -1e300};
        return odd[calls++ % 5];
    };
    ASSERT_NO_FATAL_FAILURE(open(policies));
    wrapAround(7000, 30000);
    EXPECT_GT(calls, 100U);
    EXPECT_GT(count("small", 7000) + count("large", 30000), 500U);
}

TEST_F(PoliciesTest, thePlaceIsTheClosestFreeOne) {
    clusterfs_policies policies{};
    uint32_t clusters = 0;
    policies.opaque = &clusters;
    policies.place = [](void *const opaque, const uint32_t count, uint32_t, uint32_t) {
        *static_cast<uint32_t *>(opaque) = count;
        return count - 1; // from the end on
    };
    ASSERT_NO_FATAL_FAILURE(open(policies));
    for (unsigned n = 0; n < 100; ++n)
        store->write("object" + std::to_string(n), bytesOf(n, 20000));
    store->close();
    EXPECT_GT(clusters, 300U);
    std::ifstream device(paths[0], std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(device)), std::istreambuf_iterator<char>());
    const auto place = bytes.find(bytesOf(1, 20000).substr(0, 1000));
    ASSERT_NE(place, std::string::npos);
    EXPECT_GT(place, 24 * MB) << "at the end of the device";
}

TEST_F(PoliciesTest, aPlaceOutsideOfTheDeviceIsItsEnd) {
    clusterfs_policies policies{};
    policies.place = [](void *, uint32_t, uint32_t, uint32_t) { return ~0U; };
    ASSERT_NO_FATAL_FAILURE(open(policies));
    wrapAround(7000, 30000);
    EXPECT_GT(count("small", 7000) + count("large", 30000), 500U);
}

/// the question is asked for a group that follows others into a cluster
TEST_F(PoliciesTest, groupsJoinWhenThePolicySaysSo) {
    double joined[2] = {};
    for (const int turn: {0, 1}) {
        clusterfs_policies policies{};
        std::atomic<bool> sound{true};
        policies.opaque = &sound;
        policies.joins = turn ? [](void *, uint64_t, uint64_t, uint64_t) { return 1; } : [](void *const opaque, const uint64_t objects, const uint64_t bytes, const uint64_t left) {
            if (objects < 2 || bytes < objects * 3000 || left > 65536)
                *static_cast<std::atomic<bool> *>(opaque) = false;
            return 0;
        };
        ASSERT_NO_FATAL_FAILURE(open(policies));
        for (unsigned group = 1; group <= 40; ++group) {
            for (unsigned n = 0; n < 4; ++n) {
                clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
                attributes.group = group;
                const auto name = std::to_string(group) + "/" + std::to_string(n);
                const auto bytes = bytesOf(n, 3000);
                ASSERT_EQ(clusterfs_write(store->get(), name.data(), name.size(), bytes.data(), bytes.size(), &attributes), 0);
            }
        }
        store->run(CLUSTERFS_PACK);
        joined[turn] = store->statistic("clusters written");
        EXPECT_TRUE(sound);
        TearDown();
        paths.clear();
        SetUp();
    }
    EXPECT_GE(joined[0], 40) << "each in a cluster of its own";
    EXPECT_LT(joined[1], 15);
}

/// A caller copies an object that is in memory by itself, whatever the thread of the device does meanwhile: here, it asks a policy.
TEST_F(PoliciesTest, readsFromMemoryWaitForNobody) {
    struct Held {
        std::promise<void> asked, go;
        std::atomic<bool> first{true};
    } held;
    clusterfs_policies policies{};
    policies.opaque = &held;
    policies.joins = [](void *const opaque, uint64_t, uint64_t, uint64_t) {
        auto &h = *static_cast<Held *>(opaque);
        if (h.first.exchange(false)) {
            h.asked.set_value();
            h.go.get_future().wait();
        }
        return 1;
    };
    ASSERT_NO_FATAL_FAILURE(open(policies));
    store->write("packed", bytesOf(1, 5000));
    store->run(CLUSTERFS_PACK);
    store->write("staged", bytesOf(2, 40000));
    store->write("nothing", "");
    clusterfs_attributes attributes = CLUSTERFS_ATTRIBUTES;
    for (const unsigned n: {0, 1, 2, 3}) {
        attributes.group = 1 + n / 2;
        const auto name = std::to_string(n), bytes = bytesOf(n, 3000);
        ASSERT_EQ(clusterfs_write(store->get(), name.data(), name.size(), bytes.data(), bytes.size(), &attributes), 0);
    }
    const auto opened = store->statistic("opened for reading");
    auto packing = std::async(std::launch::async, [this] { store->run(CLUSTERFS_PACK); });
    held.asked.get_future().wait();
    auto reading = std::async(std::launch::async, [this] {
        EXPECT_EQ(get("packed"), bytesOf(1, 5000));
        EXPECT_EQ(get("staged"), bytesOf(2, 40000));
        EXPECT_EQ(get("nothing"), "");
        EXPECT_EQ(get("2"), bytesOf(2, 3000)) << "which is being packed";
        EXPECT_TRUE(store->exists("3"));
        char some[100];
        EXPECT_EQ(clusterfs_read_into(store->get(), "staged", 6, some, sizeof(some)), 40000);
        EXPECT_EQ(std::string(some, sizeof(some)), bytesOf(2, 40000).substr(0, sizeof(some)));
        clusterfs::Queue queue(*store, 4);
        EXPECT_TRUE(queue.read(7, "packed"));
        const auto answer = queue.wait(0);
        ASSERT_TRUE(answer && answer->object);
        EXPECT_EQ(answer->tag, 7U);
        EXPECT_EQ(answer->object->str(), bytesOf(1, 5000));
    });
    const bool waited = reading.wait_for(std::chrono::seconds(60)) != std::future_status::ready;
    held.go.set_value();
    packing.wait();
    reading.wait();
    EXPECT_FALSE(waited);
    EXPECT_EQ(store->statistic("opened for reading"), opened + 6) << "the engine has heard of them";
    store->remove("packed");
    EXPECT_FALSE(get("packed"));
    store->write("staged", bytesOf(3, 100));
    EXPECT_EQ(get("staged"), bytesOf(3, 100));
}

TEST_F(PoliciesTest, wrongArguments) {
    clusterfs_options *options = nullptr;
    ASSERT_EQ(clusterfs_options_new(&options), 0);
    clusterfs_policies policies{};
    EXPECT_EQ(clusterfs_options_policies(options, &policies), -CLUSTERFS_ARGUMENT) << "no size";
    policies.struct_size = sizeof(policies);
    EXPECT_EQ(clusterfs_options_policies(nullptr, &policies), -CLUSTERFS_ARGUMENT);
    EXPECT_EQ(clusterfs_options_policies(options, &policies), 0);
    EXPECT_EQ(clusterfs_options_policies(options, nullptr), 0);
    clusterfs_options_free(options);
}

} // namespace
} // namespace ClusterFs::Library::Testing
