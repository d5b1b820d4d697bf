// SPDX-License-Identifier: GPL-2.0-or-later
/* Words that all parts of the engine share: keys, addresses, results. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_TYPES_H
#define SQUID_SRC_FS_CLUSTER_BASE_TYPES_H

#include "fs/cluster/base/Id.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace ClusterFs {

/// the outcome of an operation; values are never stored on the media
enum class Status : uint8_t {
    ok,
    notFound, ///< no such object, or it went away meanwhile
    busy, ///< a limit was reached; the same call may succeed later
    full, ///< there is no room, and none can be made
    ioError, ///< the device refused or lost the request
    corrupt, ///< bytes came back, but their checksum, UUID or key is wrong
    notOurs, ///< the device holds something else
    unsupported, ///< ours, but of a format or geometry that this code can't use
    offline, ///< the device was taken out of service
    aborted, ///< the caller, or a shutdown, ended it
    pending ///< it is under way, and its outcome is told later
};

/// a short English word for messages
const char *statusText(Status);

/// the name of an object: Squid's store key, an MD5 digest of 16 bytes
struct Key {
    std::array<uint8_t, 16> bytes{};

    bool operator ==(const Key &k) const { return bytes == k.bytes; }
    bool operator !=(const Key &k) const { return bytes != k.bytes; }

    /// the first 8 bytes as a number
    uint64_t high() const { return load(0); }
    /// the last 8 bytes as a number
    uint64_t low() const { return load(8); }

    std::string hex() const; ///< 32 hexadecimal digits, as Squid prints keys

private:
    uint64_t load(const size_t at) const {
        uint64_t v = 0;
        for (size_t i = 0; i < 8; ++i)
            v |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
        return v;
    }
};

/// of a store, so that what another one has left on a device is not taken for its own
using Uuid = std::array<uint8_t, 16>;

/// for std::unordered_map
struct KeyHash {
    size_t operator ()(const Key &k) const { return static_cast<size_t>(k.high() ^ k.low()); }
};

using ClusterNo = Id<struct ClusterTag, uint32_t>; ///< position of a cluster in the cluster region, from 0
using SlotNo = Id<struct SlotTag, uint32_t>; ///< position of a record in the index
using StageNo = Id<struct StageTag, uint32_t>; ///< position of an object in the staging table
using Sequence = Id<struct SequenceTag, uint64_t>; ///< number of a cluster write: each gets the next one, none is given out twice

constexpr ClusterNo noCluster{0xffffffffU};
constexpr SlotNo noSlot{0xffffffffU};
constexpr StageNo noStage{0xffffffffU};
constexpr Sequence maxSequence{~uint64_t(0)}; ///< that of no cluster

/// The properties of an object that are known without reading it; times are
/// seconds since 1970, -1 when unknown.
struct ObjectInfo {
    int64_t timestamp = -1; ///< when the response was received or last revalidated
    int64_t expires = -1; ///< end of freshness
    int64_t lastModified = -1; ///< as the origin said
    uint64_t size = 0; ///< stored bytes: swap metadata, headers and body
    uint8_t flags = 0; ///< bits of ObjectFlag
};

/// Bits of ObjectInfo::flags, on the media, too. The first four are those of Squid's StoreEntry that must survive a restart.
enum ObjectFlag : uint8_t {
    flagRevalidateAlways = 1, ///< Squid must revalidate before each hit
    flagRevalidateStale = 2, ///< Squid must revalidate once stale
    flagNegative = 4, ///< a negatively cached response
    flagBadLength = 8, ///< body length and Content-Length differ
    flagsOfCaller = 0x0f, ///< the bits that belong to the caller
    flagDoubtful = 0x10, ///< found by a scan, so that a delete may be missing
    flagParted = 0x20, ///< the object continues in clusters of its own
    flagJoined = 0x40 ///< the extent belongs to the same group as the one in front of it
};

/// the place of an extent on the device
struct Place {
    ClusterNo cluster = noCluster;
    uint32_t offset = 0; ///< bytes from the start of the cluster
    uint32_t size = 0; ///< bytes, extent header included
};

/// severity of a line for the log; a reason is a part of another line. \see Message
enum class LogLevel : uint8_t { fatal, error, warning, notice, reason };
/// Takes one line without a newline. Its callers in the engine say the same thing once, not for each request.
using Log = std::function<void(LogLevel, const std::string &)>;

} // namespace ClusterFs

#endif
