// SPDX-License-Identifier: GPL-2.0-or-later
/* What the clients saw. */

#include "tools/bench/web/client/Results.h"

#include <algorithm>
#include <iostream>

namespace WebBench {

namespace {

constexpr size_t longestTimeline = 100000; ///< rows; what comes later is added to the last
constexpr uint64_t maxComplaints = 10;

Json
buckets(const LatencyHistogram &times)
{
    auto json = Json::array();
    for (const auto &[upper, count]: times.buckets())
        json.push_back(Json::array({toSeconds(upper), count}));
    return json;
}

} // namespace

void
Results::Row::add(const Response &response)
{
    ++requests;
    bytes += response.bytes;
    if (response.hit) {
        ++hits;
        hitBytes += response.bytes;
    }
}

void
Results::setWindow(const Nanos begin, const Nanos end, const Nanos interval)
{
    begin_ = begin;
    end_ = end;
    interval_ = interval;
}

Results::Row &
Results::rowAt(const Nanos time)
{
    const auto place = std::min(static_cast<size_t>((time - begin_) / interval_), longestTimeline - 1);
    if (place >= timeline_.size())
        timeline_.resize(place + 1);
    return timeline_[place];
}

void
Results::addResponse(const Response &response)
{
    ++allResponses_;
    if (!counts(response.from))
        return;
    const auto span = response.end - response.from;
    all_.add(span);
    (response.hit ? hit_ : miss_).add(span);
    total_.add(response);
    if (response.end < end_)
        inTime_.add(response);
    rowAt(response.end).add(response);
}

void
Results::complain(const std::string &problem)
{
    const auto count = allErrors_ + allBadBodies_;
    if (count <= maxComplaints)
        std::cerr << "bench-client: " << problem << (count == maxComplaints ? " (further ones are only counted)" : "") << std::endl;
}

void
Results::addError(const Nanos from, const std::string &problem)
{
    ++allErrors_;
    errors_ += counts(from) ? 1 : 0;
    complain(problem);
}

void
Results::addBadBody(const Nanos from, const std::string &problem)
{
    ++allBadBodies_;
    badBodies_ += counts(from) ? 1 : 0;
    complain(problem);
}

void
Results::addVisit(const Nanos from, const Nanos end, const bool failed)
{
    if (!counts(from))
        return;
    if (failed) {
        ++failedVisits_;
        return;
    }
    ++visits_;
    visitsInTime_ += end < end_ ? 1 : 0;
    visit_.add(end - from);
}

void
Results::addUnfinished(const Nanos from, const Nanos end)
{
    if (!counts(from))
        return;
    ++unfinished_;
    visit_.add(end - from);
}

void
Results::close(const Nanos end)
{
    end_ = std::min(end_, end);
}

double
Results::seconds() const
{
    return toSeconds(std::max<Nanos>(end_ - begin_, 0));
}

void
Results::write(Json &json) const
{
    const double span = seconds();
    json["seconds"] = span;
    json["visits"] = visits_;
    json["failedVisits"] = failedVisits_;
    json["unfinished"] = unfinished_;
    json["requests"] = total_.requests;
    json["bytes"] = total_.bytes;
    json["hits"] = total_.hits;
    json["hitBytes"] = total_.hitBytes;
    json["errors"] = errors_;
    json["badBodies"] = badBodies_;
    json["retries"] = retries_;
    json["visitsPerSecond"] = span > 0 ? static_cast<double>(visitsInTime_) / span : 0;
    json["requestsPerSecond"] = span > 0 ? static_cast<double>(inTime_.requests) / span : 0;
    json["hit"] = hit_.summary();
    json["miss"] = miss_.summary();
    json["all"] = all_.summary();
    json["visit"] = visit_.summary();
    json["timeline"] = timeline();
    json["histogram"] = {{"hit", buckets(hit_)}, {"miss", buckets(miss_)}, {"visit", buckets(visit_)}};
}

Json
Results::timeline() const
{
    auto json = Json::array();
    for (size_t i = 0; i < timeline_.size(); ++i) {
        const auto &row = timeline_[i];
        json.push_back({
            {"t", toSeconds(interval_) * static_cast<double>(i)}, {"requests", row.requests}, {"hits", row.hits},
            {"bytes", row.bytes}, {"hitBytes", row.hitBytes}
        });
    }
    return json;
}

} // namespace WebBench
