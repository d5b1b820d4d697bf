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

/// Carries out requests on another device and waits for each. It remembers the
/// former bytes of each written sector until a flush. So a power cut can lose any
/// of these sectors, independently of the others.
class VolatileMedia
{
public:
    static constexpr uint32_t sectorSize = 512; ///< bytes that land together or not at all
    /// With more unflushed sectors than that, the disk flushes all of them by
    /// itself. A real one may do that at any time, too.
    static constexpr size_t maxUnflushed = 1 << 18;
    static constexpr size_t maxVersions = 8; ///< former versions of a sector that are remembered

    /// whether a sector of a write lands; counted from its start
    using Lands = std::function<bool(uint32_t sector)>;

    /// \param inner must outlive this; nobody else may use it meanwhile
    explicit VolatileMedia(Device &inner): inner_(inner) {}

    Status read(uint64_t offset, uint32_t size, char *buffer);
    /// \param lands nil when all sectors do
    Status write(uint64_t offset, uint32_t size, const char *data, const Lands &lands = nullptr);
    /// \param upTo how many of all writes so far the flush covers; the newer ones stay at risk
    Status flush(uint64_t upTo);
    uint64_t writes() const { return writes_; } ///< how many there were so far

    /// The power is cut: a random part of the unflushed sectors is lost. A sector
    /// that was written several times may have any of its versions then.
    Status cut(std::mt19937_64 &);

    size_t unflushed() const { return before_.size(); } ///< sectors that a power cut may undo

private:
    struct Version {
        std::array<char, sectorSize> bytes; ///< of the sector
        uint64_t until; ///< number of the write that changed them
    };

    Status run(IoOp, uint64_t offset, uint32_t size, char *buffer);

    Device &inner_;
    /// by number of a sector: its versions from the last flush on, the oldest first, without the present one
    std::map<uint64_t, std::vector<Version>> before_;
    uint64_t writes_ = 0;
};

} // namespace ClusterFs

#endif
