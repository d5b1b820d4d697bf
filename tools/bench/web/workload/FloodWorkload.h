// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages, and a flood of objects that are asked for only once. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_FLOODWORKLOAD_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_FLOODWORKLOAD_H

#include "tools/bench/web/workload/SinglesWorkload.h"

#include <memory>

namespace WebBench {

/// Some visits are not of a page, but a crawler's: as many unrelated objects as
/// a page has, none of which is ever asked for again.
class FloodWorkload: public Workload
{
public:
    /// \param share of the visits that are a crawler's
    /// \param burst how many objects such a visit asks for
    FloodWorkload(std::unique_ptr<Workload> base, double share, uint32_t burst, const SingleObjects &, uint64_t seed);

    bool next(uint32_t user, Visit &) override;
    CorpusTotals totals() const override { return base_->totals(); }

private:
    std::unique_ptr<Workload> base_;
    double share_;
    uint32_t burst_;
    SingleObjects objects_;
    Random random_;
    uint64_t count_ = 0;
};

} // namespace WebBench

#endif
