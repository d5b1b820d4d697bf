// SPDX-License-Identifier: GPL-2.0-or-later
/* The read cache of a spinning disk. */

#include "tools/diskmodel/model/HddReadAhead.h"

#include <algorithm>

namespace DiskModel {

HddReadAhead::HddReadAhead(const Parameters &parameters, const HddGeometry &geometry):
    geometry_(geometry),
    ahead_(static_cast<uint64_t>(parameters.readAhead) * 1024),
    segments_(static_cast<size_t>(parameters.segments))
{
}

uint64_t
HddReadAhead::limit() const
{
    return std::min(position_ + ahead_, geometry_.size());
}

uint64_t
HddReadAhead::streamEnd(const Nanos at) const
{
    if (at <= at_)
        return position_;
    const double passed = static_cast<double>(at - at_) * geometry_.streamRate(position_);
    return std::min(position_ + static_cast<uint64_t>(passed), limit());
}

bool
HddReadAhead::holds(const uint64_t begin, const uint64_t end, const Nanos at)
{
    if (streaming_ && begin >= begin_ && end <= streamEnd(at))
        return true;
    for (auto &segment: segments_) {
        if (begin >= segment.begin && end <= segment.end) {
            segment.used = at;
            return true;
        }
    }
    return false;
}

bool
HddReadAhead::reaches(const uint64_t offset, const Nanos at) const
{
    return streaming_ && offset >= begin_ && offset <= streamEnd(at);
}

bool
HddReadAhead::underWay(const uint64_t begin, const uint64_t end, const Nanos at) const
{
    const auto reached = streaming_ ? streamEnd(at) : 0;
    return reaches(begin, at) && end > reached && reached < limit();
}

Nanos
HddReadAhead::continueTo(const uint64_t end)
{
    at_ += geometry_.transferTime(position_, end);
    position_ = end;
    // a stream is no larger than two lengths of read-ahead: memory is limited
    if (end - begin_ > 2 * ahead_)
        begin_ = end - 2 * ahead_;
    return at_;
}

void
HddReadAhead::start(const uint64_t begin, const uint64_t end, const Nanos at)
{
    if (!ahead_ || end >= geometry_.size())
        return;
    streaming_ = true;
    begin_ = begin;
    position_ = end;
    at_ = at;
}

void
HddReadAhead::stop(const Nanos at)
{
    if (!streaming_)
        return;
    const auto end = streamEnd(at);
    const auto oldest = std::min_element(segments_.begin(), segments_.end(),
    [](const Segment &a, const Segment &b) { return a.used < b.used; });
    *oldest = Segment{end - begin_ > 2 * ahead_ ? end - 2 * ahead_ : begin_, end, at};
    streaming_ = false;
}

} // namespace DiskModel
