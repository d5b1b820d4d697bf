// SPDX-License-Identifier: GPL-2.0-or-later
/* Random numbers that are the same everywhere for the same seed. */

#ifndef CLUSTERFS_TOOLS_BENCH_PAPERS_RANDOM_H
#define CLUSTERFS_TOOLS_BENCH_PAPERS_RANDOM_H

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace Papers {

/// The distributions of the standard library differ from one library to the
/// next; these do not.
class Random
{
public:
    explicit Random(const uint64_t seed): engine_(seed) {}

    /// from 0 to below 1
    double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    bool chance(const double probability) { return share() < probability; }
    /// a whole number below limit, which is not 0
    uint64_t below(const uint64_t limit) { return static_cast<uint64_t>(share() * static_cast<double>(limit)); }

    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - share()));
        return radius * std::cos(2 * std::acos(-1.0) * share());
    }
    double lognormal(const double median, const double sigma) { return median * std::exp(sigma * normal()); }
    double pareto(const double least, const double alpha) { return least * std::pow(1 - share(), -1 / alpha); }

    /// How many places back from the end of a history of that length, 1 to n:
    /// each is half as likely as the one at half the distance. This is how web
    /// pages are visited again.
    uint64_t lag(const uint64_t n) {
        const auto l = static_cast<uint64_t>(std::exp(share() * std::log(static_cast<double>(n) + 1)));
        return l < 1 ? 1 : l > n ? n : l;
    }

    template <class T>
    void shuffle(std::vector<T> &v) {
        for (size_t i = v.size(); i > 1; --i)
            std::swap(v[i - 1], v[below(i)]);
    }

private:
    std::mt19937_64 engine_;
};

} // namespace Papers

#endif
