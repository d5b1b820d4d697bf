// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues, limits and measurements that all devices share. */

#include "fs/cluster/device/Device.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace ClusterFs {

Device::Device(const Clock &clock, const uint64_t size, const uint32_t alignment, const unsigned depth):
    clock_(clock),
    size_(size),
    alignment_(std::max(alignment, 1U)),
    depth_(std::max(depth, 1U))
{
}

Device::~Device()
{
    for (auto *request: urgent_)
        delete request;
    for (auto *request: background_)
        delete request;
}

void
Device::setDepth(const unsigned depth)
{
    depth_ = std::max(depth, 1U);
}

bool
Device::valid(const Io &io) const
{
    if (io.op == IoOp::flush)
        return true;

    if (!io.size || io.offset % alignment_ || io.size % alignment_)
        return false;

    // in this order, no sum can overflow
    if (io.size > size_ || io.offset > size_ - io.size)
        return false;

    return io.buffer && reinterpret_cast<uintptr_t>(io.buffer) % bufferAlignment() == 0;
}

/// answers a request that never reaches the hardware
void
Device::refuse(Io &io, const Status status, const int errnum)
{
    // a full queue says nothing about the health of the disk
    if (errnum) {
        auto &stats = stats_.op[static_cast<unsigned>(io.op)];
        ++stats.requests;
        ++stats.errors;
        stats_.lastErrno = errnum;
    }
    finished_.push_back({std::move(io.done), status});
    if (!polling_)
        wake();
}

void
Device::submit(Io io)
{
    if (!valid(io))
        return refuse(io, Status::ioError, EINVAL);
    auto &queue = io.ioClass == IoClass::urgent ? urgent_ : background_;
    if (io.op == IoOp::read && queue.size() >= maxQueue)
        return refuse(io, Status::busy, 0);

    auto request = std::make_unique<Request>();
    request->io = std::move(io);
    request->device = this;
    queue.push_back(request.get());
    (void)request.release();

    startQueued();
    stats_.maxQueued = std::max<uint64_t>(stats_.maxQueued, queued());
}

void
Device::hasten(const uint64_t offset)
{
    const auto isIt = [offset](const Request *const r) { return r->io.op == IoOp::read && r->io.offset == offset; };
    const auto found = std::find_if(background_.begin(), background_.end(), isIt);
    if (found == background_.end())
        return;
    (*found)->io.ioClass = IoClass::urgent;
    urgent_.push_back(*found);
    background_.erase(found);
    startQueued();
}

/// the queue whose first request may start now, or nil
std::deque<Device::Request *> *
Device::nextQueue()
{
    if (inFlight_ >= depth_)
        return nullptr;

    const bool backgroundMay = !background_.empty() && backgroundInFlight_ < std::max(1U, depth_ / 2);
    if (urgent_.empty())
        return backgroundMay ? &background_ : nullptr;
    if (!backgroundMay || backgroundInFlight_)
        return &urgent_;

    // Both wait and no background request is in flight: the last free slot is
    // for background, lest it starves. A device with one slot alternates.
    if (inFlight_ + 1 < depth_)
        return &urgent_;
    return depth_ > 1 || urgentLast_ ? &background_ : &urgent_;
}

void
Device::startQueued()
{
    while (!stalled_) {
        auto *const queue = nextQueue();
        if (!queue)
            return;

        auto *const request = queue->front();
        const bool urgent = queue == &urgent_;
        // counted first, because start() may call finish()
        queue->pop_front();
        ++inFlight_;
        backgroundInFlight_ += urgent ? 0 : 1;
        request->started = clock_.micros();
        if (inFlight_ == 1)
            activeSince_ = request->started;
        if (start(request)) {
            urgentLast_ = urgent;
            continue;
        }

        --inFlight_;
        backgroundInFlight_ -= urgent ? 0 : 1;
        queue->push_front(request);
        stalled_ = true;
    }
}

void
Device::finish(Request *const finished, const Status status, const int errnum)
{
    const std::unique_ptr<Request> request(finished);
    auto &io = request->io;
    --inFlight_;
    if (io.ioClass == IoClass::background)
        --backgroundInFlight_;

    const auto now = clock_.micros();
    if (inFlight_ == 0)
        activeMicros_ += now - activeSince_;
    const auto latency = now > request->started ? now - request->started : 0;
    auto &stats = stats_.op[static_cast<unsigned>(io.op)];
    ++stats.requests;
    stats.latency.add(latency);
    stats.busyMicros += latency;
    if (status == Status::ok) {
        stats.bytes += io.op == IoOp::flush ? 0 : io.size;
        if (io.op == IoOp::read)
            readCost_.add(request->started, now, io.size);
    } else {
        ++stats.errors;
        stats_.lastErrno = errnum;
    }

    finished_.push_back({std::move(io.done), status});
    if (!polling_)
        wake();
}

unsigned
Device::poll()
{
    if (polling_)
        return 0;

    // reset even if a done() throws
    struct Guard {
        explicit Guard(bool &flag): flag_(flag) { flag_ = true; }
        ~Guard() { flag_ = false; }
        bool &flag_;
    } guard(polling_);

    reap();
    stalled_ = false;
    startQueued(); // the hardware works while the answers are handled

    const auto count = finished_.size();
    for (size_t i = 0; i < count; ++i) {
        const auto answer = std::move(finished_.front());
        finished_.pop_front();
        if (answer.done)
            answer.done(answer.status);
    }

    startQueued();
    if (hasAnswers())
        wake();
    return static_cast<unsigned>(count);
}

} // namespace ClusterFs
