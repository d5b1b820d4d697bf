// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests as browsers write them. */

#ifndef CLUSTERFS_BENCH_WEB_CLIENT_REQUESTTEXT_H
#define CLUSTERFS_BENCH_WEB_CLIENT_REQUESTTEXT_H

#include "tools/bench/web/workload/Workload.h"

#include <string>

namespace WebBench {

/// Writes requests for objects of one origin.
class RequestText
{
public:
    enum class Referer { full, origin, none }; ///< how much of it browsers tell

    /// \param origin HOST:PORT, in URLs
    /// \param reverse the proxy poses as the origin and gets paths; else it gets whole URLs
    RequestText(const std::string &origin, bool reverse, Referer);

    /// \param text becomes the request
    void write(const Item &, std::string &text) const;

private:
    std::string site_; ///< scheme and host
    std::string target_; ///< what stands before a path in the first line
    std::string host_; ///< the rest of the first line and the headers that are always the same
    Referer referer_;
};

} // namespace WebBench

#endif
