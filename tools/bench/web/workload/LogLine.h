// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats of the logs of servers and proxies. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_LOGLINE_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_LOGLINE_H

#include "tools/bench/web/corpus/Kind.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace WebBench {

/// What one line tells. The texts are parts of the line.
struct LogLine {
    double time = 0; ///< when the request began, in seconds
    std::string_view client;
    std::string_view method;
    std::string_view url;
    std::string_view referer; ///< empty when there is none
    uint64_t status = 0;
    uint64_t bytes = 0;
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

    /// \param name squid (access.log in Squid's own format), common (the
    /// common log format, or combined, which adds Referer and User-Agent), or
    /// table (columns separated by tabs: time client url referer status bytes
    /// kind); or auto, which judges by the first line
    /// \returns nothing when the first line is of no known format
    static std::unique_ptr<LogFormat> Make(const std::string &name, std::string_view firstLine);
};

} // namespace WebBench

#endif
