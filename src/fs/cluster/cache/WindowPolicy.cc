// SPDX-License-Identifier: GPL-2.0-or-later
/* How much one read fetches. */

#include "fs/cluster/cache/WindowPolicy.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr double weight = 1.0 / 64; ///< of one window in the usefulness
constexpr double clientWeight = 1.0 / 16; ///< of one read ahead in what is known of a client
constexpr double leastAhead = 0.75; ///< of the reads ahead, so many are to be wanted
constexpr unsigned trialEvery = 64; ///< refusals: one is read anyway, or nothing could be learned

/// counts a refusal \returns whether it is time for a trial instead
template <class Count>
bool
tryAnyway(Count &refusals)
{
    if (++refusals < trialEvery)
        return false;
    refusals = 0;
    return true;
}
} // namespace
} // namespace ClusterFs

bool
ClusterFs::WindowPolicy::readGroup(const CostMeter &cost, const unsigned mates, const uint64_t bytes)
{
    if (!mates)
        return false;
    const auto saved = usefulness_ * mates * cost.requestMicros();
    const auto spent = static_cast<double>(bytes) * cost.byteMicros();
    if (saved > spent)
        return true;
    return tryAnyway(refusals_);
}

double
ClusterFs::WindowPolicy::usefulnessAhead() const
{
    return known_ ? sum_ / known_ : 1;
}

bool
ClusterFs::WindowPolicy::readAhead(const uint64_t client)
{
    auto &c = clients_[At(client)];
    const double useful = c.known || known_ < clientsEnough ? double(c.useful) : usefulnessAhead();
    return useful > leastAhead || tryAnyway(c.refusals);
}

void
ClusterFs::WindowPolicy::noteAhead(const uint64_t client, const bool wanted)
{
    auto &c = clients_[At(client)];
    if (c.known)
        sum_ -= double(c.useful);
    else
        ++known_;
    c.known = true;
    c.useful += static_cast<float>((wanted - double(c.useful)) * clientWeight);
    sum_ += double(c.useful);
}

void
ClusterFs::WindowPolicy::noteUse(const unsigned mates, const unsigned wanted)
{
    if (!mates)
        return;
    const auto share = static_cast<double>(std::min(wanted, mates)) / mates;
    usefulness_ += (share - usefulness_) * weight;
}
