// SPDX-License-Identifier: GPL-2.0-or-later
/* How much one read fetches. */

#ifndef SQUID_SRC_FS_CLUSTER_READING_WINDOWPOLICY_H
#define SQUID_SRC_FS_CLUSTER_READING_WINDOWPOLICY_H

#include "fs/cluster/device/CostMeter.h"

#include <cstdint>

namespace ClusterFs {

/// Decides whether to read an object alone or with its group: with the group
/// when the requests that this is expected to save cost more than the bytes
/// that it reads more. How many mates are wanted before they leave memory is
/// measured; so is the cost, by the device.
class WindowPolicy
{
public:
    /// \param mates other objects of the group
    /// \param bytes of those
    bool readGroup(const CostMeter &, unsigned mates, uint64_t bytes);

    /// a window of a group left memory
    /// \param wanted mates that were read from it
    void noteUse(unsigned mates, unsigned wanted);

    /// Whether to read what a page is expected to want before anybody asks. It costs a
    /// request when nobody does, and saves none: that most of these reads are wanted is
    /// enough, and is learned from their windows.
    bool readAhead();

    /// a window that was read ahead left memory
    /// \param wanted whether anything of it was used
    void noteAhead(bool wanted);

    double usefulnessAhead() const { return ahead_; } ///< 0 to 1: share of reads ahead that are wanted

    double usefulness() const { return usefulness_; } ///< 0 to 1: share of mates that are wanted

private:
    double usefulness_ = 0.5;
    unsigned refusals_ = 0; ///< since the last trial
    double ahead_ = 1;
    unsigned refusalsAhead_ = 0;
};

} // namespace ClusterFs

#endif
