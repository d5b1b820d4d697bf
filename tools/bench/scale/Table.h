// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures side by side. */

#ifndef CLUSTERFS_BENCH_SCALE_TABLE_H
#define CLUSTERFS_BENCH_SCALE_TABLE_H

#include <string>
#include <vector>

namespace ScaleBench {

/// what one process has measured
struct Measured {
    std::string store; ///< which it used
    std::string what; ///< it did
    std::string json; ///< and found
};

/// \returns the tables of docs/benchmarks.md
std::string tables(const std::vector<Measured> &);

} // namespace ScaleBench

#endif
