// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a write log. */

#include "tools/diskmodel/replay/LogReader.h"

#include "tools/base/Numbers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace DiskModel {

using namespace Tools;

const char *
nameOf(const LogKind kind)
{
    switch (kind) {
    case LogKind::begin: return "begin";
    case LogKind::write: return "write";
    case LogKind::discard: return "discard";
    case LogKind::answered: return "answered";
    case LogKind::flushArrived: return "flushArrived";
    case LogKind::flushAnswered: return "flushAnswered";
    case LogKind::mark: return "mark";
    case LogKind::cut: return "cut";
    }
    return "unknown";
}

LogReader::LogReader(const std::string &path):
    path_(path),
    fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC))
{
    if (fd_ < 0)
        throw BadRequest("cannot open " + path + ": " + strerror(errno));
    try {
        readAll();
    } catch (const BadRequest &) {
        close(fd_);
        throw;
    }
}

LogReader::~LogReader()
{
    close(fd_);
}

void
LogReader::readAll()
{
    struct stat status;
    if (fstat(fd_, &status) != 0)
        throw BadRequest(path_ + ": " + strerror(errno));
    const auto size = static_cast<uint64_t>(status.st_size);
    for (uint64_t at = 0; size - at >= sizeof(LogRecord);) {
        Entry entry;
        auto &record = entry.record;
        if (pread(fd_, &record, sizeof(record), static_cast<off_t>(at)) != sizeof(record))
            throw BadRequest("cannot read " + path_ + ": " + strerror(errno));
        const bool begins = record.kind == LogKind::begin;
        if (record.magic != logMagic || record.sequence != entries_.size() + 1 || begins != entries_.empty())
            throw BadRequest(path_ + " is not a write log, or is damaged at byte " + std::to_string(at));
        if (begins && record.offset != logVersion)
            throw BadRequest(path_ + " is of version " + std::to_string(record.offset) + ", not " +
                             std::to_string(logVersion));
        at += sizeof(record);
        entry.data = at;
        const auto bytes = record.kind == LogKind::write ? record.size : 0;
        if (bytes > size - at)
            break; // its end is missing
        at += bytes;
        entries_.push_back(entry);
    }
    if (entries_.empty())
        throw BadRequest(path_ + " is not a write log");
}

std::vector<char>
LogReader::bytesOf(const Entry &entry) const
{
    std::vector<char> bytes(entry.record.size);
    if (pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(entry.data)) != static_cast<ssize_t>(bytes.size()))
        throw BadRequest("cannot read " + path_ + ": " + strerror(errno));
    return bytes;
}

} // namespace DiskModel
