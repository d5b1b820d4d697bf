// SPDX-License-Identifier: GPL-2.0-or-later
/* Staged objects as another process copies them, and memory with nonsense. */

#include "test-suite/unit/support/EngineSupport.h"

#include "fs/cluster/catalog/StagingView.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

using namespace ClusterFs;
using namespace ClusterFs::Testing;

TEST(StagingView, copiesWhatIsStaged)
{
    Staging staging(MB);
    const auto stage = staging.open(keyOf(1), ObjectInfo());
    ASSERT_TRUE(staging.append(stage, bytesOf(1, 5000).data(), 5000));
    staging.close(stage, 5000, 0);
    const StagingView view({staging.bytesMemory().data(), reinterpret_cast<const uint32_t *>(staging.chainMemory().data()),
                            staging.chainMemory().size() / sizeof(uint32_t), reinterpret_cast<const Staged *>(staging.objectMemory().data()),
                            staging.objectMemory().size() / sizeof(Staged)});
    std::string got(5000, '\0');
    EXPECT_TRUE(view.copy(stage, keyOf(1), 5000, &got[0]));
    EXPECT_EQ(got, bytesOf(1, 5000));
    EXPECT_FALSE(view.copy(stage, keyOf(2), 5000, &got[0]));
    EXPECT_FALSE(view.copy(stage, keyOf(1), 4999, &got[0])) << "another size than the index has";
    EXPECT_FALSE(view.copy(stage + 100000, keyOf(1), 5000, &got[0]));
}

/// whatever the memory has, a copy stays within it and ends
TEST(StagingView, endsInNonsense)
{
    constexpr unsigned chunks = 20;
    for (unsigned seed = 1; seed < 100; ++seed) {
        std::minstd_rand random(seed);
        const std::vector<char> bytes(chunks * Staging::chunkBytes); // on the heap, where a sanitizer guards their ends
        std::vector<uint32_t> next(chunks);
        for (auto &n: next)
            n = random() % (chunks + 2);
        std::vector<Staged> objects(5);
        for (auto &o: objects) {
            o.key = keyOf(1);
            o.size = 30000;
            o.firstChunk = random() % (chunks + 2);
        }
        const StagingView view({bytes.data(), next.data(), chunks, objects.data(), objects.size()});
        std::string got(30000, '\0');
        for (uint32_t n = 0; n < 6; ++n)
            (void)view.copy(StageNo(n), keyOf(1), 30000, &got[0]);
    }
}
