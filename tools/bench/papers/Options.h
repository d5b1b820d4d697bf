// SPDX-License-Identifier: GPL-2.0-or-later
/* What the command line says. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_OPTIONS_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_OPTIONS_H

#include "tools/base/CommandLine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace Papers {

using Tools::BadRequest;
using Tools::CommandLine;

/// All options of all experiments. Each experiment declares those that it takes,
/// and has defaults of its own.
struct Options {
    uint64_t seed = 1;
    std::string json; ///< file for the result; empty: standard output

    // the store
    std::string store = "clusterfs"; ///< or files
    std::string at; ///< where it is
    uint64_t memory = 64; ///< MB
    std::vector<std::string> options; ///< of the store, as name=value
    std::string hints = "on"; ///< or off
    bool force = false;
    unsigned threads = 1;
    bool attended = false;

    // traces
    std::string workload = "proxy"; ///< or server
    std::string trace; ///< a file; empty: one is made
    uint64_t requests = 300000;
    uint32_t clients = 1000;
    uint32_t urls = 32768;
    uint64_t revisits = 50; ///< percent
    uint64_t stale = 10; ///< percent
    uint64_t measure = 1000; ///< thousandths
    uint64_t memoryCache = 50; ///< percent

    // objects
    uint32_t objects = 0;
    uint32_t size = 0; ///< bytes
    uint32_t largest = 0; ///< bytes
    uint64_t reads = 0;
    uint32_t groups = 16;
    std::string ordering = "sequential";
    bool cold = false;
    uint64_t megabytes = 512;
    unsigned depth = 32;
};

} // namespace Papers

#endif
