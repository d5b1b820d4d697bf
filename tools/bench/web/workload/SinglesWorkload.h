// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that have nothing to do with each other. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_SINGLESWORKLOAD_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_SINGLESWORKLOAD_H

#include "tools/bench/web/workload/Chooser.h"
#include "tools/bench/web/workload/Workload.h"

namespace WebBench {

/// What single objects are like: a number decides the object.
struct SingleObjects {
    std::string folder; ///< of all of them; begins with a slash
    uint64_t seed = 1;
    bool downloads = false; ///< sizes spread evenly by their logarithm; else as objects of pages
    uint64_t least = 0; ///< bytes, of downloads
    uint64_t most = 0; ///< bytes, of downloads
    double mean = 13500; ///< bytes, of others
    uint64_t fixed = 0; ///< bytes; all have this size when it is not 0

    uint64_t sizeOf(uint64_t number, Kind &) const;
    Item item(uint64_t number) const;
};

/// Each visit is one request, of no browser: nothing hints at any locality.
class SinglesWorkload: public Workload
{
public:
    SinglesWorkload(uint64_t population, const SingleObjects &, const Chooser::Config &);

    bool next(uint32_t user, Visit &) override;
    CorpusTotals totals() const override;

private:
    uint64_t population_;
    SingleObjects objects_;
    Chooser chooser_;
};

} // namespace WebBench

#endif
