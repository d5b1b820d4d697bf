// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the bytes of a spinning disk are, and how long it takes to get there. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDGEOMETRY_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDGEOMETRY_H

#include "tools/diskmodel/model/Parameters.h"
#include "tools/diskmodel/base/Time.h"

#include <cstddef>
#include <vector>

namespace DiskModel {

/// One surface of tracks, from the outer edge inwards, each a bit shorter than
/// the one before. Track beginnings are skewed, so that reading on into the next
/// track meets its beginning just when the head has settled there. Offsets must
/// lie on the device.
class HddGeometry
{
public:
    /// \param size bytes of the device
    /// \throws BadRequest when the tracks would be too small or too many
    HddGeometry(const Parameters &, uint64_t size);

    size_t trackOf(uint64_t offset) const;

    /// from one track to another, until the head has settled
    Nanos seekTime(size_t from, size_t to) const;

    /// from a track to the beginning of a piece: seek and rotation
    Nanos positioningTime(size_t from, uint64_t offset, Nanos start) const;

    /// to pass over the bytes of a range once the head stands at its beginning
    Nanos transferTime(uint64_t begin, uint64_t end) const;

    /// bytes a nanosecond that pass under the head around an offset, with track changes
    double streamRate(uint64_t offset) const;

    uint64_t size() const { return starts_.back(); }

private:
    double trackBytes(const size_t track) const { return static_cast<double>(starts_[track + 1] - starts_[track]); }
    double angleOf(uint64_t offset, size_t track) const;

    std::vector<uint64_t> starts_; ///< first byte of each track, and the end
    double revolution_; ///< nanoseconds
    double skew_; ///< of a revolution, between neighbours
    double seekMin_; ///< nanoseconds
    double seekMax_; ///< nanoseconds
    double allTracks_; ///< of the platter, also beyond the device
};

} // namespace DiskModel

#endif
