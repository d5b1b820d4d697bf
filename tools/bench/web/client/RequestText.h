// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests as browsers write them. */

#ifndef CLUSTERFS_BENCH_WEB_CLIENT_REQUESTTEXT_H
#define CLUSTERFS_BENCH_WEB_CLIENT_REQUESTTEXT_H

#include "tools/bench/web/workload/Workload.h"

#include <string>

namespace WebBench {

/// Writes requests for objects of one origin, which may have many names.
class RequestText
{
public:
    enum class Referer { full, origin, none }; ///< how much of it browsers tell

    /// \param origin HOST:PORT, in URLs
    /// \param domain each site (WebBench::siteOf) is a host of this domain, in URLs, and not the origin; empty: none is
    /// \param reverse the proxy poses as the origin and gets paths; else it gets whole URLs
    RequestText(const std::string &origin, const std::string &domain, bool reverse, Referer);

    /// \param text becomes the request
    void write(const Item &, std::string &text) const;

private:
    std::string host(const Item &) const;

    std::string origin_;
    std::string domain_;
    bool reverse_;
    Referer referer_;
};

} // namespace WebBench

#endif
