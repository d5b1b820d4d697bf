// SPDX-License-Identifier: GPL-2.0-or-later
/* Recording writes and flushes. */

#include "test-suite/simulate/Recorder.h"
#include "tools/models/ManualClock.h"

#include <cstring>

using namespace ClusterFs;

Simulate::Recorder::Recorder(MemoryDevice &media, ManualClock &clock, const bool keepBytes):
    Device(clock, media.size(), media.alignment(), media.depth()),
    media_(media),
    time_(clock)
{
    if (!keepBytes)
        return;
    first_ = std::make_unique<MemoryDevice>(clock, media.size(), media.alignment());
    memcpy(first_->data(), media.data(), media.size());
}

void
Simulate::Recorder::wait(const unsigned milliseconds)
{
    if (!hasAnswers())
        time_.advance(uint64_t(milliseconds) * 1000);
}

bool
Simulate::Recorder::start(Request *const request)
{
    auto &io = request->io;
    if (io.op == IoOp::read) {
        ++reads_;
        memcpy(io.buffer, media_.data() + io.offset, io.size);
    } else {
        note(io);
    }
    finish(request, Status::ok, 0);
    return true;
}

void
Simulate::Recorder::note(Io &io)
{
    if (onEvent)
        onEvent(io);
    Event event;
    std::vector<size_t> covered;
    if (io.op == IoOp::write) {
        event.write = true;
        event.offset = io.offset;
        event.size = io.size;
        if (first_)
            event.bytes.assign(io.buffer, io.size);
        memcpy(media_.data() + io.offset, io.buffer, io.size);
    } else {
        covered.swap(answered_);
    }
    const auto number = events_.size();
    events_.push_back(std::move(event));
    io.done = [this, number, covered, done = std::move(io.done)](const Status status) {
        answered(number, covered);
        done(status);
    };
}

void
Simulate::Recorder::answered(const size_t event, const std::vector<size_t> &covered)
{
    if (events_[event].write)
        answered_.push_back(event);
    for (const auto write: covered) {
        if (events_[write].lostFrom == Event::never)
            events_[write].durableFrom = events_.size();
    }
}

void
Simulate::Recorder::cutPower()
{
    memcpy(media_.data(), first_->data(), first_->size());
    for (auto &e: events_) {
        if (e.durableFrom != Event::never)
            memcpy(media_.data() + e.offset, e.bytes.data(), e.bytes.size());
        else if (e.write && e.lostFrom == Event::never)
            e.lostFrom = events_.size();
    }
    answered_.clear();
}
