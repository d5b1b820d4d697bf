// SPDX-License-Identifier: GPL-2.0-or-later
/* A spinning disk. */

#ifndef CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDMODEL_H
#define CLUSTERFS_TOOLS_DISKMODEL_MODEL_HDDMODEL_H

#include "tools/diskmodel/model/HddGeometry.h"
#include "tools/diskmodel/model/HddReadAhead.h"
#include "tools/diskmodel/model/HddWriteCache.h"
#include "tools/diskmodel/model/Model.h"

#include <deque>

namespace DiskModel {

/// One arm over one surface. Whenever the arm is free it gets the command that
/// it can reach soonest, of those in the drive's queue; waiting makes a command
/// more urgent. Writes go to the cache, and from there to the platter when
/// there is nothing to read, the cache gets full, or somebody flushes.
class HddModel : public Model
{
public:
    HddModel(const Parameters &, uint64_t size, Completions &, MediaCounters &);

    void submit(Request &) override;
    void advance(Nanos now) override;
    Nanos nextEvent() const override;
    std::vector<Request *> abandon() override;
    uint64_t dirtyBytes() const override { return writeCache_.bytes(); }

private:
    struct Flush {
        Request *request;
        uint64_t upTo; ///< number of the last write that it waits for
    };
    /// what the arm does next
    struct Choice {
        bool found = false;
        bool destage = false; ///< a range of the write cache, or else a command
        size_t index = 0;
        double cost = 0;
    };

    void finishFlushes();
    void admitWrites();
    Choice choose(Nanos now) const;
    void considerCommands(Nanos now, Choice &) const;
    void considerDirty(Nanos now, Choice &) const;
    void serve(Request &);
    void followStream(Request &, Nanos start);
    void destage(const HddWriteCache::Range &);
    Nanos useArm(uint64_t begin, uint64_t end, Nanos start, uint64_t &positionings);
    void accept(Request &, Nanos at);
    bool cached(const Request &, Nanos at);
    Nanos answerTime(uint64_t bytes) const;

    const size_t queueDepth_;
    const Nanos overhead_;
    const double interfaceRate_; ///< bytes a nanosecond
    HddGeometry geometry_;
    HddReadAhead readAhead_;
    HddWriteCache writeCache_;
    Completions &completions_;
    MediaCounters &counters_;

    std::deque<Request *> commands_; ///< for the arm: reads; and writes if there is no write cache
    std::deque<Request *> waiting_; ///< writes, for room in the write cache
    std::vector<Flush> flushes_;
    Nanos armFree_ = 0;
    size_t track_ = 0; ///< where the arm is
};

} // namespace DiskModel

#endif
