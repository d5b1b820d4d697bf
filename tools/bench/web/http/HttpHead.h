// SPDX-License-Identifier: GPL-2.0-or-later
/* What heads of HTTP requests and responses have in common. */

#ifndef CLUSTERFS_BENCH_WEB_HTTP_HTTPHEAD_H
#define CLUSTERFS_BENCH_WEB_HTTP_HTTPHEAD_H

#include <cstddef>
#include <string_view>

namespace WebBench {

/// the largest head of a message that is read, in bytes
constexpr size_t largestHead = 65536;

/// \param from where to begin to look: what lies before is known to hold no end
/// \returns how long the head at the front of text is, with its empty line; 0 when its end is not there
size_t headLength(std::string_view text, size_t from = 0);

/// Cuts the first line off a head. \returns it without its CRLF
std::string_view cutLine(std::string_view &head);

/// One header of a message.
struct Header {
    std::string_view name;
    std::string_view value; ///< without spaces around it

    /// Cuts the next header off a head whose first line was cut before.
    /// \returns false at the end of the head, or with bad set when the line is no header
    bool cutFrom(std::string_view &head, bool &bad);

    /// whether it has that name; name is in small letters
    bool is(std::string_view lowerName) const;
};

} // namespace WebBench

#endif
