// SPDX-License-Identifier: GPL-2.0-or-later
/* The write cache of a spinning disk. */

#include "tools/diskmodel/model/HddWriteCache.h"

#include <algorithm>

namespace DiskModel {

static constexpr uint64_t maxMerged = 4 << 20; ///< bytes of one range

void
HddWriteCache::add(const uint64_t offset, const uint64_t size, const Nanos at)
{
    ++number_;
    bytes_ += size;
    if (!ranges_.empty() && ranges_.back().end() == offset && ranges_.back().size + size <= maxMerged) {
        // keeps the number of its first write: a flush that waits for that one
        // waits for all of the range
        ranges_.back().size += size;
        return;
    }
    ranges_.push_back(Range{offset, size, at, number_});
}

bool
HddWriteCache::covers(const uint64_t begin, const uint64_t end) const
{
    return std::any_of(ranges_.begin(), ranges_.end(), [=](const Range &range) {
        return begin >= range.offset && end <= range.end();
    });
}

bool
HddWriteCache::allWritten(const uint64_t number) const
{
    return ranges_.empty() || ranges_.front().number > number;
}

HddWriteCache::Range
HddWriteCache::take(const size_t index)
{
    const Range result = ranges_[index];
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(index));
    bytes_ -= result.size;
    return result;
}

} // namespace DiskModel
