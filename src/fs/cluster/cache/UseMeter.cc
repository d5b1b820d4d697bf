// SPDX-License-Identifier: GPL-2.0-or-later
/* Learns whether objects that were read unasked are of use. */

#include "fs/cluster/cache/UseMeter.h"

#include <algorithm>

namespace ClusterFs {
namespace {
constexpr double weight = 1.0 / 64; ///< of one window in the moving mean of the use of mates
constexpr double windowWeight = 1.0 / 1024; ///< of one window without mates in the moving means
constexpr double clientWeight = 1.0 / 16; ///< of one prefetch in a client's moving mean
constexpr unsigned prefetchTrialEvery = 64; ///< refusals to a client
/// Refusals of groups. A trial reads up to a whole cluster, for which the others wait: on an SSD that is more than ten times an
/// object's own read. So less than one reader in a hundred may see it.
constexpr unsigned groupTrialEvery = 256;

/// counts a refusal, unless it is to be a trial
/// \param every so many refusals
/// \returns whether a trial is due
template <class Count>
bool
isDue(Count &refusals, const unsigned every)
{
    if (refusals + 1U >= every)
        return true;
    ++refusals;
    return false;
}

/// the same; the next trial comes as late again
template <class Count>
bool
isTimeForTrial(Count &refusals, const unsigned every)
{
    const bool due = isDue(refusals, every);
    if (due)
        refusals = 0;
    return due;
}
} // namespace
} // namespace ClusterFs

double
ClusterFs::UseMeter::ofPrefetches(const uint64_t client) const
{
    const auto &c = clients_[At(client)];
    return c.known || known_ < clientsEnough ? double(c.useful) : ofPrefetches();
}

double
ClusterFs::UseMeter::ofPrefetches() const
{
    return known_ ? sum_ / known_ : 1;
}

bool
ClusterFs::UseMeter::isTimeForGroup()
{
    return isTimeForTrial(refusals_, groupTrialEvery);
}

bool
ClusterFs::UseMeter::groupIsDue()
{
    return isDue(refusals_, groupTrialEvery);
}

bool
ClusterFs::UseMeter::isTimeToPrefetch(const uint64_t client)
{
    return isTimeForTrial(clients_[At(client)].refusals, prefetchTrialEvery);
}

void
ClusterFs::UseMeter::groupRead(const unsigned mates, const uint64_t bytes)
{
    ++groupReads_.reads;
    groupReads_.mates += mates;
    groupReads_.bytes += bytes;
}

void
ClusterFs::UseMeter::groupLeaves(const unsigned mates, unsigned wanted)
{
    if (!mates)
        return;
    wanted = std::min(wanted, mates);
    groupReads_.wanted += wanted;
    groupReads_.unused += mates - wanted;
    ofMates_ += (static_cast<double>(wanted) / mates - ofMates_) * weight;
}

void
ClusterFs::UseMeter::windowLeaves(const uint64_t bytes, const bool again)
{
    again_ += (again - again_) * windowWeight;
    windowBytes_ += (static_cast<double>(bytes) - windowBytes_) * windowWeight;
}

void
ClusterFs::UseMeter::prefetched(const unsigned objects)
{
    ++prefetches_.reads;
    prefetches_.objects += objects;
}

void
ClusterFs::UseMeter::prefetchLeaves(const uint64_t client, const unsigned objects, unsigned wanted)
{
    wanted = std::min(wanted, objects);
    prefetches_.wanted += wanted;
    prefetches_.unused += objects - wanted;

    auto &c = clients_[At(client)];
    if (c.known)
        sum_ -= double(c.useful);
    else
        ++known_;
    c.known = true;
    c.useful += static_cast<float>(((wanted > 0) - double(c.useful)) * clientWeight);
    sum_ += double(c.useful);
}
