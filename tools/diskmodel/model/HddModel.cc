// SPDX-License-Identifier: GPL-2.0-or-later
/* A spinning disk. */

#include "tools/diskmodel/model/HddModel.h"

#include <algorithm>

namespace DiskModel {

/// nanoseconds of positioning that a command gains for each that it has waited
static constexpr double commandAgeing = 0.02;
/// the same for dirty ranges while there are commands
static constexpr double dirtyAgeing = 0.002;
/// dirty ranges that the arm chooses from
static constexpr size_t dirtyChoice = 64;

HddModel::HddModel(const Parameters &p, const uint64_t size, Completions &completions, MediaCounters &counters):
    queueDepth_(static_cast<size_t>(p.ncq)),
    overhead_(static_cast<Nanos>(p.overhead * nanosPerMicro)),
    interfaceRate_(p.interfaceRate / nanosPerMicro),
    geometry_(p, size),
    readAhead_(p, geometry_),
    writeCache_(static_cast<uint64_t>(p.writeCache) * 1024),
    completions_(completions),
    counters_(counters)
{
}

/// between the drive's memory and the host, with the command's overhead
Nanos
HddModel::answerTime(const uint64_t bytes) const
{
    return overhead_ + static_cast<Nanos>(static_cast<double>(bytes) / interfaceRate_);
}

bool
HddModel::cached(const Request &request, const Nanos at)
{
    return readAhead_.holds(request.offset, request.end(), at) || writeCache_.covers(request.offset, request.end());
}

void
HddModel::submit(Request &request)
{
    if (request.op == Op::flush && !writeCache_.count()) {
        completions_.add(request, request.arrival + overhead_);
    } else if (request.op == Op::flush) {
        flushes_.push_back(Flush{&request, writeCache_.lastNumber()});
    } else if (request.op == Op::read && cached(request, request.arrival)) {
        ++counters_.cacheHits;
        completions_.add(request, request.arrival + answerTime(request.size));
    } else if (request.op == Op::read || !writeCache_.enabled()) {
        commands_.push_back(&request);
    } else if (waiting_.empty() && writeCache_.hasRoom(request.size)) {
        accept(request, request.arrival);
    } else {
        ++counters_.writeCacheFull;
        waiting_.push_back(&request);
    }
}

/// into the write cache, which answers the write
void
HddModel::accept(Request &request, const Nanos at)
{
    writeCache_.add(request.offset, request.size, at);
    completions_.add(request, at + answerTime(request.size));
}

void
HddModel::finishFlushes()
{
    const auto done = std::remove_if(flushes_.begin(), flushes_.end(), [this](const Flush &flush) {
        if (!writeCache_.allWritten(flush.upTo))
            return false;
        completions_.add(*flush.request, std::max(armFree_, flush.request->arrival) + overhead_);
        return true;
    });
    flushes_.erase(done, flushes_.end());
}

void
HddModel::admitWrites()
{
    while (!waiting_.empty() && writeCache_.hasRoom(waiting_.front()->size)) {
        auto &request = *waiting_.front();
        waiting_.pop_front();
        accept(request, std::max(armFree_, request.arrival));
    }
}

void
HddModel::considerCommands(const Nanos now, Choice &best) const
{
    const auto count = std::min(queueDepth_, commands_.size());
    for (size_t i = 0; i < count; ++i) {
        const auto &request = *commands_[i];
        const Nanos start = std::max(armFree_, request.arrival);
        Nanos time = start - armFree_;
        if (request.op != Op::read || !readAhead_.reaches(request.offset, start))
            time += geometry_.positioningTime(track_, request.offset, start);
        const double cost = static_cast<double>(time) - commandAgeing * static_cast<double>(now - request.arrival);
        if (!best.found || cost < best.cost)
            best = Choice{true, false, i, cost};
    }
}

void
HddModel::considerDirty(const Nanos now, Choice &best) const
{
    if (!commands_.empty() && flushes_.empty() && !writeCache_.filling())
        return; // reads go first: somebody waits for them
    const double ageing = commands_.empty() ? 0 : dirtyAgeing;
    const auto count = std::min(dirtyChoice, writeCache_.count());
    for (size_t i = 0; i < count; ++i) {
        const auto &range = writeCache_.at(i);
        const Nanos start = std::max(armFree_, range.arrival);
        const Nanos time = start - armFree_ + geometry_.positioningTime(track_, range.offset, start);
        const double cost = static_cast<double>(time) - ageing * static_cast<double>(now - range.arrival);
        if (!best.found || cost < best.cost)
            best = Choice{true, true, i, cost};
    }
}

HddModel::Choice
HddModel::choose(const Nanos now) const
{
    Choice best;
    considerCommands(now, best);
    considerDirty(now, best);
    return best;
}

void
HddModel::advance(const Nanos now)
{
    while (armFree_ <= now) {
        finishFlushes();
        admitWrites();
        const auto choice = choose(now);
        if (!choice.found)
            return;
        if (choice.destage) {
            destage(writeCache_.take(choice.index));
        } else {
            auto &request = *commands_[choice.index];
            commands_.erase(commands_.begin() + static_cast<std::ptrdiff_t>(choice.index));
            serve(request);
        }
    }
}

/// moves the arm and passes over a range; \returns when that is done
Nanos
HddModel::useArm(const uint64_t begin, const uint64_t end, const Nanos start, uint64_t &positionings)
{
    readAhead_.stop(start);
    const Nanos positioning = geometry_.positioningTime(track_, begin, start);
    const Nanos transfer = geometry_.transferTime(begin, end);
    if (positioning > 0)
        ++positionings;
    counters_.positioning += positioning;
    counters_.transfer += transfer;
    track_ = geometry_.trackOf(end - 1);
    armFree_ = start + positioning + transfer;
    return armFree_;
}

/// the head is on its way already: the read waits for it to pass
void
HddModel::followStream(Request &request, const Nanos start)
{
    ++counters_.streamed;
    const Nanos arrives = readAhead_.continueTo(request.end());
    const Nanos moved = start + answerTime(request.size) - overhead_;
    track_ = geometry_.trackOf(request.end() - 1);
    if (arrives > start)
        counters_.transfer += arrives - start;
    armFree_ = std::max(start, arrives);
    completions_.add(request, std::max(arrives, moved) + overhead_);
}

void
HddModel::serve(Request &request)
{
    const Nanos start = std::max(armFree_, request.arrival);
    if (request.op == Op::read && readAhead_.underWay(request.offset, request.end(), start)) {
        followStream(request, start);
        return;
    }
    if (request.op == Op::read && cached(request, start)) {
        ++counters_.cacheHits;
        completions_.add(request, start + answerTime(request.size));
        return;
    }
    const bool read = request.op == Op::read;
    const Nanos done = useArm(request.offset, request.end(), start,
                              read ? counters_.readPositionings : counters_.writePositionings);
    if (read)
        readAhead_.start(request.offset, request.end(), done);
    completions_.add(request, done + overhead_);
}

void
HddModel::destage(const HddWriteCache::Range &range)
{
    useArm(range.offset, range.end(), std::max(armFree_, range.arrival), counters_.writePositionings);
}

Nanos
HddModel::nextEvent() const
{
    const bool idle = commands_.empty() && waiting_.empty() && flushes_.empty() && !writeCache_.count();
    return idle ? never : armFree_;
}

std::vector<Request *>
HddModel::abandon()
{
    std::vector<Request *> result(commands_.begin(), commands_.end());
    result.insert(result.end(), waiting_.begin(), waiting_.end());
    for (const auto &flush: flushes_)
        result.push_back(flush.request);
    commands_.clear();
    waiting_.clear();
    flushes_.clear();
    return result;
}

} // namespace DiskModel
