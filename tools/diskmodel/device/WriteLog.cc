// SPDX-License-Identifier: GPL-2.0-or-later
/* Records all that was written, for what a power cut would have left of it. */

#include "tools/diskmodel/device/WriteLog.h"

#include "tools/base/Numbers.h"
#include "tools/diskmodel/base/Time.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace DiskModel {

using namespace Tools;

WriteLog::WriteLog(const std::string &path, const uint64_t limit, const uint64_t deviceSize, const bool blank):
    path_(path),
    limit_(limit),
    fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600))
{
    if (fd_ < 0)
        throw BadRequest("cannot make the write log " + path + ": " + strerror(errno));
    LogRecord record;
    record.offset = logVersion;
    record.size = deviceSize;
    record.flags = blank ? 0 : 1;
    if (!append(record, nullptr)) {
        close(fd_);
        throw BadRequest(error_);
    }
}

WriteLog::~WriteLog()
{
    close(fd_);
}

uint64_t
WriteLog::add(const LogKind kind, const uint64_t offset, const uint64_t size, const char *const data)
{
    LogRecord record;
    record.kind = kind;
    record.offset = offset;
    record.size = size;
    return append(record, data);
}

uint64_t
WriteLog::append(LogRecord &record, const char *const data)
{
    if (failed())
        return 0;
    const uint64_t wanted = sizeof(record) + (data ? record.size : 0);
    if (bytes_ + wanted > limit_) {
        error_ = "the write log " + path_ + " has reached its limit of " + sizeText(limit_);
        return 0;
    }
    record.sequence = sequence_ + 1;
    record.time = now();
    struct iovec parts[2] = {{&record, sizeof(record)}, {const_cast<char *>(data), wanted - sizeof(record)}};
    const auto written = writev(fd_, parts, data ? 2 : 1);
    if (written != static_cast<ssize_t>(wanted)) {
        // what is there of the record is cut off by who reads the log
        error_ = "the write log " + path_ + " cannot be written: " + (written < 0 ? strerror(errno) : "no room");
        return 0;
    }
    bytes_ += wanted;
    return ++sequence_;
}

} // namespace DiskModel
