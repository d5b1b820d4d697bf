// SPDX-License-Identifier: GPL-2.0-or-later
/* When visits begin. */

#ifndef CLUSTERFS_BENCH_WEB_WORKLOAD_PACING_H
#define CLUSTERFS_BENCH_WEB_WORKLOAD_PACING_H

#include "tools/base/Clock.h"
#include "tools/base/Random.h"
#include "tools/bench/web/workload/Workload.h"

namespace WebBench {

using namespace Tools;

/// Says when the next visit is to begin. How long visits take does not change
/// that: what cannot begin in time is late, and its time counts from when it
/// should have begun.
class Pacing
{
public:
    virtual ~Pacing() = default;

    /// \returns when the next visit should begin, in the past when it is late
    virtual Nanos due(Nanos now) const = 0;

    /// the visit that was due has begun
    virtual void begun() = 0;
};

/// Closed loop: whenever a user is free.
class ClosedPacing: public Pacing
{
public:
    Nanos due(const Nanos now) const override { return now; }
    void begun() override {}
};

/// Open loop: at random, at a mean rate.
class PoissonPacing: public Pacing
{
public:
    /// \param rate visits per second
    PoissonPacing(const Nanos start, const double rate, const uint64_t seed):
        random_(mix(seed, 5)), meanGap_(1e9 / rate), next_(static_cast<double>(start)) { begun(); }

    Nanos due(Nanos) const override { return static_cast<Nanos>(next_); }
    void begun() override { next_ += random_.exponential() * meanGap_; }

private:
    Random random_;
    double meanGap_; ///< nanoseconds
    double next_;
};

/// At the times of a log.
class LogPacing: public Pacing
{
public:
    /// \param workload must outlive this
    /// \param speedup how much faster than the log
    LogPacing(const Nanos start, const Workload &workload, const double speedup):
        workload_(workload), start_(start), speedup_(speedup) {}

    Nanos due(Nanos) const override {
        return start_ + fromSeconds(toSeconds(workload_.nextTime()) / speedup_);
    }
    void begun() override {}

private:
    const Workload &workload_;
    Nanos start_;
    double speedup_;
};

} // namespace WebBench

#endif
