// SPDX-License-Identifier: GPL-2.0-or-later
/* What is stored at its second request or later. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/api/Config.h"
#include "fs/cluster/objects/Admission.h"

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(Admission, takesEverythingFromTheFirstRequestOn) {
    Admission admission(100);
    for (uint64_t n = 0; n < 1000; ++n)
        EXPECT_TRUE(admission.admits(keyOf(n), 1));
}

TEST(Admission, takesAnObjectAtTheRequestAskedFor) {
    for (const uint32_t from: {2U, 3U, Config::maxAdmit}) {
        Admission admission(100000);
        for (uint64_t n = 0; n < 10; ++n) {
            for (uint32_t request = 1; request < from; ++request)
                EXPECT_FALSE(admission.admits(keyOf(n), from)) << request << " of " << from;
            EXPECT_TRUE(admission.admits(keyOf(n), from));
            EXPECT_TRUE(admission.admits(keyOf(n), from)) << "and from then on";
        }
    }
}

TEST(Admission, rarelyTakesANewObjectForAKnownOne) {
    constexpr uint64_t objects = 20000;
    Admission admission(objects);
    uint64_t wrong = 0;
    for (uint64_t n = 0; n < 10 * objects; ++n)
        wrong += admission.admits(keyOf(n), 2);
    EXPECT_LE(wrong, objects * 10 / 25);
}

TEST(Admission, remembersForAsLongAsItSays) {
    constexpr uint64_t objects = 20000;
    constexpr uint64_t distance = objects / 2 - 1;
    Admission admission(objects);
    std::vector<bool> refused;
    for (uint64_t n = 0; n < objects; ++n) {
        refused.push_back(!admission.admits(keyOf(n), 2));
        if (n >= distance && refused[n - distance]) {
            ASSERT_TRUE(admission.admits(keyOf(n - distance), 2)) << n;
        }
    }
}

TEST(Admission, forgetsWhatCameLongAgo) {
    constexpr uint64_t objects = 1000;
    Admission admission(objects);
    (void)admission.admits(keyOf(0), 2);
    for (uint64_t n = 1; n < 3 * objects; ++n)
        (void)admission.admits(keyOf(n), 2);
    EXPECT_FALSE(admission.admits(keyOf(0), 2));
}
