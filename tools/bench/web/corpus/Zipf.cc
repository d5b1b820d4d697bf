// SPDX-License-Identifier: GPL-2.0-or-later
/* Popularity by Zipf's law. */

#include "tools/bench/web/corpus/Zipf.h"

#include <algorithm>
#include <cmath>

namespace WebBench {

Zipf::Zipf(const uint64_t n, const double exponent): n_(n), exponent_(exponent)
{
    low_ = integral(1.5) - 1;
    high_ = integral(static_cast<double>(n) + 0.5);
    sure_ = 2 - inverse(integral(2.5) - density(2));
}

double
Zipf::density(const double x) const
{
    return std::exp(-exponent_ * std::log(x));
}

/// (x^(1-exponent) - 1) / (1-exponent), also where the exponent is 1 or nearly so
double
Zipf::integral(const double x) const
{
    const double logX = std::log(x);
    const double t = (1 - exponent_) * logX;
    return std::abs(t) > 1e-8 ? std::expm1(t) / t * logX : logX * (1 + t / 2);
}

double
Zipf::inverse(const double y) const
{
    const double t = std::max(-1.0, y * (1 - exponent_));
    return std::exp(std::abs(t) > 1e-8 ? std::log1p(t) / t * y : y * (1 - t / 2));
}

uint64_t
Zipf::draw(Random &random) const
{
    // under the curve a point is picked evenly; it counts for the rank whose
    // column it lies in, and is thrown away where it lies above that column
    for (;;) {
        const double y = high_ + random.real() * (low_ - high_);
        const double x = inverse(y);
        const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(n_));
        if (k - x <= sure_ || y >= integral(k + 0.5) - density(k))
            return static_cast<uint64_t>(k) - 1;
    }
}

} // namespace WebBench
