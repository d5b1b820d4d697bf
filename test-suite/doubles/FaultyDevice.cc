// SPDX-License-Identifier: GPL-2.0-or-later
/* A device that fails as a test says, or at random by a seed. */

#include "test-suite/doubles/FaultyDevice.h"
#include "tools/models/ManualClock.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

namespace ClusterFs {

/// a repeated write lands again within so many requests after the next one
constexpr uint64_t echoWithin = 100;

FaultyDevice::FaultyDevice(Device &inner, ManualClock &clock, const uint64_t seed):
    Device(clock, inner.size(), inner.alignment(), inner.depth()),
    media_(inner),
    volatile_(inner),
    time_(clock),
    random_(seed)
{
    if (inner.alignment() % VolatileMedia::sectorSize)
        throw std::invalid_argument("a faulty device needs media with sectors of 512 bytes, not of " + std::to_string(inner.alignment()));
}

FaultyDevice::~FaultyDevice()
{
    while (!pending_.empty()) {
        const auto oldest = pending_.front();
        pending_.erase(pending_.begin());
        if (oldest.fault == Fault::hang)
            delete oldest.request;
        else
            carryOut(oldest);
    }
}

void
FaultyDevice::script(const IoOp op, const uint64_t nth, const Fault fault, const bool onwards)
{
    scripts_.push_back({false, op, nth, fault, onwards});
}

void
FaultyDevice::script(const uint64_t nth, const Fault fault, const bool onwards)
{
    scripts_.push_back({true, IoOp::read, nth, fault, onwards});
}

void
FaultyDevice::setRate(const IoOp op, const Fault fault, const double probability)
{
    rates_[static_cast<unsigned>(op)][static_cast<unsigned>(fault)] = probability;
}

void
FaultyDevice::heal()
{
    scripts_.clear();
    memset(rates_, 0, sizeof(rates_));
    cutAt_ = 0;
}

void
FaultyDevice::setDelay(const uint64_t least, const uint64_t most)
{
    delayLeast_ = least;
    delayMost_ = std::max(least, most);
}

uint64_t
FaultyDevice::requests() const
{
    return std::accumulate(std::begin(requests_), std::end(requests_), uint64_t(0));
}

bool
FaultyDevice::chance(const double probability)
{
    // not std::bernoulli_distribution: C++ libraries differ in theirs, and a seed must give the same history with all
    return static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
}

/// whether a kind of request can fail so
static bool
applies(const IoOp op, const Fault fault)
{
    switch (fault) {
    case Fault::flip:
    case Fault::rot:
        return op == IoOp::read;
    case Fault::torn:
    case Fault::misdirected:
    case Fault::duplicated:
    case Fault::repeated:
        return op == IoOp::write;
    case Fault::lost:
        return op != IoOp::read;
    default:
        return true;
    }
}

Fault
FaultyDevice::chooseFault(const IoOp op)
{
    const auto nth = ++requests_[static_cast<unsigned>(op)];
    if (!powered_)
        return Fault::none; // without power, it fails in any case
    if (cutAt_ && requests() == cutAt_)
        return Fault::cut;

    for (const auto &script: scripts_) {
        const auto now = script.anyOp ? requests() : nth;
        const bool concerned = script.anyOp || script.op == op;
        if (concerned && (script.nth == now || (script.onwards && script.nth < now)) && applies(op, script.fault))
            return script.fault;
    }

    for (unsigned f = 1; f < faultCount; ++f) {
        const auto rate = rates_[static_cast<unsigned>(op)][f];
        if (rate > 0 && chance(rate) && applies(op, static_cast<Fault>(f)))
            return static_cast<Fault>(f);
    }
    return Fault::none;
}

bool
FaultyDevice::start(Request *const request)
{
    const auto fault = chooseFault(request->io.op);
    ++injected_[static_cast<unsigned>(fault)];
    const auto delay = delayLeast_ + below(delayMost_ - delayLeast_ + 1);
    pending_.push_back({request, fault, time_.micros() + delay, volatile_.writes()});
    return true;
}

/// \returns the position of the request that is answered next, or pending_.size()
size_t
FaultyDevice::nextPending(const uint64_t now) const
{
    auto best = pending_.size();
    for (size_t i = 0; i < pending_.size(); ++i) {
        const auto &one = pending_[i];
        if (one.fault != Fault::hang && one.due <= now && (best == pending_.size() || one.due < pending_[best].due))
            best = i;
    }
    return best;
}

/// \returns the position of any request that may be answered now, or pending_.size()
size_t
FaultyDevice::randomPending(const uint64_t now)
{
    std::vector<size_t> ready;
    for (size_t i = 0; i < pending_.size(); ++i) {
        if (pending_[i].fault != Fault::hang && pending_[i].due <= now)
            ready.push_back(i);
    }
    return ready.empty() ? pending_.size() : ready[below(ready.size())];
}

void
FaultyDevice::reap()
{
    const auto now = time_.micros();
    do {
        const auto next = shuffle_ ? randomPending(now) : nextPending(now);
        if (next == pending_.size())
            return;
        const auto chosen = pending_[next];
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(next));
        carryOut(chosen);
    } while (!shuffle_ || below(4) > 0);
}

