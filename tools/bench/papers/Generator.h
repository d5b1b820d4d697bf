// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces made from statistics. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_GENERATOR_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_GENERATOR_H

#include "Trace.h"

namespace Papers {

/// How large objects and pages are. The defaults give the figures of the ISP's
/// proxy log in Hummingbird 2.1.
struct SizeModel {
    double setMedian = 40e3; ///< bytes of a page with all that belongs to it
    double setSigma = 1.3;
    double bodyMedian = 1900; ///< bytes of an object
    double bodySigma = 1.06;
    double tailShare = 0.0085; ///< of the requests: downloads
    double tailLeast = 112e3; ///< bytes
    double tailAlpha = 1.69;
    double tailMost = 64e6;
    double tailRepeat = 0.2; ///< share of the downloads that are not new
};

/// Who asks a proxy for what.
struct ProxyModel {
    size_t requests = 300000;
    uint32_t clients = 1000;
    double revisit = 0.8; ///< share of the visits that are of a page seen before
    double keep = 0.3; ///< share of a page's members that a later visit asks for
    double shared = 0.3; ///< share of a new page's members that other pages have
    double stale = 0; ///< share of the repeated requests whose object is out of date
    SizeModel sizes;
};

/// Who asks a web server for what. All its objects exist from the start.
struct ServerModel {
    size_t requests = 300000;
    uint32_t urls = 32768;
    uint32_t clients = 1000;
    double zipf = 0.8; ///< exponent of the pages' popularity
    double keep = 0.8; ///< share of a page's members that a visit asks for; the rest is in the browser
    double stale = 0.005; ///< share of the requests whose object was changed just before
    SizeModel sizes;
};

Trace makeProxyTrace(const ProxyModel &, uint64_t seed);
Trace makeServerTrace(const ServerModel &, uint64_t seed);

} // namespace Papers

#endif
