// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that have nothing to do with each other. */

#include "tools/bench/web/workload/SinglesWorkload.h"
#include "tools/bench/web/corpus/Fitted.h"

#include <algorithm>
#include <cmath>

namespace WebBench {

uint64_t
SingleObjects::sizeOf(const uint64_t number, Kind &kind) const
{
    Random random(mix(seed, number));
    double size = 0;
    if (downloads) {
        kind = Kind::binary;
        size = static_cast<double>(least) * std::pow(static_cast<double>(most) / static_cast<double>(least), random.real());
    } else {
        kind = Fitted::drawKind(random);
        static const double recorded = Fitted::meanMemberSize();
        size = Fitted::memberSize(kind).at(random.real()) * mean / recorded;
    }
    if (fixed)
        return fixed;
    return static_cast<uint64_t>(std::clamp(std::round(size), 1.0, static_cast<double>(largestObject)));
}

Item
SingleObjects::item(const uint64_t number) const
{
    Item result;
    const auto size = sizeOf(number, result.kind);
    // folders of a thousand, as servers have
    result.path = makePath(folder + "/" + std::to_string(number / 1000), infoOf(result.kind).letter + std::to_string(number % 1000),
                           result.kind, size, 1);
    return result;
}

SinglesWorkload::SinglesWorkload(const uint64_t population, const SingleObjects &objects, const Chooser::Config &choice):
    population_(population),
    objects_(objects),
    chooser_(population, choice)
{
}

bool
SinglesWorkload::next(uint32_t, Visit &visit)
{
    uint64_t number = 0;
    if (!chooser_.choose(number))
        return false;
    visit.assign(1, objects_.item(number));
    return true;
}

CorpusTotals
SinglesWorkload::totals() const
{
    CorpusTotals result;
    result.pages = result.objects = population_;
    for (uint64_t i = 0; i < population_; ++i) {
        Kind kind;
        result.bytes += objects_.sizeOf(i, kind);
    }
    result.meanObjectsPerPage = 1;
    result.meanPageBytes = static_cast<double>(result.bytes) / static_cast<double>(population_);
    return result;
}

} // namespace WebBench
