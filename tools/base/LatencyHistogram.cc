// SPDX-License-Identifier: GPL-2.0-or-later
/* Buckets of the histogram. */

#include "tools/base/LatencyHistogram.h"

#include <algorithm>
#include <cmath>

namespace Tools {

LatencyHistogram::LatencyHistogram(): counts_(size) {}

unsigned
LatencyHistogram::bucketOf(const uint64_t value)
{
    if (value < steps)
        return static_cast<unsigned>(value);
    const unsigned power = 63U - static_cast<unsigned>(__builtin_clzll(value));
    const auto step = static_cast<unsigned>(value >> (power - bits)) & (steps - 1);
    return std::min((power - bits + 1) * steps + step, size - 1);
}

/// the largest span that a bucket counts
Nanos
LatencyHistogram::topOf(const unsigned bucket) const
{
    if (bucket < steps)
        return bucket;
    if (bucket == size - 1)
        return most_; // it has no end of its own
    const unsigned power = bucket / steps + bits - 1;
    const Nanos width = Nanos(1) << (power - bits);
    return std::min((Nanos(1) << power) + width * (bucket % steps + 1) - 1, most_);
}

void
LatencyHistogram::add(Nanos span)
{
    span = std::max<Nanos>(span, 0);
    ++counts_[bucketOf(static_cast<uint64_t>(span))];
    ++count_;
    sum_ += static_cast<double>(span);
    most_ = std::max(most_, span);
}

void
LatencyHistogram::add(const LatencyHistogram &other)
{
    for (unsigned b = 0; b < size; ++b)
        counts_[b] += other.counts_[b];
    count_ += other.count_;
    sum_ += other.sum_;
    most_ = std::max(most_, other.most_);
}

double
LatencyHistogram::mean() const
{
    return count_ ? sum_ / static_cast<double>(count_) : 0;
}

Nanos
LatencyHistogram::percentile(const double share) const
{
    const auto wanted = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_))));
    uint64_t seen = 0;
    for (unsigned b = 0; b < size; ++b) {
        seen += counts_[b];
        if (seen >= wanted)
            return topOf(b);
    }
    return most_;
}

std::vector<std::pair<Nanos, uint64_t>>
LatencyHistogram::buckets() const
{
    std::vector<std::pair<Nanos, uint64_t>> result;
    for (unsigned b = 0; b < size; ++b) {
        if (counts_[b])
            result.emplace_back(topOf(b), counts_[b]);
    }
    return result;
}

Json
LatencyHistogram::summary() const
{
    return {
        {"count", count_}, {"mean", mean() / 1e9}, {"p50", toSeconds(percentile(0.5))}, {"p90", toSeconds(percentile(0.9))},
        {"p99", toSeconds(percentile(0.99))}, {"p99.9", toSeconds(percentile(0.999))}, {"max", toSeconds(most_)}
    };
}

} // namespace Tools
