// SPDX-License-Identifier: GPL-2.0-or-later
/* The read cache of a spinning disk. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDREADAHEAD_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDREADAHEAD_H

#include "tools/diskmodel/model/HddGeometry.h"

#include <vector>

namespace DiskModel {

/// After a read the head stays and reads on: the stream. When it is called
/// away, what the stream brought in becomes a segment, in place of the one that
/// was used longest ago.
class HddReadAhead
{
public:
    HddReadAhead(const Parameters &, const HddGeometry &);

    /// whether a range is in the cache at that time; if so, counts as its use
    bool holds(uint64_t begin, uint64_t end, Nanos at);

    /// whether a read from here would only go on with the stream
    bool reaches(uint64_t offset, Nanos at) const;

    /// whether the stream is under way to the end of a range that begins in it
    bool underWay(uint64_t begin, uint64_t end, Nanos at) const;

    /// The stream goes on to the end of such a range, and from there.
    /// \returns when the head is there
    Nanos continueTo(uint64_t end);

    /// a read ended there, the head reads on; the stream before must be stopped
    void start(uint64_t begin, uint64_t end, Nanos at);

    /// the head is called away
    void stop(Nanos at);

private:
    struct Segment {
        uint64_t begin = 0;
        uint64_t end = 0;
        Nanos used = 0;
    };

    uint64_t limit() const; ///< where the stream ends by itself
    uint64_t streamEnd(Nanos at) const;

    const HddGeometry &geometry_;
    const uint64_t ahead_; ///< bytes
    std::vector<Segment> segments_;
    bool streaming_ = false;
    uint64_t begin_ = 0; ///< of the stream
    uint64_t position_ = 0; ///< where the head stood ...
    Nanos at_ = 0; ///< ... at this time
};

} // namespace DiskModel

#endif
