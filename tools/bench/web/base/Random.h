// SPDX-License-Identifier: GPL-2.0-or-later
/* Random numbers that are the same on every machine. */

#ifndef CLUSTERFS_BENCH_WEB_BASE_RANDOM_H
#define CLUSTERFS_BENCH_WEB_BASE_RANDOM_H

#include <cmath>
#include <cstdint>
#include <string_view>

namespace WebBench {

/// a number in which every bit depends on every bit of x
inline uint64_t
mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// a number made of two
inline uint64_t
mix(const uint64_t a, const uint64_t b)
{
    return mix(mix(a + 0x9e3779b97f4a7c15ULL) + b);
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

/// A stream of numbers that its seed decides (a counter, mixed).
class Random
{
public:
    explicit Random(const uint64_t seed): state_(mix(seed)) {}

    uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

    /// from 0 to n - 1; n must not be 0
    uint64_t below(const uint64_t n) {
        return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }

    /// from 0 (included) to 1 (not included)
    double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    bool chance(const double probability) { return real() < probability; }

    /// the gap between two events of a Poisson process with one event per unit
    double exponential() { return -std::log1p(-real()); }

private:
    uint64_t state_;
};

} // namespace WebBench

#endif
