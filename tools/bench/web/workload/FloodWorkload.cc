// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages, and a flood of objects that are asked for only once. */

#include "tools/bench/web/workload/FloodWorkload.h"

#include <utility>

namespace WebBench {

FloodWorkload::FloodWorkload(std::unique_ptr<Workload> base, const double share, const uint32_t burst,
                             const SingleObjects &objects, const uint64_t seed):
    base_(std::move(base)),
    share_(share),
    burst_(burst),
    objects_(objects),
    random_(mix(seed, 4))
{
}

bool
FloodWorkload::next(const uint32_t user, Visit &visit)
{
    if (!random_.chance(share_))
        return base_->next(user, visit);
    visit.clear();
    for (uint32_t i = 0; i < burst_; ++i)
        visit.push_back(objects_.item(count_++));
    return true;
}

} // namespace WebBench
