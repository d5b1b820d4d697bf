// SPDX-License-Identifier: GPL-2.0-or-later
/* Users at work, from the beginning of a run to its end. */

#include "tools/bench/web/client/Load.h"

#include <algorithm>
#include <csignal>
#include <numeric>

namespace WebBench {

namespace {

/// how long a user waits after a failure, so that a dead proxy is not hammered
constexpr Nanos restAfterFailure = oneSecond / 10;

constexpr uint64_t maxUnfinished = 1000000; ///< visits that were due, but did not begin; more are not counted

} // namespace

Load::Load(const ClientSettings &settings, Workload &workload, ClientContext &context):
    settings_(settings),
    workload_(workload),
    context_(context),
    random_(mix(settings.workload.seed, 6)),
    browsers_(settings.browsers),
    timer_(context.io),
    signals_(context.io, SIGINT, SIGTERM)
{
    signals_.async_wait([this](const error_code &error, int) { interrupted_ = !error; });
}

void
Load::prepare(const Nanos start)
{
    const auto measured = start + fromSeconds(settings_.warmup);
    if (settings_.seconds > 0)
        stop_ = measured + fromSeconds(settings_.seconds);
    deadline_ = start + fromSeconds(settings_.deadline);
    context_.results.setWindow(measured, stop_, fromSeconds(settings_.interval));
    if (settings_.timing == ClientSettings::Timing::poisson)
        pacing_ = std::make_unique<PoissonPacing>(start, settings_.rate, settings_.workload.seed);
    else if (settings_.timing == ClientSettings::Timing::log)
        pacing_ = std::make_unique<LogPacing>(start, workload_, settings_.speedup);
    else
        pacing_ = std::make_unique<ClosedPacing>();
    free_.resize(settings_.browsers);
    std::iota(free_.begin(), free_.end(), 0U);
    nextTick_ = start + oneSecond;
}

std::string
Load::run()
{
    const auto start = now();
    prepare(start);
    std::string reason;
    auto time = start;
    while (!ended(time, reason)) {
        wakeRested(time);
        beginDue(time);
        tick(time);
        if (ended(time, reason))
            break;
        waitUntil(nextEvent(time));
        time = now();
    }
    if (settings_.timing != ClientSettings::Timing::closed)
        addUnfinished(time);
    context_.results.close(time);
    return reason;
}

/// \param reason why, if that is not how it should end
bool
Load::ended(const Nanos time, std::string &reason) const
{
    if (interrupted_)
        reason = "signal";
    else if (context_.results.allErrors() >= settings_.maxErrors)
        reason = "errors";
    else if (time >= deadline_)
        reason = "deadline";
    if (!reason.empty())
        return true;
    if (exhausted_ && !underWay_)
        return true;
    // In a closed loop what is not done in time does not count, as is usual. In
    // an open loop it must: the slowest would be missing.
    if (settings_.timing == ClientSettings::Timing::closed)
        return time >= stop_;
    return stop_ < INT64_MAX && time >= stop_ + fromSeconds(settings_.drain);
}

bool
Load::mayBegin() const
{
    return !exhausted_ && underWay_ < settings_.users && context_.results.allErrors() < settings_.maxErrors;
}

/// begins all visits that are due
void
Load::beginDue(const Nanos time)
{
    while (mayBegin() && beginOne(time))
        continue;
}

/// \returns false when none is due
bool
Load::beginOne(const Nanos time)
{
    const auto due = pacing_->due(time);
    if (due >= stop_ || (settings_.visits && begun_ >= settings_.visits)) {
        exhausted_ = true;
        return false;
    }
    if (due > time)
        return false;
    const auto fixed = workload_.nextUser();
    if (!fixed) // any of the free ones
        std::swap(free_[random_.below(free_.size())], free_.back());
    const auto user = fixed ? *fixed : free_.back();
    Visit visit;
    if (!workload_.next(user, visit)) {
        exhausted_ = true;
        return false;
    }
    if (!fixed)
        free_.pop_back();
    pacing_->begun();
    ++begun_;
    ++underWay_;
    browser(user).begin(std::move(visit), due);
    return true;
}

Browser &
Load::browser(const uint32_t number)
{
    auto &result = browsers_[number];
    if (!result) {
        uint32_t source = 0;
        if (settings_.addresses) { // from 127.0.1.1 on
            const auto place = static_cast<uint32_t>(number % settings_.addresses);
            source = 0x7f000000U + ((place / 250 + 1) << 8) + place % 250 + 1;
        }
        Browser::Owner &self = *this;
        result = std::make_unique<Browser>(context_, self, number, source, static_cast<unsigned>(settings_.connections));
    }
    return *result;
}

void
Load::visited(Browser &which, const Nanos from, const bool success)
{
    const auto time = now();
    context_.results.addVisit(from, time, !success);
    Nanos rest = success ? 0 : restAfterFailure;
    if (settings_.think > 0)
        rest += static_cast<Nanos>(random_.exponential() * settings_.think * 1e9);
    if (rest > 0) {
        resting_.push({time + rest, which.number()});
        return;
    }
    --underWay_;
    if (!settings_.workload.isLog())
        free_.push_back(which.number());
}

void
Load::wakeRested(const Nanos time)
{
    while (!resting_.empty() && resting_.top().until <= time) {
        if (!settings_.workload.isLog())
            free_.push_back(resting_.top().user);
        resting_.pop();
        --underWay_;
    }
}

/// gives up requests that take too long
void
Load::tick(const Nanos time)
{
    if (time < nextTick_)
        return;
    nextTick_ = time + oneSecond;
    for (const auto &one: browsers_) {
        if (one)
            one->tick(time);
    }
}

/// \returns when there is something to do even if no socket is ready
Nanos
Load::nextEvent(const Nanos time) const
{
    auto next = std::min(nextTick_, deadline_);
    if (!resting_.empty())
        next = std::min(next, resting_.top().until);
    if (mayBegin())
        next = std::min(next, pacing_->due(time));
    if (stop_ > time)
        next = std::min(next, stop_);
    return next;
}

/// Runs a handler, as soon as there is one, or returns at that time.
void
Load::waitUntil(const Nanos time)
{
    if (alarm_ != time) {
        alarm_ = time;
        timer_.expires_at(toAsio(time));
        timer_.async_wait([this, time](const error_code &) {
            if (alarm_ == time)
                alarm_ = 0;
        });
    }
    context_.io.run_one();
}

/// counts what is under way, and what was due but had no user to begin it
void
Load::addUnfinished(const Nanos end)
{
    for (const auto &one: browsers_) {
        if (!one)
            continue;
        for (const auto from: one->unfinished())
            context_.results.addUnfinished(from, end);
    }
    if (settings_.timing != ClientSettings::Timing::poisson || (settings_.visits && begun_ >= settings_.visits))
        return;
    for (uint64_t i = 0; i < maxUnfinished; ++i) {
        const auto due = pacing_->due(end);
        if (due >= std::min(stop_, end))
            return;
        context_.results.addUnfinished(due, end);
        pacing_->begun();
    }
}

} // namespace WebBench
