// SPDX-License-Identifier: GPL-2.0-or-later
/* What is measured, each in a process of its own. */

#ifndef CLUSTERFS_BENCH_SCALE_MEASURES_H
#define CLUSTERFS_BENCH_SCALE_MEASURES_H

#include <cstdint>
#include <string>
#include <vector>

namespace ScaleBench {

/// how much is to be measured
struct Plan {
    std::string folder; ///< where the images go
    std::vector<uint64_t> terabytes; ///< of each disk
    uint64_t objects = 0; ///< on each
    uint64_t fewer = 0; ///< objects where their number does not matter
    uint64_t rate = 0; ///< objects stored in a second, between checkpoints
    uint64_t interval = 0; ///< seconds between checkpoints
    uint64_t copies = 0; ///< objects of which a crash left two
    unsigned pieces = 0; ///< in which all objects are replaced, with a checkpoint after each

    uint64_t changes() const { return rate * interval; } ///< objects stored from checkpoint to checkpoint
};

/// Measures all of it; prints what it finds.
/// \returns the figures, as JSON
/// \throws std::runtime_error
std::string measureAll(const Plan &);

/// Stores objects in a formatted cache by the engine, and dies without closing.
/// \returns only when it can't, with the reason
std::string load(const std::string &path, uint64_t objects, uint64_t bytes);

} // namespace ScaleBench

#endif
