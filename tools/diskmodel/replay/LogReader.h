// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a write log. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_REPLAY_LOGREADER_H
#define CLUSTERFS_TOOLS_DISKMODEL_REPLAY_LOGREADER_H

#include "tools/diskmodel/device/LogFormat.h"

#include <string>
#include <vector>

namespace DiskModel {

/// All records of a log, without the data. A record that was cut off at the
/// end is left out.
class LogReader
{
public:
    struct Entry {
        LogRecord record;
        uint64_t data = 0; ///< where the bytes of a write are in the log
    };

    /// \throws BadRequest when the file is no log or is damaged
    explicit LogReader(const std::string &path);
    ~LogReader();
    LogReader(const LogReader &) = delete;
    LogReader &operator=(const LogReader &) = delete;

    /// in the order of their sequence, from 1; the first is LogKind::begin
    const std::vector<Entry> &entries() const { return entries_; }
    uint64_t deviceSize() const { return entries_.front().record.size; }
    bool beganBlank() const { return !(entries_.front().record.flags & 1); }

    /// the bytes of a write \throws BadRequest
    std::vector<char> bytesOf(const Entry &) const;

private:
    void readAll();

    const std::string path_;
    int fd_ = -1;
    std::vector<Entry> entries_;
};

/// a kind's name
const char *nameOf(LogKind);

} // namespace DiskModel

#endif
