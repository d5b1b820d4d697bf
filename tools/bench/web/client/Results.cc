// SPDX-License-Identifier: GPL-2.0-or-later
/* What the clients saw. */

#include "tools/bench/web/client/Results.h"

#include <algorithm>
#include <iostream>

namespace WebBench {

namespace {

constexpr size_t longestTimeline = 100000; ///< rows; what comes later is added to the last
constexpr uint64_t maxComplaints = 10;

void
writeTimes(Json &json, const std::string &key, const LatencyHistogram &times)
{
    json.beginObject(key);
    json.add("count", times.count());
    json.add("mean", times.mean() / 1e9);
    json.add("p50", toSeconds(times.percentile(0.5)));
    json.add("p90", toSeconds(times.percentile(0.9)));
    json.add("p99", toSeconds(times.percentile(0.99)));
    json.add("p99.9", toSeconds(times.percentile(0.999)));
    json.add("max", toSeconds(times.most()));
    json.endObject();
}

void
writeBuckets(Json &json, const std::string &key, const LatencyHistogram &times)
{
    json.beginArray(key);
    for (const auto &[upper, count]: times.buckets()) {
        json.beginArray();
        json.add("", toSeconds(upper));
        json.add("", count);
        json.endArray();
    }
    json.endArray();
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
    json.add("seconds", span);
    json.add("visits", visits_);
    json.add("failedVisits", failedVisits_);
    json.add("unfinished", unfinished_);
    json.add("requests", total_.requests);
    json.add("bytes", total_.bytes);
    json.add("hits", total_.hits);
    json.add("hitBytes", total_.hitBytes);
    json.add("errors", errors_);
    json.add("badBodies", badBodies_);
    json.add("retries", retries_);
    json.add("visitsPerSecond", span > 0 ? static_cast<double>(visitsInTime_) / span : 0);
    json.add("requestsPerSecond", span > 0 ? static_cast<double>(inTime_.requests) / span : 0);
    writeTimes(json, "hit", hit_);
    writeTimes(json, "miss", miss_);
    writeTimes(json, "all", all_);
    writeTimes(json, "visit", visit_);
    writeTimeline(json);
    json.beginObject("histogram");
    writeBuckets(json, "hit", hit_);
    writeBuckets(json, "miss", miss_);
    writeBuckets(json, "visit", visit_);
    json.endObject();
}

void
Results::writeTimeline(Json &json) const
{
    json.beginArray("timeline");
    for (size_t i = 0; i < timeline_.size(); ++i) {
        const auto &row = timeline_[i];
        json.beginObject();
        json.add("t", toSeconds(interval_) * static_cast<double>(i));
        json.add("requests", row.requests);
        json.add("hits", row.hits);
        json.add("bytes", row.bytes);
        json.add("hitBytes", row.hitBytes);
        json.endObject();
    }
    json.endArray();
}

} // namespace WebBench
