// SPDX-License-Identifier: GPL-2.0-or-later
/* The cluster table. */

#include "fs/cluster/catalog/ClusterTable.h"

#include "fs/cluster/base/States.h"

#include <cassert>

namespace ClusterFs {
namespace {

/// by state: those that may follow; the picture is in Catalog.h and in docs/pictures/states.dot
constexpr unsigned followers[clusterStateCount] = {
    /* unknown */ bit(ClusterState::free) | bit(ClusterState::packed) | bit(ClusterState::part) | bit(ClusterState::bad) | bit(ClusterState::log),
    /* free */ bit(ClusterState::announced) | bit(ClusterState::log),
    /* announced */ bit(ClusterState::writing) | bit(ClusterState::part) | bit(ClusterState::free),
    /* writing */ bit(ClusterState::packed) | bit(ClusterState::announced) | bit(ClusterState::bad),
    /* packed */ bit(ClusterState::draining),
    /* part */ bit(ClusterState::draining) | bit(ClusterState::free),
    /* draining */ bit(ClusterState::free) | bit(ClusterState::bad),
    /* bad */ 0,
    /* log */ 0,
};

} // namespace
} // namespace ClusterFs

ClusterFs::ClusterTable::ClusterTable(const uint32_t clusterCount, Changes &changes):
    changes_(changes),
    entries_(clusterCount, "clusterfs-clusters")
{
    states_[static_cast<unsigned>(ClusterState::unknown)] = clusterCount;
}

bool
ClusterFs::ClusterTable::MayFollow(const ClusterState from, const ClusterState to)
{
    return mayFollow(followers, from, to);
}

void
ClusterFs::ClusterTable::enter(const ClusterNo n, const ClusterState s)
{
    if (s == ClusterState::announced)
        changes_.again(n); // clusters are announced ahead of their writes: no change that is worth a checkpoint
    else
        changes_.cluster(n);
    enterKnown(n, s);
}

void
ClusterFs::ClusterTable::enterKnown(const ClusterNo n, const ClusterState s)
{
    auto &e = entries_[n];
    assert(MayFollow(e.state, s));
    if (e.state == ClusterState::packed)
        unlink(n);
    assert(states_[static_cast<unsigned>(e.state)] > 0);
    --states_[static_cast<unsigned>(e.state)];
    e.state = s;
    ++states_[static_cast<unsigned>(s)];
    if (s == ClusterState::packed)
        pushHead(n);
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
ClusterFs::ClusterTable::toHead(const ClusterNo n)
{
    unlink(n);
    pushHead(n);
}

void
ClusterFs::ClusterTable::toTail(const ClusterNo n)
{
    unlink(n);
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
