// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded page loads, from a file. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_TRACEFILE_H
#define CLUSTERFS_BENCH_WEB_CORPUS_TRACEFILE_H

#include "tools/replay/Kind.h"

#include <cstdint>
#include <string>
#include <vector>

namespace WebBench {

using namespace Replay;

/// one object of a recorded page
struct TraceObject {
    Kind kind = Kind::html;
    bool shared = false; ///< on several pages of its session
    uint32_t url = 0; ///< number of its URL in the session
    uint32_t parent = 0; ///< place in the page of what asked for it
    uint64_t size = 0; ///< bytes
};

using TracePage = std::vector<TraceObject>; ///< never empty
using TraceSession = std::vector<TracePage>; ///< pages that one browser loaded; never empty

/// Reads recorded page loads: a text file, compressed by gzip or not, with a
/// head that names its columns, separated by tabs, and a line for each object:
///   session page seq start url referer status bytes size_source kind
/// (url and referer may be named url_sha1_16 and referer_sha1_16; a "-" is
/// none). A page's lines are in the order of the requests. Objects without a
/// size (status 304, or empty) get that of another line of the same session and
/// URL, or are left out; what a page asks for twice counts once.
/// \returns false with the reason in error, with the line's number
bool readTrace(const std::string &path, std::vector<TraceSession> &, std::string &error);

} // namespace WebBench

#endif
