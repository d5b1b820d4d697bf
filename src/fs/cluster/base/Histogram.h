// SPDX-License-Identifier: GPL-2.0-or-later
/* A small histogram. */

#ifndef SQUID_SRC_FS_CLUSTER_BASE_HISTOGRAM_H
#define SQUID_SRC_FS_CLUSTER_BASE_HISTOGRAM_H

#include <array>
#include <cstdint>

namespace ClusterFs {

/// Counts values of any unit in 8 buckets for each power of two, so that a bucket is at most
/// 12.5 % of its values wide. Takes 2.5 KB; values from 2^42 on share the last bucket.
class Histogram
{
public:
    void add(const uint64_t value) {
        ++counts_[bucketOf(value)];
        ++total_;
        if (value > most_)
            most_ = value;
    }

    uint64_t total() const { return total_; } ///< number of values
    uint64_t most() const { return most_; } ///< the largest value, exactly

    /// An upper bound, at most 12.5 % too high, of the value below which a share
    /// (0 to 1) of all values lies; 0 when there are none.
    uint64_t percentile(const double share) const {
        if (!total_)
            return 0;
        const auto wanted = static_cast<uint64_t>(share * static_cast<double>(total_ - 1)) + 1;
        uint64_t seen = 0;
        for (unsigned b = 0; b < buckets; ++b) {
            seen += counts_[b];
            if (seen >= wanted) {
                const auto top = b < buckets - 1 ? topOf(b) : most_; // the last has no end
                return top < most_ ? top : most_;
            }
        }
        return most_;
    }

private:
    static constexpr unsigned steps = 8; ///< buckets for each power of two
    static constexpr unsigned buckets = 40 * steps;

    static unsigned bucketOf(const uint64_t value) {
        if (value < steps)
            return static_cast<unsigned>(value);
        const unsigned power = 63U - static_cast<unsigned>(__builtin_clzll(value));
        const unsigned b = (power - 2) * steps + static_cast<unsigned>((value >> (power - 3)) & (steps - 1));
        return b < buckets ? b : buckets - 1;
    }

    static uint64_t topOf(const unsigned bucket) {
        if (bucket < steps)
            return bucket;
        const unsigned power = bucket / steps + 2;
        const uint64_t width = uint64_t(1) << (power - 3);
        return (uint64_t(1) << power) + width * (bucket % steps + 1) - 1;
    }

    std::array<uint64_t, buckets> counts_{};
    uint64_t total_ = 0;
    uint64_t most_ = 0;
};

} // namespace ClusterFs

#endif
