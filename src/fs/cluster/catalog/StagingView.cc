// SPDX-License-Identifier: GPL-2.0-or-later
/* Staging as another process sees it. */

#include "fs/cluster/catalog/StagingView.h"

#include "fs/cluster/base/SharedWord.h"

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
    if (found != key || loadShared(object.size) != size)
        return false;
    auto chunk = loadShared(object.firstChunk);
    for (uint32_t left = size; left;) {
        if (chunk >= tables_.chunks)
            return false;
        const auto bytes = std::min(left, Staging::chunkBytes);
        memcpy(to, tables_.bytes + uint64_t(chunk) * Staging::chunkBytes, bytes);
        to += bytes;
        left -= bytes;
        chunk = loadShared(tables_.nextChunks[chunk]);
    }
    return true;
}
