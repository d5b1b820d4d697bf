// SPDX-License-Identifier: GPL-2.0-or-later
/* How long things took: counts in narrow buckets. */

#ifndef CLUSTERFS_TOOLS_BASE_LATENCYHISTOGRAM_H
#define CLUSTERFS_TOOLS_BASE_LATENCYHISTOGRAM_H

#include "tools/base/Clock.h"
#include "tools/base/Json.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace Tools {

/// Counts spans of time in buckets of at most 1/64 (1.6 %) width, up to 73
/// minutes; longer ones share the last bucket. Constant memory (19 KB).
class LatencyHistogram
{
public:
    LatencyHistogram();

    void add(Nanos span); ///< a span below zero counts as zero
    void add(const LatencyHistogram &); ///< all that another one has counted

    uint64_t count() const { return count_; }
    Nanos most() const { return most_; } ///< the longest, exactly; 0 when there are none
    double total() const { return sum_; } ///< of all, in nanoseconds
    double mean() const; ///< in nanoseconds, exactly; 0 when there are none

    /// \returns an upper bound, at most 1/64 too high, of the span that this
    /// share (0..1) of all did not exceed; 0 when there are none
    Nanos percentile(double share) const;

    /// \returns for each bucket in use its upper end and its count, in order
    std::vector<std::pair<Nanos, uint64_t>> buckets() const;

    /// count, mean, percentiles and the longest, in seconds
    Json summary() const;

private:
    static constexpr unsigned bits = 6; ///< a power of two has so many bits of buckets
    static constexpr unsigned steps = 1U << bits;
    static constexpr unsigned size = (42 - bits + 1) * steps;

    static unsigned bucketOf(uint64_t value);
    Nanos topOf(unsigned bucket) const;

    std::vector<uint64_t> counts_;
    uint64_t count_ = 0;
    Nanos most_ = 0;
    double sum_ = 0;
};

} // namespace Tools

#endif
