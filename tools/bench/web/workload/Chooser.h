// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of many is asked for next. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_CHOOSER_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_CHOOSER_H

#include "tools/base/Random.h"
#include "tools/bench/web/corpus/Zipf.h"

#include <cstdint>
#include <vector>

namespace WebBench {

using namespace Tools;

enum class Order {
    popularity, ///< by Zipf's law
    random, ///< all alike
    once ///< each once, shuffled
};

/// Chooses among the numbers 0 to n - 1. Takes 4 bytes of memory for each.
class Chooser
{
public:
    struct Config {
        Order order = Order::popularity;
        double zipf = 0.8; ///< exponent, for popularity
        double drift = 0; ///< chance that what is chosen has just traded places in popularity with any other
        uint64_t corpusSeed = 1; ///< decides which are popular
        uint64_t seed = 1; ///< decides the choices
    };

    /// \param n from 1 to maxPages
    Chooser(uint64_t n, const Config &);

    /// \returns false when each has had its turn
    bool choose(uint64_t &chosen);

private:
    Config config_;
    Random random_;
    Zipf zipf_;
    uint64_t n_;
    std::vector<uint32_t> ranked_; ///< from the most popular on; or in the order of their turns; empty when unused
    uint64_t taken_ = 0;
};

} // namespace WebBench

#endif
