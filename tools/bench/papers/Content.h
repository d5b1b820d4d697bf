// SPDX-License-Identifier: GPL-2.0-or-later
/* What the objects of an experiment consist of. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_CONTENT_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_CONTENT_H

#include "tools/base/Random.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Papers {

/// a number that looks random, the same for the same argument, that of 0 included
inline uint64_t
scattered(const uint64_t x)
{
    return Tools::mix(x + Tools::goldenStep);
}

/// one object of an experiment
struct Item {
    uint32_t id = 0; ///< dense, from 0
    uint32_t version = 0; ///< grows when the object is replaced
    uint32_t size = 0; ///< bytes
};

/// Bytes that follow from an item alone: a header that names the item, then a
/// run of one random pattern that begins where the item says. So making them
/// costs a copy, and checking them a comparison.
class Content
{
public:
    static constexpr uint32_t headerBytes = 16;

    explicit Content(uint64_t seed);

    /// Writes an item's bytes [offset, offset + size) to a buffer.
    void fill(const Item &, uint64_t offset, char *to, size_t size) const;

    /// Compares bytes that were read with what they must be.
    /// \param version receives what the header says, when offset is 0
    /// \returns whether they are those of that id and size, in that version
    bool check(uint32_t id, uint32_t size, uint64_t offset, const char *, size_t length, uint32_t &version) const;

private:
    size_t startOf(const Item &) const;
    size_t compare(const Item &, uint64_t offset, const char *, size_t length) const;

    std::vector<char> pattern_; ///< twice the same, so that no run wraps
};

} // namespace Papers

#endif
