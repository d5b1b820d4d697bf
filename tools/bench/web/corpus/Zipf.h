// SPDX-License-Identifier: GPL-2.0-or-later
/* Popularity by Zipf's law. */

#ifndef CLUSTERFS_BENCH_WEB_CORPUS_ZIPF_H
#define CLUSTERFS_BENCH_WEB_CORPUS_ZIPF_H

#include "tools/base/Random.h"

#include <cstdint>

namespace WebBench {

using namespace Tools;

/// Draws ranks 0..n-1 with probabilities proportional to 1/(rank+1)^exponent,
/// by rejection-inversion (Hoermann and Derflinger, 1996): exact, no tables.
class Zipf
{
public:
    /// \param n at least 1
    /// \param exponent 0 (all alike) or more
    Zipf(uint64_t n, double exponent);

    uint64_t draw(Random &) const;

private:
    double integral(double x) const;
    double inverse(double y) const;
    double density(double x) const;

    uint64_t n_;
    double exponent_;
    double low_ = 0; ///< integral at the head of the curve
    double high_ = 0; ///< and at its end
    double sure_ = 0; ///< closer to a rank than this, no test is needed
};

} // namespace WebBench

#endif
