// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the head of an HTTP/1 request. */

#ifndef CLUSTERFS_BENCH_WEB_HTTP_REQUESTPARSER_H
#define CLUSTERFS_BENCH_WEB_HTTP_REQUESTPARSER_H

#include <string>
#include <string_view>

namespace WebBench {

/// What an origin needs to know of a request. Views refer to the text that was parsed.
struct Request {
    std::string_view method;
    std::string_view path; ///< without scheme and host
    std::string ifNoneMatch; ///< a copy: a header over several lines is not in the text in one piece
    bool keepAlive = false;
    bool http11 = false;
};

enum class RequestOutcome { incomplete, complete, bad };

/// Reads a request without a body, in origin or absolute form.
/// \param length gets the bytes that it takes, when complete
RequestOutcome parseRequest(std::string_view text, Request &, size_t &length);

} // namespace WebBench

#endif
