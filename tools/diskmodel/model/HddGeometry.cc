// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the bytes of a spinning disk are, and how long it takes to get there. */

#include "tools/diskmodel/model/HddGeometry.h"

#include "tools/base/Numbers.h"

#include <algorithm>
#include <cmath>

namespace DiskModel {

using namespace Tools;

static constexpr uint64_t sector = 4096; ///< tracks are multiples of it
static constexpr double skewMargin = 1.15; ///< over the time of the shortest seek
static constexpr double maxTracks = 1 << 24;

HddGeometry::HddGeometry(const Parameters &p, const uint64_t size):
    revolution_(60 * nanosPerSecond / p.rpm),
    skew_(p.seekMin * nanosPerMilli * skewMargin / revolution_),
    seekMin_(p.seekMin * nanosPerMilli),
    seekMax_(p.seekMax * nanosPerMilli),
    allTracks_(0)
{
    const double outermost = p.rate * 1e6 * revolution_ / nanosPerSecond;
    const double mean = outermost * (1 - p.zone / 2);
    const double expected = static_cast<double>(size) / mean / p.stroke; // tracks of the whole platter
    if (outermost * (1 - p.zone) < sector || expected > maxTracks) {
        throw BadRequest("a disk of " + sizeText(size) + " with tracks of " +
                         sizeText(static_cast<uint64_t>(mean)) +
                         " (rate, rpm, zone, stroke) has too many or too small tracks");
    }
    uint64_t offset = 0;
    while (offset < size) {
        const double share = std::min(1.0, static_cast<double>(starts_.size()) / expected);
        starts_.push_back(offset);
        offset += static_cast<uint64_t>(outermost * (1 - p.zone * share)) / sector * sector;
    }
    allTracks_ = static_cast<double>(starts_.size()) / p.stroke;
    starts_.push_back(offset);
    skew_ -= std::floor(skew_);
}

size_t
HddGeometry::trackOf(const uint64_t offset) const
{
    const auto next = std::upper_bound(starts_.begin(), starts_.end() - 1, offset);
    return static_cast<size_t>(next - starts_.begin()) - 1;
}

/// where on its track a byte is, in revolutions from 0 to 1
double
HddGeometry::angleOf(const uint64_t offset, const size_t track) const
{
    const double angle = static_cast<double>(offset - starts_[track]) / trackBytes(track) +
                         static_cast<double>(track) * skew_;
    return angle - std::floor(angle);
}

Nanos
HddGeometry::seekTime(const size_t from, const size_t to) const
{
    if (from == to)
        return 0;
    // the arm speeds up and slows down: time grows with the root of the distance
    const auto distance = static_cast<double>((from < to ? to - from : from - to) - 1);
    return static_cast<Nanos>(seekMin_ + (seekMax_ - seekMin_) * std::sqrt(distance / allTracks_));
}

Nanos
HddGeometry::positioningTime(const size_t from, const uint64_t offset, const Nanos start) const
{
    const auto track = trackOf(offset);
    const Nanos seek = seekTime(from, track);
    const double turns = static_cast<double>(start + seek) / revolution_;
    double wait = angleOf(offset, track) - (turns - std::floor(turns));
    wait -= std::floor(wait);
    if (wait > 0.9999) // it is there: rounding, not a revolution
        wait = 0;
    return seek + static_cast<Nanos>(wait * revolution_);
}

Nanos
HddGeometry::transferTime(uint64_t begin, const uint64_t end) const
{
    double time = 0;
    for (auto track = trackOf(begin); begin < end; ++track) {
        const auto last = std::min(starts_[track + 1], end);
        time += revolution_ * static_cast<double>(last - begin) / trackBytes(track);
        begin = last;
        if (begin < end)
            time += skew_ * revolution_;
    }
    return static_cast<Nanos>(time);
}

double
HddGeometry::streamRate(const uint64_t offset) const
{
    return trackBytes(trackOf(offset)) / (revolution_ * (1 + skew_));
}

} // namespace DiskModel
