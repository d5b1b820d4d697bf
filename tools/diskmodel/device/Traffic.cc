// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts what comes to the disk and goes. */

#include "tools/diskmodel/device/Traffic.h"

#include <algorithm>

namespace DiskModel {

void
Traffic::reset(const Nanos now)
{
    counts_ = Counts();
    counts_.maxUnderWay = underWay_;
    began_ = last_ = now;
}

/// accounts for the time since the last change
void
Traffic::pass(Counts &counts, const Nanos now) const
{
    if (!underWay_ || now <= last_)
        return;
    counts.busy += now - last_;
    counts.depthTime += static_cast<double>(now - last_) * static_cast<double>(underWay_);
}

void
Traffic::arrived(const Request &request)
{
    pass(counts_, request.arrival);
    last_ = std::max(last_, request.arrival);
    ++underWay_;
    counts_.maxUnderWay = std::max(counts_.maxUnderWay, underWay_);
    auto &kind = counts_.kinds[static_cast<size_t>(request.op)];
    ++kind.count;
    kind.bytes += request.size;
}

void
Traffic::left(const Request &request, const Nanos now, const bool failed)
{
    pass(counts_, now);
    last_ = std::max(last_, now);
    --underWay_;
    if (failed)
        ++counts_.errors;
    counts_.kinds[static_cast<size_t>(request.op)].time += now - request.arrival;
}

void
Traffic::late(const Nanos by)
{
    ++counts_.events;
    counts_.lateSum += by;
    counts_.lateMost = std::max(counts_.lateMost, by);
    if (by > static_cast<Nanos>(nanosPerMilli))
        ++counts_.lateOverMilli;
}

void
Traffic::report(Json &text, const Nanos now) const
{
    auto counts = counts_;
    pass(counts, now);
    const auto of = [&counts](const Op op) -> const Kind & { return counts.kinds[static_cast<size_t>(op)]; };
    text["seconds"] = toSeconds(now - began_);
    text["reads"] = of(Op::read).count;
    text["readBytes"] = of(Op::read).bytes;
    text["readSeconds"] = toSeconds(of(Op::read).time);
    text["writes"] = of(Op::write).count;
    text["writeBytes"] = of(Op::write).bytes;
    text["writeSeconds"] = toSeconds(of(Op::write).time);
    text["flushes"] = of(Op::flush).count;
    text["flushSeconds"] = toSeconds(of(Op::flush).time);
    text["discards"] = of(Op::discard).count;
    text["discardBytes"] = of(Op::discard).bytes;
    text["errors"] = counts.errors;
    text["busySeconds"] = toSeconds(counts.busy);
    text["depthSeconds"] = counts.depthTime / nanosPerSecond;
    text["queueDepthMean"] = counts.busy ? counts.depthTime / static_cast<double>(counts.busy) : 0.0;
    text["queueDepthMax"] = counts.maxUnderWay;
    text["underWay"] = underWay_;
    text["timedEvents"] = counts.events;
    const auto lateSum = static_cast<double>(counts.lateSum) / nanosPerMicro;
    text["lateMeanMicros"] = counts.events ? lateSum / static_cast<double>(counts.events) : 0.0;
    text["lateMaxMicros"] = static_cast<double>(counts.lateMost) / nanosPerMicro;
    text["lateOverMilli"] = counts.lateOverMilli;
}

} // namespace DiskModel
