// SPDX-License-Identifier: GPL-2.0-or-later
/* The modelled disk: bytes, timing, faults, log and counters together. */

#include "tools/diskmodel/device/Disk.h"

#include "tools/base/Numbers.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace DiskModel {

using namespace Tools;

static constexpr char corruption = 0x5a; ///< what bytes are XORed with

Disk::Disk(Store &store, WriteLog *const log, Answers &answers, const Parameters &parameters):
    store_(store),
    log_(log),
    answers_(answers),
    parameters_(parameters),
    model_(Model::Make(parameters_, store.size(), completions_, media_))
{
    traffic_.reset(now());
}

Disk::~Disk() = default;

Request &
Disk::begin(void *const handle, const Op op, const uint64_t offset, const uint64_t size)
{
    if (unused_.empty()) {
        requests_.push_back(std::make_unique<Request>());
        unused_.push_back(requests_.back().get());
    }
    auto &request = *unused_.back();
    unused_.pop_back();
    request = Request();
    request.op = op;
    request.offset = offset;
    request.size = size;
    request.handle = handle;
    request.arrival = now();
    traffic_.arrived(request);
    return request;
}

void
Disk::release(Request &request)
{
    unused_.push_back(&request);
}

/// records something; without a complete log the disk is of no use to who wanted one
uint64_t
Disk::log(const LogKind kind, const uint64_t offset, const uint64_t size, const char *const data)
{
    if (!log_)
        return 0;
    const auto sequence = log_->add(kind, offset, size, data);
    if (!sequence && !cut_) {
        fprintf(stderr, "diskmodel: %s; the disk fails all requests from now on\n", log_->error().c_str());
        cut_ = true;
    }
    return sequence;
}

/// applies an injected fault that concerns the answer
void
Disk::strike(Request &request)
{
    const auto fault = faults_.count() ? faults_.strike(request) : std::nullopt;
    if (!fault)
        return;
    auto &damage = request.damage;
    const auto bytes = static_cast<uint64_t>(fault->value);
    switch (fault->kind) {
    case FaultKind::error:
        damage.error = static_cast<int>(fault->value);
        damage.shortTo = 0;
        break;
    case FaultKind::corrupt:
        damage.corruptBegin = std::max(fault->offset, request.offset);
        damage.corruptEnd = std::min(fault->end(), request.end());
        break;
    case FaultKind::shortened:
        damage.shortTo = bytes;
        break;
    case FaultKind::torn:
        damage.shortTo = bytes;
        damage.error = EIO;
        break;
    case FaultKind::lost:
        damage.shortTo = 0;
        damage.unlogged = true;
        break;
    case FaultKind::delay:
        request.delay = static_cast<Nanos>(fault->value * nanosPerMilli);
        break;
    }
}

void
Disk::submit(Request &request)
{
    if (cut_)
        completions_.add(request, request.arrival);
    else
        model_->submit(request);
}

void
Disk::read(void *const handle, const uint64_t offset, const uint64_t size)
{
    auto &request = begin(handle, Op::read, offset, size);
    strike(request);
    submit(request);
}

void
Disk::write(void *const handle, const uint64_t offset, const uint64_t size, const char *const data)
{
    auto &request = begin(handle, Op::write, offset, size);
    strike(request);
    if (!cut_)
        storeWrite(request, data);
    submit(request);
}

/// puts the data, or what a fault leaves of them, into store and log
void
Disk::storeWrite(Request &request, const char *data)
{
    const auto size = std::min(request.size, request.damage.shortTo);
    if (request.damage.corruptEnd > request.damage.corruptBegin) {
        scratch_.assign(data, data + size);
        for (auto i = request.damage.corruptBegin; i < request.damage.corruptEnd; ++i)
            scratch_[i - request.offset] ^= corruption;
        data = scratch_.data();
    }
    if (!size)
        return;
    const int error = store_.write(request.offset, size, data);
    if (error) {
        request.damage.error = error;
        if (!complained_)
            fprintf(stderr, "diskmodel: the store cannot take a write: %s; writes fail\n", strerror(error));
        complained_ = true;
        return;
    }
    request.sequence = log(LogKind::write, request.offset, size, data);
}

void
Disk::flush(void *const handle)
{
    auto &request = begin(handle, Op::flush, 0, 0);
    strike(request);
    if (!cut_ && !request.damage.unlogged)
        request.sequence = log(LogKind::flushArrived, 0, 0);
    submit(request);
}

