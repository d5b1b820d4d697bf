// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of clusters in memory. */

#include "fs/cluster/cache/Window.h"

#include "fs/cluster/layout/Cluster.h"

#include <algorithm>

/// \returns the piece with all of these bytes, or nil
const ClusterFs::Window::Piece *
ClusterFs::Window::pieceOf(const uint32_t from, const uint32_t bytes) const
{
    for (const auto &p: pieces) {
        if (from >= p.start && uint64_t(from) + bytes <= uint64_t(p.start) + p.size)
            return &p;
    }
    return nullptr;
}

void
ClusterFs::Window::use(const uint32_t from, const uint32_t bytes)
{
    const auto is = [from](const Piece &p) { return p.start == from; };
    // from the end: most often, the last piece is used again
    if (reduced || std::any_of(pieces.rbegin(), pieces.rend(), is))
        return;
    const auto padded = std::min<uint64_t>(roundUp(bytes, extentAlignment), uint64_t(range.start) + range.size - from);
    pieces.push_back({from, static_cast<uint32_t>(padded), 0});
}
