// SPDX-License-Identifier: GPL-2.0-or-later
/* What the clients saw. */

#ifndef CLUSTERFS_BENCH_WEB_CLIENT_RESULTS_H
#define CLUSTERFS_BENCH_WEB_CLIENT_RESULTS_H

#include "tools/base/Json.h"
#include "tools/base/LatencyHistogram.h"

#include <cstdint>
#include <string>
#include <vector>

namespace WebBench {

using namespace Tools;

/// Counts and times of a run. Counts what should have begun within the window
/// of measurement; speeds count what was also completed within it.
class Results
{
public:
    /// a request whose response was right
    struct Response {
        Nanos from = 0; ///< when it should have begun
        Nanos end = 0; ///< when the last byte came
        uint64_t bytes = 0; ///< of the body
        bool hit = false; ///< made by the origin before it was asked for
    };

    /// \param end is INT64_MAX when it is not known yet
    /// \param interval of the timeline
    void setWindow(Nanos begin, Nanos end, Nanos interval);

    void addResponse(const Response &);
    /// a request without a right response \param problem is shown on standard error, as long as there are few
    void addError(Nanos from, const std::string &problem);
    /// a response with a wrong body
    void addBadBody(Nanos from, const std::string &problem);
    void addRetry() { ++retries_; } ///< the proxy closed a connection just when it was used again
    void addVisit(Nanos from, Nanos end, bool failed);
    /// a visit that had not come to its end when the run had; its time so far counts
    void addUnfinished(Nanos from, Nanos end);

    /// to be called at the end of the run
    void close(Nanos end);

    uint64_t allErrors() const { return allErrors_; } ///< also those outside of the window
    uint64_t allResponses() const { return allResponses_; } ///< likewise
    uint64_t badBodies() const { return allBadBodies_; } ///< likewise

    /// adds them to a JSON object
    void write(Json &) const;

private:
    struct Row {
        uint64_t requests = 0;
        uint64_t hits = 0;
        uint64_t bytes = 0;
        uint64_t hitBytes = 0;
        void add(const Response &);
    };

    bool counts(const Nanos from) const { return from >= begin_ && from < end_; }
    double seconds() const;
    void complain(const std::string &problem);
    Row &rowAt(Nanos);
    Json timeline() const;

    Nanos begin_ = 0;
    Nanos end_ = INT64_MAX;
    Nanos interval_ = oneSecond;

    LatencyHistogram hit_, miss_, all_, visit_;
    Row total_;
    Row inTime_; ///< completed within the window
    std::vector<Row> timeline_;
    uint64_t visits_ = 0;
    uint64_t visitsInTime_ = 0;
    uint64_t failedVisits_ = 0;
    uint64_t unfinished_ = 0;
    uint64_t errors_ = 0;
    uint64_t badBodies_ = 0;
    uint64_t retries_ = 0;
    uint64_t allResponses_ = 0;
    uint64_t allErrors_ = 0;
    uint64_t allBadBodies_ = 0;
};

} // namespace WebBench

#endif
