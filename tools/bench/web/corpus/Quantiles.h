// SPDX-License-Identifier: GPL-2.0-or-later
/* A distribution given by some of its quantiles. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_QUANTILES_H
#define CLUSTERFS_BENCH_WEB_CORPUS_QUANTILES_H

#include <array>

namespace WebBench {

/// A distribution of positive values that is known at twelve quantiles; between
/// them the logarithm of the value grows evenly. Sizes on the web follow no
/// simple law: a log-normal fitted to the traces misses the mean by a factor
/// of two to four.
class Quantiles
{
public:
    static constexpr std::array<double, 12> shares{{0, .01, .05, .1, .25, .5, .75, .9, .95, .99, .999, 1}};
    using Values = std::array<double, 12>;

    /// \param values at the shares above, from the least to the largest; none below 1
    explicit Quantiles(const Values &values): values_(values) {}

    double at(double share) const; ///< the value that this share (0..1) does not exceed
    double mean() const;

private:
    Values values_;
};

} // namespace WebBench

#endif
