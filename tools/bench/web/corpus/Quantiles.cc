// SPDX-License-Identifier: GPL-2.0-or-later
/* A distribution given by some of its quantiles. */

#include "tools/bench/web/corpus/Quantiles.h"

#include <cmath>

namespace WebBench {

double
Quantiles::at(const double share) const
{
    size_t i = 1;
    while (i < shares.size() - 1 && share > shares[i])
        ++i;
    const double part = (share - shares[i - 1]) / (shares[i] - shares[i - 1]);
    return values_[i - 1] * std::pow(values_[i] / values_[i - 1], part);
}

double
Quantiles::mean() const
{
    double sum = 0;
    for (size_t i = 1; i < shares.size(); ++i) {
        const double a = values_[i - 1], b = values_[i];
        sum += (shares[i] - shares[i - 1]) * (b > a ? (b - a) / std::log(b / a) : a);
    }
    return sum;
}

} // namespace WebBench
