// SPDX-License-Identifier: GPL-2.0-or-later
/* Records all that was written, for what a power cut would have left of it. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_DEVICE_WRITELOG_H
#define CLUSTERFS_TOOLS_DISKMODEL_DEVICE_WRITELOG_H

#include "tools/diskmodel/device/LogFormat.h"

#include <string>

namespace DiskModel {

/// An append-only file of LogRecords. After an error it takes no more: a log
/// with a gap would lie.
class WriteLog
{
public:
    /// \param path is replaced
    /// \param limit bytes that the log may grow to
    /// \throws BadRequest
    WriteLog(const std::string &path, uint64_t limit, uint64_t deviceSize, bool blank);
    ~WriteLog();
    WriteLog(const WriteLog &) = delete;
    WriteLog &operator=(const WriteLog &) = delete;

    /// \param data size bytes, or nil
    /// \returns the record's sequence, or 0 when it could not be written
    uint64_t add(LogKind, uint64_t offset, uint64_t size, const char *data = nullptr);

    bool failed() const { return !error_.empty(); }
    const std::string &error() const { return error_; }
    uint64_t records() const { return sequence_; }
    uint64_t bytes() const { return bytes_; }

private:
    uint64_t append(LogRecord &, const char *data);

    const std::string path_;
    const uint64_t limit_;
    int fd_;
    uint64_t sequence_ = 0;
    uint64_t bytes_ = 0;
    std::string error_;
};

} // namespace DiskModel

#endif
