// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of many is asked for next. */

#include "tools/bench/web/workload/Chooser.h"

#include <numeric>
#include <utility>

namespace WebBench {

Chooser::Chooser(const uint64_t n, const Config &config):
    config_(config),
    random_(mix(config.seed, 1)),
    zipf_(n, config.zipf),
    n_(n)
{
    if (config.order == Order::random)
        return;
    ranked_.resize(n);
    std::iota(ranked_.begin(), ranked_.end(), 0U);
    Random(mix(config.order == Order::once ? config.seed : config.corpusSeed, 2)).shuffle(ranked_);
}

bool
Chooser::choose(uint64_t &chosen)
{
    if (config_.order == Order::random) {
        chosen = random_.below(n_);
        return true;
    }
    if (config_.order == Order::once) {
        if (taken_ == n_)
            return false;
        chosen = ranked_[taken_++];
        return true;
    }
    const auto rank = zipf_.draw(random_);
    if (config_.drift > 0 && random_.chance(config_.drift))
        std::swap(ranked_[rank], ranked_[random_.below(n_)]);
    chosen = ranked_[rank];
    return true;
}

} // namespace WebBench
