// SPDX-License-Identifier: GPL-2.0-or-later
/* A device that takes as long as a real one would, and memory only for what is not zero. */

#ifndef CLUSTERFS_TOOLS_REPLAY_MODELDEVICE_H
#define CLUSTERFS_TOOLS_REPLAY_MODELDEVICE_H

#include "tools/models/ManualClock.h"
#include "tools/models/MemoryDevice.h"

#include <string>
#include <unordered_map>

namespace Replay {

/// what requests cost
struct Costs {
    double request = 0; ///< microseconds, whatever its size
    double byte = 0; ///< microseconds for each byte

    /// \param model "hdd" or "ssd": the disk models' own figures of a random read at depth 16, and of the transfer
    static Costs Of(const std::string &model);
};

/// Carries out one request after the other and puts the clock forward by what
/// each of them costs. Objects whose bytes are zeros take memory for their
/// headers only, about 200 bytes each, so that disks of terabytes fit.
class ModelDevice final : public ClusterFs::MemoryDevice
{
public:
    /// \param clock is also the engine's
    /// \param size in bytes, rounded down to a multiple of 4096
    /// \throws std::system_error when there is not enough address space
    ModelDevice(ClusterFs::ManualClock &clock, uint64_t size, const Costs &);

    /// prints each request
    void show() { showing_ = true; }

    uint64_t busyMicros() const { return busy_; } ///< what all requests have cost
    uint64_t keptBytes() const { return kept_; } ///< of memory for what was written

private:
    void carryOut(const ClusterFs::Io &) override;
    void keep(const ClusterFs::Io &);
    void give(const ClusterFs::Io &) const;
    void unfold(uint64_t piece, char *to) const;
    void fold(uint64_t piece, const char *from);

    ClusterFs::ManualClock &time_;
    Costs costs_;
    /// what is not zero of each piece of the device, by its number: runs of an offset, a length and the bytes
    std::unordered_map<uint64_t, std::string> pieces_;
    uint64_t busy_ = 0;
    uint64_t kept_ = 0;
    bool showing_ = false;
};

} // namespace Replay

#endif
