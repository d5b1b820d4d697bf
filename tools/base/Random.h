// SPDX-License-Identifier: GPL-2.0-or-later
/* Random numbers that are the same on every machine. */

#ifndef CLUSTERFS_TOOLS_BASE_RANDOM_H
#define CLUSTERFS_TOOLS_BASE_RANDOM_H

#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace Tools {

/// what a counter grows by, so that the numbers that are mixed lie far apart
constexpr uint64_t goldenStep = 0x9e3779b97f4a7c15ULL;

/// a number in which every bit depends on every bit of x; no two have the same (Steele, Lea, Flood: SplitMix)
inline uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// a number made of two
inline uint64_t
mix(const uint64_t a, const uint64_t b)
{
    return mix(mix(a + goldenStep) + b);
}

/// a number made of a text
inline uint64_t
hashText(const std::string_view text)
{
    uint64_t x = 0xcbf29ce484222325ULL;
    for (const char c: text)
        x = (x ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return mix(x);
}

/// A counter, mixed. It takes no time to seed, so each object of a corpus can have one.
class Counter
{
public:
    explicit Counter(const uint64_t seed): state_(mix(seed)) {}
    uint64_t operator ()() { return mix(state_ += goldenStep); }

private:
    uint64_t state_;
};

/// A stream of numbers that its seed decides. The distributions of the standard
/// library differ from one library to the next; these do not.
/// \tparam Source gives 64 random bits at each call
template <class Source>
class RandomFrom
{
public:
    explicit RandomFrom(const uint64_t seed): source_(seed) {}

    uint64_t next() { return source_(); }

    /// from 0 to n - 1; n must not be 0
    uint64_t below(const uint64_t n) {
        return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }

    /// from 0 (included) to 1 (not included)
    double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    bool chance(const double probability) { return real() < probability; }

    /// the gap between two events of a Poisson process with one event per unit
    double exponential() { return -std::log1p(-real()); }

    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - real()));
        return radius * std::cos(2 * std::acos(-1.0) * real());
    }
    double lognormal(const double median, const double sigma) { return median * std::exp(sigma * normal()); }
    double pareto(const double least, const double alpha) { return least * std::pow(1 - real(), -1 / alpha); }

    /// How many places back from the end of a history of that length, 1 to n:
    /// each is half as likely as the one at half the distance. This is how web
    /// pages are visited again.
    uint64_t lag(const uint64_t n) {
        const auto l = static_cast<uint64_t>(std::exp(real() * std::log(static_cast<double>(n) + 1)));
        return l < 1 ? 1 : l > n ? n : l;
    }

    template <class T>
    void shuffle(std::vector<T> &v) {
        for (size_t i = v.size(); i > 1; --i)
            std::swap(v[i - 1], v[below(i)]);
    }

private:
    Source source_;
};

using Random = RandomFrom<Counter>;

/// what the papers' traces are made from; another source would make others of the same seed
using TwisterRandom = RandomFrom<std::mt19937_64>;

} // namespace Tools

#endif
