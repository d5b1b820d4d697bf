// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats of the logs of servers and proxies. */

#ifndef CLUSTERFS_TOOLS_REPLAY_LOGLINE_H
#define CLUSTERFS_TOOLS_REPLAY_LOGLINE_H

#include "tools/replay/Kind.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace Replay {

/// What one line tells. The texts are parts of the line.
struct LogLine {
    double time = 0; ///< when the request began, in seconds
    std::string_view client;
    std::string_view method;
    std::string_view url;
    std::string_view referer; ///< empty when there is none
    uint64_t status = 0;
    uint64_t bytes = 0;
    bool hit = false; ///< the proxy that wrote it had the object; only Squid's own format tells
    Kind kind = Kind::html;
};

/// Reads the lines of one format.
class LogFormat
{
public:
    virtual ~LogFormat() = default;

    /// \returns false with the reason in error
    virtual bool parse(std::string_view line, LogLine &, std::string &error) const = 0;

    /// whether the first line of the file is its head, and no request
    virtual bool hasHead() const { return false; }

    /// \param name squid (access.log in Squid's own format, whose
    /// time may be a date), common (the common log format, or combined, which
    /// adds Referer and User-Agent), or table (columns separated by tabs: time client url referer status bytes
    /// kind); or auto, which judges by the first line
    /// \returns nothing when the first line is of no known format
    static std::unique_ptr<LogFormat> Make(const std::string &name, std::string_view firstLine);
};

} // namespace Replay

#endif
