// SPDX-License-Identifier: GPL-2.0-or-later
/* Staging as another process sees it. */

#include "fs/cluster/catalog/StagingView.h"

#include <algorithm>
#include <cstring>

bool
ClusterFs::StagingView::copy(const StageNo stage, const Key &key, const uint32_t size, char *to) const
{
    if (stage.value() >= tables_.objectsAtMost)
        return false;
    const auto &object = tables_.objects[stage.value()];
    Key found;
    memcpy(&found, &object.key, sizeof(found));
    if (found != key || __atomic_load_n(&object.size, __ATOMIC_RELAXED) != size)
        return false;
    auto chunk = __atomic_load_n(&object.firstChunk, __ATOMIC_RELAXED);
    for (uint32_t left = size; left;) {
        if (chunk >= tables_.chunks)
            return false;
        const auto bytes = std::min(left, Staging::chunkBytes);
        memcpy(to, tables_.bytes + uint64_t(chunk) * Staging::chunkBytes, bytes);
        to += bytes;
        left -= bytes;
        chunk = __atomic_load_n(&tables_.nextChunks[chunk], __ATOMIC_RELAXED);
    }
    return true;
}
