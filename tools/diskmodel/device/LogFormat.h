// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of a write log. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_DEVICE_LOGFORMAT_H
#define CLUSTERFS_TOOLS_DISKMODEL_DEVICE_LOGFORMAT_H

#include <cstdint>

namespace DiskModel {

constexpr uint32_t logMagic = 0x474c4d44; ///< of each record, "DMLG"
constexpr uint64_t logVersion = 1;

enum class LogKind : uint32_t {
    begin = 1, ///< the first record: offset = version, size = bytes of the device
    write, ///< arrived and stored; its bytes follow the record
    discard, ///< arrived and done
    answered, ///< offset = sequence of the write or discard that was answered
    flushArrived,
    flushAnswered, ///< offset = sequence of flushArrived
    mark, ///< offset = a number that somebody chose
    cut ///< power was cut
};

/// A record, in the byte order of the machine: a log is read where it was written.
struct LogRecord {
    uint32_t magic = logMagic;
    LogKind kind = LogKind::begin;
    uint64_t sequence = 0; ///< 1, 2, 3 ...
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t flags = 0; ///< of begin: 1 = the device was not blank
    int64_t time = 0; ///< nanoseconds of CLOCK_MONOTONIC
};

static_assert(sizeof(LogRecord) == 48, "no padding");

} // namespace DiskModel

#endif
