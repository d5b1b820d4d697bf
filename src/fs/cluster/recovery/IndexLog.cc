// SPDX-License-Identifier: GPL-2.0-or-later
/* The index log's head and tail. */

#include "fs/cluster/recovery/IndexLog.h"

#include <algorithm>
#include <cassert>

ClusterFs::IndexLog::IndexLog(const Geometry &geometry, const Superblock &superblock):
    geometry_(geometry),
    extent_(superblock.log),
    attempt_(extent_),
    start_(superblock.checkpointStart),
    serial_(superblock.serial),
    previousSerial_(superblock.serial),
    clusters_(superblock.logClusters),
    turn_(superblock.turn),
    cursor_(superblock.turnCursor),
    turnBefore_(turn_),
    cursorBefore_(cursor_)
{
    if (!superblock.checkpoint && turn_ == 0)
        marks_.push_back({0, ClusterNo(0), extent_.tail}); // the first checkpoint of an empty store names all that there is
}

void
ClusterFs::IndexLog::restore(const std::vector<Mark> &marks)
{
    marks_.clear();
    for (const auto &mark: marks) {
        if (mark.turn + 1 >= turn_ && mark.turn <= turn_)
            marks_.push_back(mark);
    }
}

void
ClusterFs::IndexLog::begin(const uint32_t clusters, const bool anew)
{
    ++serial_;
    clusters_ = std::max(clusters_, clusters);
    anew_ = anew;
    if (anew)
        cursor_ = ClusterNo(0);
    turnBefore_ = turn_;
    cursorBefore_ = cursor_;
    attempt_ = extent_;
    attempt_.blocks = geometry_.logBlocksWith(clusters_);
    contiguous(); // if the head is at the end of a lap, the checkpoint begins in the next one
    start_ = attempt_.head;
}

uint32_t
ClusterFs::IndexLog::contiguous()
{
    auto &a = attempt_;
    if (a.head.lap == a.tail.lap && a.head.block >= a.blocks && a.tail.block > 0) {
        a.blocksBefore = a.head.block;
        a.head = {a.head.lap + 1, 0};
    }
    auto end = a.head.lap == a.tail.lap ? a.blocks : a.tail.block;
    end = std::min(end, geometry_.logRunEnd(a.head.block)); // the blocks behind lie elsewhere on the device
    return end > a.head.block ? end - a.head.block : 0;
}

/// \returns the oldest block that will count once the checkpoint that is being written is complete
ClusterFs::LogPosition
ClusterFs::IndexLog::tail() const
{
    if (anew_)
        return start_;
    auto oldest = attempt_.tail;
    const auto look = [&](const Mark &m) {
        // Clusters in front of the cursor were named in this turn. The others were named in the turn before, behind this
        // mark, if its cursor was not beyond.
        if (m.turn + 1 == turn_ && m.cursor <= cursor_)
            oldest = m.position;
    };
    std::for_each(marks_.begin(), marks_.end(), look);
    look({turnBefore_, cursorBefore_, start_});
    return oldest;
}

/// \returns the blocks that will count once the checkpoint that is being written is complete
ClusterFs::LogExtent
ClusterFs::IndexLog::complete() const
{
    auto extent = attempt_;
    extent.tail = tail();
    if (extent.tail.lap == extent.head.lap)
        extent.blocksBefore = 0;
    return extent;
}

void
ClusterFs::IndexLog::describe(Superblock &superblock, const uint32_t removalBlocks) const
{
    superblock.serial = serial_;
    superblock.log = complete();
    superblock.logClusters = clusters_;
    const auto skips = geometry_.logSkips.begin();
    superblock.geometry.logSkips.assign(skips, skips + geometry_.logSkipsIn(clusters_)); // the others came after begin()
    superblock.checkpointStart = start_;
    superblock.removalBlocks = removalBlocks;
    superblock.turn = turn_;
    superblock.turnCursor = cursor_;
    assert(superblock.log.sane());
}

void
ClusterFs::IndexLog::done()
{
    extent_ = complete();
    previousSerial_ = serial_;
    if (anew_)
        marks_.clear();
    if (marks_.empty() || marks_.back().cursor != cursorBefore_ || marks_.back().turn != turnBefore_)
        marks_.push_back({turnBefore_, cursorBefore_, start_});
    while (!marks_.empty() && marks_.front().turn + 1 < turn_)
        marks_.pop_front();
}

void
ClusterFs::IndexLog::failed(const bool known)
{
    turn_ = turnBefore_;
    cursor_ = cursorBefore_;
    if (known) {
        extent_ = attempt_; // its tail is the old one
        previousSerial_ = serial_;
    }
    attempt_ = extent_;
}

void
ClusterFs::IndexLog::giveUp()
{
    failed(false);
    extent_.tail = extent_.head = LogPosition{extent_.head.lap + 1, 0};
    extent_.blocksBefore = 0;
    marks_.clear();
}
