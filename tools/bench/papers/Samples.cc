// SPDX-License-Identifier: GPL-2.0-or-later
/* How long operations took. */

#include "Samples.h"

#include <algorithm>
#include <cmath>

namespace Papers {

void
Samples::reserve(const size_t count)
{
    times_.resize(times_.size() + count); // touches the memory
    times_.resize(times_.size() - count);
    detailed_ = true;
}

void
Samples::add(const Samples &other)
{
    times_.insert(times_.end(), other.times_.begin(), other.times_.end());
    detailed_ = detailed_ || other.detailed_;
    count_ += other.count_;
    sum_ += other.sum_;
}

Json
Samples::summary() const
{
    Json json;
    json.put("count", static_cast<uint64_t>(count_));
    if (count_)
        json.put("mean", mean());
    if (times_.empty())
        return json;
    auto sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](const double share) {
        const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
        return static_cast<double>(sorted[std::max<size_t>(rank, 1) - 1]);
    };
    json.put("p50", at(0.5));
    json.put("p90", at(0.9));
    json.put("p99", at(0.99));
    json.put("p99.9", at(0.999));
    json.put("max", static_cast<double>(sorted.back()));
    return json;
}

Json
Samples::means(const size_t run) const
{
    Json json;
    for (size_t at = 0; at < times_.size(); at += run) {
        const auto end = std::min(times_.size(), at + run);
        double sum = 0;
        for (size_t i = at; i < end; ++i)
            sum += static_cast<double>(times_[i]);
        json.add(sum / static_cast<double>(end - at));
    }
    return json;
}

} // namespace Papers
