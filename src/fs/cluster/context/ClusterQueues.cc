// SPDX-License-Identifier: GPL-2.0-or-later
/* The queues of S3-FIFO, over clusters. */

#include "fs/cluster/context/ClusterQueues.h"

#include <algorithm>

void
ClusterFs::ClusterQueues::noteWritten(const ClusterNo n, const Sequence sequence, const bool onTrial, const uint32_t tick)
{
    noteRound(n, tick);
    if (!onTrial)
        return;
    // writes end in another order than they begin, but nearly in that
    auto place = trial_.end();
    while (place != trial_.begin() && std::prev(place)->first > sequence)
        --place;
    trial_.insert(place, {sequence, n});
    if (trial_.size() > placed_.count())
        trial_.pop_front();
}

bool
ClusterFs::ClusterQueues::isOnTrial(const Sequence sequence) const
{
    const auto found = std::lower_bound(trial_.begin(), trial_.end(), std::make_pair(sequence, ClusterNo(0)));
    return found != trial_.end() && found->first == sequence;
}

bool
ClusterFs::ClusterQueues::isUsed(const ClusterNo n, const uint32_t tick, const uint32_t age, const uint32_t uses) const
{
    if (!uses)
        return false;
    const auto placed = placed_[n];
    return !placed || age < ((tick + 1 - placed) & 0xff);
}

bool
ClusterFs::ClusterQueues::takeFailed(const uint32_t tag)
{
    auto &place = failed_[tag % failed_.count()];
    if (!tag || place != tag)
        return false;
    place = 0;
    return true;
}
