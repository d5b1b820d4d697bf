// SPDX-License-Identifier: GPL-2.0-or-later
/* What is on the disk after a power cut. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_REPLAY_REPLAY_H
#define CLUSTERFS_TOOLS_DISKMODEL_REPLAY_REPLAY_H

#include "tools/base/Json.h"
#include "tools/diskmodel/replay/LogReader.h"

#include <random>
#include <string>
#include <vector>

namespace DiskModel {

using namespace Tools;

enum class ReplayMode {
    prefix, ///< all that had arrived: the host died, the drive kept its power
    drop, ///< only what an answered flush guarantees
    subset ///< that, and of the rest some writes, some torn ones, some not
};

/// Builds the image that a power cut at some record would have left.
class Replay
{
public:
    /// \param cut sequence of the last record that counts
    /// \throws BadRequest
    Replay(const LogReader &, uint64_t cut, ReplayMode, uint64_t seed);

    /// \param image is made, or replaced
    /// \param base what was on the device when the log began; empty = nothing
    /// \throws BadRequest
    void write(const std::string &image, const std::string &base);

    Json json() const; ///< what was done with how many writes

private:
    void findDurable();
    void apply(int image, const LogReader::Entry &);
    void applyTorn(int image, const LogReader::Entry &);
    void putSectors(int image, const LogReader::Entry &, uint64_t from, uint64_t size, const char *data) const;

    const LogReader &log_;
    const uint64_t cut_;
    const ReplayMode mode_;
    std::mt19937_64 random_;
    std::vector<bool> durable_; ///< by sequence
    uint64_t writes_ = 0; ///< and discards, until the cut
    uint64_t guaranteed_ = 0;
    uint64_t kept_ = 0;
    uint64_t torn_ = 0;
    uint64_t lost_ = 0;
};

} // namespace DiskModel

#endif
