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

/// a policy is told what was counted
TEST(Admission, asksItsPolicy) {
    class Told final : public AdmissionPolicy
    {
    public:
        bool counts(const uint32_t from) const override { return from; }
        bool admits(const unsigned earlier, uint32_t) const override {
            asked.push_back(earlier);
            return false;
        }
        mutable std::vector<unsigned> asked;
    };
    const Told policy;
    Admission admission(100, policy);
    EXPECT_TRUE(admission.admits(keyOf(1), 0)) << "it wants nothing counted";
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(admission.admits(keyOf(1), 1));
    EXPECT_EQ(policy.asked, (std::vector<unsigned> {0, 1, 2}));
}

TEST(AdmissionPolicy, countsRequestsIfMoreThanOneIsAskedFor) {
    EXPECT_FALSE(nthRequestAdmission.counts(1));
    EXPECT_TRUE(nthRequestAdmission.counts(2));
    EXPECT_FALSE(nthRequestAdmission.admits(0, 2));
    EXPECT_TRUE(nthRequestAdmission.admits(1, 2));
    EXPECT_FALSE(nthRequestAdmission.admits(1, 3));
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
