// SPDX-License-Identifier: GPL-2.0-or-later
/* A disk with a write cache that a power cut empties, for tests. */

#ifndef SQUID_TEST_SUITE_DOUBLES_VOLATILEMEDIA_H
#define SQUID_TEST_SUITE_DOUBLES_VOLATILEMEDIA_H

#include "fs/cluster/device/Device.h"

#include <array>
#include <functional>
#include <map>
#include <random>
#include <vector>

namespace ClusterFs {

/// Carries out requests on another device, waiting for each, and remembers
/// what was there before, sector by sector, until a flush. Any sector may then
/// be lost in a power cut, independently of the others.
class VolatileMedia
{
public:
    static constexpr uint32_t sectorSize = 512; ///< bytes that land together or not at all
    /// With more unflushed sectors than that, the disk writes all of them down
    /// by itself, which a real one may do at any time, too.
    static constexpr size_t maxUnflushed = 1 << 18;
    static constexpr size_t maxVersions = 8; ///< of a sector; with more, the oldest are out of reach

    /// tells which sectors of a write land; counted from its start
    using Lands = std::function<bool(uint32_t sector)>;

    /// \param inner must outlive this; nobody else may use it meanwhile
    explicit VolatileMedia(Device &inner): inner_(inner) {}

    Status read(uint64_t offset, uint32_t size, char *buffer);
    /// \param lands nil when all sectors do
    Status write(uint64_t offset, uint32_t size, const char *data, const Lands &lands = nullptr);
    /// \param upTo how many of all writes so far it covers; the newer ones stay at risk
    Status flush(uint64_t upTo);
    uint64_t writes() const { return writes_; } ///< since the start

    /// Loses a random part of what was not flushed. A sector that was written
    /// several times may end up with any of its versions.
    Status cut(std::mt19937_64 &);

    size_t unflushed() const { return before_.size(); } ///< sectors that a power cut may undo

private:
    struct Version {
        std::array<char, sectorSize> bytes; ///< what the sector held
        uint64_t until; ///< number of the write that changed it
    };

    Status run(IoOp, uint64_t offset, uint32_t size, char *buffer);

    Device &inner_;
    /// by number: what a sector held at the last flush and later, oldest first
    std::map<uint64_t, std::vector<Version>> before_;
    uint64_t writes_ = 0;
};

} // namespace ClusterFs

#endif
