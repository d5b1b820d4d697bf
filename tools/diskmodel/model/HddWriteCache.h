// SPDX-License-Identifier: GPL-2.0-or-later
/* The write cache of a spinning disk. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDWRITECACHE_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDWRITECACHE_H

#include "tools/diskmodel/model/Request.h"

#include <cstddef>
#include <deque>

namespace DiskModel {

/// Writes that were answered and are not on the platter yet, in the order in
/// which they came. A write that continues the one before is merged with it.
class HddWriteCache
{
public:
    struct Range {
        uint64_t offset = 0;
        uint64_t size = 0;
        Nanos arrival = 0; ///< of the first write in it
        uint64_t number = 0; ///< of the first write in it
        uint64_t end() const { return offset + size; }
    };

    /// \param capacity bytes; 0 = there is no write cache
    explicit HddWriteCache(const uint64_t capacity): capacity_(capacity) {}

    bool enabled() const { return capacity_ > 0; }
    /// a write larger than the whole cache has room when the cache is empty
    bool hasRoom(const uint64_t size) const { return ranges_.empty() || bytes_ + size <= capacity_; }
    bool filling() const { return bytes_ > capacity_ / 4 * 3; } ///< time to write something out
    uint64_t bytes() const { return bytes_; }
    uint64_t lastNumber() const { return number_; }

    void add(uint64_t offset, uint64_t size, Nanos at);
    bool covers(uint64_t begin, uint64_t end) const; ///< whether one range holds all of it
    bool allWritten(uint64_t number) const; ///< whether that write and all before it left

    size_t count() const { return ranges_.size(); }
    const Range &at(const size_t index) const { return ranges_[index]; }
    Range take(size_t index); ///< it goes to the platter

private:
    const uint64_t capacity_;
    std::deque<Range> ranges_;
    uint64_t bytes_ = 0;
    uint64_t number_ = 0; ///< of the last write
};

} // namespace DiskModel

#endif
