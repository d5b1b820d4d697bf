// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests of a real log. */

#ifndef CLUSTERFS_TOOLS_REPLAY_LOGFILE_H
#define CLUSTERFS_TOOLS_REPLAY_LOGFILE_H

#include "tools/base/Clock.h"
#include "tools/replay/Kind.h"

#include <cstdint>
#include <string>
#include <vector>

namespace Replay {

using namespace Tools;

struct LogObject {
    uint64_t name = 0; ///< a hash of its URL
    uint64_t site = 0; ///< a hash of the URL's scheme, host and port
    uint64_t size = 0; ///< bytes: the most that any response had
    Kind kind = Kind::html;
};

struct LogEntry {
    static constexpr uint32_t none = UINT32_MAX;
    Nanos time = 0; ///< since the first one
    uint32_t client = 0;
    uint32_t object = 0;
    uint32_t referer = none; ///< an object, when the log has that
    bool hit = false; ///< as LogLine::hit
};

/// What of a log can be replayed: GET requests with status 200, 203, 206 or 304
/// for objects whose size some line tells. Sorted by time.
struct Log {
    struct Options {
        std::string format = "auto"; ///< see LogFormat::Make
        uint64_t mostEntries = 10000000; ///< what comes behind is not read
        bool skipBadLines = false; ///< else a bad line is an error
    };

    std::vector<LogObject> objects;
    std::vector<LogEntry> entries;
    uint32_t clients = 0;
    bool tellsHits = false; ///< some line has a result code of Squid that is a hit

    /* what cannot be replayed */
    uint64_t otherMethods = 0; ///< lines of other methods than GET, or without a request
    uint64_t otherStatuses = 0; ///< lines of other statuses
    uint64_t noSizes = 0; ///< lines for objects whose size no line tells, or that are too large
    uint64_t badLines = 0; ///< lines that are not of the format
    std::string firstBad; ///< of the first of these: its place and the reason
    bool cut = false; ///< Options::mostEntries were read, and there are more

    /// lines of the format that cannot be replayed
    uint64_t skipped() const { return otherMethods + otherStatuses + noSizes; }

    /// \returns false with the reason in error, with the line's number
    bool read(const std::string &path, const Options &, std::string &error);
};

} // namespace Replay

#endif
