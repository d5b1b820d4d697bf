// SPDX-License-Identifier: GPL-2.0-or-later
/* How long operations took. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_SAMPLES_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_SAMPLES_H

#include "Json.h"

#include <chrono>
#include <cstddef>
#include <vector>

namespace Papers {

using Time = std::chrono::steady_clock;

inline double
secondsSince(const Time::time_point start)
{
    return std::chrono::duration<double>(Time::now() - start).count();
}

/// All times of one kind of operation, in seconds.
class Samples
{
public:
    /// Takes the memory for that many now, so that no phase has to. Without
    /// reserved memory, there are no percentiles.
    void reserve(size_t count);
    void add(const double seconds) {
        if (detailed_)
            times_.push_back(static_cast<float>(seconds));
        sum_ += seconds;
        ++count_;
    }
    void addSince(const Time::time_point start) { add(secondsSince(start)); }
    void add(const Samples &);

    size_t count() const { return count_; }
    double mean() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }

    /// count, mean, and, where they were reserved, percentiles and the largest
    Json summary() const;
    /// means of runs of that many operations, in order
    Json means(size_t run) const;

private:
    std::vector<float> times_;
    bool detailed_ = false;
    size_t count_ = 0;
    double sum_ = 0;
};

} // namespace Papers

#endif