void
FaultyDevice::carryOut(const Pending &pending)
{
    if (pending.fault == Fault::cut && powered_) {
        pending_.push_back(pending); // it is torn like the others in flight
        return cut();
    }
    const auto status = powered_ ? perform(pending) : Status::ioError;
    finish(pending.request, status, status == Status::ok ? 0 : EIO);
}

Status
FaultyDevice::perform(const Pending &pending)
{
    const auto &io = pending.request->io;
    const auto fault = pending.fault;
    performEchoes();
    if (fault == Fault::error)
        return Status::ioError;
    if (fault == Fault::lost)
        return Status::ok;

    switch (io.op) {
    case IoOp::read:
        return performRead(io, fault);
    case IoOp::write:
        return performWrite(io, fault);
    case IoOp::flush:
        return volatile_.flush(pending.covers);
    }
    return Status::ioError;
}

/// changes 1 to 4 bytes in a row
void
FaultyDevice::damage(char *const bytes, const uint32_t size)
{
    const auto count = std::min<uint64_t>(1 + below(4), size);
    const auto first = below(size - count + 1);
    for (uint64_t i = first; i < first + count; ++i)
        bytes[i] = static_cast<char>(bytes[i] ^ static_cast<char>(1 + below(255)));
}

Status
FaultyDevice::performRead(const Io &io, const Fault fault)
{
    const auto status = volatile_.read(io.offset, io.size, io.buffer);
    if (status != Status::ok || (fault != Fault::flip && fault != Fault::rot))
        return status;

    damage(io.buffer, io.size);
    return fault == Fault::rot ? volatile_.write(io.offset, io.size, io.buffer) : status;
}

Status
FaultyDevice::performWrite(const Io &io, const Fault fault)
{
    if (fault == Fault::torn) {
        const auto landing = below(io.size / VolatileMedia::sectorSize);
        (void)volatile_.write(io.offset, io.size, io.buffer, [landing](const uint32_t sector) { return sector < landing; });
        return Status::ioError;
    }

    if (fault == Fault::repeated)
        echoes_.push_back({io.offset, std::string(io.buffer, io.size), requests() + 2 + below(echoWithin)});
    if (fault == Fault::misdirected || fault == Fault::duplicated) {
        const auto offset = elsewhere(io);
        if (offset != io.offset)
            (void)volatile_.write(offset, io.size, io.buffer);
    }
    return fault == Fault::misdirected ? Status::ok : volatile_.write(io.offset, io.size, io.buffer);
}

/// \returns another offset for a write, or its own when there is no other
uint64_t
FaultyDevice::elsewhere(const Io &io)
{
    const auto places = (size() - io.size) / alignment() + 1;
    if (places == 1)
        return io.offset;
    return (io.offset / alignment() + 1 + below(places - 1)) % places * alignment();
}

/// repeated writes that are due land again
void
FaultyDevice::performEchoes()
{
    const auto due = std::partition(echoes_.begin(), echoes_.end(), [this](const Echo &e) { return e.due > requests(); });
    for (auto e = due; e != echoes_.end(); ++e)
        (void)volatile_.write(e->offset, static_cast<uint32_t>(e->bytes.size()), e->bytes.data());
    echoes_.erase(due, echoes_.end());
}

void
FaultyDevice::cut()
{
    if (!powered_)
        return;

    std::vector<Pending> pending;
    pending.swap(pending_);
    for (const auto &one: pending) {
        // none, all or some sectors of each write had reached the disk's cache
        const auto share = static_cast<double>(below(3)) / 2;
        const auto &io = one.request->io;
        if (io.op == IoOp::write && one.fault != Fault::error && one.fault != Fault::lost && one.fault != Fault::misdirected)
            (void)volatile_.write(io.offset, io.size, io.buffer, [&](uint32_t) { return chance(share); });
    }
    (void)volatile_.cut(random_);
    powered_ = false;
    for (const auto &one: pending)
        finish(one.request, Status::ioError, EIO);
}

void
FaultyDevice::wait(const unsigned milliseconds)
{
    if (hasAnswers())
        return;

    const auto now = time_.micros();
    auto until = now + uint64_t(milliseconds) * 1000;
    for (const auto &one: pending_) {
        if (one.fault != Fault::hang)
            until = std::min(until, std::max(one.due, now));
    }
    time_.advance(until - now);
}

} // namespace ClusterFs