void
Disk::discard(void *const handle, const uint64_t offset, const uint64_t size)
{
    auto &request = begin(handle, Op::discard, offset, size);
    if (!cut_)
        request.damage.error = store_.discard(offset, size);
    if (!cut_ && !request.damage.error)
        request.sequence = log(LogKind::discard, offset, size);
    completions_.add(request, request.arrival); // takes no time in any model
}

void
Disk::fail(Request &request, const int error)
{
    traffic_.left(request, now(), true);
    answers_.failed(request.handle, error);
}

void
Disk::answerRead(Request &request)
{
    const auto size = std::min(request.size, request.damage.shortTo);
    const char *data = store_.read(request.offset, size);
    if (request.damage.corruptEnd > request.damage.corruptBegin) {
        scratch_.assign(data, data + size);
        for (auto i = request.damage.corruptBegin; i < request.damage.corruptEnd; ++i)
            scratch_[i - request.offset] ^= corruption;
        data = scratch_.data();
    }
    answers_.read(request.handle, data, size);
}

void
Disk::answerDone(Request &request)
{
    if (request.sequence)
        log(request.op == Op::flush ? LogKind::flushAnswered : LogKind::answered, request.sequence, 0);
    if (request.op == Op::write)
        answers_.written(request.handle, request.size);
    else
        answers_.done(request.handle);
}

void
Disk::finish(Request &request, const Nanos now)
{
    if (cut_) {
        fail(request, EIO);
    } else if (request.damage.error) {
        fail(request, request.damage.error);
    } else {
        traffic_.left(request, now, false);
        if (request.op == Op::read)
            answerRead(request);
        else
            answerDone(request);
    }
    release(request);
}

void
Disk::advance()
{
    auto time = now();
    model_->advance(time);
    while (completions_.next() <= time) {
        const auto due = completions_.next();
        auto &request = completions_.pop();
        if (due > request.arrival)
            traffic_.late(time - due);
        finish(request, time);
        time = now();
    }
}

Nanos
Disk::nextEvent() const
{
    return std::min(completions_.next(), model_->nextEvent());
}

Nanos
Disk::spin() const
{
    return static_cast<Nanos>(parameters_.spin * nanosPerMicro);
}

void
Disk::configure(const std::string &settings)
{
    const auto changed = parameters_.with(settings);
    auto model = Model::Make(changed, store_.size(), completions_, media_);
    const auto time = now();
    for (auto *request: model_->abandon())
        completions_.add(*request, time);
    model_ = std::move(model);
    parameters_ = changed;
}

void
Disk::cut()
{
    log(LogKind::cut, 0, 0);
    cut_ = true;
}

void
Disk::revive()
{
    if (log_ && log_->failed())
        throw BadRequest(log_->error());
    cut_ = false;
}

void
Disk::mark(const uint64_t number)
{
    if (!log_)
        throw BadRequest("there is no write log to put a mark into: start with --record");
    if (!log(LogKind::mark, number, 0))
        throw BadRequest(log_->error());
}

void
Disk::reset()
{
    media_ = MediaCounters();
    traffic_.reset(now());
}

std::string
Disk::stats() const
{
    Json text;
    text["model"] = parameters_.model;
    text["size"] = store_.size();
    traffic_.report(text, now());
    text["positionings"] = media_.readPositionings + media_.writePositionings;
    text["readPositionings"] = media_.readPositionings;
    text["writePositionings"] = media_.writePositionings;
    text["positioningSeconds"] = toSeconds(media_.positioning);
    text["transferSeconds"] = toSeconds(media_.transfer);
    text["cacheHits"] = media_.cacheHits;
    text["streamedReads"] = media_.streamed;
    text["writeCacheFull"] = media_.writeCacheFull;
    text["dirtyBytes"] = model_->dirtyBytes();
    text["storedBytes"] = store_.usedBytes();
    text["logRecords"] = log_ ? log_->records() : 0;
    text["logBytes"] = log_ ? log_->bytes() : 0;
    text["faults"] = faults_.count();
    text["faultStrikes"] = faults_.strikes();
    text["cut"] = cut_;
    text["cpuSeconds"] = cpuSeconds();
    text["parameters"] = parameters_.json();
    return jsonText(text, 1) + "\n";
}

} // namespace DiskModel
