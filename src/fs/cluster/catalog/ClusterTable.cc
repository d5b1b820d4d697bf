// SPDX-License-Identifier: GPL-2.0-or-later
/* The cluster table. */

#include "fs/cluster/catalog/ClusterTable.h"

#include <cassert>

ClusterFs::ClusterTable::ClusterTable(const uint32_t clusterCount, Changes &changes):
    changes_(changes),
    entries_(clusterCount)
{
    states_[static_cast<unsigned>(ClusterState::unknown)] = clusterCount;
}

void
ClusterFs::ClusterTable::setState(const ClusterNo n, const ClusterState s)
{
    if (s == ClusterState::announced)
        changes_.again(n); // clusters are announced ahead, whether something comes or not
    else
        changes_.cluster(n);
    setKnownState(n, s);
}

void
ClusterFs::ClusterTable::setKnownState(const ClusterNo n, const ClusterState s)
{
    auto &e = entries_[n];
    assert(states_[static_cast<unsigned>(e.state)] > 0);
    --states_[static_cast<unsigned>(e.state)];
    e.state = s;
    ++states_[static_cast<unsigned>(s)];
}

bool
ClusterFs::ClusterTable::linked(const ClusterNo n) const
{
    const auto &e = entries_[n];
    return e.previous != noCluster || e.next != noCluster || head_ == n;
}

void
ClusterFs::ClusterTable::pushHead(const ClusterNo n)
{
    assert(!linked(n));
    auto &e = entries_[n];
    e.next = head_;
    if (head_ != noCluster)
        entries_[head_].previous = n;
    else
        tail_ = n;
    head_ = n;
}

void
ClusterFs::ClusterTable::pushTail(const ClusterNo n)
{
    assert(!linked(n));
    auto &e = entries_[n];
    e.previous = tail_;
    if (tail_ != noCluster)
        entries_[tail_].next = n;
    else
        head_ = n;
    tail_ = n;
}

void
ClusterFs::ClusterTable::unlink(const ClusterNo n)
{
    assert(linked(n));
    auto &e = entries_[n];
    if (e.previous != noCluster)
        entries_[e.previous].next = e.next;
    else
        head_ = e.next;
    if (e.next != noCluster)
        entries_[e.next].previous = e.previous;
    else
        tail_ = e.previous;
    e.previous = e.next = noCluster;
}
